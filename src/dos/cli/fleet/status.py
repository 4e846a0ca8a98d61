"""Show what runs, what landed, what stopped and why.

With a run it shows the state of that run by git, the journal and the operating system: whether it
makes progress, which of its steps are done, and, once it has stopped, where it can resume. What the
run says about itself does not count.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct, structs, to_builtins

from dos import run_ids
from dos.backlog import pickable
from dos.backlog.io import attempts, survey
from dos.backlog.io.gather import evidence_without_cooldown, placement_problem, with_cooldown
from dos.backlog.pickable import Verdict
from dos.errors import BadInput
from dos.fleet import observe, view, worker_health
from dos.fleet.io.reader import FleetReader, Outlook
from dos.fleet.observation import Observation
from dos.fleet.state import held_units
from dos.fleet.state.fleet import FleetState
from dos.lanes.io.parts import config_for
from dos.questions import subject
from dos.questions.io import attention
from dos.report.io import snapshot
from dos.report.top import HeldLease
from dos.units.unit import Unit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

if TYPE_CHECKING:
    from dos.journal.run_state import RunState

EXITS = {
    "reported": 0,
    "ADVANCING": 0,
    "SPINNING": 3,
    "STALLED": 4,
    "UNKNOWN": 5,
    "contract_error": 2,
    "unknown": 5,
}


class Args(Struct, kw_only=True):
    """The run to show, and what to assume of it.

    All options but the run itself are evidence for the verdict on that run, for callers who know
    more than the journal.
    """

    run_id: Annotated[
        str | None, Option(help="show only this run", positional=True, metavar="RID")
    ] = None
    start_sha: Annotated[
        str, Option(help="count commits from here (default: the start of the run)", metavar="SHA")
    ] = ""
    lane: Annotated[str, Option(help="count only commits in this lane", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="use the lease with this stamp", metavar="STAMP")] = ""
    last_heartbeat_age_ms: Annotated[
        int | None, Option(help="age of the last heartbeat", metavar="MS")
    ] = None
    now_ms: Annotated[
        int | None, Option(help="the current time, in ms since 1970 (default: now)", metavar="MS")
    ] = None
    stopped: Annotated[bool, Option(help="assume that the run has stopped")] = False
    live: Annotated[bool, Option(help="assume that the run is working")] = False


def run(args: Args, context: Context) -> Reply:
    """Show one run, or the fleet: supervisors, workers, units, stops and saved work.

    The status of the fleet is read without changing anything; whether a process has exited is known
    only for processes of this host.
    """
    if args.run_id is not None:
        return _report_run(run_ids.validated_run_id(args.run_id), args, context)
    _refuse_run_options(args)
    world = context.world
    outlook = FleetReader(world).outlook()
    fleet = outlook.observation
    holders = snapshot.read_holders(world.journal)
    units = []
    for unit in (*fleet.units, *fleet.unapproved):
        units.append((unit, worker_health.lane_of(unit, world.config) or ""))
    verdicts = _pickable_verdicts(world, fleet, units)
    status = view.view(
        fleet.on_target,
        [(held.lease, held.lapsed) for held in holders.lanes],
        [(*unit, verdict) for unit, verdict in zip(units, verdicts, strict=True)],
        supervisors=[_supervisor(held) for held in holders.supervisors],
        salvaged=_saved_work(world, fleet.state),
        waits=outlook.waits.units,
        claimed=fleet.claimed,
    )
    warnings = survey.unofferable_units(world.workspace, world.config)
    status = structs.replace(status, warnings=list(warnings))
    return Reply(
        text=_render(world, status, _circumstances(outlook, holders.lanes)),
        data=to_builtins(status),
        indented=True,
    )


def _render(world: World, status: view.View, around: view.Circumstances) -> str:
    """Return the text, which begins with a missing dos.toml; without a fleet it says only that."""
    text = view.render(status, around)
    if not world.missing_config:
        return text
    if not any(to_builtins(status).values()):
        return world.missing_config
    return f"{world.missing_config}\n{text}"


def _circumstances(outlook: Outlook, held_lanes: list[HeldLease]) -> view.Circumstances:
    """Return what the text says besides the JSON: waits, pauses, deaths and open decisions."""
    fleet = outlook.observation
    parked = {}
    for lane, lease in fleet.leases.items():
        if fleet.is_parked(lane):
            parked[lease.fence] = outlook.waits.lanes.get(lane, ())
    died = {}
    for lane in fleet.state.starts:
        if starts_ms := fleet.died_workers(lane):
            died[lane] = len(starts_ms)
    return view.Circumstances(
        exited={held.lease.fence for held in held_lanes if held.gone},
        waits=parked,
        pauses=fleet.pauses,
        asked=_lanes_with_decisions(fleet),
        died=died,
        failures={name: unit.last_failure for name, unit in fleet.on_target.units.items()},
    )


def _lanes_with_decisions(fleet: Observation) -> set[str]:
    """Return the lanes that a decision of `dos decisions` is about, by name or by a unit."""
    units = observe.declared_units(fleet)
    leases = list(fleet.leases.values())
    decisions = attention.questions_for_people(fleet.answers, leases, units, now_ms=fleet.now_ms)
    lanes = set()
    for asked in decisions.open.values():
        lanes |= set(subject.lane_names(asked.question.waits))
        for unit in subject.unit_names(asked.question.waits):
            lanes.add(fleet.lane_of.get(unit, ""))
    return lanes


def _refuse_run_options(args: Args) -> None:
    """Raise BadInput for an option that needs a run where none is named."""
    defaults = Args()
    for name, value in structs.asdict(args).items():
        if value != getattr(defaults, name):
            raise BadInput(
                f"--{name.replace('_', '-')} needs a run",
                hint="dos status RID names one, by its id; `dos timeline` shows the newest run's.",
            )


def _pickable_verdicts(
    world: World, fleet: Observation, lanes: list[tuple[Unit, str]]
) -> list[Verdict]:
    """Return for each unit whether a worker may take it now."""
    recorded = attempts.recorded_attempts(world)
    state = fleet.on_target
    units = held_units.close_gates([unit for unit, _ in lanes], state, fleet.answers)
    verdicts = []
    for unit, (_, lane) in zip(units, lanes, strict=True):
        evidence = evidence_without_cooldown(unit, state, fleet.live_runs, now_ms=fleet.now_ms)
        evidence = with_cooldown(unit, evidence, state, recorded, world.config)
        evidence = structs.replace(evidence, unparseable=placement_problem(unit, lane))
        verdicts.append(pickable.judge(evidence))
    return verdicts


def _supervisor(held: HeldLease) -> view.Supervisor:
    """Return a supervisor with its state, by its lease and, on this host, by its process."""
    if held.gone:
        state = "gone"
    elif held.lapsed:
        state = "silent"
    else:
        state = "running"
    return view.Supervisor(host=held.lease.host, pid=held.lease.pid, state=state)


def _saved_work(world: World, state: FleetState) -> list[str]:
    """Return the refs and directories of saved work that still exist."""
    places = []
    if world.workspace.common:
        places += world.git.salvage_refs()
    for place in state.salvaged:
        if not place.startswith("refs/") and Path(place).exists():
            places.append(place)
    return places


def _report_run(run_id: str, args: Args, context: Context) -> Reply:
    """Reply with the progress of a run and, once it has stopped, where it can resume."""
    # The status of the fleet, which is asked for far more often, needs none of these.
    from dos.journal import run_state
    from dos.loop.verdicts.liveness import Answer
    from dos.runs import resume
    from dos.runs.io import evidence
    from dos.runs.io.view import Status, progress, render_status

    world = context.world
    run = run_state.read(world.journal, run_id)
    liveness_reply = _run_liveness(run_id, args, context, run)
    is_stalled = liveness_reply.data["verdict"] == Answer.STALLED
    has_stopped = args.stopped or run.suspended or is_stalled
    resume_plan = None
    if has_stopped and not args.live and run.has_intent:
        resume_plan = resume.judge(evidence.gather_resume(world, world.journal, run_id, run))
    region: list[str] = []
    for lease in world.journal.leases(lapsed=False):
        if lease.run_id == run_id:
            region += lease.region.globs
    status = Status(
        run_id=run_id,
        liveness=liveness_reply.data,
        progress=progress(evidence.gather_declaration(world, run_id, run)),
        region=region,
        resume=resume_plan,
    )
    has_lease = any(lease.run_id == run_id for lease in world.journal.leases())
    warning = ""
    if not run.version and not has_lease:
        warning = f"warning: nothing is recorded of {run_id}; `dos why` shows the newest run"
    return Reply(
        code=liveness_reply.code,
        text=render_status(status),
        data=to_builtins(status),
        next_action=liveness_reply.next_action,
        stderr=warning,
    )


def _run_liveness(run_id: str, args: Args, context: Context, run: "RunState") -> Reply:
    """Call `dos liveness`, with what the journal knows of the run where no option is given."""
    from dos.cli.loop import liveness
    from dos.git import commits

    start_sha = commits.commit_by_hash(context.world.git, run.start_sha) or ""
    lane = ""
    if config_for(context.world, run.lane).canonical_lane(run.lane or " "):
        lane = run.lane
    arguments = liveness.Args(
        run_id=run_id,
        start_sha=args.start_sha or start_sha,
        lane=args.lane or lane,
        loop_ts=args.loop_ts,
        last_heartbeat_age_ms=args.last_heartbeat_age_ms,
        now_ms=args.now_ms,
    )
    return liveness.run(arguments, context)
