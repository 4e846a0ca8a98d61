"""What waits for a person now, for the verbs that list, show and answer it."""

from dos.backlog.waiting import FleetWaits
from dos.errors import BadInput, GitFailed
from dos.fleet import observe
from dos.fleet.io.reader import FleetReader
from dos.fleet.state.held_units import DeclaredUnits
from dos.questions.io import attention
from dos.questions.state import Decisions
from dos.verbs.context import Context


def fleet_waits(context: Context) -> FleetWaits:
    """What everything waits for, as far as anybody can say."""
    return FleetReader(context.journal_world).waits()


def gather(context: Context) -> Decisions:
    """Where plans or git cannot be read, that is said, and the units that plans hold are missing.

    What a supervisor would ask about, were one there, is among it.
    """
    world = context.journal_world
    return attention.gather(world, _units(context), now_ms=world.journal.now_ms())


def _units(context: Context) -> DeclaredUnits | None:
    world = context.journal_world
    unread = "dos.toml has errors" if world.loaded_config.problems else ""
    try:
        seen = None if unread else FleetReader(world).observe()
    except (BadInput, GitFailed) as error:
        unread, seen = error.message, None
    if seen is None:
        context.warn(f"warning: units that a plan holds are not listed: {unread}")
        return None
    return observe.declared_units(seen)
