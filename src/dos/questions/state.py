"""The open and answered questions, folded from the journal, and the entries that change them."""

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar, assert_never

from msgspec import Struct, field

from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events import limits
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import RunBegun, RunStopped, UnitLanded, WorkerReaped
from dos.journal.events.limits import (
    DecisionAnswered,
    DecisionRaised,
    HaltRequested,
    LaneCleared,
    LimitLifted,
    UnitCleared,
)
from dos.journal.events.reader import FactReader
from dos.journal.events.runs import HaltProposed, IntentDeclared, RunEnded, RunResumed
from dos.limits.quota import Key
from dos.questions import catalog, question, runs, subject
from dos.questions.catalog import AnyQuestion
from dos.questions.question import (
    Choice,
    ClearLane,
    ClearUnit,
    Consequence,
    HaltRun,
    LiftLimit,
    Record,
)
from dos.questions.subject import Subject
from dos.reasons.table import Needs

# Answers that the state keeps. The newest about each unit is kept besides, because later decisions
# about the unit depend on it.
ANSWERED_KEPT = 200
RAISED = "raised"  # the key, in the question's own stream
_RunFact = (
    HaltProposed
    | RunStopped
    | RunEnded
    | RunResumed
    | RunBegun
    | IntentDeclared
    | UnitLanded
    | WorkerReaped
)
Handled = DecisionRaised | DecisionAnswered | _RunFact
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted unit_claimed unit_taken work_salvaged agent_started
        agent_ended work_measured landing_intended landing_refused unit_attempted
        iteration_committed id_allocated journal_pruned limit_hit limit_probed limit_lifted
        units_screened run_parked landing_queued landing_deferred run_unparked agent_waiting
        agent_went_on pause_requested pause_ended halt_requested spin_flagged plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found incident_found extent_changed
        step_claimed step_verified run_suspended resume_proposed ledger_line_unreadable hook_fault
        receipt_issued test_witnessed command_checked line_imported line_unreadable tool_called
        hook_answered marker_held marker_reset session_bound export_advanced notification_sent
        verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


class OpenQuestion(Struct, frozen=True, kw_only=True, dict=True):
    """A question without an answer."""

    raised: DecisionRaised
    at_ms: int
    version: int  # of its stream; an answer expects it, so that only the first one is written
    has_age: bool = True  # False: it follows from a plan, and `at_ms` is only when it was read

    @cached_property
    def question(self) -> AnyQuestion:
        """The question, decoded at the first use."""
        return decode_question(self.raised)


class AnsweredQuestion(Struct, frozen=True, kw_only=True, dict=True):
    """A question with its answer, which a person gave or which it expired with."""

    raised: DecisionRaised
    at_ms: int
    choice: str
    by: str
    answered_ms: int
    expired: bool = False
    reason: str = ""  # why it was closed without a person's answer

    @cached_property
    def question(self) -> AnyQuestion:
        """The question, decoded at the first use."""
        return decode_question(self.raised)

    @property
    def taken(self) -> Choice | None:
        """The choice that was taken. None: it was closed with a choice that it did not offer."""
        return self.question.choice(self.choice)


class PendingClose(Struct, frozen=True, kw_only=True):
    """A question that is about to be closed without a person's answer."""

    asked: OpenQuestion
    choice: str
    reason: str = ""


