"""One unit, one agent: claim, a clean worktree, the agent, what it left, what of it lands."""

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
from dos.limits.state.spend import spent_by
from dos.loop.tokens import PacketOutcome
from dos.loop.types import IterationOutcome, OutcomeKind, Productivity
from dos.units.unit import Unit

STUMBLED_SECONDS = 5.0

# How an agent's end is weighed when its work did not land; all others had no clear end.
OUTCOMES = {
    Ending.OK: OutcomeKind.SHIPPED,
    Ending.TRANSIENT: OutcomeKind.OVERLOADED,
    Ending.OVERLOADED: OutcomeKind.OVERLOADED,
    Ending.USAGE_WINDOW: OutcomeKind.RATE_LIMITED,
    **dict.fromkeys(PERSONAL, OutcomeKind.LAUNCH_FAILED),
    Ending.LAUNCH_FAILED: OutcomeKind.LAUNCH_FAILED,
}

# What a try that did not land was. That its provider had no room says nothing about a unit.
TRIED = {OutcomeKind.SHIPPED: AttemptOutcome.DRAINED, OutcomeKind.UNCLEAR: AttemptOutcome.ERROR}

_FORGOTTEN = (
    "the last agent forgot to commit: what it had changed in the lane lies uncommitted in your worktree; look at it,"
    " finish it and commit it"
)
_LEFT = "a run before was cut off at it; what that had done is on {ref}"


def dispatch(pen: JournalWriter, asked: Dispatch) -> Steps[IterationResult]:
    """What became of it; Halted once all that was done is saved; Conflict when another run is at the unit."""
    unit, number = asked.unit, asked.iteration
    yield from do(_claim(pen, asked))
    worktree = yield from do(
        effects.PrepareWorktree(
            lane=pen.lease.lane, run_id=pen.run_id, lease=pen.lease, saved_commit=asked.saved_commit
        )
    )
    yield from pen.append_salvage(worktree.salvaged)
    ended = yield from run_agent(pen, asked, worktree)
    made = yield from _save_what_was_left(pen, asked, worktree, ended)
    halted: Halted | None = None
    fate = LandingResult.MISSED
    try:
        fate = yield from land.measure_and_land(pen, asked, worktree, ended)
    except Halted as error:
        halted = error
    saved = yield from do(
        effects.SaveCommits(run_id=pen.run_id, worktree=worktree, committed_by_dos=made)
    )
    yield from pen.append_salvage(saved)
    if halted:
        raise halted
    limited = fate is LandingResult.MISSED and ended.outcome.ending in LIMITS
    outcome, why = yield from _weighed(pen, ended, asked, fate)
    tried = (
        AttemptOutcome.SHIPPED
        if fate is LandingResult.LANDED
        else TRIED.get(outcome.kind)
        if fate is LandingResult.MISSED
        else None
    )
    if tried is not None:
        fact = fleet.UnitAttempted(
            **pen.identity,
            unit=unit.name,
            outcome=tried,
            host=pen.lease.host,
            text=unit.fingerprint,
        )
        yield from pen.append_shared(
            streams.unit(unit.name), fact, f"attempted/{pen.run_id}/{number}.{asked.attempt}"
        )
    return IterationResult(outcome=outcome, agent_result=ended, limited=limited, fault=why)


def _save_what_was_left(
    pen: JournalWriter, asked: Dispatch, worktree: effects.Worktree, ended: effects.AgentResult
) -> Steps[str]:
    """The commit that dos made of it, where the agent forgot to and the work can be judged; empty: none.

    It is on a ref before anything else is done with it. What is not committed lies before the next agent again.
    """
    saved = yield from do(effects.SaveChanges(run_id=pen.run_id, worktree=worktree))
    forgot = ended.outcome.ending is Ending.OK and not asked.is_replan
    left = next((each for each in saved if forgot and each.onto == worktree.base), None)
    yield from pen.append_salvage([each for each in saved if each is not left])
    if left is None:
        return ""
    yield from pen.append_salvage([left], kept_for=asked.unit.name)
    made = yield from do(
        effects.CommitChanges(unit=asked.unit, lease=pen.lease, worktree=worktree, saved=left)
    )
    if made:
        yield from pen.append(
            limits.WorkCommitted(**pen.identity, unit=asked.unit.name, commit=made, ref=left.ref),
        )
    return made


