"""What runs, what landed, what stopped and why."""

from msgspec import Struct, to_builtins

from dos.journal import fold
from dos.journal.states.fleet import Fleet
from dos.runtime import backlog
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
    leases = [(lease, lease.fence not in fresh) for lease in world.journal.leases()]
    seen = fleet_view.view(state, leases, units)
    return Reply(text=fleet_view.render(seen), data=to_builtins(seen), indented=True)
