"""Measure what an agent committed, and land what is proven by git and exit codes alone."""

from msgspec import Struct

from dos import times
from dos.agents.adapter import Ending
from dos.errors import Halted
from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker.iteration import Dispatch, LandingResult
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events import fleet, limits, runs
from dos.journal.events.limits import BaselineChecked
from dos.journal.events.runs import ReceiptIssued, StepVerified
from dos.questions.catalog import AnyQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.resources import BaselineFailed
from dos.questions.units import LandingBlocked, LandingConflict
from dos.receipts.receipt import CommandRun
from dos.units.unit import Landing, Unit
from dos.verify import delivered, reconcile

LANDING_TRIES = 6  # while something is in the way
MOST_RACES = 40  # lost to other landings, each of which was progress
PAUSES = times.exponential_backoff(0.1, cap=3.0)  # in seconds
SHORT_WAIT_SECONDS = 5.0  # a turn that comes within this time is not recorded as a wait
TURN_SECONDS = 60.0  # the longest single wait for a turn
MOST_REFUSALS = 2  # of one unit's landing in a row, before a person is asked

# What was to land, where it could be prepared, and why it did not, where it did not.
LandingAttempt = tuple[Landing | None, effects.NotLanded | None]


class LandingWork(Struct, frozen=True, kw_only=True):
    """Commits that are to land."""

    unit: Unit
    worktree: effects.Worktree
    head: str
    iteration: int
    acceptance_run: CommandRun | None = None  # of the acceptance command, on that head
    is_replan: bool = False
    provenance: effects.Provenance | None = None  # None: the commits name it already
    tests_accepted: bool = False  # a person lets these commits change tests


def measure_and_land(
    journal: JournalWriter,
    order: Dispatch,
    worktree: effects.Worktree,
    agent_result: effects.AgentResult,
) -> Steps[LandingResult]:
    """Land what the agent delivered; record and ask about what is in the way of it.

    Raises Halted when a person stops the run before the work has landed.
    """
    measured = yield from _measure(journal, order, worktree, agent_result)
    if measured is None:
        return LandingResult.MISSED
    work = LandingWork(
        unit=order.unit,
        worktree=worktree,
        head=measured.head,
        iteration=order.iteration,
        acceptance_run=measured.acceptance_run,
        is_replan=order.is_replan,
        provenance=effects.Provenance(
            agent=order.agent_choice.agent.name,
            model=agent_result.outcome.model,
            run_id=journal.run_id,
            version=agent_result.version,
        ),
    )
    unit = order.unit.name
    try:
        if worktree.queue:
            yield from await_turn(journal, worktree.queue)
        landing, refused = yield from land(journal, work)
    except Halted:
        yield from record_refusal(journal, unit, "its run was halted before it had landed")
        raise
    if refused is None:
        return LandingResult.LANDED
    failure = refused.baseline_failure
    if failure and refused.landing and not order.is_replan:
        yield from defer(journal, unit, worktree.queue)
        yield from keep_untested(journal, refused.landing, failure, order.iteration)
        return LandingResult.KEPT
    if refused.obstacle and landing and not order.is_replan:
        yield from defer(journal, unit, worktree.queue)
        yield from journal.ask([blocked_question(journal, landing, refused, ordinal=1)])
        return LandingResult.KEPT
    yield from record_refusal(journal, unit, refused.reason)
    if refused.tests_changed and refused.landing:
        yield from _ask_about_tests(journal, order, refused.landing, refused.reason)
    elif not refused.branch_moved:
        yield from _ask_about_refusals(journal, order, refused)
    return LandingResult.MISSED


def record_refusal(journal: JournalWriter, unit: str, reason: str) -> Steps[None]:
    yield from journal.append(fleet.LandingRefused(**journal.identity, unit=unit, reason=reason))


