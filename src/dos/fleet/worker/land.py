"""Measure what an agent did, and land what is proven: by git and exit codes alone, whatever the agent said."""

from msgspec import Struct, structs

from dos import times
from dos.agents.adapter import Ending
from dos.choices import ChoiceName
from dos.errors import Conflict, Halted
from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker.iteration import Dispatch, LandingResult
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events import fleet, limits, proofs
from dos.journal.events.limits import BaselineChecked, DecisionAnswered
from dos.journal.events.proofs import ReceiptIssued
from dos.journal.events.runs import StepVerified
from dos.questions.catalog import AnyQuestion
from dos.questions.resources import BaselineFailed
from dos.questions.units import LandingBlocked, LandingConflict
from dos.receipts.receipt import CommandRun
from dos.units.unit import Landing, Unit
from dos.verify import delivered, reconcile

LANDING_TRIES = 6  # while something is in the way
MOST_RACES = 40  # lost to others that landed: each of them was progress
PAUSES = times.exponential_backoff(0.1, cap=3.0)  # in seconds
SOON_SECONDS = 5.0  # a turn that comes within them is not worth a word
LOOK_SECONDS = 60.0  # between two answers to whoever waits for its turn
MOST_REFUSALS = 2  # of one unit's landing, in a row: then a person is asked
RAISED_AT = 1  # the version of a question's stream until somebody answers

Tried = tuple[Landing | None, effects.NotLanded | None]  # what was to land, and why it did not


class Work(Struct, frozen=True, kw_only=True):
    """Commits that are to land."""

    unit: Unit
    worktree: effects.Worktree
    head: str
    iteration: int
    run: CommandRun | None = None  # of the acceptance command, on that head
    grooms: bool = False


def measure_and_land(
    pen: JournalWriter, asked: Dispatch, worktree: effects.Worktree, ended: effects.AgentResult
) -> Steps[LandingResult]:
    """Land what the agent delivered, or write down and ask about what is in the way of it."""
    measured = yield from _measured(pen, asked, worktree, ended)
    if measured is None:
        return LandingResult.MISSED
    unit, grooms = asked.unit, asked.is_replan
    work = Work(
        unit=unit,
        worktree=worktree,
        head=measured.head,
        iteration=asked.iteration,
        run=measured.acceptance_run,
        grooms=grooms,
    )
    try:
        if worktree.queue:
            yield from _await_turn(pen, worktree.queue)
        landing, refused = yield from _land(pen, work)
    except Halted:
        stopped = "its run was halted before it had landed"
        yield from pen.append(fleet.LandingRefused(**pen.identity, unit=unit.name, reason=stopped))
        raise
    if refused is None:
        return LandingResult.LANDED
    if refused.baseline_failure and refused.landing and not grooms:
        yield from _defer(pen, unit.name, worktree.queue)
        yield from _keep_untested(pen, refused.landing, refused.baseline_failure, asked.iteration)
        return LandingResult.KEPT
    if refused.obstacle and landing and not grooms:
        yield from _defer(pen, unit.name, worktree.queue)
        yield from pen.ask([_blocked(pen, landing, refused, 1)])
        return LandingResult.KEPT
    yield from pen.append(
        fleet.LandingRefused(**pen.identity, unit=unit.name, reason=refused.reason)
    )
    count, reasons = asked.refusals.count + 1, [*asked.refusals.reasons, refused.reason]
    if count % MOST_REFUSALS == 0 and not refused.branch_moved:
        told = reasons[-MOST_REFUSALS:]
        ordinal = count // MOST_REFUSALS
        yield from pen.ask(
            [LandingConflict.ask(unit.name, told, lane=pen.lease.lane, ordinal=ordinal)]
        )
    return LandingResult.MISSED


