"""Decide whether a loop continues after an iteration: dispatch, replan, wait or stop.

The order of `RUNGS` is the decision: the first rung that answers wins. A rung that does not answer
may change the counters of the next state.
"""

from collections.abc import Callable
from datetime import UTC, timedelta

from dos.backlog import cooldown, pickable
from dos.loop import improve
from dos.loop.decision import BACKOFF, Step, is_outraced, needs
from dos.loop.gate import Gate, gate_policy
from dos.loop.types import (
    Action,
    DescendantProgress,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    Productivity,
    StopReason,
)
from dos.loop.verdicts import convergence, liveness
from dos.reasons import table
from dos.reasons.table import Needs
from dos.runs import complete

__all__ = ["RUNGS", "decide", "needs"]

_GATES = {
    Gate.LIVE: "a unit can be dispatched",
    Gate.DRAIN: "no unit is left to offer",
    Gate.STALE_STAMP: "a unit has shipped, and the plan document does not say so",
    Gate.BLOCKED: "units are left, and none of them may be offered",
    Gate.RACE: "another process was faster",
}
_NOT_CONVERGING = {
    convergence.Answer.THRASHING: "the remaining work goes up and down without a new low",
    convergence.Answer.STARVED: "the remaining work does not change",
}


def decide(state: LoopState, outcome: IterationOutcome) -> LoopDecision:
    """Return what the loop does after an iteration, and its state for the next one.

    Pure: the same state and outcome always give the same decision, so that `replay` can check it.
    The evidence in the state is read once: the next state has none.
    """
    step = Step(state, outcome)
    for number, (_, rung) in enumerate(RUNGS):
        step.considered = _CONSIDERED[number]
        if decision := rung(step):
            return decision
    raise AssertionError("the last rung answers every outcome")


def _launch_failed(step: Step) -> LoopDecision | None:
    """Stop when the agent cannot be started; wait when it may start later."""
    if step.outcome.kind != OutcomeKind.LAUNCH_FAILED:
        return None
    seconds = step.outcome.retry_after_seconds
    ended = step.outcome.ended_at
    if seconds is None:
        return step.stop(StopReason.LAUNCH_FAILED, "the agent's process did not start")
    if step.state.consecutive_wait >= step.state.max_wait:
        return step.stop(
            StopReason.LAUNCH_FAILED, f"the agent did not start, {_waited(step.state)}"
        )
    _, times = step.count("wait")
    until = (ended + timedelta(seconds=seconds)).astimezone(UTC) if ended else None
    return step.again(
        f"the agent did not start; the next attempt is in {seconds:g} s (wait {times})",
        action=Action.WAIT,
        needs=Needs.TIME,
        surface=True,
        backoff_seconds=seconds,
        until=until,
    )


def _rate_limited(step: Step) -> LoopDecision | None:
    """Wait for the provider's usage window to reset, or stop."""
    if step.outcome.kind != OutcomeKind.RATE_LIMITED:
        return None
    resets_at = step.outcome.resets_at
    if resets_at is None:
        return step.stop(StopReason.RATE_LIMITED, "the provider's usage window is used up")
    if step.state.consecutive_wait >= step.state.max_wait:
        return step.stop(
            StopReason.RATE_LIMITED, f"the usage window is used up, {_waited(step.state)}"
        )
    _, times = step.count("wait")
    until = resets_at.astimezone(UTC)
    # The time is in `until`, for each surface to show as a local time.
    reason = f"the usage window is used up; waiting for its reset (wait {times})"
    return step.again(reason, action=Action.WAIT, needs=Needs.TIME, surface=True, until=until)


def _waited(state: LoopState) -> str:
    """How often the loop has waited already."""
    return f"also after {state.consecutive_wait} of {state.max_wait} waits in a row"


def _overloaded(step: Step) -> LoopDecision | None:
    """Repeat the iteration after a back-off while the provider is overloaded."""
    if step.outcome.kind != OutcomeKind.OVERLOADED:
        step.change(consecutive_overloaded=0, consecutive_wait=0)
        return None
    too_often, times = step.count("overloaded")
    if too_often:
        return step.stop(
            StopReason.CONSECUTIVE_OVERLOADED, f"the provider was overloaded {times} times in a row"
        )
    wait = BACKOFF.delay(step.state.consecutive_overloaded + 1)
    return step.again(
        f"the provider is overloaded ({times}); the next attempt is in {wait:g} s",
        action=Action.RETRY,
        backoff_seconds=wait,
    )


def _complete(step: Step) -> LoopDecision | None:
    """Stop when every declared unit is verified, whatever the last iteration did."""
    evidence = step.state.completion
    if evidence is None or evidence.answer != complete.Answer.COMPLETE:
        return None
    return step.stop(StopReason.COMPLETE, "every declared unit is verified")


