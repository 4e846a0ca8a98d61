"""The agents by name, built in and from other packages. An adapter is imported when it is used.

Adapters of other packages are found by the entry point group `dos.agents`. Every adapter is
wrapped, so that an error in it cannot end a worker.
"""

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
    Adapter,
    AgentOutcome,
    Clocks,
    EndingEvidence,
    Heard,
    Launch,
    Settings,
    StreamEvent,
    StreamState,
    Usage,
    UsageReport,
    Waiting,
    ending_by_exit_code,
)
from dos.agents.conversation import Asks, Conversation, Turn
from dos.agents.programs import acp_programs
from dos.errors import BadInput
from dos.permission.ask import Allow, Deny
from dos.unknown import Unknown, call_or_unknown

LINES_KEPT = 20_000
# The built-in adapters that have a module of their own.
ADAPTER_MODULES = {
    "claude_code": "dos.agents.claude_code",
    "codex": "dos.agents.codex",
    "gemini": "dos.agents.gemini",
    "opencode": "dos.agents.opencode",
    "command": "dos.agents.command",
    "scripted": "dos.agents.scripted",
    "pi": "dos.agents.oneway.pi",
    "mini_swe_agent": "dos.agents.oneway.mini_swe_agent",
    "aider": "dos.agents.oneway.aider",
}
_ACP_MODULE = "dos.agents.acp.conversation"
NAMES = (*ADAPTER_MODULES, *acp_programs.BY_NAME, acp_programs.ANY)
CONFIGURED = ("command", "scripted")  # the agents that run [workers] command
# The built-in agents that ask before they act, each with its conversation.
_CONVERSATIONS = {
    "claude_code": "dos.agents.conversations.claude_code",
    "codex": "dos.agents.conversations.codex",
}
# What may be imported when an agent is started.
MODULES = (*ADAPTER_MODULES.values(), *_CONVERSATIONS.values(), _ACP_MODULE)
_TEXTS = ("name", "vendor", "program")
_METHODS = ("launch", "begin", "on_line", "outcome")
_LINE_METHODS = ("launch", "parse", "outcome")
_TALKING_METHODS = ("launch", "open", "converse", "answer", "steer", "is_over", "outcome")
_NUMBER = re.compile(r"(?<![\d.])(\d{1,6}(?:\.\d{1,6}){1,3})(?![\d.]*\d)")


class LineAdapter(Protocol):
    """The older form of an adapter, which other packages may still provide.

    It explains each line by itself, and the outcome from all lines at the end.
    """

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
    """The state of a line adapter, with the lines that its `outcome` needs.

    All states of one program share the same deque: copying 20,000 lines for every line would be
    too slow.
    """

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    count: int = 0  # of all lines, also of those no longer kept
    wholes: dict[str, Usage] = field(default_factory=dict)  # the newest total, by model


