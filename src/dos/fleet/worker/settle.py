"""Finish landings that were intended or accepted earlier, as far as git says that they came."""

from msgspec import structs

from dos.choices import ChoiceName
from dos.errors import Conflict
from dos.fleet import effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker import land
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events.limits import DecisionAnswered
from dos.units.unit import Unit

RAISED_AT = 1  # the version of a question's stream until it is answered


def settle(journal: JournalWriter, pending: list[effects.PendingLanding]) -> Steps[None]:
    """Finish landings that were intended and did not happen, as far as git says they came."""
    for intended in pending:
        unit = intended.landing.unit
        landing, refused = yield from _settle_one(journal, intended)
        if refused and refused.baseline_failure:
            yield from land.defer(journal, unit, intended.landing.branch)
            yield from land.keep_untested(
                journal,
                intended.landing,
                refused.baseline_failure,
                intended.iteration,
                is_intended=intended.untested,
            )
            return
        if refused and refused.obstacle:
            yield from land.defer(journal, unit, intended.landing.branch)
            if not intended.question:
                blocked = landing or intended.landing
                ordinal = intended.answered + 1
                yield from journal.ask([land.blocked_question(journal, blocked, refused, ordinal)])
            continue
        if refused:
            yield from land.record_refusal(journal, unit, refused.reason)
        yield from _close_question(journal, intended.question)


def _settle_one(
    journal: JournalWriter, pending: effects.PendingLanding
) -> Steps[land.LandingAttempt]:
    """Finish one pending landing: record it, move the branch, or land its commits again."""
    landing = pending.landing
    if (yield from do(effects.HasLanded(landing=landing))):
        yield from land.record_landed(journal, landing, recognised=True)
        return landing, None
    yield from do(land.queue_record(journal, landing.unit, landing.branch))
    yield from land.await_turn(journal, landing.branch)
    if (pending.untested or pending.tests_accepted) and pending.unit:
        return (yield from _land_again(journal, pending, pending.unit))
    refused = yield from do(effects.MoveBranch(lease=journal.lease, landing=landing))
    if refused is None:
        yield from land.record_landed(journal, landing, recognised=False)
    elif refused.branch_moved and pending.unit:
        return (yield from _land_again(journal, pending, pending.unit))
    return landing, refused


def _land_again(
    journal: JournalWriter, pending: effects.PendingLanding, unit: Unit
) -> Steps[land.LandingAttempt]:
    """Rebase the same commits onto what has landed since, test them there, and land them."""
    worktree = yield from do(
        effects.PrepareWorktree(lane=journal.lease.lane, run_id=journal.run_id, lease=journal.lease)
    )
    yield from journal.append_salvage(worktree.salvaged)
    work = land.LandingWork(
        unit=unit,
        worktree=structs.replace(worktree, base=pending.landing.base),
        head=pending.landing.commit,
        iteration=pending.iteration,
        tests_accepted=pending.tests_accepted,
    )
    attempt = yield from land.land(journal, work)
    _, refused = attempt
    saved = yield from do(
        effects.SaveCommits(run_id=journal.run_id, worktree=worktree, landed=refused is None)
    )
    yield from journal.append_salvage(saved)
    return attempt


def _close_question(journal: JournalWriter, question: str) -> Steps[None]:
    """Answer the question about a landing that has cleared by itself."""
    if not question:
        return
    answer = DecisionAnswered(id=question, choice=ChoiceName.RETRY, by=journal.run_id)
    stream = streams.decision(question)
    try:
        yield from journal.append_shared(stream, answer, "cleared", expect=RAISED_AT)
    except Conflict:
        pass  # a person has answered it meanwhile