class Decisions(Struct, kw_only=True):
    """All open questions, and the answers that are still needed."""

    name: ClassVar[str] = "decisions"
    made_with: ClassVar[tuple[str, ...]] = (catalog.__name__, question.__name__, runs.__name__)

    open: dict[str, OpenQuestion] = field(default_factory=dict)  # oldest first
    answered: dict[str, AnsweredQuestion] = field(default_factory=dict)  # the newest last

    def apply(self, event: Event) -> None:
        """Fold one event of the journal into this state."""
        match _reader.decode(event):
            case None:
                pass
            case DecisionRaised() as fact:
                if not self.knows(fact.id):
                    self.open[fact.id] = OpenQuestion(
                        raised=fact, at_ms=event.at_ms, version=event.ver
                    )
            case DecisionAnswered() as fact:
                if asked := self.open.pop(fact.id, None):
                    self._answer(asked, fact, event)
            case fact:
                self._apply_run(fact, event)

    def _answer(self, asked: OpenQuestion, fact: DecisionAnswered, event: Event) -> None:
        """Move a question from the open ones to the answered ones."""
        self.answered[fact.id] = AnsweredQuestion(
            raised=asked.raised,
            at_ms=asked.at_ms,
            choice=fact.choice,
            by=fact.by,
            answered_ms=event.at_ms,
            expired=fact.expired,
            reason=fact.reason,
        )
        self._forget_old_answers()

    def _apply_run(self, fact: _RunFact, event: Event) -> None:
        """Open and close the questions about proposed halts and about stopped runs of other loops.

        Nobody writes these questions down: each follows from the events of its run.
        """
        match fact:
            case HaltProposed():
                self._propose(fact, event)
            case RunStopped():
                self._close(fact.run_id, runs.HaltProposed)
                if fact.by_hand and fact.needs == Needs.OPERATOR:
                    self._open(_stopped(fact), event)
            case UnitLanded() | WorkerReaped():
                self._close(fact.run_id, runs.HaltProposed)
            case RunEnded() | RunResumed():
                self._close(fact.run_id, runs.HaltProposed, runs.RunStopped)
            case RunBegun() | IntentDeclared():
                if fact.lane:
                    self._close_stops(fact.lane, besides=fact.run_id)
            case never:
                assert_never(never)

    def _propose(self, fact: HaltProposed, event: Event) -> None:
        """Ask once for each run or process, however often its halt is proposed."""
        for asked in self.open.values():
            question = asked.question
            if isinstance(question, runs.HaltProposed) and question.handle == fact.handle:
                return
        self._open(_proposed(fact, event.pos), event)

    def _open(self, question: AnyQuestion, event: Event) -> None:
        """Open a question that follows from an event and is not in the journal itself."""
        if not self.knows(question.id):
            self.open[question.id] = OpenQuestion(
                raised=raised_event(question), at_ms=event.at_ms, version=0
            )

    def _close(self, run_id: str, *kinds: type[AnyQuestion]) -> None:
        """Close the questions of these kinds about a run."""
        for asked in list(self.open.values()):
            question = asked.question
            if run_id and isinstance(question, kinds) and question.run_id == run_id:
                del self.open[question.id]

    def _close_stops(self, lane: str, *, besides: str) -> None:
        """Close the questions about earlier stopped runs of a lane."""
        for asked in list(self.open.values()):
            question = asked.question
            is_of_lane = isinstance(question, runs.RunStopped) and question.lane == lane
            if is_of_lane and question.run_id != besides:
                del self.open[question.id]

    def _forget_old_answers(self) -> None:
        """Drop old answers, but keep the newest about each unit."""
        newest = {}
        for name, answered in self.answered.items():
            if unit := answered.question.unit:
                newest[type(answered.question), unit] = name
        lasting = set(newest.values())
        passing = [name for name in self.answered if name not in lasting]
        for name in passing[:-ANSWERED_KEPT]:
            del self.answered[name]

    def knows(self, decision: str) -> bool:
        """Whether a question of this id is open or was answered."""
        return decision in self.open or decision in self.answered


def _proposed(fact: HaltProposed, position: int) -> AnyQuestion:
    """The question about a proposed halt."""
    return runs.HaltProposed.ask(
        fact.handle,
        position=position,
        lane=fact.lane,
        run_id=fact.run_id,
        host=fact.host,
        command=fact.command,
        reason=fact.reason,
    )


def _stopped(fact: RunStopped) -> AnyQuestion:
    """The question about a stopped run of another loop."""
    return runs.RunStopped.ask(
        run_id=fact.run_id, lane=fact.lane, stop_reason=fact.stop_reason, reason=fact.reason
    )


def raise_entry(question: AnyQuestion) -> Entry:
    """Return the entry that asks the question. Its key makes a second one write nothing."""
    fact = raised_event(question)
    return Entry(stream=streams.decision(fact.id), kind=fact.kind, body=fact, key=RAISED)


def raised_event(question: AnyQuestion) -> DecisionRaised:
    """Return the event that holds the question."""
    record = catalog.encode(question)
    return DecisionRaised(
        id=record.id,
        about=record.about,
        question=record.question,
        choices=[
            limits.Choice(name=name, meaning=meaning) for name, meaning in record.choices.items()
        ],
        waits=record.waits,
        expires_ms=record.expires_ms,
        otherwise=record.otherwise,
        until_start=record.until_start,
        detail=record.detail,
    )


def decode_question(fact: DecisionRaised) -> AnyQuestion:
    """Return the question that an event holds."""
    record = Record(
        id=fact.id,
        about=fact.about,
        question=fact.question,
        choices={choice.name: choice.meaning for choice in fact.choices},
        waits=fact.waits,
        expires_ms=fact.expires_ms,
        otherwise=fact.otherwise,
        until_start=fact.until_start,
        detail=fact.detail,
    )
    return catalog.decode(record)


