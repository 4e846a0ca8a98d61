"""How a run came to where it is: for each decision what was seen, which rungs were asked, what was decided."""

from collections.abc import Sequence
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
from dos.times import utc_stamp

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
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started fleet_stopped
        decision_forced run_minted unit_taken work_salvaged agent_started agent_ended landing_intended
        unit_landed unit_attempted id_allocated journal_pruned limit_hit limit_probed limit_lifted
        units_screened run_parked landing_queued landing_deferred run_unparked agent_waiting agent_went_on
        pause_requested pause_ended halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised baseline_started
        baseline_checked work_committed fleet_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault
        receipt_issued test_witnessed line_imported line_unreadable
    """,
)


class DecisionStep(Struct, frozen=True, kw_only=True):
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
    stop_reason: str
    needs: str
    reason: str
    meaning: str
    fix: str


class RunExplanation(Struct, frozen=True, kw_only=True):
    run_id: str
    lane: str
    begun: str
    steps: list[DecisionStep]
    stop: RunStop | None = None
    at_work: str = ""  # the unit that was claimed last, while it has no decision
    incidents: list[str] = []  # what its agents did outside of their worktree


def explain_run(run_id: str, happened: Sequence[Event]) -> RunExplanation:
    lane, begun, stop, at_work = "", utc_stamp(happened[0].at_ms), None, ""
    missed: dict[tuple[int, int], str] = {}
    incidents: list[str] = []
    why = ""
    for event in happened:
        match _reader.decode(event):
            case None:
                pass
            case fleet.RunBegun() as fact:
                lane, begun = fact.lane, utc_stamp(event.at_ms)
            case fleet.RunStopped() as fact:
                stop = _stop(fact.stop_reason, fact.needs, fact.reason)
            case fleet.UnitClaimed() as fact:
                at_work, why = f"{fact.unit}, since {utc_stamp(event.at_ms)}", ""
            case fleet.WorkMeasured() as fact:
                why = why if fact.verdict == "DELIVERED" else fact.reason
            case fleet.LandingRefused() as fact:
                why = fact.reason
            case IncidentFound() as fact:
                incidents.append(event_text.describe_incident(fact))
            case fleet.IterationCommitted() as fact:
                lane, at_work = lane or fact.lane, ""
                missed[fact.iteration, fact.attempt] = why
            case never:
                assert_never(never)
    taken = record.read_decisions(happened)
    if stop is None and taken and taken[-1].decision.stop_reason:
        last = taken[-1].decision
        stop = _stop(str(last.stop_reason), last.needs, last.reason)
    steps = [_step(each, missed[each.iteration, each.attempt]) for each in taken]
    return RunExplanation(
        run_id=run_id,
        lane=lane,
        begun=begun,
        steps=steps,
        stop=stop,
        at_work=at_work,
        incidents=incidents,
    )


def only_iteration(told: RunExplanation, iteration: int) -> RunExplanation:
    return structs.replace(told, steps=[step for step in told.steps if step.iteration == iteration])


def _stop(why: str, needs: str, reason: str) -> RunStop:
    row = table.find(why)
    return RunStop(
        stop_reason=why,
        needs=needs,
        reason=reason,
        meaning=row.message if row else "",
        fix=row.fix if row else "",
    )


def _step(taken: RecordedDecision, missed: str) -> DecisionStep:
    state = structs.asdict(taken.state)
    fresh = structs.asdict(LoopState())
    decision = to_builtins(taken.decision)
    del decision["next_state"], decision["ladder"]
    return DecisionStep(
        at=utc_stamp(taken.at_ms),
        iteration=taken.iteration,
        attempt=taken.attempt,
        unit=taken.unit,
        outcome={
            name: value for name, value in to_builtins(taken.outcome).items() if value is not None
        },
        missed=missed,
        evidence={name: to_builtins(state[name]) for name in EVIDENCE if state[name] is not None},
        counters={
            name: value
            for name, value in state.items()
            if name not in EVIDENCE
            and name not in LIMITS
            and name != "iteration"
            and value != fresh[name]
        },
        limits={name: to_builtins(state[name]) for name in LIMITS},
        ladder=taken.decision.ladder,
        decision=decision,
    )


def render(told: RunExplanation) -> str:
    where = f" on lane {told.lane}" if told.lane else ""
    lines = [f"run {told.run_id}{where}, begun {told.begun}"]
    for step in told.steps:
        again = f", try {step.attempt}" if step.attempt > 1 else ""
        lines += ["", f"iteration {step.iteration}{again}  {step.unit}".rstrip()]
        lines.append(f"  ended    {_ended(step.outcome)}")
        if step.missed:
            lines.append(f"  measured {step.missed}")
        lines.append(f"  saw      {_seen(step.evidence) or 'nothing beyond how it ended'}")
        if step.counters:
            lines.append(f"  counted  {_words(step.counters)}")
        lines.append(f"  asked    {_rungs(step.ladder)}")
        made = step.decision
        what = tokens.decision_words(made["action"], made["next_mode"], made["stop_reason"])
        lines.append(f"  decided  {what}: {made['reason']}")
    lines += [line for each in told.incidents for line in ("", f"incident: {each}")]
    if told.at_work:
        lines += [
            "",
            f"no decision yet on {told.at_work}; `dos timeline {told.run_id}` shows how far it is",
        ]
    elif not told.steps:
        lines += [
            "",
            f"no decision of it is in the journal; `dos timeline {told.run_id}` shows what else happened",
        ]
    if told.stop:
        lines += [
            "",
            event_text.describe_stop(told.stop.stop_reason, told.stop.reason, told.stop.needs),
        ]
        lines += [f"  {text}" for text in (told.stop.meaning, told.stop.fix) if text]
    elif told.steps and not told.at_work:
        lines += ["", "it has not stopped"]
    return "\n".join(lines)


def _ended(outcome: dict[str, Any]) -> str:
    count = outcome.get("ship_count")
    measured = f"measured: {count} landed" if count is not None else ""
    rest = {
        name: value
        for name, value in outcome.items()
        if name not in ("kind", "ship_count", "measurement_expected")
    }
    return ", ".join(
        part for part in (tokens.iteration_words(outcome["kind"]), measured, _words(rest)) if part
    )


def _words(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in fields.items())


def _value(value: Any) -> str:
    return tokens.words(value) if isinstance(value, str) else str(value)


def _seen(evidence: dict[str, Any]) -> str:
    return "; ".join(f"{name} {_answer(value)}" for name, value in evidence.items())


def _answer(value: Any) -> str:
    if not isinstance(value, dict):
        return _value(value)
    held = f"held {value.get('reason')}" if value.get("held") else "free"
    answer = value.get("state") or value.get("verdict") or held
    why = value.get("reason") if "held" not in value else ""
    return f"{answer} ({why})" if why else str(answer)


def _rungs(ladder: Sequence[str]) -> str:
    """The one that answered stands behind the arrow; to go on, the cap is asked last of all."""
    asked = [rung.replace("-", " ") for rung in ladder]
    then = f", then {asked.pop()}" if ladder[-1] == CAP else ""
    return " · ".join(asked[:-1]) + (" → " if len(asked) > 1 else "") + asked[-1] + then
