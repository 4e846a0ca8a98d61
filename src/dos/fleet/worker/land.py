"""Measure what an agent did, and land what is proven: by git and exit codes alone, whatever the agent said."""

from msgspec import Struct, structs

from dos import times
from dos.agents.adapter import Ending
from dos.choices import ChoiceName
from dos.errors import Conflict, Halted
from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker.iteration import Dispatch, Fate
from dos.fleet.worker.journal_writer import Pen
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
    pen: Pen, asked: Dispatch, worktree: effects.Worktree, ended: effects.AgentResult
) -> Steps[Fate]:
    """Land what the agent delivered, or write down and ask about what is in the way of it."""
    measured = yield from _measured(pen, asked, worktree, ended)
    if measured is None:
        return Fate.MISSED
    unit, grooms = asked.unit, asked.grooms
    work = Work(
        unit=unit,
        worktree=worktree,
        head=measured.head,
        iteration=asked.iteration,
        run=measured.run,
        grooms=grooms,
    )
    try:
        if worktree.queue:
            yield from _await_turn(pen, worktree.queue)
        landing, refused = yield from _land(pen, work)
    except Halted:
        stopped = "its run was halted before it had landed"
        yield from pen.note(fleet.LandingRefused(**pen.who, unit=unit.name, reason=stopped))
        raise
    if refused is None:
        return Fate.LANDED
    if refused.fault and refused.landing and not grooms:
        yield from _defer(pen, unit.name, worktree.queue)
        yield from _keep_untested(pen, refused.landing, refused.fault, asked.iteration)
        return Fate.KEPT
    if refused.obstacle and landing and not grooms:
        yield from _defer(pen, unit.name, worktree.queue)
        yield from pen.ask([_blocked(pen, landing, refused, 1)])
        return Fate.KEPT
    yield from pen.note(fleet.LandingRefused(**pen.who, unit=unit.name, reason=refused.reason))
    count, reasons = asked.refused.count + 1, [*asked.refused.reasons, refused.reason]
    if count % MOST_REFUSALS == 0 and not refused.moved:
        told = reasons[-MOST_REFUSALS:]
        ordinal = count // MOST_REFUSALS
        yield from pen.ask(
            [LandingConflict.ask(unit.name, told, lane=pen.lease.lane, ordinal=ordinal)]
        )
    return Fate.MISSED


