"""One unit, one agent: claim, a clean worktree, the agent, what it left, what of it lands."""

from datetime import UTC, datetime

from msgspec import Struct

from dos.agents.adapter import LAUNCH_FAILED
from dos.journal import engine_events, events
from dos.plans.iterations import IterationOutcome, OutcomeKind
from dos.plans.limits import quota
from dos.plans.tokens import PacketOutcome
from dos.records.attempts import Outcome as Tried
from dos.records.endings import LIMITS, PERSONAL, Ending
from dos.records.units import Unit
from dos.runtime import effects
from dos.runtime.steps import land
from dos.runtime.steps.noting import Pen, Steps

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
TRIED = {OutcomeKind.SHIPPED: Tried.DRAINED, OutcomeKind.UNCLEAR: Tried.ERROR}


class Dispatch(Struct, frozen=True, kw_only=True):
    """What is to be done, and by whom."""

    unit: Unit
    iteration: int
    attempt: int
    chosen: effects.Chosen
    history: list[str]
    repeated: bool
    refused_before: list[str]  # why its landing was refused, each time
    documents: list[str] = []  # to be groomed, in a replan


class Done(Struct, frozen=True, kw_only=True):
    outcome: IterationOutcome
    ended: effects.Ended
    limited: bool = False  # the provider's fault; its governor says when to go on, and with whom


def dispatch(pen: Pen, asked: Dispatch) -> Steps:
    """→ Done"""
    unit, number = asked.unit, asked.iteration
    yield from pen.note(events.UnitClaimed(**pen.who, unit=unit.name, iteration=number, repeated=asked.repeated))
    worktree: effects.Worktree = yield effects.PrepareWorktree(lane=pen.lease.lane, run_id=pen.run_id, lease=pen.lease)
    yield from pen.note_salvage(worktree.salvaged)
    ended: effects.Ended = yield from run_agent(pen, asked, worktree)
    yield from pen.note_salvage((yield effects.SaveChanges(run_id=pen.run_id, worktree=worktree)))
    landed: bool = yield from land.measure_and_land(pen, unit, worktree, number, asked.refused_before)
    yield from pen.note_salvage((yield effects.SaveCommits(run_id=pen.run_id, worktree=worktree)))
    limited = not landed and ended.outcome.ending in LIMITS
    outcome: IterationOutcome = yield from _weighed(pen, ended, number, landed=landed)
    tried = Tried.SHIPPED if landed else TRIED.get(outcome.kind)
    if tried is not None:
        fact = events.UnitAttempted(**pen.who, unit=unit.name, outcome=tried, host=pen.lease.host)
        yield from pen.write(f"unit/{unit.name}", fact, f"attempted/{pen.run_id}/{number}.{asked.attempt}")
    return Done(outcome=outcome, ended=ended, limited=limited)


def run_agent(pen: Pen, asked: Dispatch, worktree: effects.Worktree) -> Steps:
    """→ Ended; what its end says about the provider is written down for everybody who shares it."""
    agent, name, number = asked.chosen.agent, asked.unit.name, asked.iteration
    yield from pen.note(
        events.AgentStarted(**pen.who, unit=name, iteration=number, agent=agent.name, base=worktree.base)
    )
    ended: effects.Ended = yield effects.RunAgent(
        unit=asked.unit,
        lease=pen.lease,
        run_id=pen.run_id,
        iteration=number,
        attempt=asked.attempt,
        worktree=worktree,
        history=asked.history,
        agent=agent.name,
        left=asked.chosen.left,
        documents=asked.documents,
    )
    outcome = ended.outcome
    yield from pen.note(
        events.AgentEnded(
            **pen.who,
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
        )
    )
    yield from _tell_of_room(pen, asked, ended)
    return ended


def _tell_of_room(pen: Pen, asked: Dispatch, ended: effects.Ended) -> Steps:
    """A limit holds for all who use the account; that one got through again opens it for them."""
    agent = asked.chosen.agent
    key = f"{pen.run_id}/{asked.iteration}.{asked.attempt}"
    told = quota.told(ended.outcome, vendor=agent.vendor, account=agent.account, model=agent.model)
    if told:
        hit = engine_events.LimitHit(
            vendor=told.key.vendor,
            account=told.key.account,
            model=told.key.model,
            window=told.window,
            ending=told.ending,
            resets_at_ms=told.resets_at_ms,
            retry_after_seconds=told.retry_after_seconds,
            agent=agent.name,
            found=told.found,
            **pen.who,
        )
        yield from pen.share(told.key.stream, hit, f"hit/{key}")
    elif asked.chosen.probe and ended.outcome.ending in quota.ANSWERED:
        probed = asked.chosen.probe.key
        lifted = engine_events.LimitLifted(
            vendor=probed.vendor,
            account=probed.account,
            model=probed.model,
            run_id=pen.run_id,
            reason=f"{agent.name} was answered again",
        )
        yield from pen.share(probed.stream, lifted, f"lifted/{key}")


def _weighed(pen: Pen, ended: effects.Ended, iteration: int, *, landed: bool) -> Steps:
    """→ IterationOutcome"""
    ending, exit_code = ended.outcome.ending, ended.exit_code
    kind = OutcomeKind.SHIPPED if landed else OUTCOMES.get(ending, OutcomeKind.UNCLEAR)
    if kind is OutcomeKind.SHIPPED:
        return IterationOutcome(
            kind=kind,
            measurement_expected=True,
            packet_judge=PacketOutcome.SHIPPED_CLEAN if landed else PacketOutcome.SHIPPED_DIRTY,
            ship_count=int(landed),
        )
    if ending is Ending.LAUNCH_FAILED and exit_code != LAUNCH_FAILED:  # it is there, and stumbled: perhaps not again
        return IterationOutcome(kind=kind, retry_after_seconds=STUMBLED_SECONDS)
    if ending not in LIMITS:
        return IterationOutcome(kind=kind)
    room: effects.Chosen | effects.NoRoom = yield effects.ChooseAgent(
        lease=pen.lease, run_id=pen.run_id, iteration=iteration
    )
    yield from pen.ask(room.questions if isinstance(room, effects.NoRoom) else ())
    # Another agent takes over at once; else the governor knows when somebody may ask again.
    opens_ms = room.until_ms if isinstance(room, effects.NoRoom) else room.now_ms
    if kind is OutcomeKind.OVERLOADED or opens_ms is None:
        return IterationOutcome(kind=kind)
    moment = datetime.fromtimestamp(opens_ms / 1000, UTC)
    return IterationOutcome(kind=OutcomeKind.RATE_LIMITED, resets_at=moment)
