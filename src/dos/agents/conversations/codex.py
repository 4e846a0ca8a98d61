"""Codex by its app server: JSON-RPC in lines, with typed errors, usage and limits.

`codex exec` says the same in prose and asks nobody; it stands in where the user's arguments are
only for it. The policy `untrusted` asks before every command but known reads, and before every
patch, also where the program's own sandbox is off.
"""

from datetime import datetime
from typing import Any

from msgspec import field, json, structs

from dos.agents import codex, provider_errors, reset_times, stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Settings,
    StreamState,
)
from dos.agents.conversation import Asks, Turn
from dos.agents.conversations.codex_requests import changed_paths, command_asked
from dos.agents.stream import as_list, as_mapping, as_text, nested
from dos.permission.ask import Allow, Deny

name = codex.name
vendor = codex.vendor
program = codex.program
tested = codex.tested

_INITIALIZE, _THREAD, _TURN, _LATER = 1, 2, 3, 4  # ids of our requests
_OPTIONS = ("-c", "--config", "--enable", "--disable")  # each with a value
_COMMAND = "item/commandExecution/requestApproval"
_PATCH = "item/fileChange/requestApproval"
# Requests that are no question about a tool, each with the answer that grants nothing.
_REFUSALS: dict[str, dict[str, Any]] = {
    "item/permissions/requestApproval": {"permissions": {}},
    "item/tool/requestUserInput": {"answers": {}},
    "mcpServer/elicitation/request": {"action": "decline"},
    "applyPatchApproval": {"decision": "denied"},
    "execCommandApproval": {"decision": "denied"},
}
_KINDS = {
    "contextWindowExceeded": Ending.CONTEXT,
    "sessionBudgetExceeded": Ending.BUDGET_CAP,
    "usageLimitExceeded": Ending.USAGE_WINDOW,
    "rateLimitExceeded": Ending.TRANSIENT,
    "flexUnavailable": Ending.OVERLOADED,
    "serverOverloaded": Ending.OVERLOADED,
    "policyCapacityUnavailable": Ending.OVERLOADED,
    "modelNotFound": Ending.MODEL_UNAVAILABLE,
    "internalServerError": Ending.TRANSIENT,
    "unauthorized": Ending.AUTH,
    "tooManyDenials": Ending.PERMISSION,
}
_DEPLETED = "credits_depleted"  # in the type of a limit: it does not reset by itself
_ITEM_TYPES = {
    "agentMessage": "agent_message",
    "commandExecution": "command_execution",
    "fileChange": "file_change",
    "mcpToolCall": "mcp_tool_call",
    "webSearch": "web_search",
    "reasoning": "reasoning",
}
Record = dict[str, Any]
Patches = dict[str, tuple[str, ...]]  # the paths of each, by the id of its item


class State(codex.State, frozen=True, kw_only=True):
    """What the app server has reported so far."""

    prompt: str = ""  # until the turn has begun
    settings: Settings = Settings()
    turn: str = ""  # the id of the turn that runs
    error: Record | None = None  # of a turn that failed, or that may still recover
    limits: Record = field(default_factory=dict)  # the newest report of the account's limits
    patches: Patches = field(default_factory=dict)  # the paths of those under way
    over: bool = False


def talks(settings: Settings) -> bool:
    """Whether the arguments are such that the app server takes them."""
    words = list(settings.arguments)
    while words:
        option, is_joined, _ = words.pop(0).partition("=")
        if option not in _OPTIONS:
            return False
        if not is_joined and words:
            words.pop(0)
    return True


def launch(prompt: str, settings: Settings) -> Launch:  # noqa: ARG001
    """`codex app-server`; the prompt is its first turn."""
    command = settings.command or (program,)
    return Launch(argv=[*command, "app-server", *settings.arguments])


