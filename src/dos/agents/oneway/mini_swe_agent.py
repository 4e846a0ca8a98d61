"""mini-swe-agent: `mini`, text for people while it works, and a trajectory at its end.

It is started through `sh`, which hands it the task as a file and prints what counts of the
trajectory behind a line of its own. What it prints before that is read for people, and for its
retries; it may hold anything that a tool printed.
"""

import re

from msgspec import json, structs

from dos.agents import stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Settings,
    StreamState,
    Usage,
)
from dos.agents.oneway import litellm_errors
from dos.agents.programs import catalog

name = catalog.MINI_SWE_AGENT.name
vendor = catalog.MINI_SWE_AGENT.vendor
program = catalog.MINI_SWE_AGENT.program
tested = catalog.MINI_SWE_AGENT.tested

_MARK = "dos: the trajectory follows"
_COUNTED = (
    "exception_str|exit_status|submission|"
    "instance_cost|prompt_tokens|completion_tokens|cached_tokens"
)
# A string of JSON holds no line break, so no text of the agent can begin a line of the trajectory.
_SCRIPT = (
    'task="$TMPDIR/dos-task.yaml" end="$TMPDIR/dos-trajectory.json"; cat >"$task" || exit; '
    '"$@" -c "$task" -o "$end"; code=$?; echo; echo "' + _MARK + '"; '
    f'grep -E \'^ +"({_COUNTED})": \' "$end" 2>/dev/null; exit $code'
)
_ARGUMENTS = ("--yolo", "--exit-immediately")
_CONFIGURATION = (
    *("-c", "mini.yaml"),
    *("-c", "environment.timeout=1800"),  # seconds for a command: its own default is 30
)
_STEP = re.compile(r"^mini-swe-agent \(step (\d+), \$(\d{1,9}\.\d\d)\):")
_RETRY = re.compile(r"^Retrying \S{1,80} in (\d{1,6}(?:\.\d{1,6})?) seconds? as it raised (.+)")
_FIELD = re.compile(r'^ +"(\w+)": (.+?),?$')
_EXITS = {
    "Submitted": Ending.OK,
    "LimitsExceeded": Ending.BUDGET_CAP,
    "TimeExceeded": Ending.BUDGET_CAP,
}


def launch(prompt: str, settings: Settings) -> Launch:
    """`mini` in its mode without questions; the task is its standard input, as configuration.

    Its own limit of 3 dollars is replaced by that of dos.toml.
    """
    argv = ["sh", "-c", _SCRIPT, "sh", *(settings.command or (program,)), *_ARGUMENTS]
    argv += ["--cost-limit", f"{settings.max_usd or 0:f}"]
    if settings.model:
        argv += ["--model", settings.model]
    task = json.encode({"run": {"task": prompt}}).decode()
    environment = {
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
    }
    return Launch(
        argv=[*argv, *_CONFIGURATION, *settings.arguments], stdin=task, environment=environment
    )


class State(StreamState, frozen=True, kw_only=True):
    """What it has reported so far."""

    is_ended: bool = False  # what follows is its trajectory
    exit_status: str = ""
    error: str = ""  # the message of the exception that ended it
    speaks: bool = False  # the next line is of its model
    input_tokens: int = 0  # of the newest request in the trajectory


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line: of its text, or of the trajectory at its end."""
    state = stream.next_line(state, line)
    if line == _MARK:
        return structs.replace(state, is_ended=True, counted={}, parts={}, exit_status="", error="")
    if state.is_ended:
        return _on_trajectory(state, line)
    step = _STEP.match(line)
    if step:
        state = structs.replace(state, began=True, waiting=None, speaks=True)
        cost_usd = stream.as_amount(float(step[2])) or None
        return stream.add_usage(state, Usage(cost_usd=cost_usd), part="cost")
    retry = _RETRY.match(line)
    if retry:
        waiting = litellm_errors.classify_retry(retry[2], float(retry[1]))
        return stream.with_waiting(state, waiting)
    if state.speaks and line.strip():
        said = line.strip()
        is_fence = said.startswith("```")
        heard = () if is_fence else stream.activity(said)
        return structs.replace(state, speaks=is_fence, heard=heard)
    return state


def _on_trajectory(state: State, line: str) -> State:
    """The state after one field of the trajectory."""
    field = _FIELD.match(line)
    if field is None:
        return state
    try:
        value = json.decode(field[2])
    except ValueError:
        return state
    match field[1]:
        case "exit_status":
            return structs.replace(state, exit_status=stream.as_text(value) or state.exit_status)
        case "exception_str":
            return structs.replace(state, error=stream.as_text(value))
        case "submission":
            return structs.replace(state, claim=stream.as_text(value) or state.claim)
    return _on_usage(state, field[1], value)


def _on_usage(state: State, field: str, value: object) -> State:
    """The state after a field that tells usage: the cost of all, and the tokens of each request."""
    match field:
        case "instance_cost":
            usage = Usage(cost_usd=stream.as_amount(value) or None)
            return stream.add_usage(state, usage, part="cost")
        case "completion_tokens":
            return stream.add_usage(state, Usage(output_tokens=stream.as_count(value)))
        case "prompt_tokens":
            count = stream.as_count(value)
            state = structs.replace(state, input_tokens=count)
            return stream.add_usage(state, Usage(input_tokens=count))
        case "cached_tokens":
            return _move_to_cached(state, stream.as_count(value))
    return state


def _move_to_cached(state: State, count: int) -> State:
    """Count tokens as cached that were counted as input: a request reports them as part of it."""
    cached = min(count, state.input_tokens)
    used = state.counted.get("")
    if used is None or not cached:
        return state
    moved = structs.replace(
        used,
        input_tokens=used.input_tokens - cached,
        cached_tokens=used.cached_tokens + cached,
    )
    return structs.replace(state, counted={**state.counted, "": moved}, input_tokens=0)


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its trajectory; what it waited for counts where it was cut off."""
    final = None
    if state.error:
        final = litellm_errors.classify(state.error, clocks.ended_at)
    elif state.exit_status:
        ending = _EXITS.get(state.exit_status, Ending.UNKNOWN)
        found = stream.evidence("status", state.exit_status)
        final = AgentOutcome(ending=ending, found=found)
    pending = None
    if state.waiting is not None:
        pending = stream.outcome_of_waiting(state.waiting)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)
