"""Read the open decisions and what waits: for the verbs of decisions, and for the report."""

from dos.backlog.waiting import FleetWaits
from dos.fleet import observe
from dos.fleet.io.reader import FleetReader
from dos.fleet.state.held_units import DeclaredUnits
from dos.questions.io import attention
from dos.questions.state import Decisions
from dos.unknown import Unknown
from dos.verbs.context import Context


def fleet_waits(context: Context) -> FleetWaits:
    """Return what each lane and unit waits for."""
    return FleetReader(context.journal_world).waits()


def open_questions(context: Context) -> Decisions:
    """Return the open questions, also those that a supervisor would raise if one ran.

    Where plans or git cannot be read, the units that a plan holds are missing, and a warning says
    so.
    """
    questions, _ = questions_and_waits(context)
    return questions


def questions_and_waits(context: Context) -> tuple[Decisions, FleetWaits]:
    """Return the open questions and what each lane and unit waits for, from one observation."""
    world = context.journal_world
    waits, observation = FleetReader(world).waits_and_observation()
    units: DeclaredUnits | None = None
    if isinstance(observation, Unknown):
        context.warn(f"warning: units that a plan holds are not listed: {observation.why}")
    else:
        units = observe.declared_units(observation)
    return attention.gather(world, units, now_ms=world.journal.now_ms()), waits