def _measured(
    pen: JournalWriter, asked: Dispatch, worktree: effects.Worktree, ended: effects.AgentResult
) -> Steps[effects.Measurement | None]:
    """What was delivered, if it was."""
    unit, ending = asked.unit, ended.outcome.ending
    measured = yield from do(
        effects.MeasureWork(
            unit=unit, lease=pen.lease, worktree=worktree, is_replan=asked.is_replan
        )
    )
    verdict = delivered.judge(
        delivered.Evidence(
            commits=len(measured.commits),
            changed_paths=measured.changed_paths,
            strays=measured.strays,
            accepted=measured.accepted,
            ending=ending,
            why_not_shipped=measured.why_not_shipped,
            detail=measured.detail,
        )
    )
    is_delivered = verdict.answer is delivered.Answer.DELIVERED
    # Who ends as it should says with it that the unit is done.
    compared = reconcile.reconcile(
        unit.name, claimed_done=ending is Ending.OK, oracle_shipped=is_delivered
    )
    told = pen.run_record(
        fleet.WorkMeasured(
            **pen.identity,
            unit=unit.name,
            iteration=asked.iteration,
            base=worktree.base,
            head=measured.head,
            commits=measured.commits,
            strays=measured.strays,
            accepted=measured.accepted,
            verdict=verdict.answer,
            reason=verdict.reason,
            reconciled=compared.answer,
        )
    )
    if is_delivered and worktree.queue:
        # In one transaction: a lane that is alone does not pay for the queue.
        yield from do(effects.RecordAll(records=[told, _queued(pen, unit.name, worktree.queue)]))
    else:
        yield from do(told)
    return measured if is_delivered else None


def _queued(pen: JournalWriter, unit: str, branch: str) -> effects.Record:
    return pen.run_record(limits.LandingQueued(**pen.identity, unit=unit, branch=branch))


def _await_turn(pen: JournalWriter, branch: str) -> Steps[None]:
    """Until those who queued before us have landed, or died. Who waits for long says so: it is no agent that hangs."""
    ahead = yield from do(
        effects.AwaitTurn(lease=pen.run_lease, run_id=pen.run_id, seconds=SOON_SECONDS)
    )
    if not ahead:
        return
    detail = f"{ahead} landings on {branch} come first"
    yield from pen.append(
        limits.RunParked(**pen.identity, why="landing", detail=detail, until_ms=None)
    )
    seconds = 0.0
    while ahead:
        ahead = yield from do(
            effects.AwaitTurn(lease=pen.run_lease, run_id=pen.run_id, seconds=LOOK_SECONDS)
        )
        seconds += LOOK_SECONDS
    yield from pen.append(limits.RunUnparked(**pen.identity, seconds=seconds))


def _defer(pen: JournalWriter, unit: str, branch: str) -> Steps[None]:
    """Let the next one go first: this landing waits for a person."""
    if branch:
        yield from pen.append(limits.LandingDeferred(**pen.identity, unit=unit, branch=branch))


def _land(pen: JournalWriter, work: Work) -> Steps[Tried]:
    """What was tried, and why it did not land; without a landing where it could not be prepared.

    Again and again while only the branch has moved: the work is done, and another's landing does not undo it.
    """
    races, refusals = 0, 0
    while True:
        prepared = yield from do(
            effects.PrepareLanding(
                unit=work.unit,
                lease=pen.lease,
                worktree=work.worktree,
                head=work.head,
                acceptance_run=work.run,
                is_replan=work.grooms,
            )
        )
        landing: Landing | None = None
        refused: effects.NotLanded | None
        if isinstance(prepared, effects.NotLanded):
            refused = prepared
        else:
            landing = prepared
            refused = yield from _move(pen, landing, work.iteration)
        if refused is None or not refused.retryable:
            return landing, refused
        races, refusals = races + refused.branch_moved, refusals + (not refused.branch_moved)
        if races >= MOST_RACES or refusals >= LANDING_TRIES:
            return landing, refused
        yield from do(effects.Pause(seconds=PAUSES.delay(races + refusals)))


def _keep_untested(
    pen: JournalWriter,
    landing: Landing,
    fault: BaselineChecked,
    iteration: int,
    *,
    intended: bool = False,
) -> Steps[None]:
    """The tests fail without the work too: it waits as it is until they pass there, and nobody does it again."""
    if not intended:
        yield from pen.append(_intent(pen, landing, iteration, untested=True))
    yield from pen.append_shared(
        streams.baseline(fault.host), fault, f"fault/{pen.run_id}/{landing.commit}.{fault.ordinal}"
    )
    yield from pen.ask([BaselineFailed.ask(fault)])


def _intent(
    pen: JournalWriter, landing: Landing, iteration: int, *, untested: bool = False
) -> fleet.LandingIntended:
    return fleet.LandingIntended(
        **pen.identity,
        unit=landing.unit,
        iteration=iteration,
        branch=landing.branch,
        old=landing.base,
        new=landing.commit,
        receipt=landing.receipt,
        untested=untested,
    )


def _move(pen: JournalWriter, landing: Landing, iteration: int) -> Steps[effects.NotLanded | None]:
    """Intent, then the branch, then the record: after a crash between any two, git says how far it came."""
    yield from pen.append(_intent(pen, landing, iteration))
    refused = yield from do(effects.MoveBranch(lease=pen.lease, landing=landing))
    if refused is None:
        yield from _note_landed(pen, landing, recognised=False)
    return refused


