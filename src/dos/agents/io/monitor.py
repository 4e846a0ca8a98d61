"""Beside an agent that runs: hears what it says of its provider and of what it uses, and what people say of its run."""

from collections.abc import Callable, Sequence

from dos.agents.adapter import Adapter, Usage, Waiting
from dos.agents.io.halt_listener import HaltListener
from dos.fleet.effects import RunAgent
from dos.journal.events.limits import AgentWaiting, AgentWentOn
from dos.journal.store import Store


class Attendant(HaltListener):
    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        judge: Callable[[Sequence[Usage]], str],
        *,
        open_store: Callable[[], Store],
        is_lost: Callable[[], bool],
        heeded: int = 0,
    ) -> None:
        """`judge` says of what was used why it is too much."""
        super().__init__(effect.run_id, open_store=open_store, is_lost=is_lost, heeded=heeded)
        self.overspent = ""
        self.state = adapter.begin()
        self._adapter = adapter
        self._fence = effect.own.fence
        self._who = {"run_id": effect.run_id, "lane": effect.own.lane, "unit": effect.unit.name}
        self._judge = judge
        self._told: Waiting | None = None

    def hear(self, line: str) -> None:
        """From the thread that reads what the agent prints."""
        before = self.state
        self.state = self._adapter.on_line(before, line)
        if self.state.counted is not before.counted or self.state.parts is not before.parts:
            self.overspent = self._judge(self.state.usage)

    def look(self, store: Store) -> None:
        super().look(store)
        waiting = self.state.waiting
        if waiting and self._told is None:
            fact = AgentWaiting(**self._who, ending=waiting.ending, detail=waiting.text)
            store.record(self._stream, fact, fence=self._fence)
        elif self._told and waiting is None:
            store.record(self._stream, AgentWentOn(**self._who), fence=self._fence)
        self._told = waiting
