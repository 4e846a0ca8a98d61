"""One unit, one agent: claim the unit, prepare a worktree, run the agent, land what it committed.

A replan is dispatched the same way: its unit is the plan itself.
"""

from datetime import UTC, datetime

from dos.agents.adapter import LAUNCH_FAILED, LIMITS, PERSONAL, Ending
from dos.backlog.cooldown import AttemptOutcome
from dos.errors import Halted
from dos.fleet import choose_agent, effects
from dos.fleet.effect import Steps, do
from dos.fleet.worker import land
from dos.fleet.worker.iteration import Dispatch, IterationResult, LandingResult
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events import fleet, limits
from dos.lease import Refusal
from dos.limits import budget, quota
from dos.limits.state.ledger import spent_by
from dos.loop.tokens import PacketOutcome
from dos.loop.types import IterationOutcome, OutcomeKind, Productivity
from dos.units.unit import Unit

RELAUNCH_SECONDS = 5.0  # before an agent is started again that failed as it started
REPLAN = "REPLAN"  # the plan of the units that stand for a replan

# What the loop decides by when the work did not land. Any other ending is unclear.
OUTCOMES = {
    Ending.OK: OutcomeKind.SHIPPED,
    Ending.TRANSIENT: OutcomeKind.OVERLOADED,
    Ending.OVERLOADED: OutcomeKind.OVERLOADED,
    Ending.USAGE_WINDOW: OutcomeKind.RATE_LIMITED,
    **dict.fromkeys(PERSONAL, OutcomeKind.LAUNCH_FAILED),
    Ending.LAUNCH_FAILED: OutcomeKind.LAUNCH_FAILED,
}

# How an attempt that did not land counts for its unit. A limit of a provider does not count.
ATTEMPTS = {OutcomeKind.SHIPPED: AttemptOutcome.DRAINED, OutcomeKind.UNCLEAR: AttemptOutcome.ERROR}

_UNCOMMITTED = (
    "the last agent forgot to commit: its changes in the lane are uncommitted in your worktree;"
    " review, finish and commit them"
)
_INTERRUPTED = "an earlier run was interrupted at this unit; its work is saved on {ref}"


def dispatch(journal: JournalWriter, order: Dispatch) -> Steps[IterationResult]:
    """Run one agent on one unit, and return what the iteration came to.

    Raises Conflict when another run has claimed the unit. Raises Halted when a person stops the
    run, after all of its work was saved.
    """
    yield from do(_claim(journal, order))
    worktree = yield from do(
        effects.PrepareWorktree(
            lane=journal.lease.lane,
            run_id=journal.run_id,
            lease=journal.lease,
            saved_commit=order.saved_commit,
        )
    )
    yield from journal.append_salvage(worktree.salvaged)
    agent_result = yield from run_agent(journal, order, worktree)
    committed = yield from _save_changes(journal, order, worktree, agent_result)
    landing = LandingResult.MISSED
    halted: Halted | None = None
    try:
        landing = yield from land.measure_and_land(journal, order, worktree, agent_result)
    except Halted as error:
        halted = error
    saved = yield from do(
        effects.SaveCommits(
            run_id=journal.run_id,
            worktree=worktree,
            committed_by_dos=committed,
            landed=landing is LandingResult.LANDED,
        )
    )
    yield from journal.append_salvage(saved)
    if halted:
        raise halted
    outcome, fault = yield from _iteration_outcome(journal, agent_result, order, landing)
    yield from _record_attempt(journal, order, landing, outcome)
    limited = landing is LandingResult.MISSED and agent_result.outcome.ending in LIMITS
    return IterationResult(outcome=outcome, agent_result=agent_result, limited=limited, fault=fault)


def _record_attempt(
    journal: JournalWriter, order: Dispatch, landing: LandingResult, outcome: IterationOutcome
) -> Steps[None]:
    """Record how the attempt counts for the unit, where it counts at all."""
    if landing is LandingResult.KEPT:
        return
    if landing is LandingResult.LANDED:
        counts_as: AttemptOutcome | None = AttemptOutcome.SHIPPED
    else:
        counts_as = ATTEMPTS.get(outcome.kind)
    if counts_as is None:
        return
    unit = order.unit
    fact = fleet.UnitAttempted(
        **journal.identity,
        unit=unit.name,
        outcome=counts_as,
        host=journal.lease.host,
        text=unit.fingerprint,
    )
    key = f"attempted/{journal.run_id}/{order.iteration}.{order.attempt}"
    yield from journal.append_shared(streams.unit(unit.name), fact, key)


