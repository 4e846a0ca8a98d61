"""Explains how each iteration of a run was decided, for `dos why`.

`explain_run` reads the events of a run into values, which are the JSON of the verb; `render` makes
the text of them, with times as people read them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

from msgspec import Struct, structs, to_builtins

from dos.journal.events import fleet
from dos.journal.events.envelope import Event
from dos.journal.events.limits import IncidentFound
from dos.journal.events.reader import FactReader
from dos.loop import record, tokens
from dos.loop.decision import CAP
from dos.loop.record import LIMITS, RecordedDecision
from dos.loop.types import EVIDENCE, LoopState
from dos.reasons import table
from dos.report import event_text
from dos.text import plural
from dos.times import format_local_time, utc_stamp

ExplainedFact = (
    fleet.RunBegun
    | fleet.RunStopped
    | fleet.UnitClaimed
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | IncidentFound
    | fleet.IterationCommitted
)
_reader: FactReader[ExplainedFact] = FactReader(
    ExplainedFact,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced run_minted unit_taken work_salvaged
        agent_started agent_ended landing_intended unit_landed unit_attempted id_allocated
        journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found intent_declared extent_changed
        step_claimed step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)

SINCE = ", since "  # between the unit and the stamp of `at_work`
# What each counter counts in a row; a counter without words is shown by its name.
_IN_A_ROW = {
    "consecutive_unclear": "no clear result",
    "consecutive_dirty_zero": "nothing landed",
    "consecutive_overloaded": "provider overloaded",
    "consecutive_stale_stamp": "plan document out of date",
    "consecutive_unproductive_replan_drains": "no work left after a replan",
    "consecutive_unproductive_replan": "replan found nothing",
    "consecutive_adopt_wait": "waited for a child run",
    "consecutive_race": "unit taken by another worker",
    "consecutive_wait": "waited for a limit",
}
_OUTCOME_LABELS = {"packet_judge": "units of its packet:", "verdict": "gate:"}


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


class RunExplanation(Struct, frozen=True, kw_only=True):
    """A run: its decided iterations, and how it stopped or what it works on."""

    run_id: str
    lane: str
    begun: str
    steps: list[DecisionStep]
    stop: RunStop | None = None
    at_work: str = ""  # the unit that was claimed last, SINCE, its stamp; while it is undecided
    incidents: list[str] = []  # what its agents did outside their worktree


def explain_run(run_id: str, events: Sequence[Event]) -> RunExplanation:
    """Return the explanation of a run from the events of its stream, at least one.

    What was measured is joined to the decision of the same iteration and attempt. A run that died
    in an iteration has no decision about it; then `at_work` names the unit.
    """
    history = _History(utc_stamp(events[0].at_ms))
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
    return RunExplanation(
        run_id=run_id,
        lane=history.lane,
        begun=history.begun,
        steps=steps,
        stop=stop,
        at_work=history.at_work,
        incidents=history.incidents,
    )


class _History:
    """What the events of a run tell beside its decisions."""

    def __init__(self, begun: str) -> None:
        """Start with the time of the first event, for a run whose beginning is not recorded."""
        self.begun = begun
        self.lane = ""
        self.at_work = ""
        self.stop: RunStop | None = None
        self.missed: dict[tuple[int, int], str] = {}  # by iteration and attempt
        self.incidents: list[str] = []
        self._why_not_landed = ""  # of the unit that was claimed last

    def apply(self, event: Event) -> None:
        """Apply one event of the run, in the order of the journal.

        Why a unit did not land is recorded before the decision about its iteration, so it is kept
        until that decision comes.
        """
        match _reader.decode(event):
            case None:
                pass
            case fleet.RunBegun() as fact:
                self.lane = fact.lane
                self.begun = utc_stamp(event.at_ms)
            case fleet.RunStopped() as fact:
                self.stop = _run_stop(fact.stop_reason, fact.needs, fact.reason)
            case fleet.UnitClaimed() as fact:
                self.at_work = f"{fact.unit}{SINCE}{utc_stamp(event.at_ms)}"
                self._why_not_landed = ""
            case fleet.WorkMeasured() as fact:
                if fact.verdict != "DELIVERED":
                    self._why_not_landed = fact.reason
            case fleet.LandingRefused() as fact:
                self._why_not_landed = fact.reason
            case IncidentFound() as fact:
                self.incidents.append(event_text.describe_incident(fact))
            case fleet.IterationCommitted() as fact:
                self.lane = self.lane or fact.lane
                self.at_work = ""
                self.missed[fact.iteration, fact.attempt] = self._why_not_landed
            case never:
                assert_never(never)


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


def render(explanation: RunExplanation, now: datetime) -> str:
    """Return the explanation as text: a paragraph for each iteration, then how the run stands.

    Times are local; one of another day than `now` is shown with its date.
    """
    run_id = explanation.run_id
    where = ""
    if explanation.lane:
        where = f" on lane {explanation.lane}"
    lines = [f"run {run_id}{where}, began {_local_time(explanation.begun, now)}"]
    for step in explanation.steps:
        lines += ["", *_step_lines(step, now)]
    for incident in explanation.incidents:
        lines += ["", f"incident: {incident}"]
    if explanation.at_work:
        unit, _, since = explanation.at_work.rpartition(SINCE)
        at_work = f"{unit}, taken {_local_time(since, now)}"
        progress = f"`dos timeline {run_id}` shows its progress"
        lines += ["", f"No decision yet on {at_work}; {progress}"]
    elif not explanation.steps:
        lines += [
            "",
            f"The journal has no decision of this run; `dos timeline {run_id}` shows its events",
        ]
    stop = explanation.stop
    if stop:
        lines += ["", event_text.describe_stop(stop.stop_reason, stop.reason, stop.needs)]
        lines += [f"  {text}" for text in (stop.meaning, stop.fix) if text]
    elif explanation.steps and not explanation.at_work:
        lines += ["", "The run has not stopped"]
    return "\n".join(lines)


def _step_lines(step: DecisionStep, now: datetime) -> list[str]:
    """Return the paragraph of one iteration, from how it ended to the rule that decided."""
    attempt = ""
    if step.attempt > 1:
        attempt = f", attempt {step.attempt}"
    lines = [f"iteration {step.iteration}{attempt}  {step.unit}".rstrip()]
    lines.append(f"  ended    {_describe_outcome(step.outcome, now)}")
    if step.missed:
        lines.append(f"  measured {step.missed}")
    lines.append(f"  evidence {_describe_evidence(step.evidence) or 'only how it ended'}")
    if step.counters:
        lines.append(f"  counters {_describe_counters(step.counters)}")
    decision = step.decision
    words = tokens.decision_words(
        decision["action"], decision["next_mode"], decision["stop_reason"]
    )
    lines.append(f"  decided  {words}: {decision['reason']}")
    lines.append(f"  by rule  {_describe_ladder(step.ladder)}")
    return lines


def _describe_outcome(outcome: dict[str, Any], now: datetime) -> str:
    """Return how an iteration ended, how many units landed, and what else was recorded."""
    parts = [tokens.iteration_words(outcome["kind"])]
    landed = outcome.get("ship_count")
    if landed is not None:
        parts.append(f"measured: {landed} landed")
    for name, value in outcome.items():
        if name in ("kind", "ship_count", "measurement_expected"):
            continue
        if name.endswith("_at"):
            value = _local_time(value, now)
        label = _OUTCOME_LABELS.get(name, name.replace("_", " "))
        parts.append(f"{label} {_words(value)}")
    return ", ".join(parts)


def _describe_counters(counters: dict[str, Any]) -> str:
    """Return the counters in words: how often something happened in a row before this decision."""
    parts = []
    for name, value in counters.items():
        words = _IN_A_ROW.get(name)
        if words:
            parts.append(f"{words} {plural(value, 'time')} in a row")
        else:
            parts.append(f"{name.replace('_', ' ')} {_words(value)}")
    return ", ".join(parts)


def _words(value: Any) -> str:
    """Return a value as people read it: a released token in words, anything else as it is."""
    if isinstance(value, str):
        return tokens.words(value)
    return str(value)


def _local_time(stamp: str, now: datetime) -> str:
    """Return the local time of a stamp, with the date where that is not the date of `now`."""
    return format_local_time(datetime.fromisoformat(stamp), now, seconds=True)


def _describe_evidence(evidence: dict[str, Any]) -> str:
    """Return each verdict that the decision was given, with its reason."""
    parts = []
    for name, value in evidence.items():
        parts.append(f"{name.replace('_', ' ')}: {_describe_verdict(value)}")
    return "; ".join(parts)


def _describe_verdict(value: Any) -> str:
    """Return a verdict of the evidence in a few words; a pick has `held` instead of a verdict."""
    if not isinstance(value, dict):
        return _words(value)
    answer = value.get("state") or value.get("verdict")
    why = value.get("reason")
    if not answer:
        answer = "held" if value.get("held") else "free"
    words = str(answer).lower().replace("_", " ")
    if why:
        return f"{words} ({why})"
    return words


def _describe_ladder(ladder: Sequence[str]) -> str:
    """Return the rule that decided, and how many before it did not apply.

    Where the loop continues, the iteration limit is checked last.
    """
    rules = [rung.replace("-", " ") for rung in ladder]
    last = ""
    if len(ladder) > 1 and ladder[-1] == CAP:
        rules.pop()
        last = "; the iteration limit was checked last"
    *passed, deciding = rules
    if not passed:
        return deciding + last
    return f"{deciding} ({plural(len(passed), 'earlier rule')} did not apply){last}"
