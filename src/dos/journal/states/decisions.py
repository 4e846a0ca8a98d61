"""The questions that wait for a person, and what was answered. The first answer counts, and there is only one."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from msgspec import Struct, field

from dos.journal import engine_events, events, streams
from dos.journal.engine_events import (
    Choice,
    DecisionAnswered,
    DecisionRaised,
    HaltRequested,
    LaneCleared,
    LimitLifted,
    UnitCleared,
)
from dos.journal.events import Event, Fact, RunBegun, RunStopped, UnitLanded, WorkerReaped
from dos.journal.run_events import HaltProposed, IntentDeclared, RunEnded, RunResumed
from dos.journal.states import quota
from dos.journal.store import Entry
from dos.plans.limits import attention
from dos.plans.limits.deciding import Question
from dos.plans.limits.quota import Key
from dos.records.reasons import Needs

ANSWERED_KEPT = 200  # beside the newest about each unit, which is the only memory of what a person wants of it
TRIES_AGAIN = frozenset({"retry", "again"})
URGENT = ("spinning", attention.HALT_PROPOSED)
RAISED = "raised"  # the key, in the question's own stream
_ASKED = {DecisionRaised.kind, DecisionAnswered.kind}
_RUNS = (HaltProposed, RunStopped, RunEnded, RunResumed, RunBegun, IntentDeclared, UnitLanded, WorkerReaped)
_OF_RUNS = {fact.kind for fact in _RUNS}
_KINDS = _ASKED | _OF_RUNS


class Standing(Struct, frozen=True, kw_only=True):
    """A question that is open."""

    raised: DecisionRaised
    at_ms: int
    version: int  # of its stream: an answer is written on top of it, so that only one is


class Answered(Struct, frozen=True, kw_only=True):
    raised: DecisionRaised
    at_ms: int
    choice: str
    by: str
    answered_ms: int
    expired: bool = False
    reason: str = ""  # why it was closed without a person's answer

    @property
    def unit(self) -> str:
        """What it is about, where that is a unit."""
        return str(self.raised.detail.get("unit", ""))


class Closing(Struct, frozen=True, kw_only=True):
    """A question that is to be closed without a person's answer."""

    asked: Standing
    choice: str
    reason: str = ""


class Decisions(Struct, kw_only=True):
    name: ClassVar[str] = "decisions"

    open: dict[str, Standing] = field(default_factory=dict)  # oldest first
    answered: dict[str, Answered] = field(default_factory=dict)  # the newest last

    def apply(self, event: Event) -> None:
        if event.kind not in _KINDS:
            return
        if event.kind in _OF_RUNS:
            self._apply_run(event)
            return
        match events.decode(event):
            case engine_events.DecisionRaised() as fact if fact.id not in self.open and fact.id not in self.answered:
                self.open[fact.id] = Standing(raised=fact, at_ms=event.at_ms, version=event.ver)
            case engine_events.DecisionAnswered() as fact if asked := self.open.pop(fact.id, None):
                self.answered[fact.id] = Answered(
                    raised=asked.raised,
                    at_ms=asked.at_ms,
                    choice=fact.choice,
                    by=fact.by,
                    answered_ms=event.at_ms,
                    expired=fact.expired,
                    reason=fact.reason,
                )
                self._forget_old_answers()

    def _apply_run(self, event: Event) -> None:
        """Halts that were proposed, and runs by hand that stopped: each is open until its cause is gone."""
        match events.decode(event):
            case HaltProposed() as fact:
                self._propose(fact, event)
            case RunStopped() as fact:
                self._close(fact.run_id, attention.HALT_PROPOSED)
                if fact.by_hand and fact.needs == Needs.OPERATOR:
                    self._open(_stopped(fact), event)
            case UnitLanded() | WorkerReaped() as fact:
                self._close(fact.run_id, attention.HALT_PROPOSED)
            case RunEnded() | RunResumed() as fact:
                self._close(fact.run_id, attention.HALT_PROPOSED, attention.RUN_STOPPED)
            case RunBegun() | IntentDeclared() as fact if fact.lane:
                self._close_stops(fact.lane, besides=fact.run_id)

    def _propose(self, fact: HaltProposed, event: Event) -> None:
        """Once for each run or process, however often it is proposed."""
        about = {each.raised.detail["handle"] for each in self._about(attention.HALT_PROPOSED)}
        if fact.handle not in about:
            self._open(_proposed(fact, event.pos), event)

    def _open(self, question: Question, event: Event) -> None:
        if not self.knows(question.id):
            self.open[question.id] = Standing(raised=raised(question), at_ms=event.at_ms, version=0)

    def _about(self, *kinds: str) -> list[Standing]:
        return [each for each in self.open.values() if each.raised.about in kinds]

    def _close(self, run_id: str, *kinds: str) -> None:
        for each in self._about(*kinds):
            if run_id and each.raised.detail["run_id"] == run_id:
                del self.open[each.raised.id]

    def _close_stops(self, lane: str, *, besides: str) -> None:
        for each in self._about(attention.RUN_STOPPED):
            detail = each.raised.detail
            if detail["lane"] == lane and detail["run_id"] != besides:
                del self.open[each.raised.id]

    def _forget_old_answers(self) -> None:
        lasting = {(each.raised.about, unit): name for name, each in self.answered.items() if (unit := each.unit)}
        passing = [name for name in self.answered if name not in lasting.values()]
        for name in passing[:-ANSWERED_KEPT]:
            del self.answered[name]

    def knows(self, decision: str) -> bool:
        return decision in self.open or decision in self.answered


