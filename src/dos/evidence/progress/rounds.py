"""What the iterations of a run say of how it gets on: what was left after each, and how often nothing landed."""

from collections.abc import Iterable

from msgspec import Struct

from dos.journal.events import Event
from dos.journal.states import decided
from dos.plans.iterations import OutcomeKind
from dos.verdicts.progress import streak


class Rounds(Struct, frozen=True, kw_only=True):
    residuals: tuple[int, ...]  # units that were left, for each iteration that counted them
    failures: streak.Evidence


def of_run(happened: Iterable[Event]) -> Rounds:
    """An iteration that launched nothing, or was told to come back later, neither failed nor succeeded."""
    residuals, in_a_row, total = [], 0, 0
    for step in decided.read(happened):
        if step.state.completion is not None:
            residuals.append(len(step.state.completion.residual))
        failed = step.outcome.kind in (OutcomeKind.UNCLEAR, OutcomeKind.LAUNCH_FAILED) or step.outcome.ship_count == 0
        if failed:
            in_a_row, total = in_a_row + 1, total + 1
        elif step.outcome.ship_count:
            in_a_row = 0
    return Rounds(residuals=tuple(residuals), failures=streak.Evidence(consecutive=in_a_row, total=total))