def answer_entries(
    asked: OpenQuestion, choice: str, *, by: str, expired: bool = False, reason: str = ""
) -> list[Entry]:
    """Return the answer and its effects. Writing them raises Conflict after another answer."""
    answer = DecisionAnswered(
        id=asked.raised.id, choice=choice, by=by, expired=expired, reason=reason
    )
    facts = consequence_facts(asked.question, choice, by=by, expired=expired)
    effects = [Entry(stream=stream, kind=fact.kind, body=fact) for stream, fact in facts]
    return [*_answer_with_question(asked, answer), *effects]


def _answer_with_question(asked: OpenQuestion, answer: DecisionAnswered) -> list[Entry]:
    """The answer, and before it the question itself where it is not in the journal yet."""
    stream = streams.decision(answer.id)
    if asked.version:
        return [Entry(stream=stream, kind=answer.kind, body=answer, expect=asked.version)]
    question = Entry(stream=stream, kind=DecisionRaised.kind, body=asked.raised, key=RAISED)
    return [question, Entry(stream=stream, kind=answer.kind, body=answer, expect=1)]


def consequence_facts(
    question: AnyQuestion, choice: str, *, by: str = "", expired: bool = False
) -> list[tuple[str, Fact]]:
    """Return the facts that an answer writes besides itself, each with its stream."""
    taken = question.choice(choice)
    if taken is None:
        return []
    return [_fact(effect, by) for effect in taken.consequences(by_person=not expired)]


def _fact(effect: Consequence, by: str) -> tuple[str, Fact]:
    """The event that an effect writes, with its stream."""
    match effect:
        case ClearLane(lane=lane):
            return streams.spawn(lane), LaneCleared(lane=lane, by=by)
        case ClearUnit(unit=unit, lane=lane):
            return streams.unit(unit), UnitCleared(unit=unit, lane=lane, by=by)
        case LiftLimit(key=key):
            lifted = LimitLifted(
                vendor=key.vendor,
                account=key.account,
                model=key.model,
                reason=f"lifted by {by or 'a person'}",
                at_once=True,
            )
            return streams.limit(key), lifted
        case HaltRun(run_id=run_id, reason=reason):
            return streams.run(run_id), HaltRequested(run_id=run_id, by=by, reason=reason)
        case _:
            assert_never(effect)


def urgent_first(decisions: Decisions) -> list[OpenQuestion]:
    """Return the open questions: those that cost money first, then the oldest."""
    return sorted(
        decisions.open.values(), key=lambda asked: (not asked.question.is_urgent, asked.at_ms)
    )


def expired_questions(
    decisions: Decisions, now_ms: int, *, started_ms: int = 0
) -> list[OpenQuestion]:
    """Return the open questions that have expired, by the clock or by a start of the fleet."""
    return [asked for asked in decisions.open.values() if _has_expired(asked, now_ms, started_ms)]


def _has_expired(asked: OpenQuestion, now_ms: int, started_ms: int) -> bool:
    """Whether its time is over, or the fleet was started after it was asked."""
    raised = asked.raised
    if raised.expires_ms is not None and raised.expires_ms <= now_ms:
        return True
    return raised.until_start and asked.at_ms < started_ms


def expiry_entries(asked: OpenQuestion, choice: str = "", reason: str = "") -> list[Entry]:
    """Return the entries that close a question without a person's answer.

    It is closed with `choice`, or else with its `otherwise`. No cooldown ends by it.
    """
    return answer_entries(
        asked, choice or asked.raised.otherwise, by="", expired=True, reason=reason
    )


def open_about_limit(decisions: Decisions, key: Key) -> list[OpenQuestion]:
    """Return the open questions about one provider's limit."""
    limit = subject.Limit(key)
    return [asked for asked in decisions.open.values() if limit in asked.question.waits]


def settle_entry(asked: OpenQuestion, *, by: str = "") -> Entry:
    """Return the entry that closes a question whose cause is gone. It has no other effect."""
    answer = DecisionAnswered(id=asked.raised.id, choice=asked.question.settled_choice, by=by)
    return Entry(
        stream=streams.decision(answer.id), kind=answer.kind, body=answer, expect=asked.version
    )


def waiting_subjects(decisions: Decisions, *, besides: str = "") -> set[Subject]:
    """Return all subjects that wait for an answer. The question `besides` is left out."""
    return _waits(asked for name, asked in decisions.open.items() if name != besides)


def released_by(decisions: Decisions, decision: str) -> set[Subject]:
    """Return the subjects that wait for this question and for no other."""
    asked = decisions.open.get(decision)
    if asked is None:
        return set()
    return _waits([asked]) - waiting_subjects(decisions, besides=decision)


def _waits(questions: Iterable[OpenQuestion]) -> set[Subject]:
    """All subjects that wait for any of the questions."""
    return set().union(*(asked.question.waits for asked in questions))
