"""What an agent program's request to a language model holds, whatever protocol it speaks.

The scripted model reads Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, json

Body = dict[str, Any]

# Calls that only make other tools available. Their results take no step of a script.
LOADERS = ("WaitForMcpServers", "ToolSearch", "tool_search")


class Tool(Struct, frozen=True, kw_only=True):
    """A tool that the program offers to the model."""

    name: str
    namespace: str = ""  # Codex groups the tools of an MCP server in one
    kind: str = "function"  # `custom`: it takes a text instead of arguments
    parameters: dict[str, Any] = {}

    @property
    def properties(self) -> dict[str, Any]:
        """The arguments that the tool declares, by name."""
        found = self.parameters.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def full_name(self) -> str:
        """The name with its namespace, as Claude Code writes the tools of MCP servers."""
        if not self.namespace:
            return self.name
        return f"{self.namespace.rstrip('_')}__{self.name}"


class Told(Struct, frozen=True, kw_only=True):
    """One thing in a conversation: what it is, and its text."""

    kind: str  # user, result, model, call
    text: str
    name: str = ""  # of the tool, where the protocol says it


def offered_tools(body: Body) -> list[Tool]:
    """Return the tools that the model may call."""
    found: list[Tool] = []
    for tool in body.get("tools") or []:
        found += _tools_of(tool, "")
    return found


def _tools_of(tool: Body, namespace: str) -> list[Tool]:
    """Return the tools of one entry: a tool, or a group of them."""
    if tool.get("type") == "namespace":
        grouped: list[Tool] = []
        for each in tool.get("tools") or []:
            grouped += _tools_of(each, str(tool.get("name", "")))
        return grouped
    if "functionDeclarations" in tool:
        return [
            Tool(
                name=declared["name"],
                parameters=declared.get("parameters") or declared.get("parametersJsonSchema") or {},
            )
            for declared in tool["functionDeclarations"]
        ]
    if tool.get("type") == "function" and "function" in tool:
        function = tool["function"]
        return [Tool(name=function["name"], parameters=function.get("parameters") or {})]
    if "name" in tool:
        parameters = tool.get("input_schema") or tool.get("parameters") or {}
        kind = "custom" if tool.get("type") == "custom" and "format" in tool else "function"
        return [Tool(name=tool["name"], namespace=namespace, kind=kind, parameters=parameters)]
    if tool.get("type"):
        return [Tool(name=tool["type"])]
    return []


def conversation(body: Body) -> list[Told]:
    """Return everything that was said, called and answered so far, in order."""
    found: list[Told] = []
    for message in body.get("messages") or []:
        found += _of_message(message)
    items = body.get("input")
    if isinstance(items, str):
        found.append(Told(kind="user", text=items))
    elif isinstance(items, list):
        found += [told for item in items for told in _of_item(item)]
    for content in body.get("contents") or []:
        found += _of_content(content)
    return _with_call_names(found)


def _of_message(message: Body) -> Iterator[Told]:
    """Read a message of Anthropic Messages or of OpenAI chat completions."""
    role, content = message.get("role"), message.get("content")
    speaker = "model" if role == "assistant" else "user"
    if role == "tool":
        yield Told(kind="result", text=text_of(content), name=message.get("tool_call_id", ""))
        return
    for block in content if isinstance(content, list) else [content]:
        if not isinstance(block, dict):
            if block:
                yield Told(kind=speaker, text=text_of(block))
        elif block.get("type") == "tool_result":
            text = text_of(block.get("content"))
            yield Told(kind="result", text=text, name=block.get("tool_use_id", ""))
        elif block.get("type") == "tool_use":
            name = f"{block.get('id', '')} {block.get('name', '')}"
            yield Told(kind="call", text=text_of(block.get("input")), name=name)
        else:
            yield Told(kind=speaker, text=text_of(block))
    for call in message.get("tool_calls") or []:
        function = call.get("function", {})
        name = f"{call.get('id', '')} {function.get('name', '')}"
        yield Told(kind="call", text=text_of(function.get("arguments")), name=name)


def _of_item(item: Any) -> Iterator[Told]:
    """Read an item of OpenAI Responses."""
    if not isinstance(item, dict):
        return
    kind = str(item.get("type", "message"))
    identity = item.get("call_id", "")
    if kind.endswith("_output"):
        answer = item.get("output", item.get("tools"))
        yield Told(kind="result", text=text_of(answer), name=identity)
    elif kind.endswith("_call"):
        name = item.get("name") or kind.removesuffix("_call")
        sent = item.get("arguments", item.get("input"))
        yield Told(kind="call", text=text_of(sent), name=f"{identity} {name}")
    elif kind == "message":
        speaker = "model" if item.get("role") == "assistant" else "user"
        content = item.get("content")
        for block in content if isinstance(content, list) else [content]:
            yield Told(kind=speaker, text=text_of(block))


def _of_content(content: Body) -> Iterator[Told]:
    """Read a content of Gemini."""
    speaker = "model" if content.get("role") == "model" else "user"
    for part in content.get("parts") or []:
        if "functionResponse" in part:
            answer = part["functionResponse"]
            yield Told(
                kind="result", text=text_of(answer.get("response")), name=answer.get("name", "")
            )
        elif "functionCall" in part:
            call = part["functionCall"]
            name = call.get("name", "")
            yield Told(kind="call", text=text_of(call.get("args")), name=f"{name} {name}")
        else:
            yield Told(kind=speaker, text=text_of(part))


def _with_call_names(found: list[Told]) -> list[Told]:
    """Replace the identities of calls by the names of their tools."""
    names: dict[str, str] = {}
    named = []
    for told in found:
        name = told.name
        if told.kind == "call":
            identity, _, name = told.name.partition(" ")
            names[identity] = name
        elif told.kind == "result":
            name = names.get(told.name, "")
        named.append(Told(kind=told.kind, text=told.text, name=name))
    return named


def text_of(value: object) -> str:
    """Return the text of a string, of a block with a text, or of a list of them; else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, list):
        return "\n".join(text_of(part) for part in value)
    return json.encode(value).decode()


def first_prompt(body: Body) -> str:
    """Return what the user said before the model's first answer."""
    texts = []
    for told in conversation(body):
        if told.kind != "user":
            break
        texts.append(told.text)
    return "\n".join(texts)


def newest(body: Body) -> list[Told]:
    """Return what the model was told since it last spoke: results of tools, and messages."""
    found: list[Told] = []
    for told in reversed(conversation(body)):
        if told.kind in ("model", "call"):
            break
        found.append(told)
    return found[::-1]
