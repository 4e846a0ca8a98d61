"""Runs an agent on a unit, listens to it, and says how it ended."""

import threading
from collections.abc import Callable
from datetime import datetime
from math import inf
from pathlib import Path

from msgspec import structs

from dos.agents.adapter import Adapter, Clocks, Waiting
from dos.config.tables import Config
from dos.errors import Fenced, StoreFailed
from dos.journal.engine_events import AgentWaiting, AgentWentOn, HaltRequested
from dos.journal.events import Fact
from dos.journal.store import Store
from dos.plans.limits import budget
from dos.runtime import running
from dos.runtime.effects import Ended, RunAgent
from dos.runtime.running import Limits, Ran, Why
from dos.runtime.staff.candidates import Employed
from dos.sources.git import Git

LOOK_SECONDS = 1.0
LEAVE_SECONDS = 2.0  # for a look that is under way


def run(
    effect: RunAgent,
    employed: Employed,
    config: Config,
    *,
    prompt: str,
    environment: dict[str, str],
    log: Path,
    is_lost: Callable[[], bool],
    open_store: Callable[[], Store],
) -> Ended:
    adapter, workers = employed.adapter, config.workers
    launch = adapter.launch(prompt, structs.replace(employed.settings, max_usd=_least(employed, effect)))
    attendant = Attendant(adapter, effect, open_store)
    attendant.start()
    tree = Git(Path(effect.worktree.path))
    try:
        ran = running.run(
            launch.argv,
            cwd=tree.tree,
            environment={**environment, **launch.environment, **employed.agent.environment},
            limits=Limits(
                wall_seconds=min(workers.wall_seconds, effect.left.wall_seconds or inf),
                silence_seconds=workers.silence_seconds,
                idle_seconds=workers.idle_seconds or inf,
            ),
            feed=launch.stdin,
            log=log,
            stopped=lambda: is_lost() or attendant.halted.is_set(),
            heard=attendant.hear,
            changing=lambda: (tree.commit_of("HEAD"), tuple(tree.dirty_paths())),
        )
    finally:
        attendant.leave()
    outcome = adapter.outcome(ran.lines, ran.exit_code, _clocks(ran))
    # Some programs do not say which model it was.
    used = tuple(structs.replace(each, model=each.model or employed.settings.model) for each in outcome.usage)
    outcome = structs.replace(outcome, usage=used)
    cost = budget.price(outcome.usage, config.prices)
    return Ended(outcome=outcome, exit_code=ran.exit_code, seconds=ran.seconds, cost_usd=cost)


def _least(employed: Employed, effect: RunAgent) -> float | None:
    return min((each for each in (employed.settings.max_usd, effect.left.usd) if each is not None), default=None)


def _clocks(ran: Ran) -> Clocks:
    return Clocks(
        ended_at=datetime.now().astimezone(),
        silent=ran.why is Why.SILENT,
        overtime=ran.why is Why.OVERTIME,
        idle=ran.why is Why.IDLE,
        stopped=ran.why is Why.STOPPED,
    )


class Attendant(threading.Thread):
    """Beside an agent that runs: writes down when it waits for its provider, and hears when a person stops its run.

    A thread with a journal of its own: when that is away, nobody may wait for it who has to see that a lease is lost.
    """

    def __init__(self, adapter: Adapter, effect: RunAgent, open_store: Callable[[], Store]) -> None:
        super().__init__(name="attendant", daemon=True)
        self.halted = threading.Event()
        self._adapter = adapter
        self._fence = effect.lease.fence
        self._who = {"run_id": effect.run_id, "lane": effect.lease.lane, "unit": effect.unit.name}
        self._open_store = open_store
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._waiting: Waiting | None = None
        self._told: Waiting | None = None
        self._heeded = 0  # of the run's stream

    def hear(self, line: str) -> None:
        """From the thread that reads what the agent prints."""
        for heard in self._adapter.parse(line):
            with self._lock:
                self._waiting = heard if isinstance(heard, Waiting) else None

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
        for event in store.load(stream, after=self._heeded):
            self._heeded = event.ver
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