def _under_declared(step: Step) -> LoopDecision | None:
    """Stop when all declared units are done and more was needed."""
    evidence = step.state.completion
    if evidence is None or evidence.answer != complete.Answer.UNDERDECLARED:
        return None
    return step.stop(
        StopReason.THRASHING, "every declared unit is done, and more work was needed than declared"
    )


def _converging(step: Step) -> LoopDecision | None:
    """Stop when the remaining work does not get less."""
    evidence = step.state.convergence
    if evidence is None or evidence.answer not in _NOT_CONVERGING:
        return None
    return step.stop(StopReason.THRASHING, _NOT_CONVERGING[evidence.answer])


def _spinning(step: Step) -> LoopDecision | None:
    """Stop when the run is alive and nothing has landed for too long."""
    evidence = step.state.liveness
    if evidence is None or getattr(evidence, "answer", evidence) != liveness.Answer.SPINNING:
        return None
    return step.stop(StopReason.SPINNING, "the run is alive, and nothing has landed for too long")


def _ratcheting(step: Step) -> LoopDecision | None:
    """Stop when no change was worth keeping for too long."""
    evidence = step.state.ratchet
    if evidence is None or evidence.answer != improve.Answer.ESCALATE:
        return None
    return step.stop(StopReason.NOT_RATCHETING, "no change was worth keeping for too long")


def _pick_held(step: Step) -> LoopDecision | None:
    """Stop when the next unit is held and another attempt cannot help."""
    evidence = step.state.pickability
    if evidence is None or not evidence.is_redispatch_invariant:
        return None
    return step.stop(
        StopReason.PICK_HELD_INVARIANT,
        f"the next unit is held, and another dispatch cannot change that: {_hold_text(evidence)}",
    )


def _hold_text(hold: pickable.Verdict) -> str:
    """Why the unit is held: what was found out about it, else the meaning of its reason."""
    if hold.evidence or hold.reason is None:
        return hold.evidence
    return _clause(table.BUILT_IN.find(hold.reason), hold.reason)


def _clause(reason: table.Reason | None, token: str) -> str:
    """The meaning of a reason as the end of a sentence; the token if no row has it."""
    if reason is None:
        return token
    return reason.message[:1].lower() + reason.message[1:].rstrip(".")


def _pick_cooldown(step: Step) -> LoopDecision | None:
    """Stop when only units on cooldown are left."""
    evidence = step.state.cooldown
    if evidence is None or evidence.answer != cooldown.Answer.RECENTLY_ATTEMPTED:
        return None
    example = f", such as {evidence.unit_id}" if evidence.unit_id else ""
    return step.stop(
        StopReason.PICK_COOLDOWN,
        f"all remaining units were just tried and are on cooldown{example}",
    )


def _unclear(step: Step) -> LoopDecision | None:
    """Continue after an iteration without a clear end, but only so often in a row."""
    state = step.state
    outcome = step.outcome
    if outcome.kind != OutcomeKind.UNCLEAR and not is_outraced(state, outcome):
        step.change(consecutive_unclear=0)
        return None
    if outcome.verdict == Gate.RACE:
        step.count("race")
    is_advancing = state.descendant_progress == DescendantProgress.ADVANCING
    # Only so often in a row, or a child that always seems to advance would keep the loop forever.
    if is_advancing and state.consecutive_adopt_wait < state.max_adopt_wait:
        _, times = step.count("adopt_wait")
        step.change(consecutive_unclear=0)
        return step.go_on(
            "dispatch", f"no clear result, and a child of the run lands commits (wait {times})"
        )
    too_often, times = step.count("unclear")
    if too_often:
        return step.stop(StopReason.CONSECUTIVE_UNCLEAR, f"no clear result {times} times in a row")
    return step.go_on("dispatch", f"no clear result, {times} allowed in a row")


def _shipped(step: Step) -> LoopDecision | None:
    """Continue after a dispatch that ran its agent, unless it landed nothing too often."""
    outcome = step.outcome
    if outcome.kind != OutcomeKind.SHIPPED:
        step.change(consecutive_dirty_zero=0)
        return None
    step.change(
        consecutive_stale_stamp=0,
        consecutive_unproductive_replan_drains=0,
        consecutive_unproductive_replan=0,
        last_gate_was_drain=False,
        last_replan_drained=False,
    )
    if outcome.measurement_expected and outcome.packet_judge is None:
        return step.stop(
            StopReason.UNMEASURED_SHIPPED,
            "the agent reports shipped work, and the expected measurement is missing",
        )
    if outcome.ship_count == 0:
        too_often, times = step.count("dirty_zero")
        if too_often:
            return step.stop(
                StopReason.CONSECUTIVE_DIRTY_ZERO, f"nothing landed {times} times in a row"
            )
        return step.go_on("dispatch", f"nothing landed, {times} allowed in a row")
    step.change(consecutive_dirty_zero=0)
    if outcome.ship_count is None:
        return step.go_on("dispatch", "the agent reports shipped work")
    return step.go_on("dispatch", f"{outcome.ship_count} landed")


