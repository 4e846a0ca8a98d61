"""Requests for permission: what the program wants to do, and which of its options answers it.

An option is chosen by its kind: the ids differ from program to program.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dos.agents.adapter import StreamState
from dos.agents.conversation import Asks
from dos.agents.stream import as_list, as_mapping, as_text, nested
from dos.permission.ask import Allow, Answer
from dos.permission.call import ToolCall

# Where programs put the path of a tool call, beside `locations`.
_PATH_KEYS = (
    "path", "file_path", "filePath", "filepath", "fileName", "file", "notebook_path",
    "old_path", "new_path", "source", "destination", "paths", "files",
)  # fmt: skip
EXECUTE = "execute"
# Kinds of tools.
_CHANGING = ("edit", "delete", "move")
_ACTING = (EXECUTE, *_CHANGING)
_READING = frozenset(("read", "search", "think", "fetch", "switch_mode"))
_COMMAND_KEYS = ("command", "cmd", "fullCommandText")


class Request(StreamState, frozen=True, kw_only=True):
    """A request for permission that has not been answered."""

    id: Any  # as the program gave it: a number or a text
    options: tuple[dict[str, Any], ...] = ()


def read_request(request_id: object, parameters: dict[str, Any], known: Mapping[str, Any]) -> Asks:
    """What the program wants to do.

    `known` is what it has told of the same tool call before: a request may repeat only a part.
    Where names, commands or arguments differ, each is a description of its own: the model chooses
    the arguments, and can add some that its program does not heed.
    """
    call = as_mapping(parameters.get("toolCall"))
    earlier, now = as_mapping(known.get("rawInput")), as_mapping(call.get("rawInput"))
    raw = {**earlier, **now}
    commands = _commands(raw, earlier)
    title = as_text(call.get("title")) or as_text(known.get("title"))
    names, kinds = _names(call, known), _kinds(call, known)
    if EXECUTE in kinds and not names and not commands:
        commands = [title]
    elif EXECUTE in kinds and _is_another_command(title, commands):
        commands.append(title)
    tools = [*names, *kinds]
    if names:  # a name says more than a kind
        acts = _ACTING if commands else _CHANGING
        tools = [*names, *(kind for kind in kinds if kind in acts)]
    paths = tuple(dict.fromkeys([*_paths(call), *_paths(known), *_raw_paths(raw)]))
    tool = next(iter(tools), title)
    also = [ToolCall(tool=name, arguments=raw, paths=paths) for name in tools[1:]]
    if not _READING.issuperset(tools):
        also += [
            ToolCall(tool=EXECUTE, arguments=raw, command=command)
            for command in commands[1 if tool == EXECUTE else 0 :]
        ]
    if any(now.get(key, value) != value for key, value in earlier.items()):
        also.append(ToolCall(tool=tool, arguments=earlier, paths=tuple(_raw_paths(earlier))))
    if changed := [*_changed(call), *_changed(known)]:
        also.append(ToolCall(tool="edit", paths=tuple(dict.fromkeys(changed))))
    return Asks(
        id=str(request_id),
        tool=tool,
        arguments=raw,
        paths=paths,
        command=next(iter(commands), ""),
        also=tuple(also),
    )


def _names(call: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """The program's own names of the tool, where it tells them."""
    found = (
        nested(as_mapping(told.get("_meta")), "claudeCode", "toolName") for told in (known, call)
    )
    return list(dict.fromkeys(name for each in found if (name := as_text(each))))


def _kinds(call: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """What kind of tool it is; two where the request says another than what came before."""
    kinds = (as_text(told.get("kind")) for told in (call, known))
    return list(dict.fromkeys(kind for kind in kinds if kind))


def _commands(*raws: Mapping[str, Any]) -> list[str]:
    """The commands in the arguments of a tool; words are joined as a shell would read them."""
    found: dict[str, None] = {}
    for key in _COMMAND_KEYS:
        for raw in raws:
            value = raw.get(key)
            words = [word for word in as_list(value) if isinstance(word, str)]
            if isinstance(value, str) and value:
                found.setdefault(value)
            elif words:
                found.setdefault(_joined(words))
    return list(found)


def _is_another_command(title: str, commands: Sequence[str]) -> bool:
    """Whether the title of a shell tool is a command that the arguments do not have.

    A sentence about the command, which begins with a capital letter, is none. A program may cut the
    command, put it into quotes, and add where it runs.
    """
    told = title.strip("` .…")
    if not told or told[0].isupper():
        return False
    return not any(told in command or command in title for command in commands)


def _changed(call: Mapping[str, Any]) -> list[str]:
    """The paths of the changes that a tool call shows."""
    changes = [as_mapping(item) for item in as_list(call.get("content"))]
    return [path for item in changes if "newText" in item and (path := as_text(item.get("path")))]


def _paths(call: Mapping[str, Any]) -> list[str]:
    """The paths of a tool call: where it is at work, and what it shows as changed."""
    places = [*as_list(call.get("locations")), *as_list(call.get("content"))]
    return [path for place in places if (path := as_text(as_mapping(place).get("path")))]


def _raw_paths(raw: Mapping[str, Any]) -> list[str]:
    """The paths in the arguments of a tool."""
    found: list[str] = []
    for key in _PATH_KEYS:
        value = raw.get(key)
        found += [path for path in [value, *as_list(value)] if isinstance(path, str) and path]
    return found


def _joined(words: Sequence[str]) -> str:
    import shlex

    if len(words) == 3 and words[1] in ("-c", "-lc") and words[0].endswith("sh"):
        return words[2]
    return shlex.join(words)


def outcome(options: Sequence[Mapping[str, Any]], answer: Answer) -> dict[str, Any]:
    """The outcome to send: allowed once, refused once, else cancelled.

    A program that offers to allow only for good is refused: it would not ask again.
    """
    kinds: tuple[str, ...] = ("reject_once", "reject_always")
    if isinstance(answer, Allow):
        kinds = ("allow_once", *kinds)
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return CANCELLED


CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
