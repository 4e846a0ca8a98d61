"""Does a loop go on after an iteration: dispatch, replan, wait or stop; and if it stops, who can clear it?

The order of `RUNGS` is the decision: the first rung that answers wins. The cap comes last of all, so that a stop with a
name of its own is never hidden behind it.
"""

from collections.abc import Callable
from datetime import UTC, timedelta

from msgspec import structs

from dos.backlog.cooldown import Answer as Cooldown
from dos.loop.gate import Gate, gate_policy
from dos.loop.improve import Answer as Ratchet
from dos.loop.types import (
    EVIDENCE,
    Action,
    DescendantProgress,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    Productivity,
    StopReason,
)
from dos.loop.verdicts import limit
from dos.loop.verdicts.convergence import Answer as Convergence
from dos.loop.verdicts.liveness import Answer as Liveness
from dos.reasons import table
from dos.reasons.table import Needs
from dos.runs.complete import Answer as Completion

CAP = "iteration-cap"
FORGET_EVIDENCE = dict.fromkeys(EVIDENCE)


def decide(state: LoopState, outcome: IterationOutcome) -> LoopDecision:
    step = _Step(state, outcome)
    for number, (_, rung) in enumerate(RUNGS):
        step.number = number
        if decision := rung(step):
            return decision
    raise AssertionError("the last rung answers every outcome")


def needs(why: str) -> Needs:
    """Who can clear a stop, from the one table of reasons."""
    found = table.find(why)
    if found is None:
        raise LookupError(f"the table of reasons has no row for {why}")
    return found.needs


class _Step:
    """One climb: what was seen, and how the state changes on the way."""

    __slots__ = ("changes", "number", "outcome", "state")

    def __init__(self, state: LoopState, outcome: IterationOutcome) -> None:
        self.state = state
        self.outcome = outcome
        self.number = 0
        self.changes: dict[str, object] = dict(FORGET_EVIDENCE)
        if outcome.kind != OutcomeKind.UNCLEAR and not _outraced(state, outcome):
            self.changes["consecutive_adopt_wait"] = 0
        if outcome.verdict != Gate.RACE:
            self.changes["consecutive_race"] = 0

    def change(self, **changes: object) -> None:
        self.changes.update(changes)

    def count(self, streak: str) -> tuple[bool, str]:
        """One more in a row: is that too many, and how many of how many."""
        new = getattr(self.state, "consecutive_" + streak) + 1
        most = getattr(self.state, "max_" + streak)
        self.changes["consecutive_" + streak] = new
        return new >= most, f"{new}/{most}"

    def stop(self, why: StopReason, reason: str) -> LoopDecision:
        who = _NEEDS[why]
        return LoopDecision(
            action=Action.STOP,
            stop_reason=why,
            needs=who,
            surface=who is not Needs.NOBODY,
            reason=reason,
            ladder=_CONSIDERED[self.number],
            next_state=structs.replace(self.state, **self.changes),
        )

    def go_on(
        self, mode: str, reason: str, *, reconcile: bool = False, who: Needs = Needs.NOBODY
    ) -> LoopDecision:
        state = self.state
        if state.iteration >= state.max_iterations:
            ran = f"{state.iteration} of {state.max_iterations} iterations ran; {reason}"
            return structs.replace(
                self.stop(StopReason.ITERATION_CAP, ran), ladder=_CONSIDERED_WITH_CAP[self.number]
            )
        return LoopDecision(
            action=Action.CONTINUE,
            next_mode=mode,
            reconcile=reconcile,
            needs=who,
            surface=who is not Needs.NOBODY,
            reason=reason,
            ladder=_CONSIDERED_WITH_CAP[self.number],
            next_state=structs.replace(state, iteration=state.iteration + 1, **self.changes),
        )

    def again(self, reason: str, **how: object) -> LoopDecision:
        """The same iteration once more, after a while."""
        return LoopDecision(
            reason=reason,
            ladder=_CONSIDERED[self.number],
            next_state=structs.replace(self.state, **self.changes),
            **how,  # type: ignore[arg-type]
        )


