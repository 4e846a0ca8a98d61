"""What was spent, folded from the journal so that a restart forgets nothing: by run, lane and day, unit and agent."""

from collections.abc import Iterator
from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.agents.adapter import Ending
from dos.choices import ChoiceName
from dos.journal.events import fleet, limits
from dos.journal.events.envelope import Event
from dos.journal.events.limits import (
    BudgetPromised,
    BudgetSpent,
    BudgetWarned,
    DecisionAnswered,
    DecisionRaised,
)
from dos.journal.events.reader import FactReader
from dos.limits import accounts, budget
from dos.limits.accounts import Account, Day, Iteration, LaneDay, RunAccount
from dos.limits.budget import BudgetHistory, Spent, day_of
from dos.loop.types import OutcomeKind
from dos.questions import resources
from dos.questions.state import decode_question

DAYS_KEPT = 35
RUNS_KEPT = 200
LANDED, REJECTED, REPLAN = "landed", "rejected", "replan"

_Word = BudgetWarned | BudgetSpent | DecisionRaised | DecisionAnswered
Handled = (
    fleet.RunBegun
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | fleet.RunStopped
    | fleet.WorkerReaped
    | BudgetPromised
    | limits.RunParked
    | limits.RunUnparked
    | _Word
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned lane_failed drain_requested fleet_started fleet_stopped decision_forced
        run_minted unit_claimed unit_taken work_salvaged work_measured landing_intended landing_refused
        unit_attempted id_allocated journal_pruned limit_hit limit_probed limit_lifted units_screened
        landing_queued landing_deferred agent_waiting agent_went_on pause_requested pause_ended halt_requested
        spin_flagged plans_approved settings_approved lane_cleared unit_cleared baseline_started
        baseline_checked work_committed fleet_found incident_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed line_imported line_unreadable
    """,
)


class Ledger(Struct, kw_only=True, omit_defaults=True):
    """All that was spent under one heading, and what became of it once that was known."""

    total: Spent = Spent()
    by_outcome: dict[str, Spent] = field(default_factory=dict)  # landed | rejected | replan
    units: int = 0  # that landed
    parked_seconds: float = 0.0
    idle_seconds: float = 0.0  # a worker was there, and neither had an agent nor was told to wait

    @property
    def undecided(self) -> int:
        """Agents that are at work, or whose worker died before it could say what became of theirs."""
        return self.total.agents - sum(spent.agents for spent in self.by_outcome.values())

    def outcome_total(self, became: str) -> Spent:
        return self.by_outcome.get(became, Spent())

    def plus(self, other: "Ledger") -> "Ledger":
        return Ledger(
            total=self.total + other.total,
            by_outcome={
                name: self.outcome_total(name) + other.outcome_total(name)
                for name in {**self.by_outcome, **other.by_outcome}
            },
            units=self.units + other.units,
            parked_seconds=self.parked_seconds + other.parked_seconds,
            idle_seconds=self.idle_seconds + other.idle_seconds,
        )


class Entry(Struct, frozen=True, kw_only=True):
    """What one step of an agent took, until it is known what became of it."""

    day: str
    unit: str
    agent: str
    spent: Spent


class RunSpend(Struct, kw_only=True, omit_defaults=True):
    """One run's."""

    lane: str
    begun_ms: int
    last_ms: int
    agent: str = ""
    iteration: int = 0
    in_iteration: Spent = Spent()
    entries: list[Entry] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)  # since the last commit point
    parked_ms: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    ended: bool = False


class BudgetReservation(Struct, frozen=True, kw_only=True):
    """What a run's next agent, or the one at work, may still use of the budgets that it shares."""

    lane: str
    day: str
    until_ms: int
    spent: Spent

    def covers(self, account: Account) -> bool:
        return account in (Day(day=self.day), LaneDay(day=self.day, lane=self.lane))


class BudgetMark(Struct, frozen=True, kw_only=True):
    """A budget that people were told of."""

    account: Account
    history: BudgetHistory = BudgetHistory()


class BudgetQuestion(Struct, frozen=True, kw_only=True):
    account: Account
    measure: str
    by: float  # how much more there is when the answer is yes