class FoldedLineAdapter:
    """A line adapter in the form of `Adapter`."""

    def __init__(self, adapter: LineAdapter) -> None:
        self._adapter = adapter
        self.name = adapter.name
        self.vendor = adapter.vendor
        self.program = adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        return self._adapter.launch(prompt, settings)

    def begin(self) -> LineState:
        return LineState()

    def on_line(self, state: LineState, line: str) -> LineState:
        """The state after one more line. Unlike other adapters it adds the line to both states."""
        state.lines.append(line)
        state = structs.replace(stream.next_line(state, line), count=state.count + 1)
        events = self._adapter.parse(line)
        for event in events:
            state = _after_event(state, event)
        heard = tuple(event for event in events if isinstance(event, Heard))
        return structs.replace(state, heard=heard)

    def outcome(self, state: LineState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """The adapter's outcome. When lines were dropped, the usage is the one counted so far."""
        outcome = self._adapter.outcome(list(state.lines), exit_code, clocks)
        if state.count <= LINES_KEPT or not state.usage:
            return outcome
        return structs.replace(outcome, usage=state.usage)


def _after_event(state: LineState, event: StreamEvent) -> LineState:
    """The state after one event of a line."""
    if isinstance(event, Waiting):
        return structs.replace(state, waiting=event)
    state = structs.replace(state, waiting=None)
    if not isinstance(event, UsageReport):
        return state
    if event.whole:
        # The total includes every step that was counted before it.
        wholes = {**state.wholes, event.usage.model: event.usage}
        return structs.replace(state, wholes=wholes, counted=wholes, parts={})
    return stream.add_usage(state, event.usage, part=event.part or None)


class ConversationAdapter:
    """A conversation in the form of `Adapter`, for those who only read what it printed."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.name = conversation.name
        self.vendor = conversation.vendor
        self.program = conversation.program
        self.tested = conversation.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        return self.conversation.launch(prompt, settings)

    def begin(self) -> StreamState:
        return self.conversation.open("", Settings()).state

    def on_line(self, state: StreamState, line: str) -> StreamState:
        return self.conversation.converse(state, line).state

    def outcome(self, state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        return self.conversation.outcome(state, exit_code, clocks)


class SafeAdapter:
    """An adapter whose exceptions do not reach the worker.

    An adapter may come from another package and meets lines that nobody has seen before. A line
    that it cannot read is skipped; an end that it cannot explain is told by the exit code.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.name = adapter.name
        self.vendor = adapter.vendor
        self.program = adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        """The adapter's command. Raises BadInput when the adapter gives none."""
        launch = call_or_unknown(partial(self._adapter.launch, prompt, settings))
        if isinstance(launch, Launch):
            return launch
        raise BadInput(
            f"agent {self.name!r} cannot be launched: {_why_unusable(launch, 'Launch')}",
            hint="Repair or update the package that provides this agent.",
        )

    def begin(self) -> StreamState:
        state = call_or_unknown(self._adapter.begin)
        if isinstance(state, StreamState):
            return state
        return StreamState()

    def on_line(self, state: StreamState, line: str) -> StreamState:
        """The adapter's state; a line that it cannot read changes nothing."""
        after = call_or_unknown(partial(self._adapter.on_line, state, line))
        if isinstance(after, StreamState):
            return after
        return structs.replace(state, heard=())

    def outcome(self, state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """The adapter's outcome; where it gives none, the one that the exit code tells."""
        outcome = call_or_unknown(partial(self._adapter.outcome, state, exit_code, clocks))
        if isinstance(outcome, AgentOutcome):
            return outcome
        why = _why_unusable(outcome, "AgentOutcome")
        return AgentOutcome(
            ending=ending_by_exit_code(exit_code, clocks),
            found=EndingEvidence(field="outcome", raw=why),
        )


class SafeConversation(SafeAdapter):
    """A conversation whose exceptions do not reach the worker.

    A request that it cannot read or answer stays unanswered, so what was asked is not done.
    """

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(ConversationAdapter(conversation))
        self._conversation = conversation

    def open(self, prompt: str, settings: Settings) -> Turn:
        """The conversation's first lines. Raises BadInput when it gives none."""
        turn = call_or_unknown(partial(self._conversation.open, prompt, settings))
        if isinstance(turn, Turn):
            return turn
        raise BadInput(
            f"agent {self.name!r} cannot be launched: {_why_unusable(turn, 'Turn')}",
            hint="Repair or update the package that provides this agent.",
        )

    def converse(self, state: StreamState, line: str) -> Turn:
        turn = call_or_unknown(partial(self._conversation.converse, state, line))
        if isinstance(turn, Turn):
            return turn
        return Turn(state=structs.replace(state, heard=()))

    def answer(self, state: StreamState, asked: Asks, answer: Allow | Deny) -> Turn:
        turn = call_or_unknown(partial(self._conversation.answer, state, asked, answer))
        if isinstance(turn, Turn):
            return turn
        return Turn(state=state)

    def steer(self, state: StreamState, message: str) -> Turn | None:
        turn = call_or_unknown(partial(self._conversation.steer, state, message))
        if isinstance(turn, Turn):
            return turn
        return None

    def is_over(self, state: StreamState) -> bool:
        return call_or_unknown(partial(self._conversation.is_over, state)) is True


def _why_unusable(answer: object, expected: str) -> str:
    if isinstance(answer, Unknown):
        return answer.why
    return f"it returned {type(answer).__name__} instead of {expected}"


def names() -> list[str]:
    """The names of all agents, built in and installed. Loads none of them."""
    installed = plugins.installed_names(plugins.AGENTS)
    return [*NAMES, *(name for name in installed if name not in NAMES)]


def is_known(name: str) -> bool:
    """Whether there is an agent of this name. Loads none."""
    return name in NAMES or name in plugins.installed_names(plugins.AGENTS)


def find(name: str, settings: Settings = Settings(), *, agent: str = "") -> SafeAdapter:
    """The adapter of this name, safe to use; a SafeConversation where the program can ask.

    Arguments in the settings may be such that a program that can ask does not. `agent` is its name
    in dos.toml, by which the limits of a program are kept that dos does not know. Raises BadInput
    when the adapter is missing or unusable.
    """
    if name in acp_programs.BY_NAME:
        return SafeConversation(import_module(_ACP_MODULE).CONVERSATIONS[name])
    if name == acp_programs.ANY:
        return SafeConversation(import_module(_ACP_MODULE).of_any_program(agent or name))
    if name in _CONVERSATIONS:
        talking = import_module(_CONVERSATIONS[name])
        if talking.talks(settings):
            return SafeConversation(cast(Conversation, talking))
    if name in NAMES:
        return SafeAdapter(cast(Adapter, import_module(ADAPTER_MODULES[name])))
    for _, adapter in plugins.load(plugins.AGENTS, only=name, flaw=_flaw):
        if _talks(adapter):
            return SafeConversation(adapter)
        if not _is_fold(adapter):
            adapter = FoldedLineAdapter(adapter)
        return SafeAdapter(adapter)
    raise BadInput(
        f"there is no agent named {name!r}; the agents are {', '.join(names())}",
        hint="For any program: dos config set workers.command '[\"my-agent\"]', then "
        "dos config set workers.agent command",
    )


def _talks(loaded: object) -> bool:
    """Whether an adapter is a conversation."""
    return hasattr(loaded, "converse")


def _is_fold(loaded: object) -> bool:
    """Whether an adapter has the current form, not the older one of lines."""
    return hasattr(loaded, "on_line")


def _flaw(loaded: object) -> str:
    """What an adapter lacks; empty when it can be used."""
    methods: tuple[str, ...] = _LINE_METHODS
    if _talks(loaded):
        methods = _TALKING_METHODS
    elif _is_fold(loaded):
        methods = _METHODS
    wrong = [member for member in _TEXTS if not isinstance(getattr(loaded, member, None), str)]
    wrong += [member for member in methods if not callable(getattr(loaded, member, None))]
    if not _is_version_range(getattr(loaded, "tested", None)):
        wrong.append("tested")
    if not wrong:
        return ""
    return f"has no usable {', '.join(wrong)}"


def _is_version_range(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return all(isinstance(bound, str) for bound in value)


class VersionVerdict(StrEnum):
    """Whether the tests ran this version of an agent program."""

    TESTED = "tested"
    NEWER = "newer"
    OLDER = "older"
    UNREADABLE = "unreadable"


def judge_version(printed: str, tested: tuple[str, str]) -> VersionVerdict:
    """Compare the output of `PROGRAM --version` with the range of tested versions.

    A bound counts as far as it is written: the newest version "2.1" includes every 2.1.x.
    """
    if tested == ("", ""):
        return VersionVerdict.TESTED
    number = _NUMBER.search(printed)
    if not number:
        return VersionVerdict.UNREADABLE
    installed = _version_parts(number[1])
    oldest = _version_parts(tested[0])
    newest = _version_parts(tested[1])
    if installed[: len(oldest)] < oldest:
        return VersionVerdict.OLDER
    if installed[: len(newest)] > newest:
        return VersionVerdict.NEWER
    return VersionVerdict.TESTED


def _version_parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)
