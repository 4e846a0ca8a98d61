"""What waits for a person now, for the verbs that list, show and answer it."""

from dos.evidence import attention
from dos.journal.states.decisions import Decisions
from dos.surfaces.cli.desk import Desk


def now(desk: Desk) -> Decisions:
    """Where plans cannot be read, that is said, and the units that they hold are missing."""
    world = desk.journal_world
    found = attention.gather(world, now_ms=world.journal.now_ms())
    if found.unread:
        desk.complain(f"warning: units that a plan holds are not listed: {found.unread}")
    return found.decisions
