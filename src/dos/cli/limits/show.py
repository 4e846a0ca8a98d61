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
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.times import utc_datetime
from dos.units.io import sources
from dos.units.unit import Unit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.world import World

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which limits to show."""

    all: Annotated[bool, Option(help="also limits of agents that dos.toml does not name")] = False


def run(args: Args, context: Context) -> Reply:
    """Show the limits that agents of dos.toml meet; with --all every recorded one."""
    world = context.world
    state, _ = fold.current(world.journal, ProviderLimits)
    # An unreadable plan only hides the agents that its units name, never a limit.
    units = list(sources.read(world.workspace, world.config).units)
    agents = _agents(world.config, units)
    used = quota.limits_met_by(state.limits, agents)
    limits = used
    if args.all:
        limits = state.not_lifted
    waits = _waits(world) if agents else {}
    rows = view.rows(limits, world.config.quota, waits=waits, used=used)
    now_ms = world.journal.now_ms()
    probing = view.probing_lanes(limits, world.config.quota, now_ms=now_ms)
    text = view.render(rows, utc_datetime(now_ms), probing)
    return Reply(text=text, data=to_builtins(rows), indented=True)


def _agents(config: Config, units: list[Unit]) -> list[AgentCandidate]:
    """Return the agents that dos.toml and the units name."""
    try:
        return [agent.candidate for agent in candidates.agents_in_use(config, units)]
    except BadInput:  # no agent is configured: `dos doctor` reports that
        return []


def _waits(world: World) -> dict[str, list[str]]:
    """Return, by limit, the lanes that cannot start an agent or whose worker waits for one."""
    try:
        observation = FleetReader(world).observe()
    except BadInput:  # an unreadable plan hides no limit
        return {}
    waits: dict[str, list[str]] = {}
    for lane in observation.backlogs:
        held_by = ""
        room = observation.cannot_start.get(lane)
        if room:
            held_by = room.limit
        lease = observation.leases.get(lane)
        if lease and observation.is_parked(lane):
            run = observation.state.runs.get(lease.run_id)
            if run:
                held_by = run.limit
        if held_by:
            waits.setdefault(held_by, []).append(lane)
    return waits