def open(prompt: str, settings: Settings) -> Turn:
    """Say who we are, and begin or resume a thread; the prompt follows when it has begun."""
    client = {"clientInfo": {"name": "dos", "title": "dos", "version": "1"}}
    options: Record = {"approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
    if settings.directory:
        options["cwd"] = settings.directory
    if settings.model:
        options["model"] = settings.model
    method = "thread/start"
    if settings.resume:
        method = "thread/resume"
        options["threadId"] = settings.resume
    lines = (
        _line({"id": _INITIALIZE, "method": "initialize", "params": client}),
        _line({"method": "initialized"}),
        _line({"id": _THREAD, "method": method, "params": options}),
    )
    return Turn(state=State(prompt=prompt, settings=settings), replies=lines)


def converse(state: State, line: str) -> Turn:
    """The state after one more line, with what it asks and the turn that is to begin."""
    record = stream.parse_record(line)
    method = as_text(record.get("method"))
    params = as_mapping(record.get("params"))
    if not method and "id" not in record:
        return Turn(state=codex.on_line(state, line))  # as `codex exec` prints it
    state = stream.next_line(state, line)
    if method and "id" in record:
        return _on_request(state, record["id"], method, params)
    if method == "serverRequest/resolved":
        return Turn(state=state, withdrawn=(_identity(params.get("requestId")),))
    if method:
        return Turn(state=_on_notice(state, method, params))
    return _on_response(state, record)


def _on_response(state: State, record: Record) -> Turn:
    """The answer to one of our requests; a thread that begins gets its turn."""
    error = record.get("error")
    if error is not None:
        if record["id"] == _LATER:
            return Turn(state=state)  # a message that came too late for its turn
        message = as_text(as_mapping(error).get("message"))
        return Turn(state=structs.replace(state, error={"message": message}, over=True))
    if record["id"] != _THREAD:
        turn = as_text(nested(record, "result", "turn", "id"))
        return Turn(state=structs.replace(state, turn=turn or state.turn))
    session = as_text(nested(record, "result", "thread", "id"))
    model = as_text(nested(record, "result", "model"))
    begins = {"threadId": session, "input": _text(state.prompt)}
    state = structs.replace(state, began=True, session=session, model=model, prompt="")
    return Turn(
        state=state, replies=(_line({"id": _TURN, "method": "turn/start", "params": begins}),)
    )


def _on_request(state: State, request: object, method: str, params: Record) -> Turn:
    """A command or a patch is judged; other requests are refused, so that nothing waits."""
    identity = _identity(request)
    if method == _COMMAND:
        return Turn(state=state, asks=(command_asked(identity, params),))
    if method == _PATCH:
        changes = [*as_list(params.get("changes")), *as_list(params.get("fileChanges"))]
        shown = state.patches.get(as_text(params.get("itemId")), ())
        paths = tuple(dict.fromkeys((*shown, *changed_paths(changes))))
        grant = as_text(params.get("grantRoot"))
        asked = Asks(
            id=identity,
            tool="apply_patch",
            arguments={"changes": list(paths)},
            paths=(*paths, *([grant] if grant else [])),
        )
        if not asked.paths:
            return Turn(state=state, refused=((identity, _decision(identity, "decline")),))
        return Turn(state=state, asks=(asked,))
    if method in _REFUSALS:
        return Turn(state=state, refused=((identity, _result(identity, _REFUSALS[method])),))
    error = {"code": -32601, "message": "dos answers no request of this kind"}
    line = _line({"id": json.decode(identity), "error": error})
    return Turn(state=state, refused=((identity, line),))


def _identity(request: object) -> str:
    """The id of a request, as the answer has to name it."""
    return json.encode(request).decode()


def _on_notice(state: State, method: str, params: Record) -> State:
    """The state after a notification. Threads of helpers report usage, and end nothing."""
    thread = as_text(params.get("threadId"))
    is_own = not state.session or thread in ("", state.session)
    match method:
        case "error" if is_own:
            return _on_error(state, params)
        case "item/started" | "item/completed":
            return _on_item(state, method, as_mapping(params.get("item")))
        case "turn/started" if is_own:
            turn = as_text(nested(params, "turn", "id"))
            return structs.replace(state, turn=turn, error=None, waiting=None, completed=False)
        case "turn/completed" if is_own:
            return _on_turn_end(state, as_mapping(params.get("turn")))
        case "thread/tokenUsage/updated":
            total = as_mapping(nested(params, "tokenUsage", "total"))
            used = codex.usage_of(
                total_input=total.get("inputTokens"),
                cached=total.get("cachedInputTokens"),
                written=total.get("cacheWriteInputTokens"),
                output=total.get("outputTokens"),
            )
            used = structs.replace(used, model=state.model)
            return stream.add_usage(state, used, part=thread)
        case "account/rateLimits/updated":
            news = as_mapping(params.get("rateLimits"))
            known = {key: value for key, value in news.items() if value is not None}
            return structs.replace(state, limits={**state.limits, **known})
    return state


def _on_error(state: State, params: Record) -> State:
    """An error that Codex tries again is something it waits for."""
    error = as_mapping(params.get("error"))
    state = structs.replace(state, error=error)
    if params.get("willRetry") is not True:
        return state
    kind, status = _error_info(error)
    message = as_text(error.get("message"))
    waiting = provider_errors.classify_retry(message, status=status)
    if kind in _KINDS:
        waiting = structs.replace(waiting, ending=_KINDS[kind])
    return stream.with_waiting(state, waiting)


def _on_item(state: State, method: str, item: Record) -> State:
    """An item shows that the turn goes on; a message is its claim, a patch names its paths."""
    stage = "item.started" if method == "item/started" else "item.completed"
    kind = as_text(item.get("type"))
    plain = {
        **item,
        "type": _ITEM_TYPES.get(kind, kind),
        "aggregated_output": item.get("aggregatedOutput"),
        "exit_code": item.get("exitCode"),
    }
    heard = codex.item_activity(stage, plain)
    if kind == "commandExecution" and item.get("status") == "declined":
        heard = (stream.tool_result("refused", failed=True),)
    state = structs.replace(state, error=None, waiting=None, heard=heard)
    if kind == "agentMessage" and stage == "item.completed":
        return structs.replace(state, claim=as_text(item.get("text")))
    if kind == "fileChange":
        return structs.replace(state, patches=_patches_after(state.patches, stage, item))
    return state


def _patches_after(patches: Patches, stage: str, item: Record) -> Patches:
    """The patches that are under way after an item of one has begun or ended."""
    item_id = as_text(item.get("id"))
    others = {key: paths for key, paths in patches.items() if key != item_id}
    if stage == "item.completed":
        return others
    paths = (*patches.get(item_id, ()), *changed_paths(as_list(item.get("changes"))))
    return {**others, item_id: tuple(dict.fromkeys(paths))}


def _on_turn_end(state: State, turn: Record) -> State:
    """The end of the turn is the end of the work."""
    state = structs.replace(state, turn="", waiting=None, over=True)
    if turn.get("status") == "completed":
        return structs.replace(state, completed=True, error=None)
    error = as_mapping(turn.get("error")) or state.error
    return structs.replace(state, error=error or {"message": f"the turn was {turn.get('status')}"})


def answer(state: State, asked: Asks, answer: Allow | Deny) -> Turn:
    """Accept or decline. Declining has no words of its own, so the turn is told the sentence."""
    if isinstance(answer, Allow):
        return Turn(state=state, replies=(_decision(asked.id, "accept"),))
    declined = _decision(asked.id, "decline")
    told = steer(state, f"dos refused that: {answer.sentence}")
    if told is None:
        return Turn(state=state, replies=(declined,))
    return Turn(state=state, replies=(*told.replies, declined))


def steer(state: State, message: str) -> Turn | None:
    """A further input of the turn that runs; the model reads it after its next tool."""
    if not state.turn:
        return None
    params = {
        "threadId": state.session,
        "expectedTurnId": state.turn,
        "input": _text(message),
    }
    line = _line({"id": _LATER, "method": "turn/steer", "params": params})
    return Turn(state=state, replies=(line,))


def is_over(state: StreamState) -> bool:
    """The end of the turn ends its work."""
    return isinstance(state, State) and state.over


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by the end of its turn; without one, by the error that it died with."""
    if state.error is None or state.completed:
        return codex.outcome(state, exit_code, clocks)
    failed = _failure(state, state.error, clocks.ended_at)
    if state.over:
        return stream.conclude(state, exit_code, clocks, final=failed)
    return stream.conclude(state, exit_code, clocks, pending=failed)


def _failure(state: State, error: Record, now: datetime) -> AgentOutcome:
    """The outcome of an error: its type counts before its words."""
    kind, status = _error_info(error)
    message = as_text(error.get("message"))
    judged = provider_errors.classify_failure(
        message, now, status=status, otherwise=Ending.UNKNOWN if kind else Ending.TRANSIENT
    )
    ending = _KINDS.get(kind)
    if ending is None:
        return judged
    found = stream.evidence("codexErrorInfo", kind)
    if ending is not Ending.USAGE_WINDOW:
        return structs.replace(judged, ending=ending, found=found)
    return _usage_limit(state.limits, structs.replace(judged, ending=ending, found=found), now)


def _usage_limit(limits: Record, judged: AgentOutcome, now: datetime) -> AgentOutcome:
    """A usage limit with the window that is used up, by the account's own report."""
    if as_text(limits.get("rateLimitReachedType")).endswith(_DEPLETED):
        return structs.replace(judged, ending=Ending.SPEND_STOP)
    for window in ("primary", "secondary"):
        report = as_mapping(limits.get(window))
        used = stream.as_number(report.get("usedPercent"))
        if used is None or used < 100:
            continue
        resets_at = reset_times.moment_of_epoch(stream.as_number(report.get("resetsAt")), now)
        judged = structs.replace(judged, window=window, resets_at=resets_at or judged.resets_at)
    return judged


def _error_info(error: Record) -> tuple[str, int | None]:
    """The type of an error and its HTTP status; empty and None where it has none."""
    info = error.get("codexErrorInfo")
    if isinstance(info, str):
        return info, None
    for kind, detail in as_mapping(info).items():
        status = stream.as_number(as_mapping(detail).get("httpStatusCode"))
        return as_text(kind), None if status is None else int(status)
    return "", None


def _text(text: str) -> list[Record]:
    return [{"type": "text", "text": text}]


def _decision(identity: str, decision: str) -> str:
    return _result(identity, {"decision": decision})


def _result(identity: str, result: Record) -> str:
    return _line({"id": json.decode(identity), "result": result})


def _line(record: Record) -> str:
    return json.encode(record).decode()
