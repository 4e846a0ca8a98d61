"""Show provider limits, when they end, and who waits.

A reset time is trusted for up to 24 hours, for weekly limits up to 8 days. Beyond that one agent
probes the provider every hour and `dos decisions` asks you. `dos limits lift` ends a limit at once.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.agents.io import candidates
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.io.reader import FleetReader
from dos.journal import fold
from dos.limits import quota, view
from dos.limits.quota import Candidate
from dos.limits.state.quota import Quota
from dos.times import utc_datetime
from dos.units.io import sources
from dos.units.unit import Unit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    all: Annotated[bool, Option(help="also limits of agents that dos.toml does not name")] = False


def run(args: Args, context: Context) -> Reply:
    world = context.world
    found, _ = fold.current(world.journal, Quota)
    units = list(
        sources.read(world.workspace, world.config).units
    )  # a plan that cannot be read hides no limit
    agents, now_ms = _agents(world.config, units), world.journal.now_ms()
    used = quota.in_use(found.limits, agents)
    holding = [each for each in found.limits.values() if each.ending]
    shown = holding if args.all else used
    rows = view.rows(shown, world.config.quota, waits=_waits(world) if agents else {}, used=used)
    return Reply(
        text=view.render(rows, utc_datetime(now_ms)), data=to_builtins(rows), indented=True
    )


def _agents(config: Config, units: list[Unit]) -> list[Candidate]:
    try:
        return [each.candidate for each in candidates.in_use(config, units)]
    except BadInput:  # no agent is configured: `dos doctor` says so
        return []


def _waits(world: World) -> dict[str, list[str]]:
    """The lanes that may start no agent, or whose worker waits for one, by the limit that holds them up."""
    try:
        seen = FleetReader(world).look()
    except BadInput:  # a plan that cannot be read hides no limit
        return {}
    waits: dict[str, list[str]] = {}
    for lane in seen.backlogs:
        room, lease = seen.roomless.get(lane), seen.leases.get(lane)
        run = seen.state.runs.get(lease.run_id) if lease and seen.is_parked(lane) else None
        held_by = room.limit if room else ""
        if run:
            held_by = run.limit
        if held_by:
            waits.setdefault(held_by, []).append(lane)
    return waits
