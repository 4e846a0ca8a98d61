"""Run an agent on a unit, watch its output and budget, and return how it ended."""

import shutil
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from dos.agents import registry
from dos.agents.adapter import Adapter, AgentOutcome, Clocks, Ending, Launch, Settings, Usage
from dos.agents.io import hooked_home
from dos.agents.io.agent_monitor import AgentMonitor
from dos.agents.io.candidates import ConfiguredAgent
from dos.agents.io.conversation_monitor import ConversationMonitor
from dos.agents.io.home import PrivateHome
from dos.agents.io.hook_monitor import HookedMonitor, Memory
from dos.agents.logins import Credentials
from dos.agents.programs import acp_programs, catalog
from dos.agents.registry import SafeConversation
from dos.config.schema import Config
from dos.fleet.asking_people import Judge
from dos.fleet.effects import AgentResult, RunAgent
from dos.journal.store import Store
from dos.limits import budget
from dos.machine import commands, execute
from dos.machine.execute import EndedBy, Limits, Output, ProcessResult
from dos.sandbox import refusals
from dos.sandbox.walls import Walls
from dos.unknown import Unknown

# Some programs need seconds to start, and more while others of them start.
VERSION_SECONDS = 30.0
PROGRESS_SECONDS = 60.0  # how often an agent's commits are looked at while it works


class Asking(Struct, frozen=True, kw_only=True):
    """Who answers an agent that asks, and where: a socket for its hooks; None: it has none."""

    judge: Judge
    remember: Memory
    socket: Path | None


class Launcher:
    """Starts the agents of one run, one after the other."""

    def __init__(
        self, config: Config, *, is_lost: Callable[[], bool], open_store: Callable[[], Store]
    ) -> None:
        self._workers = config.workers
        self._prices = config.prices
        self._answer_seconds = config.enforcement.answer_seconds
        self._is_lost = is_lost
        self._open_store = open_store
        self._versions: dict[str, str] = {}  # of agent programs, by their names
        self._last_version = 0  # of the run's stream, as read by the monitors of earlier agents

    def run(  # noqa: PLR0913
        self,
        effect: RunAgent,
        configured: ConfiguredAgent,
        *,
        prompt: str,
        environment: dict[str, str],
        home: PrivateHome,
        log: Path,
        snapshot: Callable[[], object],
        judge: Judge,
        remember: Memory,
        walls: Walls | None = None,
    ) -> AgentResult:
        """Run the agent until it ends or has to be ended, and return how it ended.

        It is ended when a time limit passes, its allowance is used up, its run is halted, or the
        lease is lost. `snapshot` returns what git shows of its work; an agent that does not change
        that for `[workers] idle_seconds` is ended too. `judge` says whether it may use a tool, if
        it asks, and `remember` is told which it has used. `walls` say what it may touch.
        """
        adapter, model = configured.adapter, configured.settings.model
        allowance = _start_allowance(configured, effect)
        settings = _start_settings(configured, effect, allowance)
        launch = adapter.launch(prompt, settings)

        def overspent(usage: Sequence[Usage]) -> str:
            return budget.overspent(allowance, _with_model(usage, model), self._prices)

        def should_stop() -> bool:
            return monitor.must_stop() or bool(monitor.overspent)

        socket = None
        if hooked_home.can_ask(adapter.name, walls):
            home = hooked_home.wire_home(home, adapter.name, Path(effect.worktree.path))
            socket = home.temporary / hooked_home.SOCKET_NAME
        asking = Asking(judge=judge, remember=remember, socket=socket)
        monitor = self._monitor(adapter, effect, overspent, asking)
        with monitor:
            result = execute.run(
                launch.argv,
                cwd=Path(effect.worktree.path),
                environment=_variables(environment, launch, configured, home),
                limits=self._limits(effect, monitor, should_stop, snapshot),
                stdin=monitor.begin(prompt, settings) or launch.stdin,
                output=Output(log=log, on_line=monitor.on_line),
                walls=walls,
            )
        self._last_version = monitor.last_version
        ended = self._ended(configured, monitor, result)
        return structs.replace(
            ended,
            version=self._version(configured),
            refused=refusals.name_refusal("", result.lines, walls),
        )

    def _monitor(
        self,
        adapter: Adapter,
        effect: RunAgent,
        overspent: Callable[[Sequence[Usage]], str],
        asking: Asking,
    ) -> AgentMonitor:
        """What watches the agent, and answers it where it can ask."""
        journal: dict[str, Any] = {
            "open_store": self._open_store,
            "is_lost": self._is_lost,
            "last_version": self._last_version,
        }
        if isinstance(adapter, SafeConversation):
            return ConversationMonitor(
                adapter,
                effect,
                overspent,
                asking.judge,
                answer_seconds=self._answer_seconds,
                **journal,
            )
        if asking.socket is not None:
            return HookedMonitor(
                adapter,
                effect,
                overspent,
                asking.judge,
                asking.remember,
                asking.socket,
                answer_seconds=self._answer_seconds,
                **journal,
            )
        return AgentMonitor(adapter, effect, overspent, **journal)

    def _ended(
        self, configured: ConfiguredAgent, monitor: AgentMonitor, result: ProcessResult
    ) -> AgentResult:
        """How the agent ended, by its exit code and the lines that it printed."""
        clocks = _clocks(result, monitor)
        outcome = configured.adapter.outcome(monitor.state, result.exit_code, clocks)
        usage = _with_model(outcome.usage, configured.settings.model)
        outcome = structs.replace(outcome, usage=usage)
        return AgentResult(
            outcome=outcome,
            exit_code=result.exit_code,
            seconds=result.seconds,
            cost_usd=budget.price(outcome.usage, self._prices),
            login=_credentials_after(outcome, configured),
        )

    def _version(self, configured: ConfiguredAgent) -> str:
        """The version of the agent's program; empty where it is not known.

        It is asked until it has answered once. A program that the user wrote is not asked: it may
        take `--version` for work. Nor is an interpreter that is started with the program.
        """
        adapter = configured.adapter
        known = catalog.known_agent(adapter.name)
        if known is not None and not known.prints_version:
            return ""
        if adapter.name in (*registry.CONFIGURED, acp_programs.ANY):
            return ""
        program, *others = configured.settings.command or (adapter.program,)
        path = shutil.which(program)
        if path is None or others:
            return ""
        if program not in self._versions:
            version = commands.program_version(path, VERSION_SECONDS)
            if isinstance(version, Unknown):
                return ""
            self._versions[program] = version
        return self._versions[program]

    def _limits(
        self,
        effect: RunAgent,
        monitor: AgentMonitor,
        should_stop: Callable[[], bool],
        snapshot: Callable[[], object],
    ) -> Limits:
        """The limits of dos.toml, with less time where the budget leaves less."""
        workers = self._workers
        return Limits(
            wall_seconds=min(workers.wall_seconds, effect.allowance.wall_seconds or inf),
            silence_seconds=workers.silence_seconds,
            idle_seconds=workers.idle_seconds or inf,
            should_stop=should_stop,
            is_waiting=monitor.is_asking_person,
            is_over=monitor.is_over,
            snapshot=snapshot,
            snapshot_seconds=PROGRESS_SECONDS,
        )


