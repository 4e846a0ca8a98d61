"""What waits for a person now, for the verbs that list, show and answer it."""

from dos.errors import BadInput, GitFailed
from dos.evidence import attention
from dos.evidence.attention import Units
from dos.journal.states.decisions import Decisions
from dos.plans.waiting import FleetWaits
from dos.runtime.fleet import observing
from dos.runtime.fleet.reading import FleetReader
from dos.surfaces.cli.desk import Desk


def waits(desk: Desk) -> FleetWaits:
    """What everything waits for, as far as anybody can say."""
    return FleetReader(desk.journal_world).waits()


def now(desk: Desk) -> Decisions:
    """Where plans or git cannot be read, that is said, and the units that plans hold are missing.

    What a supervisor would ask about, were one there, is among it.
    """
    world = desk.journal_world
    return attention.gather(world, _units(desk), now_ms=world.journal.now_ms())


def _units(desk: Desk) -> Units | None:
    world = desk.journal_world
    unread = "dos.toml has errors" if world.loaded.problems else ""
    try:
        seen = None if unread else FleetReader(world).look()
    except (BadInput, GitFailed) as error:
        unread, seen = error.message, None
    if seen is None:
        desk.complain(f"warning: units that a plan holds are not listed: {unread}")
        return None
    return observing.units(seen)
