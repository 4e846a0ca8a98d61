"""The agents by name, our own and those of other packages. Each is imported when it is used."""

from functools import partial
from importlib import import_module
from typing import cast

from msgspec import structs

from dos import plugins
from dos.agents.adapter import (
    Adapter,
    AgentOutcome,
    Clocks,
    Found,
    Launch,
    Settings,
    StreamState,
    by_exit,
)
from dos.agents.line_adapter import Folded
from dos.errors import BadInput
from dos.unknown import Unknown, call_or_unknown


class Guarded:
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
            ending=by_exit(exit_code, clocks), found=Found(field="outcome", raw=why)
        )


NAMES = ("claude_code", "codex", "gemini", "opencode", "command", "scripted")
CONFIGURED = ("command", "scripted")  # what [workers] command is for
_TEXTS = ("name", "vendor", "program")
_CALLED = ("launch", "begin", "on_line", "outcome")
_CALLED_BY_LINES = ("launch", "parse", "outcome")


def names() -> list[str]:
    """What there is, without loading it."""
    return [
        *NAMES,
        *(name for name in plugins.installed_names(plugins.AGENTS) if name not in NAMES),
    ]


def knows(name: str) -> bool:
    return name in NAMES or name in plugins.installed_names(plugins.AGENTS)


def find(name: str) -> Adapter:
    """The agent of that name, as it is used; BadInput when there is none, or when it is of no use."""
    if name in NAMES:
        return Guarded(cast(Adapter, import_module(f"dos.agents.{name}")))
    for _, found in plugins.load(plugins.AGENTS, only=name, flaw=_flaw):
        return Guarded(found if _is_fold(found) else Folded(found))
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
    called = _CALLED if _is_fold(loaded) else _CALLED_BY_LINES
    wrong += [member for member in called if not callable(getattr(loaded, member, None))]
    tested = getattr(loaded, "tested", None)
    if not (
        isinstance(tested, tuple)
        and len(tested) == 2
        and all(isinstance(each, str) for each in tested)
    ):
        wrong.append("tested")
    return f"has no usable {', '.join(wrong)}" if wrong else ""