def _proposed(fact: HaltProposed, position: int) -> Question:
    halt = attention.Halt(
        handle=fact.handle,
        lane=fact.lane,
        run_id=fact.run_id,
        host=fact.host,
        command=fact.command,
        reason=fact.reason,
    )
    return attention.halt_proposed(halt, position=position)


def _stopped(fact: RunStopped) -> Question:
    return attention.run_stopped(run_id=fact.run_id, lane=fact.lane, stop_reason=fact.stop_reason, reason=fact.reason)


def raising(question: Question) -> Entry:
    """One record, however often and by however many it is written."""
    fact = raised(question)
    return Entry(stream=streams.decision(fact.id), kind=fact.kind, body=fact, key=RAISED)


def raised(question: Question) -> DecisionRaised:
    return DecisionRaised(
        id=question.id,
        about=question.about,
        question=question.question,
        choices=[Choice(name=name, meaning=meaning) for name, meaning in question.choices.items()],
        waits=list(question.waits),
        expires_ms=question.expires_ms,
        otherwise=question.otherwise,
        until_start=question.until_start,
        detail=dict(question.detail),
    )


def answering(asked: Standing, choice: str, *, by: str, expired: bool = False, reason: str = "") -> list[Entry]:
    """The answer and all that follows from it, for one transaction; a conflict says that another was quicker."""
    raised = asked.raised
    answer = DecisionAnswered(id=raised.id, choice=choice, by=by, expired=expired, reason=reason)
    facts = consequences(raised, choice, by=by)
    if not expired:  # only a person's word clears a cooldown
        facts += _cleared_units(raised, choice, by=by)
    return [*_first(asked, answer), *(Entry(stream=to, kind=fact.kind, body=fact) for to, fact in facts)]


def _first(asked: Standing, answer: DecisionAnswered) -> list[Entry]:
    """The answer on top of its question; one that nobody wrote down, because its cause is, is written with it."""
    to = streams.decision(answer.id)
    if asked.version:
        return [Entry(stream=to, kind=answer.kind, body=answer, expect=asked.version)]
    question = Entry(stream=to, kind=DecisionRaised.kind, body=asked.raised, key=RAISED)
    return [question, Entry(stream=to, kind=answer.kind, body=answer, expect=1)]


