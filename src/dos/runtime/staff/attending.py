"""Beside an agent that runs: hears what it says of its provider and of what it uses, and what people say of its run."""

import threading
from collections.abc import Callable

from dos.agents.adapter import Adapter, Used, Waiting
from dos.agents.tallying import Tally
from dos.errors import Fenced, StoreFailed
from dos.journal.engine_events import AgentWaiting, AgentWentOn, HaltRequested
from dos.journal.events import Fact
from dos.journal.store import Store
from dos.runtime.effects import RunAgent

LOOK_SECONDS = 1.0
LEAVE_SECONDS = 2.0  # for a look that is under way


class Attendant(threading.Thread):
    """A thread with a journal of its own: while that is away, somebody else has to see whether the lease is lost."""

    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        open_store: Callable[[], Store],
        judge: Callable[[Tally], str],
        *,
        heeded: int = 0,
    ) -> None:
        """`judge` says of what was used why it is too much; events of the run up to `heeded` were heard already."""
        super().__init__(name="attendant", daemon=True)
        self.halted = threading.Event()
        self.overspent = ""
        self.tally = Tally()
        self.heeded = heeded
        self._adapter = adapter
        self._fence = effect.own.fence
        self._who = {"run_id": effect.run_id, "lane": effect.own.lane, "unit": effect.unit.name}
        self._open_store = open_store
        self._judge = judge
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._waiting: Waiting | None = None
        self._told: Waiting | None = None

    def hear(self, line: str) -> None:
        """From the thread that reads what the agent prints."""
        for heard in self._adapter.parse(line):
            with self._lock:
                self._waiting = heard if isinstance(heard, Waiting) else None
            if isinstance(heard, Used):
                self.tally.add(heard)
                self.overspent = self._judge(self.tally)

    def leave(self) -> None:
        self._done.set()
        self.join(LEAVE_SECONDS)

    def run(self) -> None:
        while not self._done.is_set():
            try:
                with self._open_store() as store:
                    while not self._done.wait(LOOK_SECONDS):
                        self._look(store)
                    self._look(store)  # it may have gone on, and ended, since the last
            except Fenced:
                return  # who lost the lane has nothing to say about it any more
            except StoreFailed:
                self._done.wait(LOOK_SECONDS)  # then the journal is opened anew

    def _look(self, store: Store) -> None:
        stream = f"run/{self._who['run_id']}"
        for event in store.load(stream, after=self.heeded):
            self.heeded = event.ver
            if event.kind == HaltRequested.kind:
                self.halted.set()
        with self._lock:
            waiting = self._waiting
        if waiting and self._told is None:
            fact: Fact = AgentWaiting(**self._who, ending=waiting.ending, detail=waiting.text)
            store.record(stream, fact, fence=self._fence)
        elif self._told and waiting is None:
            store.record(stream, AgentWentOn(**self._who), fence=self._fence)
        self._told = waiting