def _save_changes(
    journal: JournalWriter,
    order: Dispatch,
    worktree: effects.Worktree,
    agent_result: effects.AgentResult,
) -> Steps[str]:
    """Save uncommitted changes to a ref, and return the commit that dos made of them, if any.

    dos commits them where the agent ended well and forgot to, and the work can be judged. The
    changes are on a ref before that. Changes that are not committed are restored for the next
    agent of the unit.
    """
    saved = yield from do(effects.SaveChanges(run_id=journal.run_id, worktree=worktree))
    forgot_to_commit = agent_result.outcome.ending is Ending.OK and not order.is_replan
    forgotten: effects.Salvage | None = None
    if forgot_to_commit:
        forgotten = next((salvage for salvage in saved if salvage.onto == worktree.base), None)
    yield from journal.append_salvage(salvage for salvage in saved if salvage is not forgotten)
    if forgotten is None:
        return ""
    unit = order.unit
    yield from journal.append_salvage([forgotten], kept_for=unit.name)
    commit = yield from do(
        effects.CommitChanges(unit=unit, lease=journal.lease, worktree=worktree, saved=forgotten)
    )
    if commit:
        fact = limits.WorkCommitted(
            **journal.identity, unit=unit.name, commit=commit, ref=forgotten.ref
        )
        yield from journal.append(fact)
    return commit


def _prompt_history(order: Dispatch, worktree: effects.Worktree) -> list[str]:
    """Return what the agent is told about earlier attempts at the unit."""
    history = list(order.history)
    if order.repeated:
        history += [_INTERRUPTED.format(ref=salvage.ref) for salvage in worktree.salvaged]
    if worktree.resumed:
        history.append(_UNCOMMITTED)
    return history


def _claim(journal: JournalWriter, order: Dispatch) -> effects.ClaimUnit:
    """Return the effect that claims the unit for the run; two runs cannot both succeed."""
    unit = order.unit.name
    claim = fleet.UnitClaimed(
        **journal.identity, unit=unit, iteration=order.iteration, repeated=order.repeated
    )
    # Without a fence: the last run that claimed the unit may be of another lane and a newer lease.
    mark = effects.Record(
        stream=streams.unit(unit),
        fact=fleet.UnitTaken(**journal.identity, unit=unit),
        key=f"taken/{journal.run_id}/{order.iteration}.{order.attempt}",
    )
    return effects.ClaimUnit(
        unit=unit, lease=journal.lease, claim=journal.run_record(claim), mark=mark
    )


def run_agent(
    journal: JournalWriter, order: Dispatch, worktree: effects.Worktree
) -> Steps[effects.AgentResult]:
    """Run the agent and record its start, its end, and what it spent.

    What its end says about the provider is recorded for all workers that share the account.
    """
    agent = order.agent_choice.agent
    unit = order.unit.name
    started = fleet.AgentStarted(
        **journal.identity,
        unit=unit,
        iteration=order.iteration,
        agent=agent.name,
        base=worktree.base,
        said=worktree.missing_files,
    )
    yield from journal.append(started)
    result = yield from do(
        effects.RunAgent(
            unit=order.unit,
            lease=journal.lease,
            run_lease=journal.run_lease,
            run_id=journal.run_id,
            iteration=order.iteration,
            attempt=order.attempt,
            worktree=worktree,
            history=_prompt_history(order, worktree),
            agent=agent.name,
            allowance=order.agent_choice.allowance,
            documents=order.documents,
        )
    )
    outcome = result.outcome
    ended = fleet.AgentEnded(
        **journal.identity,
        unit=unit,
        iteration=order.iteration,
        outcome=outcome.ending,
        exit_code=result.exit_code,
        claim=outcome.claim,
        seconds=round(result.seconds, 3),
        agent=agent.name,
        found=outcome.found.raw or outcome.found.field,
        usage=list(outcome.usage),
        cost_usd=result.cost_usd,
        session=outcome.session,
        refused=result.refused,
    )
    yield from journal.append(ended)
    used_up = budget.used_up(order.agent_choice.budget_rows, spent_by(ended))
    for fact in choose_agent.spent_facts(used_up):
        yield from journal.append(fact)
    yield from _record_limit(journal, order, result)
    return result


def _record_limit(
    journal: JournalWriter, order: Dispatch, result: effects.AgentResult
) -> Steps[None]:
    """Record that the agent ran into a limit, or that a probe found it lifted.

    A limit holds for all agents that use the account, so it is in a stream of its own.
    """
    agent = order.agent_choice.agent
    key = f"{journal.run_id}/{order.iteration}.{order.attempt}"
    report = quota.limit_report(
        result.outcome, vendor=agent.vendor, account=agent.account, model=agent.model
    )
    probe = order.agent_choice.probe
    if report:
        hit = limits.LimitHit(
            vendor=report.key.vendor,
            account=report.key.account,
            model=report.key.model,
            window=report.window,
            ending=report.ending,
            resets_at_ms=report.resets_at_ms,
            retry_after_seconds=report.retry_after_seconds,
            agent=agent.name,
            found=report.found,
            login=result.login.digest,
            login_host=result.login.host,
            **journal.identity,
        )
        yield from journal.append_shared(streams.limit(report.key), hit, f"hit/{key}")
    elif probe and result.outcome.ending in quota.ANSWERED:
        lifted = limits.LimitLifted(
            vendor=probe.key.vendor,
            account=probe.key.account,
            model=probe.key.model,
            run_id=journal.run_id,
            reason=f"{agent.name} was answered again",
        )
        yield from journal.append_shared(streams.limit(probe.key), lifted, f"lifted/{key}")


