"""Show what runs, what landed, what stopped and why.

With a run it says how that run stands, by git, the journal and the system: whether it moves, which of its steps are
done, and, once it has stopped, where it goes on. What the run says of itself plays no part.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, structs, to_builtins

from dos import run_ids
from dos.backlog import pickable
from dos.backlog.io import attempts, survey
from dos.backlog.io.gather import evidence_without_cooldown, placement_problem, with_cooldown
from dos.backlog.pickable import Verdict
from dos.errors import BadInput
from dos.fleet import lane_entries
from dos.fleet import view as fleet_view
from dos.fleet.io.reader import FleetReader
from dos.fleet.observation import Observation
from dos.fleet.state import held_units
from dos.fleet.state.fleet import FleetState
from dos.journal import streams
from dos.machine import process
from dos.units.unit import Unit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

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
    run_id: Annotated[str | None, Option(help="only this run", positional=True, metavar="RID")] = (
        None
    )
    start_sha: Annotated[
        str, Option(help="count commits from here, not from its start", metavar="SHA")
    ] = ""
    lane: Annotated[str, Option(help="only what it does in this lane", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    last_heartbeat_age_ms: Annotated[
        int | None, Option(help="how old its last beat is", metavar="MS")
    ] = None
    now_ms: Annotated[
        int | None, Option(help="what time it is; now when not given", metavar="MS")
    ] = None
    stopped: Annotated[bool, Option(help="take it that the run has stopped")] = False
    live: Annotated[bool, Option(help="take it that the run is at work")] = False


def run(args: Args, context: Context) -> Reply:
    if args.run_id is not None:
        from dos.cli.fleet import run_status

        return run_status.report(run_ids.validated_run_id(args.run_id), args, context)
    if args != Args():
        given = next(
            name for name, value in structs.asdict(args).items() if value != getattr(Args(), name)
        )
        raise BadInput(
            f"--{given.replace('_', '-')} says something of one run",
            hint="Name it: dos status RID.",
        )
    world = context.world
    found = FleetReader(world).outlook()
    fleet = found.observation
    fresh = {lease.fence for lease in world.journal.leases(lapsed=False)}
    units = [
        (unit, lane_entries.lane_of(unit, world.config) or "")
        for unit in (*fleet.units, *fleet.unapproved)
    ]
    seen = fleet_view.view(
        fleet.on_target,
        [(lease, lease.fence not in fresh) for lease in world.journal.leases()],
        [(*unit, hold) for unit, hold in zip(units, _holds(world, fleet, units), strict=True)],
        supervisors=_supervisors(world),
        salvaged=_salvaged(world, fleet.state),
        waits=found.waits.units,
    )
    warnings = survey.unofferable_units(world.workspace, world.config)
    seen = structs.replace(seen, warnings=list(warnings))
    return Reply(text=fleet_view.render(seen), data=to_builtins(seen), indented=True)


def _holds(world: World, fleet: Observation, lanes: list[tuple[Unit, str]]) -> list[Verdict]:
    tried, state = attempts.recorded_attempts(world), fleet.on_target
    holds = []
    units = held_units.close_gates([unit for unit, _ in lanes], state, fleet.answers)
    for unit, (_, lane) in zip(units, lanes, strict=True):
        seen = evidence_without_cooldown(unit, state, fleet.live_runs, now_ms=fleet.now_ms)
        seen = with_cooldown(unit, seen, state, tried, world.config)
        holds.append(
            pickable.judge(structs.replace(seen, unparseable=placement_problem(unit, lane)))
        )
    return holds


def _supervisors(world: World) -> list[fleet_view.Supervisor]:
    """One for each host, as far as their leases and, on this host, the system tell."""
    locks = [
        lease for lease in world.journal.leases(locks=True) if lease.lane in streams.supervisor
    ]
    fresh = {lease.fence for lease in world.journal.leases(locks=True, lapsed=False)}
    return [
        fleet_view.Supervisor(
            host=lease.host,
            pid=lease.pid,
            state="gone"
            if process.holder_has_exited(lease)
            else "running"
            if lease.fence in fresh
            else "silent",
        )
        for lease in locks
    ]


def _salvaged(world: World, state: FleetState) -> list[str]:
    """What is still there: people delete what they have taken."""
    moved = [
        place for place in state.salvaged if not place.startswith("refs/") and Path(place).exists()
    ]
    return [*(world.git.salvage_refs() if world.workspace.common else []), *moved]
