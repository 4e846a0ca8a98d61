"""Runs an agent on a unit, listens to it, and says how it ended."""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from math import inf
from pathlib import Path

from msgspec import structs

from dos.agents.adapter import Adapter, Clocks, Ending, Settings, Usage, Waiting
from dos.agents.io.candidates import ConfiguredAgent
from dos.agents.io.halt_listener import HaltListener
from dos.agents.logins import Credentials
from dos.config.schema import Config
from dos.fleet.effects import AgentResult, RunAgent
from dos.git.repository import Reader
from dos.journal.events.limits import AgentWaiting, AgentWentOn
from dos.journal.store import Store
from dos.limits import budget
from dos.machine import execute
from dos.machine.execute import EndedBy, Limits, ProcessResult


class AgentMonitor(HaltListener):
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
        """`judge` says of what was used why it is too much."""
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
        self._judge = judge
        self._reported_waiting: Waiting | None = None

    def on_line(self, line: str) -> None:
        """From the thread that reads what the agent prints."""
        before = self.state
        self.state = self._adapter.on_line(before, line)
        if self.state.counted is not before.counted or self.state.parts is not before.parts:
            self.overspent = self._judge(self.state.usage)

    def poll(self, store: Store) -> None:
        super().poll(store)
        waiting = self.state.waiting
        if waiting and self._reported_waiting is None:
            fact = AgentWaiting(**self._identity, ending=waiting.ending, detail=waiting.text)
            store.record(self._stream, fact, fence=self._fence)
        elif self._reported_waiting and waiting is None:
            store.record(self._stream, AgentWentOn(**self._identity), fence=self._fence)
        self._reported_waiting = waiting


class Launcher:
    """Of the agents of one run, one after the other."""

    def __init__(
        self, config: Config, *, is_lost: Callable[[], bool], open_store: Callable[[], Store]
    ) -> None:
        self._workers = config.workers
        self._prices = config.prices
        self._is_lost = is_lost
        self._open_store = open_store
        self._last_version = 0  # of the run's stream, by the attendants of those before

    def run(
        self,
        effect: RunAgent,
        employed: ConfiguredAgent,
        *,
        prompt: str,
        environment: dict[str, str],
        log: Path,
    ) -> AgentResult:
        adapter, model = employed.adapter, employed.settings.model
        launch = adapter.launch(prompt, _start_settings(employed, effect))
        attendant = AgentMonitor(
            adapter,
            effect,
            lambda usage: budget.overspent(
                effect.allowance, _with_model(usage, model), self._prices
            ),
            open_store=self._open_store,
            is_lost=self._is_lost,
            last_version=self._last_version,
        )
        tree = Reader(Path(effect.worktree.path))
        with attendant:
            ran = execute.run(
                launch.argv,
                cwd=tree.tree,
                environment={**environment, **launch.environment, **employed.agent.environment},
                limits=self._limits(effect),
                stdin_text=launch.stdin,
                log=log,
                should_stop=lambda: attendant.must_stop() or bool(attendant.overspent),
                on_line=attendant.on_line,
                snapshot=lambda: (tree.commit_of("HEAD"), tuple(tree.dirty_paths())),
            )
        self._last_version = attendant.last_version
        outcome = adapter.outcome(attendant.state, ran.exit_code, self._clocks(ran, attendant))
        outcome = structs.replace(outcome, usage=_with_model(outcome.usage, model))
        cost = budget.price(outcome.usage, self._prices)
        login = employed.credentials() if outcome.ending is Ending.AUTH else Credentials()
        return AgentResult(
            outcome=outcome,
            exit_code=ran.exit_code,
            seconds=ran.seconds,
            cost_usd=cost,
            login=login,
        )

    def _limits(self, effect: RunAgent) -> Limits:
        workers = self._workers
        return Limits(
            wall_seconds=min(workers.wall_seconds, effect.allowance.wall_seconds or inf),
            silence_seconds=workers.silence_seconds,
            idle_seconds=workers.idle_seconds or inf,
        )

    def _clocks(self, ran: ProcessResult, attendant: AgentMonitor) -> Clocks:
        overspent = (
            attendant.overspent
            if ran.ended_by is EndedBy.STOPPED and not attendant.must_stop()
            else ""
        )
        return Clocks(
            ended_at=datetime.now().astimezone(),
            silent=ran.ended_by is EndedBy.SILENT,
            overtime=ran.ended_by is EndedBy.OVERTIME,
            idle=ran.ended_by is EndedBy.IDLE,
            stopped=ran.ended_by is EndedBy.STOPPED and not overspent,
            overspent=overspent,
        )


def _with_model(usage: Sequence[Usage], model: str) -> tuple[Usage, ...]:
    """With the model that was asked for, where a program does not say which it was."""
    return tuple(structs.replace(each, model=each.model or model) for each in usage)


def _start_settings(employed: ConfiguredAgent, effect: RunAgent) -> Settings:
    given = employed.settings
    start = f"{effect.run_id}/{effect.iteration}.{effect.attempt}"
    return structs.replace(
        given,
        max_usd=min(
            (each for each in (given.max_usd, effect.allowance.usd) if each is not None),
            default=None,
        ),
        directory=effect.worktree.path,
        session=str(uuid.uuid5(uuid.NAMESPACE_OID, start)),
    )
