"""Measure what an agent did, and land what is proven: by git and exit codes alone, whatever the agent said."""

from dos.journal import events, receipt_events
from dos.journal.receipt_events import ReceiptIssued
from dos.journal.run_events import StepVerified
from dos.plans.limits import deciding
from dos.records.units import Unit
from dos.runtime import effects
from dos.runtime.steps.noting import Pen, Steps
from dos.verdicts.work import delivered

LANDING_TRIES = 6
MOST_RACES = 40  # lost to others that landed: each of them was progress
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 3.0
MOST_REFUSALS = 2  # of one unit's landing, in a row: then a person is asked


def measure_and_land(
    pen: Pen, unit: Unit, worktree: effects.Worktree, iteration: int, refused_before: list[str]
) -> Steps:
    """→ bool: it is on the target branch, or on a branch of its own where that is wanted"""
    measured: effects.Measured = yield effects.MeasureWork(unit=unit, lease=pen.lease, worktree=worktree)
    verdict = delivered.judge(
        delivered.Evidence(
            commits=len(measured.commits),
            changed_paths=measured.changed_paths,
            strays=measured.strays,
            accepted=measured.accepted,
            detail=measured.detail,
        )
    )
    yield from pen.note(
        events.WorkMeasured(
            **pen.who,
            unit=unit.name,
            iteration=iteration,
            base=worktree.base,
            head=measured.head,
            commits=measured.commits,
            strays=measured.strays,
            accepted=measured.accepted,
            verdict=verdict.answer,
            reason=verdict.reason,
        )
    )
    if verdict.answer is not delivered.Answer.DELIVERED:
        return False
    refused: effects.NotLanded | None = yield from _land(pen, unit, worktree, measured, iteration)
    if refused:
        yield from pen.note(events.LandingRefused(**pen.who, unit=unit.name, reason=refused.reason))
        times = [*refused_before, refused.reason]
        if len(times) % MOST_REFUSALS == 0 and not refused.moved:
            ordinal = len(times) // MOST_REFUSALS
            question = deciding.landing_conflict(
                unit.name, times[-MOST_REFUSALS:], lane=pen.lease.lane, ordinal=ordinal
            )
            yield from pen.ask([question])
    return refused is None


def _land(pen: Pen, unit: Unit, worktree: effects.Worktree, measured: effects.Measured, iteration: int) -> Steps:
    """Again and again while only the branch has moved: the work is done, and another's landing does not undo it."""
    pause, tried = FIRST_PAUSE_SECONDS, 0
    while True:
        tried += 1
        landing = yield effects.PrepareLanding(
            unit=unit, lease=pen.lease, worktree=worktree, head=measured.head, run=measured.run
        )
        refused = landing if isinstance(landing, effects.NotLanded) else (yield from _move(pen, landing, iteration))
        if refused is None or not refused.retryable or tried >= (MOST_RACES if refused.moved else LANDING_TRIES):
            return refused
        yield effects.Pause(seconds=pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _move(pen: Pen, landing: effects.Landing, iteration: int) -> Steps:
    """Intent, then the branch, then the record: after a crash between any two, git says how far it came."""
    yield from pen.note(
        events.LandingIntended(
            **pen.who,
            unit=landing.unit,
            iteration=iteration,
            branch=landing.branch,
            old=landing.old,
            new=landing.new,
            receipt=landing.receipt,
        )
    )
    refused = yield effects.MoveBranch(lease=pen.lease, landing=landing)
    if refused is None:
        yield from _note_landed(pen, landing, recognised=False)
    return refused


def settle(pen: Pen, unsettled: list[effects.Landing]) -> Steps:
    """Landings that were intended by a run that died: ask git how far each came, and finish it."""
    for landing in unsettled:
        if (yield effects.HasLanded(landing=landing)):
            yield from _note_landed(pen, landing, recognised=True)
        elif (refused := (yield effects.MoveBranch(lease=pen.lease, landing=landing))) is None:
            yield from _note_landed(pen, landing, recognised=False)
        else:
            yield from pen.note(events.LandingRefused(**pen.who, unit=landing.unit, reason=refused.reason))


def _note_landed(pen: Pen, landing: effects.Landing, *, recognised: bool) -> Steps:
    """The receipt first: until there is one, the landing is unsettled, and whoever comes next issues it."""
    issued = yield effects.IssueReceipt(landing=landing)
    stream = f"unit/{landing.unit}"
    receipt = ReceiptIssued(**pen.who, unit=landing.unit, commit=landing.new, receipt=issued.receipt, said=issued.said)
    yield from pen.write(stream, receipt, receipt_events.key_of(landing.new))
    fact = events.UnitLanded(
        **pen.who,
        unit=landing.unit,
        branch=landing.branch,
        commit=landing.new,
        base=landing.old,
        recognised=recognised,
    )
    # The unit's own stream and key: one landing of one commit is written once, whoever finds it.
    yield from pen.write(stream, fact, f"landed/{landing.new}")
    step = StepVerified(run_id=pen.run_id, step=landing.unit, sha=landing.new, via="file-path")
    yield from pen.write(f"run/{pen.run_id}", step, f"verified/{landing.new}")
