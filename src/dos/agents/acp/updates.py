"""What a program reports while it works: its words, its tools, what it used."""

import re
from datetime import UTC, datetime
from typing import Any

from msgspec import field, structs

from dos.agents import provider_errors, stream
from dos.agents.adapter import LIMITS, StreamState, Usage
from dos.agents.stream import as_list, as_mapping, as_text, nested

MOST_TOOLS = 200  # tool calls that are remembered until they end
LONGEST_LOG_LINE = 4000
NEVER = datetime(1970, 1, 1, tzinfo=UTC)  # for a judgement in which no time matters
_TROUBLE = re.compile(r"(?i)error|fail|retry|limit|quota|overload|too many")
_LOGIN_OF_MODEL = re.compile(r"\((?:openai|anthropic|qwen-oauth|gemini|vertex-ai)\)$")
_DONE = ("completed", "failed")


class State(StreamState, frozen=True, kw_only=True):
    """What the program has reported so far, and what it still has to answer."""

    row: str = ""  # its row in the table of programs
    prompt: str = ""
    directory: str = ""
    wanted_model: str = ""
    resumed: str = ""  # the conversation that it is to continue
    # What was sent and not answered, by number: its method.
    sent: dict[int, str] = field(default_factory=dict)
    numbers: int = 0  # of requests so far
    offers: dict[str, Any] = field(default_factory=dict)  # its answer to `initialize`
    logged_in: bool = False  # `authenticate` was tried
    tools: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # running tool calls by id, as told so far
    asked: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # open requests for permission, by id
    refused: tuple[str, ...] = ()  # why, of what was refused in this turn
    refusals: int = 0  # in all turns
    reminders: int = 0  # prompts that repeated why something was refused
    cancelling: bool = False  # its turn was interrupted, and has not ended
    queued: tuple[str, ...] = ()  # messages for the next turn
    is_failing: bool = False  # it says that its provider failed, without saying how
    message_id: str = ""  # of the message that is being written, where the program names it
    message: str = ""  # what it says in the message that is being written
    stop_reason: str = ""  # of the last turn; "": no turn has ended
    error: dict[str, Any] | None = None  # the error that ended it
    failed: str = ""  # the method that was answered by the error
    stuck: str = ""  # the line by which it said that it tries again
    over: bool = False


def on_update(state: State, parameters: dict[str, Any]) -> State:
    """The state after one `session/update`."""
    update = as_mapping(parameters.get("update"))
    state = _count(state, update)
    match update.get("sessionUpdate"):
        case "agent_message_chunk":
            return _on_message(state, update)
        case "agent_thought_chunk":
            return structs.replace(_going_on(state), heard=stream.activity("thinking"))
        case "tool_call" | "tool_call_update":
            return _on_tool(_going_on(state), update)
        case "session_info_update":
            status = as_text(nested(update, "_meta", "codex", "threadStatus", "type"))
            if status:
                return structs.replace(state, is_failing=status == "systemError")
    return state


def _going_on(state: State) -> State:
    """The program works: it waits for its provider no longer."""
    return structs.replace(state, waiting=None, stuck="")


def _on_message(state: State, update: dict[str, Any]) -> State:
    """A piece of what it says. The claim is what it says after the last tool."""
    text = as_text(nested(update, "content", "text"))
    if not text:
        return state
    message_id = as_text(update.get("messageId"))
    said = state.claim
    if message_id != state.message_id:
        said = ""  # a new message: what came before may be a warning of the program itself
    claim = (said + text)[-4 * stream.CLAIM_CHARACTERS :]
    return structs.replace(
        _going_on(state),
        claim=claim,
        message=text,
        message_id=message_id,
        heard=stream.activity(text),
    )