def _history(asked: Dispatch, worktree: effects.Worktree) -> list[str]:
    """What the agent is told of earlier tries."""
    cut_off = [_LEFT.format(ref=saved.ref) for saved in worktree.salvaged if asked.repeated]
    return [*asked.history, *cut_off, *([_FORGOTTEN] if worktree.resumed else [])]


def _claim(pen: JournalWriter, asked: Dispatch) -> effects.ClaimUnit:
    unit = asked.unit.name
    claim = fleet.UnitClaimed(
        **pen.identity, unit=unit, iteration=asked.iteration, repeated=asked.repeated
    )
    key = f"taken/{pen.run_id}/{asked.iteration}.{asked.attempt}"
    # Without a fence: the last who took it may have been of another lane, and of a newer lease.
    mark = effects.Record(
        stream=streams.unit(unit), fact=fleet.UnitTaken(**pen.identity, unit=unit), key=key
    )
    return effects.ClaimUnit(unit=unit, lease=pen.lease, claim=pen.run_record(claim), mark=mark)


def run_agent(
    pen: JournalWriter, asked: Dispatch, worktree: effects.Worktree
) -> Steps[effects.AgentResult]:
    """How it ended; what that says about the provider is written down for everybody who shares it."""
    agent, name, number = asked.agent_choice.agent, asked.unit.name, asked.iteration
    told = {"agent": agent.name, "base": worktree.base, "said": worktree.missing_files}
    yield from pen.append(fleet.AgentStarted(**pen.identity, unit=name, iteration=number, **told))
    work = effects.RunAgent(
        unit=asked.unit,
        lease=pen.lease,
        run_lease=pen.run_lease,
        run_id=pen.run_id,
        iteration=number,
        attempt=asked.attempt,
        worktree=worktree,
        history=_history(asked, worktree),
        agent=agent.name,
        allowance=asked.agent_choice.allowance,
        documents=asked.documents,
    )
    ended = yield from do(work)
    outcome = ended.outcome
    fact = fleet.AgentEnded(
        **pen.identity,
        unit=name,
        iteration=number,
        outcome=outcome.ending,
        exit_code=ended.exit_code,
        claim=outcome.claim,
        seconds=round(ended.seconds, 3),
        agent=agent.name,
        found=outcome.found.raw or outcome.found.field,
        usage=list(outcome.usage),
        cost_usd=ended.cost_usd,
        session=outcome.session,
    )
    yield from pen.append(fact)
    for spent in choose_agent.spent_facts(
        budget.used_up(asked.agent_choice.budget_rows, spent_by(fact))
    ):
        yield from pen.append(spent)
    yield from _tell_of_room(pen, asked, ended)
    return ended


def _tell_of_room(pen: JournalWriter, asked: Dispatch, ended: effects.AgentResult) -> Steps[None]:
    """A limit holds for all who use the account; that one got through again opens it for them."""
    agent = asked.agent_choice.agent
    key = f"{pen.run_id}/{asked.iteration}.{asked.attempt}"
    told = quota.limit_report(
        ended.outcome, vendor=agent.vendor, account=agent.account, model=agent.model
    )
    if told:
        hit = limits.LimitHit(
            vendor=told.key.vendor,
            account=told.key.account,
            model=told.key.model,
            window=told.window,
            ending=told.ending,
            resets_at_ms=told.resets_at_ms,
            retry_after_seconds=told.retry_after_seconds,
            agent=agent.name,
            found=told.found,
            login=ended.login.digest,
            login_host=ended.login.host,
            **pen.identity,
        )
        yield from pen.append_shared(streams.limit(told.key), hit, f"hit/{key}")
    elif asked.agent_choice.probe and ended.outcome.ending in quota.ANSWERED:
        probed = asked.agent_choice.probe.key
        lifted = limits.LimitLifted(
            vendor=probed.vendor,
            account=probed.account,
            model=probed.model,
            run_id=pen.run_id,
            reason=f"{agent.name} was answered again",
        )
        yield from pen.append_shared(streams.limit(probed), lifted, f"lifted/{key}")