def _launch_failed(step: _Step) -> LoopDecision | None:
    if step.outcome.kind != OutcomeKind.LAUNCH_FAILED:
        return None
    seconds, ended = step.outcome.retry_after_seconds, step.outcome.ended_at
    if seconds is None:
        return step.stop(StopReason.LAUNCH_FAILED, "the agent's process did not come up")
    if step.state.consecutive_wait >= step.state.max_wait:
        return step.stop(StopReason.LAUNCH_FAILED, f"it did not come up, {_waited(step.state)}")
    _, times = step.count("wait")
    return step.again(
        f"the agent did not come up; asked to try again in {seconds:g} s (wait {times})",
        action=Action.WAIT,
        needs=Needs.TIME,
        surface=True,
        backoff_seconds=seconds,
        until=(ended + timedelta(seconds=seconds)).astimezone(UTC) if ended else None,
    )


def _rate_limited(step: _Step) -> LoopDecision | None:
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
    reason = f"the usage window is used up; it resets at {until:%Y-%m-%dT%H:%M:%SZ} (wait {times})"
    return step.again(reason, action=Action.WAIT, needs=Needs.TIME, surface=True, until=until)


def _waited(state: LoopState) -> str:
    return f"also after {state.consecutive_wait}/{state.max_wait} waits in a row"


def _overloaded(step: _Step) -> LoopDecision | None:
    if step.outcome.kind != OutcomeKind.OVERLOADED:
        step.change(consecutive_overloaded=0, consecutive_wait=0)
        return None
    too_often, times = step.count("overloaded")
    if too_often:
        return step.stop(StopReason.CONSECUTIVE_OVERLOADED, f"overloaded {times} times in a row")
    wait = limit.BACKOFF.delay(step.state.consecutive_overloaded + 1)
    return step.again(
        f"overloaded {times}; once more in {wait} s", action=Action.RETRY, backoff_seconds=wait
    )


def _complete(step: _Step) -> LoopDecision | None:
    seen = step.state.completion
    if seen is None or seen.answer != Completion.COMPLETE:
        return None
    return step.stop(StopReason.COMPLETE, "every declared unit is verified")


def _under_declared(step: _Step) -> LoopDecision | None:
    seen = step.state.completion
    if seen is None or seen.answer != Completion.UNDERDECLARED:
        return None
    return step.stop(
        StopReason.THRASHING, "all that was declared is done, and it was declared too small"
    )


def _converging(step: _Step) -> LoopDecision | None:
    seen = step.state.convergence
    if seen is None or seen.answer not in (Convergence.THRASHING, Convergence.STARVED):
        return None
    return step.stop(StopReason.THRASHING, f"what is left does not get less: {seen.answer}")


def _spinning(step: _Step) -> LoopDecision | None:
    seen = step.state.liveness
    if seen is None or getattr(seen, "answer", seen) != Liveness.SPINNING:
        return None
    return step.stop(StopReason.SPINNING, "alive, and nothing has landed for too long")


def _ratcheting(step: _Step) -> LoopDecision | None:
    seen = step.state.ratchet
    if seen is None or seen.answer != Ratchet.ESCALATE:
        return None
    return step.stop(StopReason.NOT_RATCHETING, "no change was worth keeping for too long")


def _pick_held(step: _Step) -> LoopDecision | None:
    seen = step.state.pickability
    if seen is None or not seen.is_redispatch_invariant:
        return None
    return step.stop(
        StopReason.PICK_HELD_INVARIANT,
        f"the next unit is held, and trying again cannot help: {seen.reason}",
    )


def _pick_cooldown(step: _Step) -> LoopDecision | None:
    seen = step.state.cooldown
    if seen is None or seen.answer != Cooldown.RECENTLY_ATTEMPTED:
        return None
    return step.stop(
        StopReason.PICK_COOLDOWN,
        f"only units are left that were just tried: {seen.unit_id}".rstrip(": "),
    )


def _outraced(state: LoopState, outcome: IterationOutcome) -> bool:
    """Races are retried so many times in a row; one more has no clear end."""
    return outcome.verdict == Gate.RACE and state.consecutive_race >= state.max_race