class Spend(Struct, kw_only=True):
    name: ClassVar[str] = "spend"
    made_with: ClassVar[tuple[str, ...]] = (accounts.__name__, budget.__name__, resources.__name__)

    whole: Ledger = field(default_factory=Ledger)
    runs: dict[str, RunSpend] = field(default_factory=dict)
    days: dict[str, Ledger] = field(default_factory=dict)
    lanes: dict[str, dict[str, Ledger]] = field(default_factory=dict)  # by day, then by lane
    units: dict[str, Ledger] = field(default_factory=dict)
    agents: dict[str, Ledger] = field(default_factory=dict)
    marks: dict[str, BudgetMark] = field(default_factory=dict)
    questions: dict[str, BudgetQuestion] = field(
        default_factory=dict
    )  # the open questions about a budget
    reservations: dict[str, BudgetReservation] = field(default_factory=dict)  # by run
    promised_at: int = 0  # the version of the stream that promises are written to

    def spent(self, account: Account) -> Spent:
        match account:
            case Day(day=day):
                return self.days.get(day, Ledger()).total
            case LaneDay(day=day, lane=lane):
                return self.lanes.get(day, {}).get(lane, Ledger()).total
            case RunAccount(run_id=run_id):
                return self.runs[run_id].ledger.total if run_id in self.runs else Spent()
            case Iteration(run_id=run_id, number=number):
                purse = self.runs.get(run_id)
                return purse.in_iteration if purse and purse.iteration == number else Spent()

    def promised(self, account: Account, *, besides: str, now_ms: int) -> Spent:
        """To the agents of other runs; nothing is promised of what is a run's own."""
        others = (promise for run_id, promise in self.reservations.items() if run_id != besides)
        standing = (
            each.spent for each in others if each.until_ms > now_ms and each.covers(account)
        )
        return sum(standing, start=Spent())

    def history(self, account: Account, measure: str) -> BudgetHistory:
        return self.marks.get(_mark_key(account, measure), BudgetMark(account=account)).history

    def apply(self, event: Event) -> None:
        fact = _reader.decode(event)
        if fact is None:
            return
        if isinstance(fact, limits.AGENT_GONE):
            self.reservations.pop(fact.run_id, None)
        match fact:
            case fleet.RunBegun():
                self._run_spend(fact.run_id, fact.lane, event)
            case fleet.AgentStarted():
                self._start(fact, event)
            case fleet.AgentEnded():
                self._spend(
                    self._run_spend(fact.run_id, fact.lane, event),
                    fact.unit,
                    fact.agent,
                    spent_by(fact),
                    event,
                )
            case fleet.UnitLanded():
                self._land(fact, event)
            case fleet.IterationCommitted():
                self._commit(fact, event)
            case fleet.RunStopped():
                self._end(fact.run_id, event, seen=True)
            case fleet.WorkerReaped():
                self._end(fact.run_id, event, seen=False)
            case BudgetPromised():
                self._promise(fact, event)
            case limits.RunParked():
                self._run_spend(fact.run_id, fact.lane, event).parked_ms = event.at_ms
            case limits.RunUnparked():
                self._unpark(fact, event)
            case _:
                self._apply_message(fact)

    def _apply_message(self, fact: _Word) -> None:
        match fact:
            case BudgetWarned():
                self._update_history(
                    accounts.parse(fact.scope, fact.subject), fact.measure, warned_at=fact.limit
                )
            case BudgetSpent():
                self._update_history(
                    accounts.parse(fact.scope, fact.subject), fact.measure, spent_at=fact.limit
                )
            case DecisionRaised():
                question = decode_question(fact)
                if isinstance(question, resources.BudgetSpent):
                    self.questions[fact.id] = BudgetQuestion(
                        account=question.account, measure=question.measure, by=question.by
                    )
            case DecisionAnswered():
                if asked := self.questions.pop(fact.id, None):
                    self._answer(asked, fact.choice)
            case never:
                assert_never(never)

    def _answer(self, question: BudgetQuestion, choice: str) -> None:
        known = self.history(question.account, question.measure)
        more = question.by if choice == ChoiceName.RAISE else 0.0
        self._update_history(
            question.account,
            question.measure,
            raised=known.raised + more,
            said=choice,
            asked=known.asked + 1,
        )

    def _start(self, fact: fleet.AgentStarted, event: Event) -> None:
        for run_id, other in self.runs.items():
            if (
                run_id != fact.run_id
                and fact.unit
                and any(piece.unit == fact.unit for piece in other.entries)
            ):
                self._settle(other, REJECTED, fact.unit)  # it died over it, and another begins anew
        purse = self._run_spend(fact.run_id, fact.lane, event)
        purse.agent = fact.agent
        is_new = fact.iteration != purse.iteration
        if is_new:
            purse.iteration, purse.in_iteration = fact.iteration, Spent()
        if promise := self.reservations.get(
            fact.run_id
        ):  # of the iterations, it has had its own now
            self.reservations[fact.run_id] = structs.replace(
                promise, spent=Spent(usd=promise.spent.usd)
            )
        self._spend(purse, fact.unit, fact.agent, Spent(iterations=int(is_new), agents=1), event)

    def _promise(self, fact: BudgetPromised, event: Event) -> None:
        purse = self.runs.get(fact.run_id)
        is_new = purse is None or fact.iteration != purse.iteration
        self.promised_at = event.ver
        self.reservations[fact.run_id] = BudgetReservation(
            lane=fact.lane,
            day=day_of(event.at_ms),
            until_ms=fact.until_ms,
            spent=Spent(usd=fact.usd, iterations=int(is_new)),
        )

    def _spend(self, purse: RunSpend, unit: str, agent: str, spent: Spent, event: Event) -> None:
        piece = Entry(day=day_of(event.at_ms), unit=unit, agent=agent or purse.agent, spent=spent)
        purse.entries.append(piece)
        purse.in_iteration += spent
        for book in self._ledgers(purse, piece):
            book.total += spent
        self._forget_old_days()

    def _settle(self, purse: RunSpend, became: str, unit: str | None = None) -> None:
        """Say what became of the pieces, all of them or those of one unit."""
        for piece in purse.entries:
            if unit is None or piece.unit == unit:
                for book in self._ledgers(purse, piece):
                    book.by_outcome[became] = book.outcome_total(became) + piece.spent
        purse.entries = [
            piece for piece in purse.entries if unit is not None and piece.unit != unit
        ]

    def _land(self, fact: fleet.UnitLanded, event: Event) -> None:
        purse = self._run_spend(fact.run_id, fact.lane, event)
        if any(piece.unit == fact.unit for piece in purse.entries):
            purse.landed.append(fact.unit)
        else:
            for (
                other
            ) in self.runs.values():  # it died after the landing, and another found that out
                self._settle(other, LANDED, fact.unit)
        unit = self.units.setdefault(fact.unit, Ledger())
        if not unit.units:
            for book in (unit, purse.ledger, *self._day_ledgers(purse.lane, event)):
                book.units += 1

    def _commit(self, fact: fleet.IterationCommitted, event: Event) -> None:
        purse = self._run_spend(fact.run_id, fact.lane, event)
        if fact.outcome == OutcomeKind.REPLAN_DONE:
            became = REPLAN
        else:
            became = LANDED if fact.unit in purse.landed else REJECTED
        self._settle(purse, became)
        purse.landed = []

    def _unpark(self, fact: limits.RunUnparked, event: Event) -> None:
        purse = self._run_spend(fact.run_id, fact.lane, event)
        seconds = (event.at_ms - purse.parked_ms) / 1000 if purse.parked_ms else fact.seconds
        purse.parked_ms = 0
        for book in (purse.ledger, *self._day_ledgers(purse.lane, event)):
            book.parked_seconds += max(0.0, seconds)

    def _end(self, run_id: str, event: Event, *, seen: bool) -> None:
        purse = self.runs.get(run_id)
        if purse is None or purse.ended:
            return
        # When a dead worker is found, it has long been dead: what it wrote last is the end of its time.
        last_ms = event.at_ms if seen else purse.last_ms
        book, purse.ended = purse.ledger, True
        idle = (last_ms - purse.begun_ms) / 1000 - book.total.seconds - book.parked_seconds
        for each in (book, *self._day_ledgers(purse.lane, event)):
            each.idle_seconds += max(0.0, round(idle, 3))
        over = [name for name, run in self.runs.items() if run.ended]
        for name in over[: max(0, len(over) - RUNS_KEPT)]:
            self._settle(self.runs[name], REJECTED)
            del self.runs[name]
            self._forget_marks(name)

    def _run_spend(self, run_id: str, lane: str, event: Event) -> RunSpend:
        purse = self.runs.setdefault(
            run_id, RunSpend(lane=lane, begun_ms=event.at_ms, last_ms=event.at_ms)
        )
        purse.last_ms = event.at_ms
        return purse

    def _ledgers(self, purse: RunSpend, piece: Entry) -> Iterator[Ledger]:
        yield self.whole
        yield purse.ledger
        yield self.days.setdefault(piece.day, Ledger())
        yield self._lane_ledger(piece.day, purse.lane)
        yield self.agents.setdefault(piece.agent, Ledger())
        if piece.unit:
            yield self.units.setdefault(piece.unit, Ledger())

    def _day_ledgers(self, lane: str, event: Event) -> tuple[Ledger, Ledger, Ledger]:
        day = day_of(event.at_ms)
        return (
            self.whole,
            self.days.setdefault(day, Ledger()),
            self._lane_ledger(day, lane),
        )

    def _lane_ledger(self, day: str, lane: str) -> Ledger:
        return self.lanes.setdefault(day, {}).setdefault(lane, Ledger())

    def _update_history(self, account: Account, measure: str, **news: float | str) -> None:
        known = self.history(account, measure)
        self.marks[_mark_key(account, measure)] = BudgetMark(
            account=account, history=structs.replace(known, **news)
        )

    def _forget_old_days(self) -> None:
        for day in sorted(self.days)[:-DAYS_KEPT]:
            del self.days[day]
            self.lanes.pop(day, None)
            self._forget_marks(day)

    def _forget_marks(self, owner: str) -> None:
        """Those of a run and its iterations, or of a day and its lanes."""
        self.marks = {
            name: mark for name, mark in self.marks.items() if mark.account.owner != owner
        }


def spent_by(fact: fleet.AgentEnded) -> Spent:
    """What one agent took, as far as its program or its price told."""
    cost = fact.cost_usd
    if cost is None and fact.usage and all(used.cost_usd is not None for used in fact.usage):
        cost = sum(used.cost_usd or 0.0 for used in fact.usage)
    if fact.outcome == Ending.LAUNCH_FAILED and not fact.usage:
        return Spent(seconds=fact.seconds)  # what never ran costs nothing
    return Spent(
        usd=cost or 0.0,
        unpriced=int(cost is None),
        tokens=sum(used.tokens for used in fact.usage),
        unmetered=int(not fact.usage),
        seconds=fact.seconds,
    )


def _mark_key(account: Account, measure: str) -> str:
    return f"{account.scope}/{account}/{measure}"
