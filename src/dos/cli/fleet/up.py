"""Start the fleet and keep its workers running.

In the foreground it tells what happens, line by line, until Ctrl-C, which lets the workers finish what they are at.
When its terminal is closed it goes on, and writes to logs/supervisor.log in the state directory; `dos down` stops it.
Start it again after a crash of anything: it goes on from the journal. With --until-idle, units that are left because
they wait for a person, for time or for one another are named at the end, and the exit code says so. A unit that failed
is on cooldown, also after a restart; --retry ends that.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from importlib import import_module
from typing import Annotated

from msgspec import Struct, to_builtins

from dos import workspace
from dos.agents.io import candidates, logs
from dos.approval.io import approve
from dos.backlog.io import attempts, survey
from dos.cli.terminal import footer
from dos.cli.terminal.footer import Terminal
from dos.config.schema import Config
from dos.doctor.subjects import agents, plans
from dos.errors import BadInput, DosError, StoreFailed
from dos.fleet import lane_entries
from dos.fleet.io import startup
from dos.fleet.io.drive import AWAY, StoreRetry, drive
from dos.fleet.io.reader import FleetReader
from dos.fleet.io.startup import check_settings
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.supervisor import Supervisor, SupervisorExit, SupervisorResult
from dos.journal import streams
from dos.journal.events.fleet import DrainRequested
from dos.journal.store import Store
from dos.machine import process
from dos.report import event_lines as story
from dos.report import summary
from dos.report.session_fold import last_start
from dos.text import escape_invisible, join_some, slug
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor, colour_wanted
from dos.verbs.output import print_stderr
from dos.world import World

EXITS = {"stopped": 0, "already-running": 1, "contract_error": 2, "work-left": 3, "lease-lost": 4}
LONGEST_TICK_SECONDS = 3_600
WRITE_A_PLAN = "Write a plan with a heading such as `## DEMO A1: what to do`; `dos plan` shows what it declares."
_COLOURS = {story.GOOD: "\x1b[32m", story.BAD: "\x1b[31m", story.DIM: "\x1b[2m"}


class Args(Struct, kw_only=True):
    target: Annotated[
        int | None, Option(help="how many workers; [supervise] target when not given", metavar="N")
    ] = None
    detach: Annotated[bool, Option(help="run in the background", flags=("-d",))] = False
    plain: Annotated[bool, Option(help="no live table, also on a terminal")] = False
    until_idle: Annotated[
        bool, Option(help="stop when nobody works and nothing is left to offer")
    ] = False
    retry: Annotated[
        list[str] | None,
        Option(
            help="try these units now, without their cooldown; without a name: all",
            metavar="UNIT",
            may_be_bare=True,
        ),
    ] = None
    service: Annotated[
        str,
        Option(help="the system starts it, and no person: it approves nothing", metavar="JOURNAL"),
    ] = ""
    tick: Annotated[float, Option(help="seconds between two looks, at most", metavar="SECONDS")] = (
        2.0
    )


def run(args: Args, context: Context) -> Reply:
    if args.service:
        context.world.workspace = workspace.with_root(context.start_directory)
        context.world.loaded_config = approve.service_settings(
            context.world.workspace, args.service
        )
    config = context.policy
    candidates.check_agents(
        config, context.world.loaded_config.origins
    )  # said now, not at the first unit
    _check_numbers(args)
    check_settings(config)
    for warning in (warnings := survey.unofferable_units(context.world.workspace, config)):
        context.warn(f"warning: {warning}")
    warnings += _uncommitted(context)
    for found in agents.missing_programs(context.world):
        context.warn(f"warning: {found.what}. Fix: {found.fix}")
        warnings.append(found.what)
    _check_plans(args, context)
    _retry(args.retry, context)
    if args.detach:
        return _detached(args, context)
    startup.load()
    supervisor = _supervisor(args, config)
    actor_name = streams.supervisor(slug(supervisor.system))
    effects = SupervisorEffects(context.world.workspace, config, actor=actor_name)
    effects.target()
    if not args.service:
        effects.store_retry.retry_until(
            lambda: effects.approve(context.world.loaded_config, by=actor())
        )
    _warn_of_other_clones(context, effects)
    _drain_on_interrupt(effects)
    threading.Thread(target=_warn_of_versions, args=(context, config), daemon=True).start()
    ended = threading.Event()
    before = effects.store.last()
    teller = threading.Thread(target=_tell, args=(context, before, ended), daemon=True)
    try:
        performers = effects.performers()
        if "DOS_FAULT_LOG" in os.environ:  # a test kills us between two effects
            performers = import_module("dos.testing.kill_points").around("supervisor", performers)
        view = footer.Footer(context) if not args.plain and footer.footer_wanted(context) else None
        terminal = Terminal(
            logs.supervisor_log(context.world.workspace.state), on_close=view.stop if view else None
        )
        terminal.survive_hangup()
        with view or nullcontext():
            teller.start()
            try:
                ending = drive(supervisor.supervise(), performers)
            finally:
                ended.set()
                teller.join(timeout=5)
    finally:
        effects.close()
    data = {"reason": ending.text, "target": supervisor.target}
    if ending.exit is SupervisorExit.SECOND:
        return Reply(code=1, text=ending.text, data=data)
    patience = StoreRetry(config.leases.ttl_seconds, prove=lambda doubtful: None, pause=time.sleep)
    made = patience.retry_until(lambda: _report(context, supervisor.host, before))
    return Reply(
        code=EXITS.get(ending.exit, 0),
        text="\n" + summary.render(made),
        data=data | {"warnings": warnings} | to_builtins(made),
        stderr=_lost(ending) if ending.exit is SupervisorExit.LOST else "",
    )


def _supervisor(args: Args, config: Config) -> Supervisor:
    return Supervisor(
        host=process.host(),
        system=process.system(),
        pid=os.getpid(),
        target=args.target or config.supervise.target,
        tick_seconds=args.tick,
        until_idle=args.until_idle,
        policy=config.supervise.policy(),
    )


def _report(context: Context, host: str, before: int) -> summary.Summary:
    with context.open_reader() as journal:
        # What a supervisor before us began, and did not end, is told too.
        began = last_start(journal.load_fleet(), host=host)
        happened = journal.events(began.pos - 1 if began else before)
        return summary.summarize_events(happened, FleetReader(context.world).waits().all_waits())


def _lost(ending: SupervisorResult) -> str:
    return f"dos up ended: {ending.text}. Its workers keep running.\nStart it again: dos up"


def _check_numbers(args: Args) -> None:
    if (args.target is not None and args.target < 1) or not 0 < args.tick <= LONGEST_TICK_SECONDS:
        raise BadInput(
            f"--target must be above zero, and --tick at most {LONGEST_TICK_SECONDS} seconds and above zero",
            hint="For example: dos up --target 2",
        )


def _check_plans(args: Args, context: Context) -> None:
    """Say that no plan declares a unit. A tracker or a program may have none; a fleet that ends when idle needs one."""
    config = context.policy
    nothing = survey.no_units_message(context.world.workspace, config)
    if nothing and args.until_idle and config.plans.source == "documents":
        raise BadInput(nothing, hint=WRITE_A_PLAN)
    if nothing:
        context.warn(f"warning: {nothing}; the fleet waits for one. {WRITE_A_PLAN}")


def _retry(words: list[str] | None, context: Context) -> None:
    """Also where a fleet runs already: it goes on with them at once."""
    if words is None:
        return
    config = context.policy
    units = attempts.units_to_clear(
        survey.read_units(context.world.workspace, config), words, context.journal
    )
    attempts.clear_units(
        context.journal,
        [(unit, lane_entries.lane_of(unit, config) or "") for unit in units],
        by=actor(),
    )
    names = join_some([unit.name for unit in units])
    context.warn(
        f"Cooldown cleared: {names}" if units else "No unit is on cooldown or waits for an answer"
    )


def _uncommitted(context: Context) -> list[str]:
    """Said before anything starts: what is judged is not what is dispatched."""
    world = context.world
    paths = plans.uncommitted_paths(world)
    if not paths:
        return []
    warning = f"{plans.describe_uncommitted(world, paths)}. {plans.UNCOMMITTED_WHY}"
    context.warn(f"warning: {warning} Commit: {plans.commit_command(world, paths)}")
    return [warning]


def _warn_of_other_clones(context: Context, effects: SupervisorEffects) -> None:
    config = effects.config
    if config.workers.remote or not config.store.url.startswith("postgres"):
        return
    locks = effects.store.leases(locks=True, lapsed=False)
    supervisors = [lock for lock in locks if lock.lane in streams.supervisor]
    for other in (lock for lock in supervisors if lock.system != process.system()):
        context.warn(
            f"warning: {other.host} works on this fleet too, and [workers] remote is not set: unless it has this very"
            " clone, neither sees what the other lands. dos config set workers.remote origin"
        )


def _warn_of_versions(context: Context, config: Config) -> None:
    """Beside the fleet: a program may take seconds to say its version."""
    with World(context.world.workspace.root, config=config) as world:
        for found in agents.untested_versions(world):
            context.warn(f"warning: {found.what}. {found.why}")


def _detached(args: Args, context: Context) -> Reply:
    workspace = context.world.workspace
    log = logs.supervisor_log(workspace.state)
    words = ["up", "--tick", str(args.tick)]
    words += ["--target", str(args.target)] if args.target else []
    words += ["--until-idle"] if args.until_idle else []
    words += ["--service", args.service] if args.service else []
    with log.open("ab") as output:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "dos", "--workspace", str(workspace.root), *words],
            cwd=workspace.root,
            env=process.child_environment(os.environ, workspace.root),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    if not _came_up(child, context):
        return Reply(
            code=1,
            text=f"the supervisor did not come up; {log} says why",
            data={"pid": None, "log": str(log)},
        )
    return Reply(
        text=f"the supervisor runs in the background as {child.pid}; `dos status` shows the fleet, `dos down` stops it",
        data={"pid": child.pid, "log": str(log)},
    )


def _came_up(child: "subprocess.Popen[bytes]", context: Context) -> bool:
    """It runs when it holds its lease; it has failed when it has ended, unless there was nothing to do."""
    name = streams.supervisor(process.system())
    with context.open_reader() as journal:
        for _ in range(100):
            if any(
                lease.lane == name and lease.pid == child.pid
                for lease in journal.leases(locks=True)
            ):
                return True
            if child.poll() is not None:
                return child.returncode in (EXITS["stopped"], EXITS["work-left"])
            journal.wait(journal.last(), 0.1)
    return False


def _drain_on_interrupt(effects: SupervisorEffects) -> None:
    """The first Ctrl-C drains; the second leaves the workers to the next supervisor."""
    asked = threading.Event()

    def write_down() -> None:
        fact, key = (
            DrainRequested(reason="interrupted"),
            f"interrupted/{os.getpid()}.{time.time_ns()}",
        )
        try:
            effects.store_retry.retry_until(
                lambda: effects.store.record(streams.FLEET, fact, key=key)
            )
        except DosError as error:
            print_stderr(f"the workers could not be asked to finish: {error}")

    def drain(number: int, frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        # Not from the handler itself: it may have interrupted a transaction of this very store.
        threading.Thread(target=write_down, daemon=True).start()
        print_stderr("draining: workers finish what they are at; Ctrl-C again leaves them running")

    signal.signal(signal.SIGINT, drain)
    signal.signal(signal.SIGTERM, drain)


def _tell(context: Context, after: int, ended: threading.Event) -> None:
    """Follow the journal and say what happens; a journal that is away for a while is waited for."""
    while True:
        try:
            with context.open_reader() as journal:
                for position in _tell_from(context, journal, after, ended):
                    after = position
            return
        except StoreFailed as error:
            if not isinstance(
                error, AWAY
            ):  # else the supervisor itself says so, and when it is back
                context.warn(f"the journal cannot be read: {error}")
            if ended.wait(1.0):
                return
        except BrokenPipeError:
            return  # nobody is left to be told
        except OSError:  # the terminal is gone: when its log takes over, it goes on from here
            if ended.wait(1.0):
                return


def _tell_from(
    context: Context, journal: Store, after: int, ended: threading.Event
) -> Iterator[int]:
    last_round = False
    while True:
        for event in journal.events(after):
            after = event.pos
            line = story.event_line(event)
            if line and not context.as_json:
                context.print_line(_shown(line))
            yield after
        if last_round:
            return
        last_round = ended.is_set()
        journal.wait(after, 0.2)


def _shown(line: story.EventLine) -> str:
    clock = datetime.fromtimestamp(line.at_ms / 1000).strftime("%H:%M:%S")
    text = escape_invisible(f"{clock}  {line.where:<10}  {line.text}")
    return (
        f"{_COLOURS[line.tone]}{text}\x1b[0m" if colour_wanted() and line.tone in _COLOURS else text
    )
