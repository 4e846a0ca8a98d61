"""Start the fleet and keep its workers running.

In the foreground it prints what happens, line by line, until Ctrl-C, which lets the workers finish
their work. When its terminal is closed it continues and writes to logs/supervisor.log in the state
directory; `dos down` stops it. After a crash, start it again: it continues from the journal. With
--until-idle it names the units that wait for a person, for time or for one another when it ends,
and the exit code is 3. A unit that failed is on cooldown, also after a restart; --retry ends the
cooldown.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Annotated

from msgspec import Struct, to_builtins

from dos import workspace
from dos.agents.io import candidates, logs
from dos.approval.io import approve
from dos.backlog.io import attempts, survey
from dos.cli.terminal.up_display import EventPrinter, Footer, Terminal, footer_wanted
from dos.config.schema import Config
from dos.doctor.subjects import agents, plans
from dos.errors import BadInput, DosError
from dos.fleet import worker_health
from dos.fleet.io.drive import StoreRetry, check_settings, drive, preload_modules
from dos.fleet.io.reader import FleetReader
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.supervisor import Supervisor, SupervisorExit, SupervisorProcess, SupervisorResult
from dos.journal import streams
from dos.journal.events.fleet import DrainRequested
from dos.machine import process
from dos.report import summary
from dos.report.session import last_start
from dos.sandbox import describe
from dos.sandbox.io import programs
from dos.sandbox.io.probe import probe
from dos.server.io.keeper import ServerKeeper
from dos.text import join_some, slug
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor
from dos.verbs.output import print_stderr
from dos.world import World

EXITS = {"stopped": 0, "already-running": 1, "contract_error": 2, "work-left": 3, "lease-lost": 4}
LONGEST_TICK_SECONDS = 3_600
CHECKS_FOR_START = 100  # of a supervisor in the background, a tenth of a second apart
WRITE_A_PLAN = (
    "Write a plan with a heading such as `## DEMO A1: what to do`; "
    "`dos plan` shows the units that it declares."
)


class Args(Struct, kw_only=True):
    """How many workers to run, how long, and in the foreground or not."""

    target: Annotated[
        int | None, Option(help="number of workers (default: [supervise] target)", metavar="N")
    ] = None
    detach: Annotated[bool, Option(help="run in the background", flags=("-d",))] = False
    plain: Annotated[bool, Option(help="print lines only, without the live table")] = False
    until_idle: Annotated[
        bool, Option(help="stop when no worker runs and no unit can be started")
    ] = False
    retry: Annotated[
        list[str] | None,
        Option(
            help="end the cooldown of these units (without a name: of all)",
            metavar="UNIT",
            may_be_bare=True,
        ),
    ] = None
    service: Annotated[
        str,
        Option(help="started by the system service: approve no changed file", metavar="JOURNAL"),
    ] = ""
    tick: Annotated[
        float, Option(help="longest time between two checks of the fleet", metavar="SECONDS")
    ] = 2.0


def run(args: Args, context: Context) -> Reply:
    """Check settings, agents and plans, then supervise here or in the background.

    Everything that a person has to correct is reported before the first worker is started. As a
    service it uses the settings that were approved or committed, not the file on disk.
    """
    if args.service:
        context.world.workspace = workspace.with_root(context.start_directory)
        context.world.loaded_config = approve.service_settings(
            context.world.workspace, args.service
        )
    config = context.policy
    # A wrong agent is reported now, not at the first unit.
    candidates.check_agents(config, context.world.loaded_config.origins)
    _check_numbers(args)
    check_settings(config)
    _check_sandbox(config)
    warnings = _warn_before_start(context)
    _check_plans(args, context)
    _end_cooldowns(args.retry, context)
    if args.detach:
        return _start_in_background(args, context)
    return _supervise(args, context, warnings)


def _supervise(args: Args, context: Context, warnings: list[str]) -> Reply:
    """Supervise in the foreground until the fleet stops, and reply with the summary."""
    config = context.policy
    preload_modules()
    process.hide_memory(context.world.workspace.state)
    supervisor = _make_supervisor(args, config)
    actor_name = streams.supervisor(slug(supervisor.system))
    effects = SupervisorEffects(context.world.workspace, config, actor=actor_name)
    effects.target()
    if not args.service:
        loaded = context.world.loaded_config
        effects.store_retry.retry_until(lambda: effects.approve(loaded, by=actor()))
    _warn_of_other_clones(context, effects)
    _drain_on_interrupt(effects)
    threading.Thread(target=_warn_of_versions, args=(context, config), daemon=True).start()
    first_position = effects.store.last()
    try:
        printer = EventPrinter(context, first_position)
        with _server(context):
            result = _drive(args, context, supervisor, effects, printer)
    finally:
        effects.close()
    data = {"reason": result.text, "target": supervisor.target}
    if result.exit is SupervisorExit.SECOND:
        return Reply(code=1, text=result.text, data=data)
    retry = StoreRetry(config.leases.ttl_seconds, prove=lambda _doubtful: None, pause=time.sleep)
    made = retry.retry_until(lambda: _summarize(context, supervisor.host, first_position))
    lost_lease = ""
    if result.exit is SupervisorExit.LOST:
        lost_lease = (
            f"dos up ended: {result.text}. Its workers keep running.\nStart it again: dos up"
        )
    return Reply(
        code=EXITS.get(result.exit, 0),
        text="\n" + summary.render(made),
        data=data | {"warnings": warnings} | to_builtins(made),
        stderr=lost_lease,
    )


def _server(context: Context) -> AbstractContextManager[object]:
    """Return what keeps the server of the workspace running beside the fleet."""
    if context.policy.server.off:
        return nullcontext()
    return ServerKeeper(context.world.workspace)


def _drive(
    args: Args,
    context: Context,
    supervisor: Supervisor,
    effects: SupervisorEffects,
    printer: EventPrinter,
) -> SupervisorResult:
    """Run the supervisor with its effects, while events are printed and the table is drawn."""
    performers = effects.performers()
    if "DOS_FAULT_LOG" in os.environ:  # a test kills the supervisor between two effects
        performers = import_module("dos.testing.kill_points").with_kill_points(
            "supervisor", performers
        )
    footer = None
    if footer_wanted(context) and not args.plain:
        footer = Footer(context)
    log = logs.supervisor_log(context.world.workspace.state)
    terminal = Terminal(log, on_close=footer.stop if footer else None)
    terminal.survive_hangup()
    with footer or nullcontext():
        printer.start()
        try:
            return drive(supervisor.supervise(), performers)
        finally:
            printer.stop()


def _make_supervisor(args: Args, config: Config) -> Supervisor:
    """Return the supervisor of this process, with the options before the settings."""
    own = SupervisorProcess(
        host=process.host(),
        system=process.system(),
        pid=os.getpid(),
        sandbox=_active_sandbox(config),
    )
    return Supervisor(
        own,
        target=args.target or config.supervise.target,
        tick_seconds=args.tick,
        until_idle=args.until_idle,
        policy=config.supervise.policy(),
    )


def _check_sandbox(config: Config) -> None:
    """Raise BadInput where the walls that [sandbox] names or requires cannot be put up."""
    missing = programs.missing_program(config.sandbox)
    if missing:
        raise BadInput(missing, hint="Install it, or run: dos config unset sandbox.program")
    if config.sandbox.level == "required" and not config.sandbox.program:
        why = describe.refusal(probe())
        if why:
            raise BadInput(why, hint="`dos doctor` says more.")


def _active_sandbox(config: Config) -> str:
    """Return what walls agents get on this machine."""
    if config.sandbox.is_on:
        return describe.describe_system(config.sandbox, probe())
    return describe.OFF


def _summarize(context: Context, host: str, first_position: int) -> summary.Summary:
    """Summarize the session, from the start of a supervisor before this one if that one crashed."""
    with context.open_reader() as journal:
        start = last_start(journal.load_fleet(), host=host)
        position = start.pos - 1 if start else first_position
        waits = FleetReader(context.world).waits().all_waits()
        return summary.summarize_events(journal.events(position), waits)


def _check_numbers(args: Args) -> None:
    """Raise BadInput for a --target or a --tick out of range."""
    if args.target is not None and args.target < 1:
        raise BadInput(
            f"--target is {args.target}; it must be at least 1",
            hint="For example: dos up --target 2",
        )
    if not 0 < args.tick <= LONGEST_TICK_SECONDS:
        raise BadInput(
            f"--tick is {args.tick:g}; it must be above 0 and at most {LONGEST_TICK_SECONDS}",
            hint="For example: dos up --tick 2",
        )


def _warn_before_start(context: Context) -> list[str]:
    """Warn of what keeps units from being started or judged as written, and return the warnings."""
    world = context.world
    warnings = survey.unofferable_units(world.workspace, context.policy)
    for warning in warnings:
        context.warn(f"warning: {warning}")
    paths = plans.uncommitted_paths(world)
    if paths:
        warning = f"{plans.describe_uncommitted(world, paths)}. {plans.UNCOMMITTED_WHY}"
        context.warn(f"warning: {warning} Commit: {plans.commit_command(world, paths)}")
        warnings.append(warning)
    for finding in agents.missing_programs(world):
        context.warn(f"warning: {finding.what}. Fix: {finding.fix}")
        warnings.append(finding.what)
    return warnings


def _check_plans(args: Args, context: Context) -> None:
    """Warn where no plan declares a unit.

    A tracker or a program may have none yet; a fleet that stops when idle needs one, so then it is
    an error.
    """
    config = context.policy
    no_units = survey.no_units_message(context.world.workspace, config)
    if not no_units:
        return
    if args.until_idle and config.plans.source == "documents":
        raise BadInput(no_units, hint=WRITE_A_PLAN)
    context.warn(f"warning: {no_units}; the fleet waits until one does. {WRITE_A_PLAN}")


def _end_cooldowns(words: list[str] | None, context: Context) -> None:
    """End the cooldown of the named units; a fleet that already runs can start them at once."""
    if words is None:
        return
    config = context.policy
    all_units = survey.read_units(context.world.workspace, config)
    units = attempts.units_to_clear(all_units, words, context.journal)
    with_lanes = [(unit, worker_health.lane_of(unit, config) or "") for unit in units]
    attempts.clear_units(context.journal, with_lanes, by=actor())
    if units:
        names = join_some([unit.name for unit in units])
        context.warn(f"Cooldown cleared: {names}")
    else:
        context.warn("No unit is on cooldown or waits for an answer")


def _warn_of_other_clones(context: Context, effects: SupervisorEffects) -> None:
    """Warn where a supervisor on another host shares the journal but not a remote."""
    config = effects.config
    if config.workers.remote or not config.store.url.startswith("postgres"):
        return
    for lock in effects.store.leases(locks=True, lapsed=False):
        if lock.lane in streams.supervisor and lock.system != process.system():
            context.warn(
                f"warning: {lock.host} also supervises this fleet, and [workers] remote is not"
                " set: unless both use the same clone, neither sees what the other lands."
                " Set it: dos config set workers.remote origin"
            )


def _warn_of_versions(context: Context, config: Config) -> None:
    """Warn of agent programs in untested versions. In a thread: a program may take seconds."""
    with World(context.world.workspace.root, config=config) as world:
        for finding in agents.untested_versions(world):
            context.warn(f"warning: {finding.what}. {finding.why}")


def _start_in_background(args: Args, context: Context) -> Reply:
    """Start `dos up` as a process of its own, and reply when it holds its lease or has failed."""
    root = context.world.workspace.root
    log = logs.supervisor_log(context.world.workspace.state)
    words = ["up", "--tick", str(args.tick)]
    if args.target:
        words += ["--target", str(args.target)]
    if args.until_idle:
        words.append("--until-idle")
    if args.service:
        words += ["--service", args.service]
    with log.open("ab") as output:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "dos", "--workspace", str(root), *words],
            cwd=root,
            env=process.child_environment(os.environ, root),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    if not _has_started(child, context):
        return Reply(
            code=1,
            text=f"The supervisor did not start; see {log}",
            data={"pid": None, "log": str(log)},
        )
    return Reply(
        text=f"The supervisor runs in the background (process {child.pid}). "
        "`dos status` shows the fleet, `dos down` stops it.",
        data={"pid": child.pid, "log": str(log)},
    )


def _has_started(child: "subprocess.Popen[bytes]", context: Context) -> bool:
    """Wait up to ten seconds until the process holds its lease.

    A process that ended has failed, unless there was nothing to do.
    """
    name = streams.supervisor(process.system())
    with context.open_reader() as journal:
        for _ in range(CHECKS_FOR_START):
            for lease in journal.leases(locks=True):
                if lease.lane == name and lease.pid == child.pid:
                    return True
            if child.poll() is not None:
                return child.returncode in (EXITS["stopped"], EXITS["work-left"])
            journal.wait(journal.last(), 0.1)
    return False


def _drain_on_interrupt(effects: SupervisorEffects) -> None:
    """Drain at the first Ctrl-C; at the second, leave the workers to the next supervisor."""
    is_draining = threading.Event()

    def request_drain() -> None:
        """Record the drain request, waiting for a journal that is away for a moment."""
        request = DrainRequested(reason="interrupted")
        key = f"interrupted/{os.getpid()}.{time.time_ns()}"
        try:
            effects.store_retry.retry_until(
                lambda: effects.store.record(streams.FLEET, request, key=key)
            )
        except DosError as error:
            print_stderr(f"error: the drain request cannot be recorded: {error}")

    def on_signal(_number: int, _frame: object) -> None:
        """Request a drain the first time, and raise KeyboardInterrupt the second time."""
        if is_draining.is_set():
            raise KeyboardInterrupt
        is_draining.set()
        # Not in the handler itself: it may have interrupted a transaction of this very store.
        threading.Thread(target=request_drain, daemon=True).start()
        print_stderr(
            "draining: workers finish their current work; Ctrl-C again leaves them running"
        )

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