def _replanned(step: Step) -> LoopDecision | None:
    """Continue after a replan, unless replans find no work too often."""
    state = step.state
    outcome = step.outcome
    if outcome.kind != OutcomeKind.REPLAN_DONE:
        return None
    step.change(last_gate_was_drain=False)
    if outcome.replan_productivity != Productivity.UNPRODUCTIVE:
        step.change(
            consecutive_unproductive_replan_drains=0,
            consecutive_unproductive_replan=0,
            # Only a replan that answered a drain makes the next drain the second one.
            last_replan_drained=state.last_gate_was_drain,
        )
        return step.go_on("dispatch", "the replan is done")
    step.change(last_replan_drained=False)
    if state.last_gate_was_drain:
        step.count("unproductive_replan_drains")
    too_often, times = step.count("unproductive_replan")
    if too_often:
        return step.stop(StopReason.REPLAN_STALLED, f"replans found no work {times} times in a row")
    return step.go_on("dispatch", f"the replan found no work, {times} allowed in a row")


def _blocked_cause(step: Step) -> LoopDecision | None:
    """Stop when the gate is blocked by a cause that no replan can clear."""
    cause = step.outcome.blocked_cause
    row = table.blocked_cause(cause) if cause else None
    if row is None or row.self_heals_via == "/replan":
        return None
    return step.stop(
        StopReason.BLOCKED_REDISPATCH_INVARIANT,
        f"no replan can clear what blocks the lane: {_clause(table.find(row.key), row.key)}",
    )


def _stale_stamp(step: Step) -> LoopDecision | None:
    """Stop when the plan document stays out of date."""
    verdict = step.outcome.verdict
    if verdict not in (Gate.STALE_STAMP, Gate.BLOCKED):
        step.change(consecutive_stale_stamp=0)
    else:
        too_often, times = step.count("stale_stamp")
        if too_often:
            return step.stop(
                StopReason.STALE_STAMP_UNRECONCILED,
                f"{_GATES[verdict]}: {times} times in a row, and no replan cleared it",
            )
    if verdict != Gate.DRAIN:
        step.change(consecutive_unproductive_replan_drains=0, last_gate_was_drain=False)
    return None


def _gate(step: Step) -> LoopDecision | None:
    """Decide by the gate policy: dispatch, replan or stop."""
    state = step.state
    verdict = step.outcome.verdict
    assert verdict is not None  # an earlier rung has answered every other kind
    policy = gate_policy(verdict, state.gate_mode)
    if policy.next_mode == "stop":
        if verdict == Gate.DRAIN:
            return step.stop(StopReason.DRAIN, _GATES[verdict])
        return step.stop(StopReason.BLOCKED, _GATES[verdict])
    if policy.counts_toward_drain:
        return _drained(step)
    if verdict == Gate.RACE:
        _, times = step.count("race")
        return step.go_on(policy.next_mode, f"{_GATES[verdict]} (race {times})", who=Needs.TIME)
    return step.go_on(policy.next_mode, _GATES[verdict], reconcile=policy.reconcile)


def _drained(step: Step) -> LoopDecision:
    """Stop or replan when no unit is left to offer."""
    state = step.state
    fruitless = state.consecutive_unproductive_replan_drains
    most = state.max_unproductive_replan_drains
    if fruitless >= most:
        return step.stop(
            StopReason.BENIGN_DRAIN,
            f"no unit is left to offer, and {fruitless} of {most} replans found no work",
        )
    if state.last_replan_drained:
        return step.stop(
            StopReason.DRAINED_TWICE,
            "no unit is left to offer, right after a replan that found work",
        )
    step.change(last_replan_drained=False, last_gate_was_drain=True)
    return step.go_on("replan", _GATES[Gate.DRAIN])


RUNGS: tuple[tuple[str, Callable[[Step], LoopDecision | None]], ...] = (
    ("launch-failed", _launch_failed),
    ("rate-limited", _rate_limited),
    ("overloaded", _overloaded),
    ("complete", _complete),
    ("under-declared", _under_declared),
    ("converging", _converging),
    ("spinning", _spinning),
    ("ratcheting", _ratcheting),
    ("pick-held", _pick_held),
    ("pick-cooldown", _pick_cooldown),
    ("unclear", _unclear),
    ("shipped", _shipped),
    ("replanned", _replanned),
    ("blocked-cause", _blocked_cause),
    ("stale-stamp", _stale_stamp),
    ("gate", _gate),
)
_NAMES = tuple(name for name, _ in RUNGS)
_CONSIDERED = tuple(_NAMES[: number + 1] for number in range(len(_NAMES)))