def _weighed(
    pen: JournalWriter, ended: effects.AgentResult, asked: Dispatch, fate: LandingResult
) -> Steps[tuple[IterationOutcome, str]]:
    """What is decided on, and what only a person can put right about its program or provider."""
    ending, exit_code = ended.outcome.ending, ended.exit_code
    if (
        fate is LandingResult.KEPT
    ):  # its agent has done what there was to do, and nothing is held against it
        return IterationOutcome(kind=OutcomeKind.SHIPPED), ""
    landed = fate is LandingResult.LANDED
    kind = OutcomeKind.SHIPPED if landed else OUTCOMES.get(ending, OutcomeKind.UNCLEAR)
    if kind is OutcomeKind.SHIPPED:
        shipped = IterationOutcome(
            kind=kind,
            measurement_expected=True,
            packet_judge=PacketOutcome.SHIPPED_CLEAN if landed else PacketOutcome.SHIPPED_DIRTY,
            ship_count=int(landed),
        )
        return shipped, ""
    if (
        ending is Ending.LAUNCH_FAILED and exit_code != LAUNCH_FAILED
    ):  # it is there, and stumbled: perhaps not again
        return IterationOutcome(kind=kind, retry_after_seconds=STUMBLED_SECONDS), ""
    if ending not in LIMITS:
        found = ended.outcome.found
        is_told = ending is Ending.LAUNCH_FAILED and found.field == "text"
        return IterationOutcome(
            kind=kind
        ), f"{asked.agent_choice.agent.name} did not start: {found.raw}" if is_told else ""
    room = yield from do(
        effects.ChooseAgent(
            lease=pen.lease, run_id=pen.run_id, iteration=asked.iteration, agent=asked.unit.agent
        )
    )
    yield from pen.ask(room.questions if isinstance(room, effects.CannotStart) else ())
    # Another agent takes over at once; else the governor knows when somebody may ask again.
    opens_ms = room.until_ms if isinstance(room, effects.CannotStart) else room.now_ms
    if opens_ms is None:
        return IterationOutcome(kind=kind), room.detail if isinstance(
            room, effects.CannotStart
        ) else ""
    if kind is OutcomeKind.OVERLOADED:
        return IterationOutcome(kind=kind), ""
    moment = datetime.fromtimestamp(opens_ms / 1000, UTC)
    return IterationOutcome(kind=OutcomeKind.RATE_LIMITED, resets_at=moment), ""


REPLAN = "REPLAN"  # of the units that stand for a replan


def replan(
    pen: JournalWriter,
    chosen: effects.AgentChoice,
    before: effects.Backlog,
    iteration: int,
    attempt: int,
) -> Steps[tuple[IterationResult | None, effects.Backlog]]:
    """How its agent ended, where one was started, and the backlog as it stands now."""
    plans = yield from do(effects.TakePlans(lease=pen.lease, run_id=pen.run_id))
    if isinstance(plans, Refusal):
        return None, before  # somebody is at work where the plans are
    name = pen.lease.lane
    asked = Dispatch(
        unit=Unit(plan=REPLAN, id=name, title="groom the plan"),
        iteration=iteration,
        attempt=attempt,
        agent_choice=chosen,
        history=[f"{each.unit}: {each.evidence}" for each in before.held],
        repeated=False,
        documents=plans.documents,
    )
    is_apart = plans.lease.fence != pen.lease.fence
    try:
        done = yield from dispatch(pen.for_lease(plans.lease), asked)
    except Halted:
        if is_apart:
            yield from do(effects.ReleaseLease(lease=plans.lease, reason="halted"))
        raise
    if is_apart:
        yield from do(effects.ReleaseLease(lease=plans.lease, reason="the plans are groomed"))
    after = yield from do(effects.SurveyBacklog(lease=pen.lease))
    return done, after


def replan_outcome(
    done: IterationResult | None, before: effects.Backlog, after: effects.Backlog
) -> IterationOutcome:
    """Whether more can be offered than before is counted, whatever the agent says of it."""
    if done and done.outcome.kind is not OutcomeKind.SHIPPED:
        return done.outcome  # it had no clear end, or no room: that is what is decided on
    more = len(after.open) > len(before.open)
    found = Productivity.PRODUCTIVE if more else Productivity.UNPRODUCTIVE
    return IterationOutcome(kind=OutcomeKind.REPLAN_DONE, replan_productivity=found)
