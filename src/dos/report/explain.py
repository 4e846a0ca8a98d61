"""Explains how each iteration of a run was decided, for `dos why`.

`explain_run` reads the events of a run into values, which are the JSON of the verb; `explain_text`
makes the text of them.
"""

from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import UNSET, Struct, UnsetType, structs, to_builtins

from dos.journal.events import doors, fleet, lanes
from dos.journal.events.envelope import Event
from dos.journal.events.limits import IncidentFound
from dos.journal.events.reader import FactReader
from dos.loop import record
from dos.loop.record import LIMITS, RecordedDecision
from dos.loop.types import EVIDENCE, LoopState
from dos.reasons import table
from dos.report import event_text
from dos.times import utc_stamp

# How a run ended that could not record its end, and who continued it.
_DeathFact = fleet.WorkerReaped | fleet.UnitTaken | lanes.LeaseExpired | lanes.LeaseRevoked
# What agents were refused, and what people said to them.
_SaidFact = doors.HookAnswered | doors.RunSteered | doors.SteerDelivered
ExplainedFact = (
    fleet.RunBegun
    | fleet.RunStopped
    | fleet.UnitClaimed
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | IncidentFound
    | fleet.IterationCommitted
    | _DeathFact
    | _SaidFact
)
_reader: FactReader[ExplainedFact] = FactReader(
    ExplainedFact,
    silent="""
        lease_granted lease_renewed lease_released lease_adopted lease_refused spawn_intended
        worker_spawned lane_failed drain_requested fleet_started fleet_stopped decision_forced
        run_minted work_salvaged agent_started landing_intended unit_landed unit_attempted
        id_allocated journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked
        landing_queued landing_deferred run_unparked agent_waiting agent_went_on pause_requested
        pause_ended halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found intent_declared extent_changed
        step_claimed step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed command_checked
        line_imported line_unreadable tool_called marker_held marker_reset
        session_bound export_advanced notification_sent verdict_given lifecycle_ticked
    """,
)


class DecisionStep(Struct, frozen=True, kw_only=True):
    """One decided iteration; the field names are keys of `dos why --json`.

    Evidence and counters hold only what differs from a new loop; `limits` is complete, so that the
    decision can be checked against the settings of its time.
    """

    at: str
    iteration: int
    attempt: int
    unit: str
    outcome: dict[str, Any]
    missed: str  # why nothing landed, as it was measured
    evidence: dict[str, Any]
    counters: dict[str, Any]
    limits: dict[str, Any]  # the policy that was in force
    ladder: tuple[str, ...]
    decision: dict[str, Any]


class RunStop(Struct, frozen=True, kw_only=True):
    """Why a run stopped, with what the table of reasons says about it.

    `meaning` and `fix` are empty for a token that the table does not have.
    """

    stop_reason: str
    needs: str
    reason: str
    meaning: str
    fix: str


class RunDeath(Struct, frozen=True, kw_only=True):
    """The end of a run that recorded no stop: its worker died, or lost its lease."""

    at: str
    is_reaped: bool  # a supervisor saw that the worker was dead; else only its lease ended
    reason: str
    unit: str = ""  # in work at that time; empty: none was
    continued_by: str = ""  # the run that took the unit next


class UndecidedUnit(Struct, frozen=True, kw_only=True):
    """The unit that a run claimed last and has not decided about, and the stamp of the claim."""

    unit: str
    since: str


class RunExplanation(Struct, frozen=True, kw_only=True):
    """A run: its decided iterations, and how it stopped, how it died or what it works on."""

    run_id: str
    lane: str
    begun: str
    steps: list[DecisionStep]
    stop: RunStop | None = None
    at_work: str = ""  # `undecided` as one text
    incidents: list[str] = []  # what its agents did outside their worktree
    refused: list[str] = []  # calls of its agents, before they happened
    messages: list[str] = []  # of people to its agents, and when they were told
    death: RunDeath | UnsetType = UNSET
    undecided: UndecidedUnit | UnsetType = UNSET


def explain_run(run_id: str, events: Sequence[Event]) -> RunExplanation:
    """Return the explanation of a run from its events, in order, at least one.

    `timeline.events_of_run` has its death too, which the run itself could not record. What was
    measured is joined to the decision of the same iteration and attempt. A run that is in an
    iteration, or died in it, has no decision about it; then `at_work` or `death` names the unit.
    """
    history = _History(run_id, utc_stamp(events[0].at_ms))
    for event in events:
        history.apply(event)
    decisions = record.read_decisions(events)
    stop = history.stop
    if stop is None and decisions:
        # A run that a script keeps records the decision to stop, and no stop.
        last = decisions[-1].decision
        if last.stop_reason:
            stop = _run_stop(str(last.stop_reason), last.needs, last.reason)
    steps = []
    for decision in decisions:
        missed = history.missed[decision.iteration, decision.attempt]
        steps.append(_decision_step(decision, missed))
    at_work = ""
    if history.undecided:
        at_work = f"{history.undecided.unit}, since {history.undecided.since}"
    return RunExplanation(
        run_id=run_id,
        lane=history.lane,
        begun=history.begun,
        steps=steps,
        stop=stop,
        at_work=at_work,
        incidents=history.incidents,
        refused=history.refused,
        messages=history.messages,
        death=history.death or UNSET,
        undecided=history.undecided or UNSET,
    )


