"""Gathers the open questions and what lanes and units wait for, for the `dos decisions` verbs."""

from dos.backlog.waiting import FleetWaits
from dos.errors import BadInput, GitFailed
from dos.fleet import observe
from dos.fleet.io.reader import FleetReader
from dos.fleet.state.held_units import DeclaredUnits
from dos.questions.io import attention
from dos.questions.state import Decisions
from dos.verbs.context import Context


def fleet_waits(context: Context) -> FleetWaits:
    """Return what each lane and unit waits for."""
    return FleetReader(context.journal_world).waits()


def gather(context: Context) -> Decisions:
    """Return the open questions, also those that a supervisor would raise if one ran.

    Where plans or git cannot be read, the units that a plan holds are missing, and a warning says
    so.
    """
    world = context.journal_world
    return attention.gather(world, _units(context), now_ms=world.journal.now_ms())


def _units(context: Context) -> DeclaredUnits | None:
    """Return the units and what holds them; None with a warning where they cannot be read."""
    world = context.journal_world
    problem = "dos.toml has errors"
    if not world.loaded_config.problems:
        try:
            return observe.declared_units(FleetReader(world).observe())
        except (BadInput, GitFailed) as error:
            problem = error.message
    context.warn(f"warning: units that a plan holds are not listed: {problem}")
    return None
