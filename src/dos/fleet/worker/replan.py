"""Ask an agent to groom the plan documents; what it did lands like any other work."""

from dos.errors import Halted
from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker.dispatch import dispatch
from dos.fleet.worker.journal_writer import Pen
from dos.fleet.worker.order import Dispatch, IterationResult
from dos.lease import Refusal
from dos.loop.types import IterationOutcome, OutcomeKind, Productivity
from dos.units.unit import Unit

PLAN = "REPLAN"  # of the units that stand for a replan


def replan(
    pen: Pen, chosen: effects.Chosen, before: effects.Backlog, iteration: int, attempt: int
) -> Steps[tuple[IterationResult | None, effects.Backlog]]:
    """How its agent ended, where one was started, and the backlog as it stands now."""
    plans = yield from do(effects.TakePlans(lease=pen.lease, run_id=pen.run_id))
    if isinstance(plans, Refusal):
        return None, before  # somebody is at work where the plans are
    name = pen.lease.lane
    asked = Dispatch(
        unit=Unit(plan=PLAN, id=name, title="groom the plan"),
        iteration=iteration,
        attempt=attempt,
        chosen=chosen,
        history=[f"{each.unit}: {each.evidence}" for each in before.held],
        repeated=False,
        documents=plans.documents,
    )
    is_apart = plans.lease.fence != pen.lease.fence
    try:
        done = yield from dispatch(pen.on(plans.lease), asked)
    except Halted:
        if is_apart:
            yield from do(effects.ReleaseLease(lease=plans.lease, reason="halted"))
        raise
    if is_apart:
        yield from do(effects.ReleaseLease(lease=plans.lease, reason="the plans are groomed"))
    after = yield from do(effects.SurveyBacklog(lease=pen.lease))
    return done, after


def weighed(
    done: IterationResult | None, before: effects.Backlog, after: effects.Backlog
) -> IterationOutcome:
    """Whether more can be offered than before is counted, whatever the agent says of it."""
    if done and done.outcome.kind is not OutcomeKind.SHIPPED:
        return done.outcome  # it had no clear end, or no room: that is what is decided on
    more = len(after.open) > len(before.open)
    found = Productivity.PRODUCTIVE if more else Productivity.UNPRODUCTIVE
    return IterationOutcome(kind=OutcomeKind.REPLAN_DONE, replan_productivity=found)
