"""Fold what was spent from the journal, so that a restart forgets nothing.

Every agent is charged to all its ledgers, so that each budget is one lookup. A reservation covers
what an agent at work may still use of shared budgets.
"""

from collections.abc import Iterator
from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

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
from dos.limits.state import ledger
from dos.limits.state.ledger import (
    LANDED,
    REJECTED,
    REPLAN,
    BudgetMark,
    BudgetQuestion,
    BudgetReservation,
    Entry,
    Ledger,
    RunSpend,
    spent_by,
)
from dos.loop.types import OutcomeKind
from dos.questions import resources
from dos.questions.state import decode_question

DAYS_KEPT = 35
RUNS_KEPT = 200

_Notice = (
    BudgetPromised
    | limits.RunParked
    | limits.RunUnparked
    | BudgetWarned
    | BudgetSpent
    | DecisionRaised
    | DecisionAnswered
)
Handled = (
    fleet.RunBegun
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | fleet.RunStopped
    | fleet.WorkerReaped
    | _Notice
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted unit_claimed unit_taken work_salvaged work_measured
        landing_intended landing_refused unit_attempted id_allocated journal_pruned limit_hit
        limit_probed limit_lifted units_screened landing_queued landing_deferred agent_waiting
        agent_went_on pause_requested pause_ended halt_requested spin_flagged plans_approved
        settings_approved lane_cleared unit_cleared baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_imported line_unreadable
        tool_called hook_answered marker_held marker_reset session_bound export_advanced
        notification_sent verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


class FleetSpend(Struct, kw_only=True):
    """All that was spent, and the budgets that people were told about.

    A fold: `apply` takes one event after the other. Ended runs and old days are forgotten after a
    while; `whole`, `units` and `agents` keep their sums.
    """

    name: ClassVar[str] = "spend"
    made_with: ClassVar[tuple[str, ...]] = (
        accounts.__name__,
        budget.__name__,
        resources.__name__,
        ledger.__name__,
    )

    whole: Ledger = field(default_factory=Ledger)
    runs: dict[str, RunSpend] = field(default_factory=dict)
    days: dict[str, Ledger] = field(default_factory=dict)
    lanes: dict[str, dict[str, Ledger]] = field(default_factory=dict)  # by day, then by lane
    units: dict[str, Ledger] = field(default_factory=dict)
    agents: dict[str, Ledger] = field(default_factory=dict)
    marks: dict[str, BudgetMark] = field(default_factory=dict)
    questions: dict[str, BudgetQuestion] = field(default_factory=dict)  # the open ones, by id
    reservations: dict[str, BudgetReservation] = field(default_factory=dict)  # by run
    promised_at: int = 0  # the version of the stream that reservations are written to

    def spent(self, account: Account) -> Spent:
        """What was used of an account."""
        match account:
            case Day(day=day):
                return self.days.get(day, Ledger()).total
            case LaneDay(day=day, lane=lane):
                return self.lanes.get(day, {}).get(lane, Ledger()).total
            case RunAccount(run_id=run_id):
                run = self.runs.get(run_id)
                if run:
                    return run.ledger.total
            case Iteration(run_id=run_id, number=number):
                run = self.runs.get(run_id)
                if run and run.iteration == number:
                    return run.in_iteration
        return Spent()

    def promised(self, account: Account, *, besides: str, now_ms: int) -> Spent:
        """What is reserved for agents of other runs than `besides`.

        Only budgets that runs share have reservations.
        """
        total = Spent()
        for run_id, reservation in self.reservations.items():
            is_valid = reservation.until_ms > now_ms and reservation.covers(account)
            if run_id != besides and is_valid:
                total += reservation.spent
        return total

    def history(self, account: Account, measure: str) -> BudgetHistory:
        """What people were told about a budget, and what they answered."""
        return self.marks.get(_mark_key(account, measure), BudgetMark(account=account)).history

    def apply(self, event: Event) -> None:
        """Fold one event."""
        fact = _reader.decode(event)
        if fact is None:
            return
        if limits.is_agent_gone(fact):
            self.reservations.pop(fact.run_id, None)
        match fact:
            case fleet.RunBegun():
                self._run_spend(fact.run_id, fact.lane, event).part_of = fact.part_of
            case fleet.AgentStarted():
                self._start(fact, event)
            case fleet.AgentEnded():
                run = self._run_spend(fact.run_id, fact.lane, event)
                self._spend(run, fact.unit, fact.agent, spent_by(fact), event)
                run.at_work = None
            case fleet.UnitLanded():
                self._land(fact, event)
            case fleet.IterationCommitted():
                self._commit(fact, event)
            case fleet.RunStopped() | fleet.WorkerReaped():
                self._end(fact.run_id, event, by_itself=isinstance(fact, fleet.RunStopped))
            case _:
                self._apply_notice(fact, event)

    def _apply_notice(self, fact: _Notice, event: Event) -> None:
        """Fold an event that spends nothing itself: a reservation, a wait, a question."""
        match fact:
            case BudgetPromised():
                self._promise(fact, event)
            case limits.RunParked() | limits.RunUnparked():
                self._park(fact, event)
            case BudgetWarned():
                account = accounts.parse(fact.scope, fact.subject)
                self._update_history(account, fact.measure, warned_at=fact.limit)
            case BudgetSpent():
                account = accounts.parse(fact.scope, fact.subject)
                self._update_history(account, fact.measure, spent_at=fact.limit)
            case DecisionRaised():
                question = decode_question(fact)
                if isinstance(question, resources.BudgetSpent):
                    self.questions[fact.id] = BudgetQuestion(
                        account=question.account, measure=question.measure, by=question.by
                    )
            case DecisionAnswered():
                answered = self.questions.pop(fact.id, None)
                if answered:
                    self._answer(answered, fact.choice)
            case never:
                assert_never(never)

    def _answer(self, question: BudgetQuestion, choice: str) -> None:
        """Apply a person's answer; only `raise` changes the limit."""
        known = self.history(question.account, question.measure)
        raised = known.raised
        if choice == ChoiceName.RAISE:
            raised += question.by
        self._update_history(
            question.account, question.measure, raised=raised, said=choice, asked=known.asked + 1
        )

    def _start(self, fact: fleet.AgentStarted, event: Event) -> None:
        """Charge the start of an agent: itself, and an iteration when it is the first in one."""
        self._reject_interrupted(fact)
        self._lose_agents(fact.lane)
        run = self._run_spend(fact.run_id, fact.lane, event)
        run.agent = fact.agent
        is_new = fact.iteration != run.iteration
        if is_new:
            run.iteration = fact.iteration
            run.in_iteration = Spent()
        reservation = self.reservations.get(fact.run_id)
        if reservation:  # its iteration counts as spent from now on, so it is no longer reserved
            self.reservations[fact.run_id] = structs.replace(
                reservation, spent=Spent(usd=reservation.spent.usd)
            )
        spent = Spent(iterations=int(is_new), agents=1)
        run.at_work = self._spend(run, fact.unit, fact.agent, spent, event)

    def _lose_agents(self, lane: str) -> None:
        """Count the agents that this lane still has: it has one at a time, and another starts."""
        for run in self.runs.values():
            if run.lane == lane:
                self._lose_agent(run)

    def _lose_agent(self, run: RunSpend) -> None:
        """Count the agent that a run still has as lost: its end will never be recorded."""
        if run.at_work:
            for book in self._ledgers(run, run.at_work):
                book.lost += 1
            run.at_work = None

    def _reject_interrupted(self, fact: fleet.AgentStarted) -> None:
        """Settle what other runs spent on this unit: they died, and this run begins it again."""
        if not fact.unit:
            return
        for run_id, run in self.runs.items():
            if run_id != fact.run_id and _has_entries(run, fact.unit):
                self._settle(run, REJECTED, fact.unit)

    def _promise(self, fact: BudgetPromised, event: Event) -> None:
        """Keep the reservation of a run; a newer one replaces it."""
        run = self.runs.get(fact.run_id)
        is_new = run is None or fact.iteration != run.iteration
        self.promised_at = event.ver
        self.reservations[fact.run_id] = BudgetReservation(
            lane=fact.lane,
            day=day_of(event.at_ms),
            until_ms=fact.until_ms,
            spent=Spent(usd=fact.usd, iterations=int(is_new)),
        )

    def _spend(self, run: RunSpend, unit: str, agent: str, spent: Spent, event: Event) -> Entry:
        """Charge a run, and every ledger that the entry belongs to; return the entry.

        The outcome is added later, by `_settle`, when the unit lands or the iteration ends.
        """
        entry = Entry(day=day_of(event.at_ms), unit=unit, agent=agent or run.agent, spent=spent)
        run.entries.append(entry)
        run.in_iteration += spent
        for book in self._ledgers(run, entry):
            book.total += spent
        self._forget_old_days()
        return entry

    def _settle(self, run: RunSpend, outcome: str, unit: str | None = None) -> None:
        """Record the outcome of a run's entries, of all or of those of one unit."""
        unsettled = []
        for entry in run.entries:
            if unit is not None and entry.unit != unit:
                unsettled.append(entry)
                continue
            for book in self._ledgers(run, entry):
                total = book.outcome_total(outcome) + entry.spent
                book.by_outcome[outcome] = total
        run.entries = unsettled

    def _land(self, fact: fleet.UnitLanded, event: Event) -> None:
        """Count a landed unit once, for the run that landed it."""
        run = self._run_spend(fact.run_id, fact.lane, event)
        if _has_entries(run, fact.unit):
            run.landed.append(fact.unit)
        else:
            # The run that paid for it died after the landing, and this one noticed it.
            for other in self.runs.values():
                self._settle(other, LANDED, fact.unit)
        unit = self.units.setdefault(fact.unit, Ledger())
        if not unit.units:
            for book in (unit, run.ledger, *self._day_ledgers(run.charged_lane, event)):
                book.units += 1

    def _commit(self, fact: fleet.IterationCommitted, event: Event) -> None:
        """Settle what the iteration spent by its outcome."""
        run = self._run_spend(fact.run_id, fact.lane, event)
        outcome = REJECTED
        if fact.outcome == OutcomeKind.REPLAN_DONE:
            outcome = REPLAN
        elif fact.unit in run.landed:
            outcome = LANDED
        self._settle(run, outcome)
        run.landed = []

    def _park(self, fact: limits.RunParked | limits.RunUnparked, event: Event) -> None:
        """Count the time that a run was parked; that of an agent which waits is the agent's."""
        if fact.agent:
            return
        run = self._run_spend(fact.run_id, fact.lane, event)
        if isinstance(fact, limits.RunParked):
            run.parked_ms = event.at_ms
            return
        seconds = (event.at_ms - run.parked_ms) / 1000 if run.parked_ms else fact.seconds
        run.parked_ms = 0
        for book in (run.ledger, *self._day_ledgers(run.charged_lane, event)):
            book.parked_seconds += max(0.0, seconds)

    def _end(self, run_id: str, event: Event, *, by_itself: bool) -> None:
        """Count the idle time of a run that ended. `by_itself` is False for a dead worker."""
        run = self.runs.get(run_id)
        if run is None or run.ended:
            return
        run.ended = True
        self._lose_agent(run)
        # A dead worker is found long after its death: its last event is the end of its time.
        last_ms = run.last_ms
        if by_itself:
            last_ms = event.at_ms
        lived = (last_ms - run.begun_ms) / 1000
        idle = lived - run.ledger.total.seconds - run.ledger.parked_seconds
        for book in (run.ledger, *self._day_ledgers(run.charged_lane, event)):
            book.idle_seconds += max(0.0, round(idle, 3))
        self._forget_old_runs()

    def _forget_old_runs(self) -> None:
        """Keep only the newest ended runs; what they left unsettled is lost work."""
        ended = [run_id for run_id, run in self.runs.items() if run.ended]
        for run_id in ended[: max(0, len(ended) - RUNS_KEPT)]:
            self._settle(self.runs[run_id], REJECTED)
            del self.runs[run_id]
            self._forget_marks(run_id)

    def _run_spend(self, run_id: str, lane: str, event: Event) -> RunSpend:
        """The spend of a run, which lived at this event."""
        new = RunSpend(lane=lane, begun_ms=event.at_ms, last_ms=event.at_ms)
        run = self.runs.setdefault(run_id, new)
        run.last_ms = event.at_ms
        return run

    def _ledgers(self, run: RunSpend, entry: Entry) -> Iterator[Ledger]:
        """Every ledger that an entry belongs to."""
        yield self.whole
        yield run.ledger
        yield self.days.setdefault(entry.day, Ledger())
        yield self._lane_ledger(entry.day, run.charged_lane)
        yield self.agents.setdefault(entry.agent, Ledger())
        if entry.unit:
            yield self.units.setdefault(entry.unit, Ledger())

    def _day_ledgers(self, lane: str, event: Event) -> tuple[Ledger, Ledger, Ledger]:
        """The ledgers of everything, of the day, and of the lane on that day."""
        day = day_of(event.at_ms)
        return (
            self.whole,
            self.days.setdefault(day, Ledger()),
            self._lane_ledger(day, lane),
        )

    def _lane_ledger(self, day: str, lane: str) -> Ledger:
        return self.lanes.setdefault(day, {}).setdefault(lane, Ledger())

    def _update_history(self, account: Account, measure: str, **changes: float | str) -> None:
        """Change what is known about one budget of an account."""
        known = self.history(account, measure)
        self.marks[_mark_key(account, measure)] = BudgetMark(
            account=account, history=structs.replace(known, **changes)
        )

    def _forget_old_days(self) -> None:
        """Keep only the newest days, with their lanes and marks."""
        for day in sorted(self.days)[:-DAYS_KEPT]:
            del self.days[day]
            self.lanes.pop(day, None)
            self._forget_marks(day)

    def _forget_marks(self, owner: str) -> None:
        """Forget the marks of a run and its iterations, or of a day and its lanes."""
        self.marks = {
            name: mark for name, mark in self.marks.items() if mark.account.owner != owner
        }


def _mark_key(account: Account, measure: str) -> str:
    return f"{account.scope}/{account}/{measure}"


def _has_entries(run: RunSpend, unit: str) -> bool:
    """Whether a run spent something on a unit whose outcome is not known yet."""
    return any(entry.unit == unit for entry in run.entries)