def _on_tool(state: State, update: dict[str, Any]) -> State:
    """A tool call begins, is told more of, or ends."""
    call_id = as_text(update.get("toolCallId"))
    known = {**state.tools.get(call_id, {})}
    is_new = update.get("sessionUpdate") == "tool_call"
    known |= {key: value for key, value in update.items() if value or key not in known}
    tools = {key: call for key, call in state.tools.items() if key != call_id}
    if update.get("status") in _DONE:
        result = stream.tool_result(_output(update), failed=update.get("status") == "failed")
        return structs.replace(state, tools=tools, heard=(result,))
    tools[call_id] = known
    tools = dict(list(tools.items())[-MOST_TOOLS:])
    state = structs.replace(state, tools=tools)
    if is_new:
        heard = stream.activity(as_text(update.get("title")))
        return structs.replace(state, claim="", message="", heard=heard)
    return state


def _output(update: dict[str, Any]) -> str:
    """What a tool printed."""
    texts = [as_text(nested(as_mapping(part), "content", "text"))
             for part in as_list(update.get("content"))]  # fmt: skip
    printed = "\n".join(filter(None, texts))
    raw = update.get("rawOutput")
    return (
        printed
        or as_text(raw)
        or as_text(nested(as_mapping(raw), "output"))
        or as_text(nested(as_mapping(raw), "message"))
    )


def _count(state: State, update: dict[str, Any]) -> State:
    """The usage that comes with an update: of one request, or what the session cost so far."""
    used = as_mapping(nested(update, "_meta", "usage"))
    if used:
        state = stream.add_usage(state, read_usage(used, state.model))
    cost = as_mapping(update.get("cost"))
    dollars = stream.as_amount(cost.get("amount"))
    if dollars and cost.get("currency") == "USD":
        # The cost is that of the whole session; the tokens are counted for each turn.
        return stream.add_usage(state, Usage(model=state.model, cost_usd=dollars), part="cost")
    return state


def model_name(model_id: str) -> str:
    """The name of a model, without what some programs write around it: how it is reached."""
    return _LOGIN_OF_MODEL.sub("", model_id.rpartition("|")[2])


def on_usage(state: State, result: dict[str, Any], part: str) -> State:
    """The usage that comes with the end of a turn, by model where the program tells that.

    `part` names what the report covers: a later one of the same part takes its place.
    """
    models = as_list(nested(result, "_meta", "quota", "model_usage"))
    for entry in models:
        told = as_mapping(entry)
        model = as_text(told.get("model")) or state.model
        usage = read_usage(as_mapping(told.get("token_count")), model)
        state = stream.add_usage(state, usage, part=f"{part} {model}")
    if models:
        return state
    usage = read_usage(as_mapping(result.get("usage")), state.model)
    return stream.add_usage(state, usage, part=part)


def read_usage(told: dict[str, Any], model: str) -> Usage:
    """Token counts in either spelling. Where the total shows it, input includes cached tokens."""
    counts = {key: stream.as_count(value) for key, value in told.items()}

    def count(*names: str) -> int:
        return next((counts[name] for name in names if counts.get(name)), 0)

    sent = count("inputTokens", "input_tokens")
    cached = count("cachedReadTokens", "cachedInputTokens", "cached_input_tokens")
    written = count("cachedWriteTokens", "cacheWriteInputTokens")
    output = count("outputTokens", "output_tokens")
    total = count("totalTokens", "total_tokens")
    if cached and total and total < sent + cached + output:
        sent = max(0, sent - cached)
    return Usage(
        model=model,
        input_tokens=sent,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
    )


def on_log(state: State, line: str) -> State:
    """The state after a line that is no message: programs write their errors between them.

    It is what a program tells of a provider that it asks again and again, without a message.
    """
    if not _TROUBLE.search(line[:LONGEST_LOG_LINE]):
        return state
    judged = provider_errors.classify_failure(line[:LONGEST_LOG_LINE], NEVER)
    if judged.ending not in LIMITS:
        return state
    waiting = provider_errors.classify_retry(line[:LONGEST_LOG_LINE])
    return structs.replace(stream.with_waiting(state, waiting), stuck=line[:LONGEST_LOG_LINE])
