"""Does an agent repeat one tool call, with one result, again and again?"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, json

from dos.fields import BadValue, Positive, Table
from dos.text import show_name

Words = tuple[str, ...]
DIGEST_LENGTH = 16


class ToolStream(Table, frozen=True, kw_only=True):
    """[tool_stream]: when repeated tool calls count as stuck. The agent is only told."""

    repeat_n: Positive = 3
    """Identical calls with identical results in a row that count as REPEATING."""
    stall_n: Positive = 5
    """Identical calls with identical results in a row that count as STALLED."""
    ignore_tools: Words = ()
    """Tools whose repetition says nothing, such as one that polls."""

    def __post_init__(self) -> None:
        if self.stall_n < self.repeat_n:
            raise BadValue(
                ("stall_n",),
                f"stall_n is {self.stall_n}, less than repeat_n, which is {self.repeat_n}",
                "Make stall_n at least repeat_n.",
            )


class State(StrEnum):
    """What the newest calls of a conversation show."""

    ADVANCING = "ADVANCING"
    REPEATING = "REPEATING"
    STALLED = "STALLED"


class Step(Struct, frozen=True, kw_only=True):
    """One tool call, by digests of its arguments and its result."""

    tool: str
    args_digest: str
    result_digest: str = ""  # empty: it has no result


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the conversation moves, and how many calls at its end are the same."""

    state: State
    repeats: int
    tool: str = ""

    @property
    def message(self) -> str:
        """What the agent is told; empty while it advances."""
        if self.state is State.ADVANCING:
            return ""
        return (
            f"dos: {show_name(self.tool)} was called {self.repeats} times in a row with the same"
            " arguments and the same result. Calling it again will not change the result:"
            " try something else, or say what blocks you."
        )


def judge(steps: Sequence[Step], policy: ToolStream = ToolStream()) -> Verdict:
    """Count the identical calls at the end of a stream, oldest first."""
    if not steps:
        return Verdict(state=State.ADVANCING, repeats=0)
    last = steps[-1]
    ignored = {tool.casefold() for tool in policy.ignore_tools}
    if not last.result_digest or last.tool.casefold() in ignored:
        return Verdict(state=State.ADVANCING, repeats=0, tool=last.tool)
    repeats = 0
    for step in reversed(steps):
        if _identity(step) != _identity(last):
            break
        repeats += 1
    state = State.ADVANCING
    if repeats >= policy.stall_n:
        state = State.STALLED
    elif repeats >= policy.repeat_n:
        state = State.REPEATING
    return Verdict(state=state, repeats=repeats, tool=last.tool)


def args_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the digest of a call: the same for the same tool and arguments in any order."""
    return _digest(_encode({"tool": tool, "input": dict(arguments)}))


def result_digest(result: Any) -> str:
    """Return the digest of a result; a text is taken as it is."""
    if isinstance(result, str):
        return _digest(result.encode("utf-8", "surrogatepass"))
    return _digest(_encode(result))


def _encode(value: Any) -> bytes:
    """Return a value of JSON as bytes, the same for the same names in any order."""
    try:
        return json.encode(value, order="sorted")
    except UnicodeEncodeError:  # half of a character, as JSON may have it: in ASCII it has a form
        from json import dumps

        return dumps(value, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    """The first characters of a SHA-256."""
    from hashlib import sha256  # the policy of this module is part of every dos.toml

    return sha256(content).hexdigest()[:DIGEST_LENGTH]


def _identity(step: Step) -> tuple[str, str, str]:
    """What makes two calls the same."""
    return step.tool.casefold(), step.args_digest, step.result_digest