def _cleared_units(raised: DecisionRaised, choice: str, *, by: str) -> list[tuple[str, Fact]]:
    """Whoever wants a unit to be tried again wants it now: its cooldown is over with the answer."""
    if choice not in TRIES_AGAIN:
        return []
    waiting = [each.removeprefix("unit:") for each in raised.waits if each.startswith("unit:")]
    names = dict.fromkeys([*waiting, *raised.detail.get("units", {})])
    lane = str(raised.detail.get("lane", ""))
    return [(streams.unit(name), UnitCleared(unit=name, lane=lane, by=by)) for name in names]


def consequences(raised: DecisionRaised, choice: str, *, by: str = "") -> list[tuple[str, Fact]]:
    """The facts that an answer brings about; what the answer alone tells is folded from the answer."""
    detail = raised.detail
    match raised.about, choice:
        case ("limit", "fixed") | ("limit_until", "lift"):
            lifted = LimitLifted(
                vendor=detail["vendor"],
                account=detail["account"],
                model=detail["model"],
                reason=f"lifted by {by or 'a person'}",
                at_once=True,
            )
            return [(streams.limit(quota.key_of(lifted)), lifted)]
        case "lane_failed" | "lane_stopped", "retry":
            return [(streams.spawn(detail["lane"]), LaneCleared(lane=detail["lane"], by=by))]
        case (("spinning" | attention.HALT_PROPOSED), "halt"):
            halt = HaltRequested(run_id=detail["run_id"], by=by, reason=raised.question)
            return [(streams.run(halt.run_id), halt)]
    return []


def in_order(decisions: Decisions) -> list[Standing]:
    """As people see them: a worker that lands nothing costs money all the time and goes first, then the oldest."""
    return sorted(decisions.open.values(), key=lambda asked: (asked.raised.about not in URGENT, asked.at_ms))


def due(decisions: Decisions, now_ms: int, *, started_ms: int = 0) -> list[Standing]:
    """The open ones whose time is over, also because the fleet was started since; each gets its `otherwise`."""
    return [
        asked
        for asked in decisions.open.values()
        if (asked.raised.expires_ms is not None and asked.raised.expires_ms <= now_ms)
        or (asked.raised.until_start and asked.at_ms < started_ms)
    ]


def expiring(asked: Standing, choice: str = "", reason: str = "") -> list[Entry]:
    """Closed without a person's answer: with `choice`, or what was said would happen then."""
    return answering(asked, choice or asked.raised.otherwise, by="", expired=True, reason=reason)


def about_limit(decisions: Decisions, key: Key) -> list[Standing]:
    """The open questions about one provider's limit."""
    place = f"limit:{key.path}"
    return [asked for asked in decisions.open.values() if place in asked.raised.waits]


def settling(asked: Standing, *, by: str = "") -> Entry:
    """Closes a question whose cause is gone: a limit was lifted another way, a test passes. Nothing follows."""
    is_checked = asked.raised.about == engine_events.ABOUT_BASELINE
    choice = "passed" if is_checked else asked.raised.choices[0].name
    answer = DecisionAnswered(id=asked.raised.id, choice=choice, by=by)
    return Entry(stream=streams.decision(answer.id), kind=answer.kind, body=answer, expect=asked.version)


def held(decisions: Decisions) -> set[str]:
    """All that waits for an answer: `fleet`, `lane:L`, `run:R`, `unit:U`, `limit:K`."""
    return _waits(decisions.open.values())


def released(decisions: Decisions, decision: str) -> set[str]:
    """What an answer to this one question would let go: what waits for no other."""
    others = [asked for name, asked in decisions.open.items() if name != decision]
    asked = decisions.open.get(decision)
    return _waits([asked]) - _waits(others) if asked else set()


def behind(waits: Collection[str], detail: Mapping[str, Any]) -> set[str]:
    """All that a question stands for: what waits for its answer, and the lane of that."""
    lane = detail.get("lane", "")
    return {*waits, f"lane:{lane}"} if waits and lane else set(waits)


def _waits(asked: Iterable[Standing]) -> set[str]:
    return {waiting for each in asked for waiting in each.raised.waits}