def _ask_about_refusals(
    journal: JournalWriter, order: Dispatch, refused: effects.NotLanded
) -> Steps[None]:
    """Ask a person at every `MOST_REFUSALS`-th refusal of the unit's landing."""
    count = order.refusals.count + 1
    if count % MOST_REFUSALS != 0:
        return
    reasons = [*order.refusals.reasons, refused.reason][-MOST_REFUSALS:]
    question = LandingConflict.ask(
        order.unit.name, reasons, lane=journal.lease.lane, ordinal=count // MOST_REFUSALS
    )
    yield from journal.ask([question])


def _ask_about_tests(
    journal: JournalWriter, order: Dispatch, landing: Landing, reason: str
) -> Steps[None]:
    """Ask a person whether commits that change tests may land, at the refusals that are asked of.

    The agent of the first attempt is not the last: the next one reads the reason.
    """
    count = order.refusals.count + 1
    if count % MOST_REFUSALS != 0:
        return
    question = TestsChanged.ask(
        landing, reason, refused=count, lane=journal.lease.lane, ordinal=count // MOST_REFUSALS
    )
    yield from journal.ask([question])


def _measure(
    journal: JournalWriter,
    order: Dispatch,
    worktree: effects.Worktree,
    agent_result: effects.AgentResult,
) -> Steps[effects.Measurement | None]:
    """Measure the work and record the verdict; None when nothing was delivered."""
    ending = agent_result.outcome.ending
    measured = yield from do(
        effects.MeasureWork(
            unit=order.unit, lease=journal.lease, worktree=worktree, is_replan=order.is_replan
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
    # An agent that ends well claims by that that the unit is done.
    reconciled = reconcile.reconcile(
        order.unit.name, claimed_done=ending is Ending.OK, oracle_shipped=is_delivered
    )
    fact = fleet.WorkMeasured(
        **journal.identity,
        unit=order.unit.name,
        iteration=order.iteration,
        base=worktree.base,
        head=measured.head,
        commits=measured.commits,
        strays=measured.strays,
        accepted=measured.accepted,
        verdict=verdict.answer,
        reason=verdict.reason,
        reconciled=reconciled.answer,
    )
    record = journal.run_record(fact)
    if is_delivered and worktree.queue:
        # In one transaction, so that a lane that lands alone does not pay for the queue.
        queued = queue_record(journal, order.unit.name, worktree.queue)
        yield from do(effects.RecordAll(records=[record, queued]))
    else:
        yield from do(record)
    return measured if is_delivered else None


def queue_record(journal: JournalWriter, unit: str, branch: str) -> effects.Record:
    return journal.run_record(limits.LandingQueued(**journal.identity, unit=unit, branch=branch))


def await_turn(journal: JournalWriter, branch: str) -> Steps[None]:
    """Wait until the landings that queued before have landed or died.

    A longer wait is recorded, so that the run is not taken for one whose agent hangs.
    """
    lease = journal.run_lease
    ahead = yield from do(
        effects.AwaitTurn(lease=lease, run_id=journal.run_id, seconds=SHORT_WAIT_SECONDS)
    )
    if not ahead:
        return
    detail = f"{ahead} landings on {branch} come first"
    yield from journal.append(
        limits.RunParked(**journal.identity, why="landing", detail=detail, until_ms=None)
    )
    seconds = 0.0
    while ahead:
        ahead = yield from do(
            effects.AwaitTurn(lease=lease, run_id=journal.run_id, seconds=TURN_SECONDS)
        )
        seconds += TURN_SECONDS
    yield from journal.append(limits.RunUnparked(**journal.identity, seconds=seconds))


def defer(journal: JournalWriter, unit: str, branch: str) -> Steps[None]:
    """Let the next landing go first: this one waits for a person."""
    if branch:
        fact = limits.LandingDeferred(**journal.identity, unit=unit, branch=branch)
        yield from journal.append(fact)


def land(journal: JournalWriter, work: LandingWork) -> Steps[LandingAttempt]:
    """Land the work, and try again while only the branch has moved or the refusal may pass."""
    races = 0
    refusals = 0
    while True:
        prepared = yield from do(
            effects.PrepareLanding(
                unit=work.unit,
                lease=journal.lease,
                worktree=work.worktree,
                head=work.head,
                acceptance_run=work.acceptance_run,
                is_replan=work.is_replan,
                provenance=work.provenance,
                tests_accepted=work.tests_accepted,
            )
        )
        landing: Landing | None = None
        refused: effects.NotLanded | None
        if isinstance(prepared, effects.NotLanded):
            refused = prepared
        else:
            landing = prepared
            refused = yield from _move_branch(journal, landing, work.iteration)
        if refused is None or not refused.retryable:
            return landing, refused
        if refused.branch_moved:
            races += 1
        else:
            refusals += 1
        if races >= MOST_RACES or refusals >= LANDING_TRIES:
            return landing, refused
        yield from do(effects.Pause(seconds=PAUSES.delay(races + refusals)))


def keep_untested(
    journal: JournalWriter,
    landing: Landing,
    failure: BaselineChecked,
    iteration: int,
    *,
    is_intended: bool = False,
) -> Steps[None]:
    """Keep work whose tests fail without it too: it lands once they pass on the branch."""
    if not is_intended:
        yield from journal.append(_intent(journal, landing, iteration, untested=True))
    key = f"fault/{journal.run_id}/{landing.commit}.{failure.ordinal}"
    yield from journal.append_shared(streams.baseline(failure.host), failure, key)
    yield from journal.ask([BaselineFailed.ask(failure)])


def _intent(
    journal: JournalWriter, landing: Landing, iteration: int, *, untested: bool = False
) -> fleet.LandingIntended:
    """Return the fact that is recorded before the branch is moved."""
    return fleet.LandingIntended(
        **journal.identity,
        unit=landing.unit,
        iteration=iteration,
        branch=landing.branch,
        old=landing.base,
        new=landing.commit,
        receipt=landing.receipt,
        untested=untested,
    )


def _move_branch(
    journal: JournalWriter, landing: Landing, iteration: int
) -> Steps[effects.NotLanded | None]:
    """Record the intent, move the branch, record the landing.

    After a crash between two of these steps, git shows how far the landing came.
    """
    yield from journal.append(_intent(journal, landing, iteration))
    refused = yield from do(effects.MoveBranch(lease=journal.lease, landing=landing))
    if refused is None:
        yield from record_landed(journal, landing, recognised=False)
    return refused


def blocked_question(
    journal: JournalWriter, landing: Landing, refused: effects.NotLanded, ordinal: int
) -> AnyQuestion:
    """Return the question about a landing that a person's own work blocks."""
    return LandingBlocked.ask(
        landing.unit,
        refused.reason,
        commit=landing.commit,
        lane=journal.lease.lane,
        ordinal=ordinal,
    )


def record_landed(journal: JournalWriter, landing: Landing, *, recognised: bool) -> Steps[None]:
    """Record the landing with its receipt, in one transaction.

    Until that is written the landing is pending, and the next run of the lane finishes it.
    """
    issued = yield from do(effects.IssueReceipt(landing=landing))
    unit = {**journal.identity, "unit": landing.unit, "commit": landing.commit}
    receipt = ReceiptIssued(**unit, receipt=issued.receipt, said=issued.message)
    landed = fleet.UnitLanded(
        **unit, branch=landing.branch, base=landing.base, recognised=recognised
    )
    step = StepVerified(
        run_id=journal.run_id, step=landing.unit, sha=landing.commit, via="file-path"
    )
    # The unit's own stream and key: a landing of one commit is written once, whichever run finds
    # it. The fence is in the run's own record, because the unit may have been worked on by
    # another lane before, under a newer lease than this one.
    stream = streams.unit(landing.unit)
    records = [
        effects.Record(stream=stream, fact=receipt, key=runs.receipt_key(landing.commit)),
        effects.Record(stream=stream, fact=landed, key=f"landed/{landing.commit}"),
        journal.record(streams.run(journal.run_id), step, f"verified/{landing.commit}"),
    ]
    yield from do(effects.RecordAll(records=records))
