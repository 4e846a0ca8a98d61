"""A loop that improves something: propose a change, measure it, keep what is witnessed and discard the rest.

Everything that acts is handed in; what is decided here is only which of it is called.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from dos.verdicts.progress import keep
from dos.verdicts.progress.keep import Answer, Evidence, Policy, Verdict


class Action(StrEnum):
    MERGED = "merged"
    DISCARDED = "discarded"
    ESCALATED = "escalated"
    SKIPPED = "skipped"  # there was nothing to improve


class StopReason(StrEnum):
    MAX_CYCLES = "max-cycles"
    ESCALATED = "escalated"


_ACTIONS = {Answer.KEEP: Action.MERGED, Answer.REVERT: Action.DISCARDED, Answer.ESCALATE: Action.ESCALATED}


class Candidate(Struct, frozen=True, kw_only=True):
    """A change, as its author hands it over."""

    present: bool = True
    commit: str = ""
    narrated: str = ""
    tokens: int = 0


class Measured(Struct, frozen=True, kw_only=True):
    """The change, as others saw it."""

    suite_passed: bool
    truth_clean: bool
    work: int


class Context(Struct, frozen=True, kw_only=True):
    propose: Callable[[], Candidate]
    gather: Callable[[Candidate], Measured]
    merge: Callable[[Candidate], None]
    discard: Callable[[Candidate], None]
    escalate: Callable[[Verdict], None]
    baseline_work: int = 0
    policy: Policy = Policy()


class Cycle(Struct, frozen=True, kw_only=True):
    action: Action
    baseline_work: int  # for the next one
    consecutive_reverts: int  # before the next one
    verdict: Verdict | None = None  # None: nothing was judged


class LoopResult(Struct, frozen=True, kw_only=True):
    """What became of all cycles of a loop."""

    cycles: int
    kept: int
    reverted: int  # without the one that was escalated
    skipped: int
    escalated: bool
    final_baseline: int
    stop_reason: StopReason


def run_cycle(context: Context, baseline_work: int, consecutive_reverts: int = 0) -> Cycle:
    candidate = context.propose()
    if not candidate.present:
        return Cycle(action=Action.SKIPPED, baseline_work=baseline_work, consecutive_reverts=consecutive_reverts)
    measured = context.gather(candidate)
    verdict = keep.judge(_seen(candidate, measured, baseline_work, consecutive_reverts), context.policy)
    if verdict.answer is Answer.KEEP:
        context.merge(candidate)
    else:
        context.discard(candidate)
    if verdict.answer is Answer.ESCALATE:
        context.escalate(verdict)
    return Cycle(
        action=_ACTIONS[verdict.answer],
        baseline_work=measured.work if verdict.answer is Answer.KEEP else baseline_work,
        consecutive_reverts=verdict.next_consecutive_reverts,
        verdict=verdict,
    )


def run_loop(
    context: Context,
    max_cycles: int,
    consecutive_reverts: int = 0,
    on_cycle: Callable[[Cycle], None] | None = None,
) -> LoopResult:
    """Until a person is asked, or the cycles are used up; a cycle with nothing to improve uses one up, too."""
    if max_cycles < 0:
        raise ValueError(f"max_cycles is {max_cycles}; it cannot be below 0")
    done: list[Action] = []
    baseline, reverts = context.baseline_work, consecutive_reverts
    while len(done) < max_cycles and Action.ESCALATED not in done:
        cycle = run_cycle(context, baseline, reverts)
        baseline, reverts = cycle.baseline_work, cycle.consecutive_reverts
        done.append(cycle.action)
        if on_cycle:
            on_cycle(cycle)
    escalated = Action.ESCALATED in done
    return LoopResult(
        cycles=len(done),
        kept=done.count(Action.MERGED),
        reverted=done.count(Action.DISCARDED),
        skipped=done.count(Action.SKIPPED),
        escalated=escalated,
        final_baseline=baseline,
        stop_reason=StopReason.ESCALATED if escalated else StopReason.MAX_CYCLES,
    )


def _seen(candidate: Candidate, measured: Measured, baseline_work: int, consecutive_reverts: int) -> Evidence:
    return Evidence(
        suite_passed=measured.suite_passed,
        truth_clean=measured.truth_clean,
        work=measured.work,
        baseline_work=baseline_work,
        tokens=candidate.tokens,
        consecutive_reverts=consecutive_reverts,
        narrated=candidate.narrated,
    )