class _History:
    """What the events of a run tell beside its decisions."""

    def __init__(self, run_id: str, begun: str) -> None:
        """Start with the time of the first event, for a run whose beginning is not recorded."""
        self._run_id = run_id
        self.begun = begun
        self.lane = ""
        self.undecided: UndecidedUnit | None = None
        self.stop: RunStop | None = None
        self.death: RunDeath | None = None
        self.missed: dict[tuple[int, int], str] = {}  # by iteration and attempt
        self.incidents: list[str] = []
        self.refused: list[str] = []
        self.messages: list[str] = []
        self._why_not_landed = ""  # of the unit that was claimed last
        self._refused = ""  # what its agent printed of a refusal

    def apply(self, event: Event) -> None:  # noqa: C901
        """Apply one event of the run, in the order of the journal.

        Why a unit did not land is recorded before the decision about its iteration, so it is kept
        until that decision comes.
        """
        fact = _reader.decode(event)
        if isinstance(fact, _DeathFact):
            self._apply_death(fact, event)
            return
        if isinstance(fact, _SaidFact):
            self._apply_said(fact, event)
            return
        match fact:
            case None:
                pass
            case fleet.RunBegun():
                self.lane = fact.lane
                self.begun = utc_stamp(event.at_ms)
            case fleet.RunStopped():
                self.stop = _run_stop(fact.stop_reason, fact.needs, fact.reason)
                self.death = None  # it lived, and stopped because its lease was gone
            case fleet.UnitClaimed():
                self.undecided = UndecidedUnit(unit=fact.unit, since=utc_stamp(event.at_ms))
                self._why_not_landed = ""
                self._refused = ""
            case fleet.AgentEnded():
                self._refused = fact.refused
            case fleet.WorkMeasured():
                if fact.verdict != "DELIVERED":
                    self._why_not_landed = fact.reason
            case fleet.LandingRefused():
                self._why_not_landed = fact.reason
            case IncidentFound():
                self.incidents.append(event_text.describe_incident(fact))
            case fleet.IterationCommitted():
                self.lane = self.lane or fact.lane
                self.undecided = None
                self.missed[fact.iteration, fact.attempt] = self._missed()
            case never:
                assert_never(never)

    def _apply_said(self, fact: _SaidFact, event: Event) -> None:
        """Keep what an agent was refused, or what a person told one."""
        text = event_text.describe(fact, event.at_ms)
        if not isinstance(fact, doors.HookAnswered):
            self.messages.append(text)
        elif fact.action == "DENY":
            self.refused.append(text)

    def _missed(self) -> str:
        """Why the unit did not land, and what its agent was refused."""
        if self._why_not_landed and self._refused:
            return f"{self._why_not_landed}; its agent was refused something: {self._refused}"
        return self._why_not_landed

    def _apply_death(self, fact: _DeathFact, event: Event) -> None:
        """Apply the end of the run's worker or lease, or that another run took its unit."""
        match fact:
            case fleet.WorkerReaped():
                self._die(event, fact.reason, is_reaped=True)
            case lanes.LeaseRevoked():
                self._die(event, fact.reason, is_reaped=False)
            case lanes.LeaseExpired():
                self._die(event, "it was not renewed in time", is_reaped=False)
            case fleet.UnitTaken():
                self._continue(fact)
            case never:
                assert_never(never)

    def _die(self, event: Event, reason: str, *, is_reaped: bool) -> None:
        """End the run, unless it has stopped. A worker is reaped after its lease was revoked."""
        if self.stop:
            return
        unit = ""
        if self.death:
            unit = self.death.unit
        elif self.undecided:
            unit = self.undecided.unit
        self.undecided = None
        self.death = RunDeath(
            at=utc_stamp(event.at_ms), is_reaped=is_reaped, reason=reason, unit=unit
        )

    def _continue(self, fact: fleet.UnitTaken) -> None:
        """Keep the first other run that took the unit of a dead run."""
        death = self.death
        if death is None or fact.run_id == self._run_id or fact.unit != death.unit:
            return
        if not death.continued_by:
            self.death = structs.replace(death, continued_by=fact.run_id)


def only_iteration(explanation: RunExplanation, iteration: int) -> RunExplanation:
    """Return the explanation with the steps of one iteration alone, all its attempts among them."""
    steps = [step for step in explanation.steps if step.iteration == iteration]
    return structs.replace(explanation, steps=steps)


def _run_stop(stop_reason: str, needs: str, reason: str) -> RunStop:
    """Return the stop with the meaning and the fix that the table of reasons has for it."""
    row = table.find(stop_reason)
    return RunStop(
        stop_reason=stop_reason,
        needs=needs,
        reason=reason,
        meaning=row.message if row else "",
        fix=row.fix if row else "",
    )


def _decision_step(decided: RecordedDecision, missed: str) -> DecisionStep:
    """Return a step with what differs from a new loop: counters at their default are left out."""
    state = structs.asdict(decided.state)
    new_state = structs.asdict(LoopState())
    decision = to_builtins(decided.decision)
    del decision["next_state"], decision["ladder"]
    outcome = {}
    for name, value in to_builtins(decided.outcome).items():
        if value is not None:
            outcome[name] = value
    counters = {}
    for name, value in state.items():
        is_counter = name not in EVIDENCE and name not in LIMITS and name != "iteration"
        if is_counter and value != new_state[name]:
            counters[name] = value
    return DecisionStep(
        at=utc_stamp(decided.at_ms),
        iteration=decided.iteration,
        attempt=decided.attempt,
        unit=decided.unit,
        outcome=outcome,
        missed=missed,
        evidence={name: to_builtins(state[name]) for name in EVIDENCE if state[name] is not None},
        counters=counters,
        limits={name: to_builtins(state[name]) for name in LIMITS},
        ladder=decided.decision.ladder,
        decision=decision,
    )