def _credentials_after(outcome: AgentOutcome, configured: ConfiguredAgent) -> Credentials:
    """The fingerprint of the login that failed; an empty one after any other ending."""
    if outcome.ending is Ending.AUTH:
        return configured.credentials()
    return Credentials()


def _variables(
    environment: dict[str, str], launch: Launch, configured: ConfiguredAgent, home: PrivateHome
) -> dict[str, str]:
    """All variables of a start: no setting replaces one of the private home."""
    return environment | launch.environment | configured.agent.environment | home.variables


def _clocks(result: ProcessResult, monitor: AgentMonitor) -> Clocks:
    """Which limit ended the agent. A halt or a lost lease counts before the budget."""
    was_stopped = result.ended_by is EndedBy.STOPPED
    overspent = ""
    if was_stopped and not monitor.must_stop():
        overspent = monitor.overspent
    return Clocks(
        ended_at=datetime.now().astimezone(),
        silent=result.ended_by is EndedBy.SILENT,
        overtime=result.ended_by is EndedBy.OVERTIME,
        idle=result.ended_by is EndedBy.IDLE,
        stopped=was_stopped and not overspent,
        overspent=overspent,
    )


def _with_model(usages: Sequence[Usage], model: str) -> tuple[Usage, ...]:
    """The usages, with the requested model where the program does not name one."""
    return tuple(structs.replace(usage, model=usage.model or model) for usage in usages)


def _start_allowance(configured: ConfiguredAgent, effect: RunAgent) -> budget.Allowance:
    """What the budgets leave for this start, at most `[agents.NAME] max_usd`.

    Few programs keep to a cap by themselves; what this start may cost was reserved by it.
    """
    caps = [configured.settings.max_usd, effect.allowance.usd]
    usd = min((cap for cap in caps if cap is not None), default=None)
    return structs.replace(effect.allowance, usd=usd)


def _start_settings(
    configured: ConfiguredAgent, effect: RunAgent, allowance: budget.Allowance
) -> Settings:
    """The agent's settings with what is special to this start."""
    start = f"{effect.run_id}/{effect.iteration}.{effect.attempt}"
    return structs.replace(
        configured.settings,
        max_usd=allowance.usd,
        directory=effect.worktree.path,
        session=str(uuid.uuid5(uuid.NAMESPACE_OID, start)),
    )
