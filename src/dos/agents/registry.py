"""The agents by name, our own and those of other packages. Each is imported when it is used."""

import re
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import Protocol, cast

from msgspec import field, structs

from dos import plugins
from dos.agents import stream
from dos.agents.adapter import (
    Activity,
    Adapter,
    AgentOutcome,
    Clocks,
    EndingEvidence,
    Launch,
    Settings,
    StreamEvent,
    StreamState,
    Usage,
    UsageReport,
    Waiting,
    ending_by_exit_code,
)
from dos.errors import BadInput
from dos.unknown import Unknown, call_or_unknown

LINES_KEPT = 20_000


class LineAdapter(Protocol):
    name: str
    vendor: str
    program: str
    tested: tuple[str, str]

    def launch(self, prompt: str, settings: Settings) -> Launch: ...

    def parse(self, line: str) -> tuple[StreamEvent, ...]: ...

    def outcome(
        self, lines: Sequence[str], exit_code: int | None, clocks: Clocks
    ) -> AgentOutcome: ...


class LineState(StreamState, frozen=True, kw_only=True):
    """Unlike those of our own it is kept in one place: a copy of so many lines for each line would be dear."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    count: int = 0  # of all lines, also of those that are not kept
    wholes: dict[str, Usage] = field(
        default_factory=dict
    )  # the newest word about all that was used, by model


class FoldedLineAdapter:
    """Such an adapter as a fold."""

    def __init__(self, adapter: LineAdapter) -> None:
        self._adapter = adapter
        self.name, self.vendor, self.program = adapter.name, adapter.vendor, adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        return self._adapter.launch(prompt, settings)

    def begin(self) -> LineState:
        return LineState()

    def on_line(self, state: LineState, line: str) -> LineState:
        state.lines.append(line)
        state = structs.replace(stream.next_line(state, line), count=state.count + 1)
        heard = self._adapter.parse(line)
        for each in heard:
            state = _with(state, each)
        return structs.replace(
            state, heard=tuple(each for each in heard if isinstance(each, Activity | Waiting))
        )

    def outcome(self, state: LineState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """Its last lines may not tell of all that it used: then what was heard as it went does."""
        ended = self._adapter.outcome(list(state.lines), exit_code, clocks)
        if state.count <= LINES_KEPT or not state.usage:
            return ended
        return structs.replace(ended, usage=state.usage)


def _with(state: LineState, heard: StreamEvent) -> LineState:
    if isinstance(heard, Waiting):
        return structs.replace(state, waiting=heard)
    state = structs.replace(state, waiting=None)
    if not isinstance(heard, UsageReport):
        return state
    if heard.whole:
        wholes = {**state.wholes, heard.usage.model: heard.usage}
        return structs.replace(
            state, wholes=wholes, counted=wholes, parts={}
        )  # whatever was counted is in it
    return stream.add_usage(state, heard.usage, part=heard.part or None)


class SafeAdapter:
    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.name, self.vendor, self.program = adapter.name, adapter.vendor, adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        made = call_or_unknown(partial(self._adapter.launch, prompt, settings))
        if isinstance(made, Launch):
            return made
        why = (
            made.why
            if isinstance(made, Unknown)
            else f"it answered {type(made).__name__} and no Launch"
        )
        raise BadInput(
            f"the agent {self.name!r} cannot be launched: {why}",
            hint="Repair the package it came with.",
        )

    def begin(self) -> StreamState:
        begun = call_or_unknown(self._adapter.begin)
        return begun if isinstance(begun, StreamState) else StreamState()

    def on_line(self, state: StreamState, line: str) -> StreamState:
        """Nothing is heard in a line that it cannot read: somebody has to go on reading the rest."""
        after = call_or_unknown(partial(self._adapter.on_line, state, line))
        return after if isinstance(after, StreamState) else structs.replace(state, heard=())

    def outcome(self, state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        ended = call_or_unknown(partial(self._adapter.outcome, state, exit_code, clocks))
        if isinstance(ended, AgentOutcome):
            return ended
        why = (
            ended.why
            if isinstance(ended, Unknown)
            else f"{type(ended).__name__} is no AgentOutcome"
        )
        return AgentOutcome(
            ending=ending_by_exit_code(exit_code, clocks),
            found=EndingEvidence(field="outcome", raw=why),
        )


NAMES = ("claude_code", "codex", "gemini", "opencode", "command", "scripted")
CONFIGURED = ("command", "scripted")  # what [workers] command is for
_TEXTS = ("name", "vendor", "program")
_METHODS = ("launch", "begin", "on_line", "outcome")
_LINE_METHODS = ("launch", "parse", "outcome")


def names() -> list[str]:
    """What there is, without loading it."""
    return [
        *NAMES,
        *(name for name in plugins.installed_names(plugins.AGENTS) if name not in NAMES),
    ]


def is_known(name: str) -> bool:
    return name in NAMES or name in plugins.installed_names(plugins.AGENTS)


def find(name: str) -> Adapter:
    """The agent of that name, as it is used; BadInput when there is none, or when it is of no use."""
    if name in NAMES:
        return SafeAdapter(cast(Adapter, import_module(f"dos.agents.{name}")))
    for _, found in plugins.load(plugins.AGENTS, only=name, flaw=_flaw):
        return SafeAdapter(found if _is_fold(found) else FoldedLineAdapter(found))
    raise BadInput(
        f"there is no agent named {name!r}; the agents are {', '.join(names())}",
        hint="For any program: dos config set workers.command '[\"my-agent\"]', then "
        "dos config set workers.agent command",
    )


def _is_fold(loaded: object) -> bool:
    return hasattr(loaded, "on_line")


def _flaw(loaded: object) -> str:
    """What is missing of an adapter; empty when it can be used."""
    wrong = [member for member in _TEXTS if not isinstance(getattr(loaded, member, None), str)]
    called = _METHODS if _is_fold(loaded) else _LINE_METHODS
    wrong += [member for member in called if not callable(getattr(loaded, member, None))]
    tested = getattr(loaded, "tested", None)
    if not (
        isinstance(tested, tuple)
        and len(tested) == 2
        and all(isinstance(each, str) for each in tested)
    ):
        wrong.append("tested")
    return f"has no usable {', '.join(wrong)}" if wrong else ""


_NUMBER = re.compile(r"(?<![\d.])(\d{1,6}(?:\.\d{1,6}){1,3})(?![\d.]*\d)")


class VersionVerdict(StrEnum):
    TESTED = "tested"
    NEWER = "newer"
    OLDER = "older"
    UNREADABLE = "unreadable"


def judge_version(printed: str, tested: tuple[str, str]) -> VersionVerdict:
    """By what `PROGRAM --version` printed. A bound counts as far as it is written: up to 2.1 holds every 2.1.x."""
    if tested == ("", ""):
        return VersionVerdict.TESTED
    number = _NUMBER.search(printed)
    if not number:
        return VersionVerdict.UNREADABLE
    told, oldest, newest = (_parts(each) for each in (number[1], *tested))
    if told[: len(oldest)] < oldest:
        return VersionVerdict.OLDER
    return VersionVerdict.NEWER if told[: len(newest)] > newest else VersionVerdict.TESTED


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)