def settle(pen: JournalWriter, unsettled: list[effects.PendingLanding]) -> Steps[None]:
    """Landings that were intended and did not happen yet: ask git how far each came, and finish it."""
    for each in unsettled:
        landing, refused = yield from _settle(pen, each)
        if refused and refused.baseline_failure:
            yield from _defer(pen, each.landing.unit, each.landing.branch)
            yield from _keep_untested(
                pen, each.landing, refused.baseline_failure, each.iteration, intended=each.untested
            )
            return
        if refused and refused.obstacle:
            yield from _defer(pen, each.landing.unit, each.landing.branch)
            if not each.question:
                yield from pen.ask(
                    [_blocked(pen, landing or each.landing, refused, each.answered + 1)]
                )
            continue
        if refused:
            yield from pen.append(
                fleet.LandingRefused(**pen.identity, unit=each.landing.unit, reason=refused.reason)
            )
        yield from _close(pen, each.question)


def _settle(pen: JournalWriter, each: effects.PendingLanding) -> Steps[Tried]:
    """Finish one landing, as far as git says that it came."""
    landing = each.landing
    if (yield from do(effects.HasLanded(landing=landing))):
        yield from _note_landed(pen, landing, recognised=True)
        return landing, None
    yield from do(_queued(pen, landing.unit, landing.branch))
    yield from _await_turn(pen, landing.branch)
    if each.untested and each.unit:
        return (yield from _land_again(pen, each, each.unit))
    refused = yield from do(effects.MoveBranch(lease=pen.lease, landing=landing))
    if refused is None:
        yield from _note_landed(pen, landing, recognised=False)
    elif refused.branch_moved and each.unit:
        return (yield from _land_again(pen, each, each.unit))
    return landing, refused


def _land_again(pen: JournalWriter, each: effects.PendingLanding, unit: Unit) -> Steps[Tried]:
    """The same commits, brought on top of what others have landed since, and tested there."""
    worktree = yield from do(
        effects.PrepareWorktree(lane=pen.lease.lane, run_id=pen.run_id, lease=pen.lease)
    )
    yield from pen.append_salvage(worktree.salvaged)
    based = structs.replace(worktree, base=each.landing.base)
    found = yield from _land(
        pen, Work(unit=unit, worktree=based, head=each.landing.commit, iteration=each.iteration)
    )
    saved = yield from do(effects.SaveCommits(run_id=pen.run_id, worktree=worktree))
    yield from pen.append_salvage(saved)
    return found


def _blocked(
    pen: JournalWriter, landing: Landing, refused: effects.NotLanded, ordinal: int
) -> AnyQuestion:
    return LandingBlocked.ask(
        landing.unit, refused.reason, commit=landing.commit, lane=pen.lease.lane, ordinal=ordinal
    )


def _close(pen: JournalWriter, question: str) -> Steps[None]:
    """What was asked about has cleared by itself; unless a person was quicker to say so."""
    if question:
        answer = DecisionAnswered(id=question, choice=ChoiceName.RETRY, by=pen.run_id)
        try:
            yield from pen.append_shared(
                streams.decision(question), answer, "cleared", expect=RAISED_AT
            )
        except Conflict:
            pass


def _note_landed(pen: JournalWriter, landing: Landing, *, recognised: bool) -> Steps[None]:
    """With its receipt, or not at all: until then the landing is unsettled, and whoever comes next finishes it."""
    issued = yield from do(effects.IssueReceipt(landing=landing))
    unit = {**pen.identity, "unit": landing.unit, "commit": landing.commit}
    receipt = ReceiptIssued(**unit, receipt=issued.receipt, said=issued.message)
    landed = fleet.UnitLanded(
        **unit, branch=landing.branch, base=landing.base, recognised=recognised
    )
    step = StepVerified(run_id=pen.run_id, step=landing.unit, sha=landing.commit, via="file-path")
    # The unit's own stream and key: one landing of one commit is written once, whoever finds it. Its fence is in the
    # run's own record: a unit may have been another lane's before, whose lease is newer than this one.
    stream = streams.unit(landing.unit)
    records = [
        effects.Record(stream=stream, fact=receipt, key=proofs.receipt_key(landing.commit)),
        effects.Record(stream=stream, fact=landed, key=f"landed/{landing.commit}"),
        pen.record(streams.run(pen.run_id), step, f"verified/{landing.commit}"),
    ]
    yield from do(effects.RecordAll(records=records))
