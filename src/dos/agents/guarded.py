"""Any agent, as it is used: whatever goes wrong in its code is told of it, and harms nobody else."""

from collections.abc import Sequence
from functools import partial

from dos.agents.adapter import Adapter, Clocks, Heard, Launch, Settings, by_exit
from dos.errors import BadInput
from dos.records.endings import Found, Outcome
from dos.records.unknown import Unknown, attempt


class Guarded:
    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.name, self.vendor, self.program = adapter.name, adapter.vendor, adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        made = attempt(partial(self._adapter.launch, prompt, settings))
        if isinstance(made, Launch):
            return made
        why = made.why if isinstance(made, Unknown) else f"it answered {type(made).__name__} and no Launch"
        raise BadInput(f"the agent {self.name!r} cannot be launched: {why}", hint="Repair the package it came with.")

    def parse(self, line: str) -> tuple[Heard, ...]:
        """Nothing is heard in a line that it cannot read: somebody has to go on reading the rest."""
        heard = attempt(partial(self._adapter.parse, line))
        return heard if isinstance(heard, tuple) else ()

    def outcome(self, lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
        ended = attempt(partial(self._adapter.outcome, lines, exit_code, clocks))
        if isinstance(ended, Outcome):
            return ended
        why = ended.why if isinstance(ended, Unknown) else f"{type(ended).__name__} is no Outcome"
        return Outcome(ending=by_exit(exit_code, clocks), found=Found(field="outcome", raw=why))
