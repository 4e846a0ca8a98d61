"""Watch a running agent: fold its lines in one thread, and poll the journal in another."""

from collections.abc import Callable, Sequence

from dos.agents.adapter import Adapter, Settings, StreamState, Usage, Waiting
from dos.agents.io.halt_listener import HaltListener
from dos.fleet.effects import RunAgent
from dos.journal.events.limits import AgentWaiting, AgentWentOn
from dos.journal.store import Store
from dos.machine.streams import ProgramInput


class AgentMonitor(HaltListener):
    """Watches one agent: folds its lines, checks its budget, and records when it has to wait."""

    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        judge: Callable[[Sequence[Usage]], str],
        *,
        open_store: Callable[[], Store],
        is_lost: Callable[[], bool],
        last_version: int = 0,
    ) -> None:
        """`judge` returns why the usage so far is too much; empty: it is not."""
        super().__init__(
            effect.run_id, open_store=open_store, is_lost=is_lost, last_version=last_version
        )
        self.overspent = ""
        self.state = adapter.begin()
        self._adapter = adapter
        self._fence = effect.run_lease.fence
        self._identity = {
            "run_id": effect.run_id,
            "lane": effect.run_lease.lane,
            "unit": effect.unit.name,
        }
        self._judge_usage = judge
        self._reported_waiting: Waiting | None = None

    def on_line(self, line: str) -> None:
        """Fold one line. Called from the thread that reads the agent's output."""
        self.take_in(self._adapter.on_line(self.state, line))

    def take_in(self, state: StreamState) -> None:
        """Keep what the agent has reported so far, and check its budget where usage is new."""
        before = self.state
        self.state = state
        if state.counted is not before.counted or state.parts is not before.parts:
            self.overspent = self._judge_usage(state.usage)

    def begin(self, prompt: str, settings: Settings) -> ProgramInput | None:  # noqa: ARG002
        """Say the first words, where the agent is talked with, and return what it is told."""
        return None

    def is_asking_person(self) -> bool:
        """Whether the agent waits for a person, so that its silence says nothing."""
        return False

    def is_over(self) -> bool:
        """Whether the agent's work has ended, so that it has to exit."""
        return False

    def poll(self, store: Store) -> None:
        """Read the run's events, and record when the agent starts or stops to wait."""
        super().poll(store)
        waiting = self.state.waiting
        if waiting and self._reported_waiting is None:
            fact = AgentWaiting(**self._identity, ending=waiting.ending, detail=waiting.text)
            store.record(self._stream, fact, fence=self._fence)
        elif self._reported_waiting and waiting is None:
            store.record(self._stream, AgentWentOn(**self._identity), fence=self._fence)
        self._reported_waiting = waiting