def _measured(
    pen: Pen, asked: Dispatch, worktree: effects.Worktree, ended: effects.AgentResult
) -> Steps[effects.Measured | None]:
    """What was delivered, if it was."""
    unit, ending = asked.unit, ended.outcome.ending
    measured = yield from do(
        effects.MeasureWork(unit=unit, lease=pen.lease, worktree=worktree, grooms=asked.grooms)
    )
    verdict = delivered.judge(
        delivered.Evidence(
            commits=len(measured.commits),
            changed_paths=measured.changed_paths,
            strays=measured.strays,
            accepted=measured.accepted,
            ending=ending,
            why_not_shipped=measured.unproven,
            detail=measured.detail,
        )
    )
    is_delivered = verdict.answer is delivered.Answer.DELIVERED
    # Who ends as it should says with it that the unit is done.
    compared = reconcile.reconcile(
        unit.name, claimed_done=ending is Ending.OK, oracle_shipped=is_delivered
    )
    told = pen.noted(
        fleet.WorkMeasured(
            **pen.who,
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


def _queued(pen: Pen, unit: str, branch: str) -> effects.Record:
    return pen.noted(limits.LandingQueued(**pen.who, unit=unit, branch=branch))


def _await_turn(pen: Pen, branch: str) -> Steps[None]:
    """Until those who queued before us have landed, or died. Who waits for long says so: it is no agent that hangs."""
    ahead = yield from do(effects.AwaitTurn(lease=pen.own, run_id=pen.run_id, seconds=SOON_SECONDS))
    if not ahead:
        return
    detail = f"{ahead} landings on {branch} come first"
    yield from pen.note(limits.RunParked(**pen.who, why="landing", detail=detail, until_ms=None))
    seconds = 0.0
    while ahead:
        ahead = yield from do(
            effects.AwaitTurn(lease=pen.own, run_id=pen.run_id, seconds=LOOK_SECONDS)
        )
        seconds += LOOK_SECONDS
    yield from pen.note(limits.RunUnparked(**pen.who, seconds=seconds))


def _defer(pen: Pen, unit: str, branch: str) -> Steps[None]:
    """Let the next one go first: this landing waits for a person."""
    if branch:
        yield from pen.note(limits.LandingDeferred(**pen.who, unit=unit, branch=branch))


def _land(pen: Pen, work: Work) -> Steps[Tried]:
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
                run=work.run,
                grooms=work.grooms,
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
        races, refusals = races + refused.moved, refusals + (not refused.moved)
        if races >= MOST_RACES or refusals >= LANDING_TRIES:
            return landing, refused
        yield from do(effects.Pause(seconds=PAUSES.delay(races + refusals)))


def _keep_untested(
    pen: Pen, landing: Landing, fault: BaselineChecked, iteration: int, *, intended: bool = False
) -> Steps[None]:
    """The tests fail without the work too: it waits as it is until they pass there, and nobody does it again."""
    if not intended:
        yield from pen.note(_intent(pen, landing, iteration, untested=True))
    yield from pen.share(
        streams.baseline(fault.host), fault, f"fault/{pen.run_id}/{landing.commit}.{fault.ordinal}"
    )
    yield from pen.ask([BaselineFailed.ask(fault)])


def _intent(
    pen: Pen, landing: Landing, iteration: int, *, untested: bool = False
) -> fleet.LandingIntended:
    return fleet.LandingIntended(
        **pen.who,
        unit=landing.unit,
        iteration=iteration,
        branch=landing.branch,
        old=landing.base,
        new=landing.commit,
        receipt=landing.receipt,
        untested=untested,
    )


def _move(pen: Pen, landing: Landing, iteration: int) -> Steps[effects.NotLanded | None]:
    """Intent, then the branch, then the record: after a crash between any two, git says how far it came."""
    yield from pen.note(_intent(pen, landing, iteration))
    refused = yield from do(effects.MoveBranch(lease=pen.lease, landing=landing))
    if refused is None:
        yield from _note_landed(pen, landing, recognised=False)
    return refused


def settle(pen: Pen, unsettled: list[effects.Unsettled]) -> Steps[None]:
    """Landings that were intended and did not happen yet: ask git how far each came, and finish it."""
    for each in unsettled:
        landing, refused = yield from _settle(pen, each)
        if refused and refused.fault:
            yield from _defer(pen, each.landing.unit, each.landing.branch)
            yield from _keep_untested(
                pen, each.landing, refused.fault, each.iteration, intended=each.untested
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
            yield from pen.note(
                fleet.LandingRefused(**pen.who, unit=each.landing.unit, reason=refused.reason)
            )
        yield from _close(pen, each.question)


def _settle(pen: Pen, each: effects.Unsettled) -> Steps[Tried]:
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
    elif refused.moved and each.unit:
        return (yield from _land_again(pen, each, each.unit))
    return landing, refused


def _land_again(pen: Pen, each: effects.Unsettled, unit: Unit) -> Steps[Tried]:
    """The same commits, brought on top of what others have landed since, and tested there."""
    worktree = yield from do(
        effects.PrepareWorktree(lane=pen.lease.lane, run_id=pen.run_id, lease=pen.lease)
    )
    yield from pen.note_salvage(worktree.salvaged)
    based = structs.replace(worktree, base=each.landing.base)
    found = yield from _land(
        pen, Work(unit=unit, worktree=based, head=each.landing.commit, iteration=each.iteration)
    )
    saved = yield from do(effects.SaveCommits(run_id=pen.run_id, worktree=worktree))
    yield from pen.note_salvage(saved)
    return found


def _blocked(pen: Pen, landing: Landing, refused: effects.NotLanded, ordinal: int) -> AnyQuestion:
    return LandingBlocked.ask(
        landing.unit, refused.reason, commit=landing.commit, lane=pen.lease.lane, ordinal=ordinal
    )


def _close(pen: Pen, question: str) -> Steps[None]:
    """What was asked about has cleared by itself; unless a person was quicker to say so."""
    if question:
        answer = DecisionAnswered(id=question, choice=ChoiceName.RETRY, by=pen.run_id)
        try:
            yield from pen.share(streams.decision(question), answer, "cleared", expect=RAISED_AT)
        except Conflict:
            pass


def _note_landed(pen: Pen, landing: Landing, *, recognised: bool) -> Steps[None]:
    """With its receipt, or not at all: until then the landing is unsettled, and whoever comes next finishes it."""
    issued = yield from do(effects.IssueReceipt(landing=landing))
    unit = {**pen.who, "unit": landing.unit, "commit": landing.commit}
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
