"""Any agent, as it is used: whatever goes wrong in its code is told of it, and harms nobody else."""

from functools import partial

from msgspec import structs

from dos.agents.adapter import Adapter, Clocks, Launch, Settings, StreamState, by_exit
from dos.errors import BadInput
from dos.records.endings import AgentOutcome, Found
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

    def begin(self) -> StreamState:
        begun = attempt(self._adapter.begin)
        return begun if isinstance(begun, StreamState) else StreamState()

    def on_line(self, state: StreamState, line: str) -> StreamState:
        """Nothing is heard in a line that it cannot read: somebody has to go on reading the rest."""
        after = attempt(partial(self._adapter.on_line, state, line))
        return after if isinstance(after, StreamState) else structs.replace(state, heard=())

    def outcome(self, state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        ended = attempt(partial(self._adapter.outcome, state, exit_code, clocks))
        if isinstance(ended, AgentOutcome):
            return ended
        why = ended.why if isinstance(ended, Unknown) else f"{type(ended).__name__} is no AgentOutcome"
        return AgentOutcome(ending=by_exit(exit_code, clocks), found=Found(field="outcome", raw=why))