def _iteration_outcome(
    journal: JournalWriter,
    agent_result: effects.AgentResult,
    order: Dispatch,
    landing: LandingResult,
) -> Steps[tuple[IterationOutcome, str]]:
    """Return what the loop decides by, and the fault that only a person can clear, if any."""
    if landing is LandingResult.LANDED:
        return _shipped(PacketOutcome.SHIPPED_CLEAN, ship_count=1), ""
    if landing is LandingResult.KEPT:  # the agent is done, and a person is in the way of landing
        return IterationOutcome(kind=OutcomeKind.SHIPPED), ""
    ending = agent_result.outcome.ending
    kind = OUTCOMES.get(ending, OutcomeKind.UNCLEAR)
    if kind is OutcomeKind.SHIPPED:
        return _shipped(PacketOutcome.SHIPPED_DIRTY, ship_count=0), ""
    if ending is Ending.LAUNCH_FAILED and agent_result.exit_code != LAUNCH_FAILED:
        # The program is installed and failed as it started: it may start the next time.
        return IterationOutcome(kind=kind, retry_after_seconds=RELAUNCH_SECONDS), ""
    if ending in LIMITS:
        return (yield from _limited_outcome(journal, order, kind))
    return IterationOutcome(kind=kind), _launch_fault(order, agent_result)


def _shipped(judge: PacketOutcome, *, ship_count: int) -> IterationOutcome:
    """Return the outcome of an agent that finished: how its work was judged, and what landed."""
    return IterationOutcome(
        kind=OutcomeKind.SHIPPED,
        measurement_expected=True,
        packet_judge=judge,
        ship_count=ship_count,
    )


def _launch_fault(order: Dispatch, agent_result: effects.AgentResult) -> str:
    """Return why the agent's program could not be started; empty where it was started."""
    found = agent_result.outcome.found
    if agent_result.outcome.ending is not Ending.LAUNCH_FAILED or found.field != "text":
        return ""
    return f"{order.agent_choice.agent.name} did not start: {found.raw}"


def _limited_outcome(
    journal: JournalWriter, order: Dispatch, kind: OutcomeKind
) -> Steps[tuple[IterationOutcome, str]]:
    """Return the outcome after a limit: another agent takes over now, or when one may start."""
    choice = yield from do(
        effects.ChooseAgent(
            lease=journal.lease,
            run_id=journal.run_id,
            iteration=order.iteration,
            agent=order.unit.agent,
        )
    )
    if isinstance(choice, effects.CannotStart):
        yield from journal.ask(choice.questions)
        if choice.until_ms is None:
            return IterationOutcome(kind=kind), choice.detail
        opens_ms = choice.until_ms
    else:
        opens_ms = choice.now_ms
    if kind is OutcomeKind.OVERLOADED:
        return IterationOutcome(kind=kind), ""
    resets_at = datetime.fromtimestamp(opens_ms / 1000, UTC)
    return IterationOutcome(kind=OutcomeKind.RATE_LIMITED, resets_at=resets_at), ""


def replan(
    journal: JournalWriter,
    agent_choice: effects.AgentChoice,
    before: effects.Backlog,
    iteration: int,
    attempt: int,
) -> Steps[tuple[IterationResult | None, effects.Backlog]]:
    """Let an agent update the plan documents; return its result and the backlog after it.

    The result is None when another run holds the documents and no agent was started.
    """
    plans = yield from do(effects.TakePlans(lease=journal.lease, run_id=journal.run_id))
    if isinstance(plans, Refusal):
        return None, before
    order = Dispatch(
        unit=Unit(plan=REPLAN, id=journal.lease.lane, title="update the plan"),
        iteration=iteration,
        attempt=attempt,
        agent_choice=agent_choice,
        history=[f"{verdict.unit}: {verdict.evidence}" for verdict in before.held],
        repeated=False,
        documents=plans.documents,
    )
    has_own_lease = plans.lease.fence != journal.lease.fence
    try:
        result = yield from dispatch(journal.for_lease(plans.lease), order)
    except Halted:
        if has_own_lease:
            yield from do(effects.ReleaseLease(lease=plans.lease, reason="halted"))
        raise
    if has_own_lease:
        yield from do(effects.ReleaseLease(lease=plans.lease, reason="the replan is done"))
    after = yield from do(effects.SurveyBacklog(lease=journal.lease))
    return result, after


def replan_outcome(
    result: IterationResult | None, before: effects.Backlog, after: effects.Backlog
) -> IterationOutcome:
    """Return the outcome of a replan: productive if more units can be offered than before.

    The units are counted; what the agent says about its work does not matter. An agent that
    failed or had no allowance left decides by its own outcome.
    """
    if result and result.outcome.kind is not OutcomeKind.SHIPPED:
        return result.outcome
    if len(after.open) > len(before.open):
        productivity = Productivity.PRODUCTIVE
    else:
        productivity = Productivity.UNPRODUCTIVE
    return IterationOutcome(kind=OutcomeKind.REPLAN_DONE, replan_productivity=productivity)
