"""What runs, what landed, what stopped and why."""

from pathlib import Path

from msgspec import Struct, to_builtins

from dos.evidence import holders
from dos.journal import fold
from dos.journal.states.fleet import Fleet
from dos.runtime import backlog
from dos.sources.world import World
from dos.surfaces.cli.desk import Desk, Reply
from dos.views import fleet as fleet_view

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, desk: Desk) -> Reply:
    world = desk.world
    state, _ = fold.current(world.journal, Fleet)
    fresh = {lease.fence for lease in world.journal.leases(lapsed=False)}
    units = [
        (unit, backlog.lane_of(unit, world.config) or "") for unit in backlog.read_units(world.workspace, world.config)
    ]
    seen = fleet_view.view(
        state,
        [(lease, lease.fence not in fresh) for lease in world.journal.leases()],
        units,
        supervisors=_supervisors(world),
        salvaged=_salvaged(world, state),
        warnings=backlog.never_offered(world.workspace, world.config),
    )
    return Reply(text=fleet_view.render(seen), data=to_builtins(seen), indented=True)


def _supervisors(world: World) -> list[fleet_view.Supervisor]:
    """One for each host, as far as their leases and, on this host, the system tell."""
    locks = [lease for lease in world.journal.leases(locks=True) if lease.lane.startswith("supervisor/")]
    fresh = {lease.fence for lease in world.journal.leases(locks=True, lapsed=False)}
    return [
        fleet_view.Supervisor(
            host=lease.host,
            pid=lease.pid,
            state="gone" if holders.gone(lease) else "running" if lease.fence in fresh else "silent",
        )
        for lease in locks
    ]


def _salvaged(world: World, state: Fleet) -> list[str]:
    """What is still there: people delete what they have taken."""
    moved = [place for place in state.salvaged if not place.startswith("refs/") and Path(place).exists()]
    return [*(world.git.salvaged() if world.workspace.common else []), *moved]
