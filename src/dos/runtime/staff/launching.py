"""Runs an agent on a unit, listens to it, and says how it ended."""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import structs

from dos.agents.adapter import Adapter, Clocks, Waiting
from dos.config.tables import Config
from dos.journal.engine_events import AgentWaiting, AgentWentOn
from dos.journal.events import Fact
from dos.plans.limits import budget
from dos.runtime import running
from dos.runtime.effects import Ended, RunAgent
from dos.runtime.running import Limits, Ran, Why
from dos.runtime.staff.candidates import Employed
from dos.sources.git import Git

TELL_SECONDS = 1.0  # between two looks at what is to be written down, or at whether a person has said to stop


def run(
    effect: RunAgent,
    employed: Employed,
    config: Config,
    *,
    prompt: str,
    environment: dict[str, str],
    log: Path,
    is_lost: Callable[[], bool],
    is_halted: Callable[[], bool],
    tell: Callable[[Fact], None],
) -> Ended:
    adapter, workers = employed.adapter, config.workers
    launch = adapter.launch(prompt, structs.replace(employed.settings, max_usd=_least(employed, effect)))
    listening = Listening(adapter, effect, tell, is_lost, is_halted)
    tree = Git(Path(effect.worktree.path))
    ran = running.run(
        launch.argv,
        cwd=tree.tree,
        environment={**environment, **launch.environment, **employed.agent.environment},
        limits=Limits(
            wall_seconds=workers.wall_seconds,
            silence_seconds=workers.silence_seconds,
            idle_seconds=workers.idle_seconds or float("inf"),
        ),
        feed=launch.stdin,
        log=log,
        stopped=listening.is_to_stop,
        heard=listening.hear,
        changing=lambda: (tree.commit_of("HEAD"), tuple(tree.dirty_paths())),
    )
    outcome = adapter.outcome(ran.lines, ran.exit_code, _clocks(ran))
    # Some programs do not say which model it was.
    used = tuple(structs.replace(each, model=each.model or employed.settings.model) for each in outcome.usage)
    outcome = structs.replace(outcome, usage=used)
    cost = budget.price(outcome.usage, config.prices)
    return Ended(outcome=outcome, exit_code=ran.exit_code, seconds=ran.seconds, cost_usd=cost)


def _least(employed: Employed, effect: RunAgent) -> float | None:
    return min((each for each in (employed.settings.max_usd, effect.max_usd) if each is not None), default=None)


def _clocks(ran: Ran) -> Clocks:
    return Clocks(
        ended_at=datetime.now().astimezone(),
        silent=ran.why is Why.SILENT,
        overtime=ran.why is Why.OVERTIME,
        idle=ran.why is Why.IDLE,
        stopped=ran.why is Why.STOPPED,
    )


class Listening:
    """What an agent's stream says while it runs. Lines come from a thread; the journal is written by its owner's."""

    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        tell: Callable[[Fact], None],
        is_lost: Callable[[], bool],
        is_halted: Callable[[], bool],
    ) -> None:
        self._adapter = adapter
        self._who = {"run_id": effect.run_id, "lane": effect.lease.lane, "unit": effect.unit.name}
        self._tell = tell
        self._is_lost = is_lost
        self._is_halted = is_halted
        self._lock = threading.Lock()
        self._waiting: Waiting | None = None
        self._told: Waiting | None = None
        self._looked = time.monotonic()

    def hear(self, line: str) -> None:
        for heard in self._adapter.parse(line):
            with self._lock:
                self._waiting = heard if isinstance(heard, Waiting) else None

    def is_to_stop(self) -> bool:
        if self._is_lost():
            return True
        now = time.monotonic()
        if now - self._looked < TELL_SECONDS:
            return False
        self._looked = now
        self._tell_of_waiting()
        return self._is_halted()

    def _tell_of_waiting(self) -> None:
        with self._lock:
            waiting = self._waiting
        if waiting and self._told is None:
            self._tell(AgentWaiting(**self._who, ending=waiting.ending, detail=waiting.text))
        elif self._told and waiting is None:
            self._tell(AgentWentOn(**self._who))
        self._told = waiting