def _unclear(step: _Step) -> LoopDecision | None:
    state, outcome = step.state, step.outcome
    if outcome.kind != OutcomeKind.UNCLEAR and not _outraced(state, outcome):
        step.change(consecutive_unclear=0)
        return None
    if outcome.verdict == Gate.RACE:
        step.count("race")
    if (
        state.descendant_progress == DescendantProgress.ADVANCING
        # Only so often between two clear ends, or a child that always seems to move would keep the loop for ever.
        and state.consecutive_adopt_wait < state.max_adopt_wait
    ):
        _, times = step.count("adopt_wait")
        step.change(consecutive_unclear=0)
        return step.go_on(
            "dispatch", f"no clear end, and a child of it goes on landing commits (wait {times})"
        )
    too_often, times = step.count("unclear")
    if too_often:
        return step.stop(StopReason.CONSECUTIVE_UNCLEAR, f"no clear end {times} times in a row")
    return step.go_on("dispatch", f"no clear end {times}")


def _shipped(step: _Step) -> LoopDecision | None:
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
            "a ship is claimed, and the measurement that it owes is missing",
        )
    if outcome.ship_count == 0:
        too_often, times = step.count("dirty_zero")
        if too_often:
            return step.stop(
                StopReason.CONSECUTIVE_DIRTY_ZERO, f"nothing landed {times} times in a row"
            )
        return step.go_on("dispatch", f"nothing landed {times}")
    step.change(consecutive_dirty_zero=0)
    landed = "a ship is claimed" if outcome.ship_count is None else f"{outcome.ship_count} landed"
    return step.go_on("dispatch", landed)


def _replanned(step: _Step) -> LoopDecision | None:
    state, outcome = step.state, step.outcome
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
        return step.stop(StopReason.REPLAN_STALLED, f"replans found nothing {times} times in a row")
    return step.go_on("dispatch", f"the replan found nothing {times}")


def _blocked_cause(step: _Step) -> LoopDecision | None:
    cause = step.outcome.blocked_cause
    found = table.blocked_cause(cause) if cause else None
    if found is None or found.self_heals_via == "/replan":
        return None
    return step.stop(
        StopReason.BLOCKED_REDISPATCH_INVARIANT,
        f"blocked by {found.key}, which no replan can clear",
    )


def _stale_stamp(step: _Step) -> LoopDecision | None:
    verdict = step.outcome.verdict
    if verdict not in (Gate.STALE_STAMP, Gate.BLOCKED):
        step.change(consecutive_stale_stamp=0)
    else:
        too_often, times = step.count("stale_stamp")
        if too_often:
            return step.stop(
                StopReason.STALE_STAMP_UNRECONCILED,
                f"{verdict} {times} times, and no replan cleared it",
            )
    if verdict != Gate.DRAIN:
        step.change(consecutive_unproductive_replan_drains=0, last_gate_was_drain=False)
    return None


def _gate(step: _Step) -> LoopDecision | None:
    state, verdict = step.state, step.outcome.verdict
    assert verdict is not None  # every other kind was answered above
    policy = gate_policy(verdict, state.gate_mode)
    if policy.next_mode == "stop":
        if verdict == Gate.DRAIN:
            return step.stop(StopReason.DRAIN, "no unit is left to offer")
        return step.stop(StopReason.BLOCKED, "units are left, and none of them may be offered")
    if policy.counts_toward_drain:
        return _drained(step)
    if verdict == Gate.RACE:
        _, times = step.count("race")
        return step.go_on(policy.next_mode, f"another was quicker (race {times})", who=Needs.TIME)
    return step.go_on(policy.next_mode, f"the gate says {verdict}", reconcile=policy.reconcile)


def _drained(step: _Step) -> LoopDecision:
    state = step.state
    fruitless, most = (
        state.consecutive_unproductive_replan_drains,
        state.max_unproductive_replan_drains,
    )
    if fruitless >= most:
        return step.stop(
            StopReason.BENIGN_DRAIN, f"drained, and {fruitless}/{most} replans of it found nothing"
        )
    if state.last_replan_drained:
        return step.stop(StopReason.DRAINED_TWICE, "drained again, right after a replan of a drain")
    step.change(last_replan_drained=False, last_gate_was_drain=True)
    return step.go_on("replan", "no unit is left to offer")


RUNGS: tuple[tuple[str, Callable[[_Step], LoopDecision | None]], ...] = (
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
_CONSIDERED_WITH_CAP = tuple((*names, CAP) for names in _CONSIDERED)
_NEEDS = {why: needs(why) for why in StopReason}
