"""A loop that improves something: propose a change, measure it, keep what is witnessed and discard the rest.

Everything that acts is handed in; what is decided here is only which of it is called.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct, field, structs

from dos.fields import Count, Positive, Ratio, Table
from dos.loop.verdicts import breaker as streak
from dos.loop.verdicts import efficiency
from dos.loop.verdicts.breaker import Escalation
from dos.loop.verdicts.numbers import check_amounts, check_counts, check_positive


class Answer(StrEnum):
    KEEP = "KEEP"
    REVERT = "REVERT"
    ESCALATE = "ESCALATE"  # reverted, and too often in a row to go on without a person


class Cause(StrEnum):
    REGRESSED = "regressed"  # the tests fail, or a claim is not backed
    WASTEFUL = "wasteful"  # better, at too high a price
    NO_IMPROVEMENT = "no-improvement"


class Evidence(Struct, frozen=True, kw_only=True):
    suite_passed: bool
    truth_clean: bool
    work: int = 0
    baseline_work: int = 0
    tokens: int = 0
    consecutive_reverts: int = 0
    narrated: str = ""  # what its author says of it: carried, never read

    def __post_init__(self) -> None:
        check_counts(
            work=self.work,
            baseline_work=self.baseline_work,
            tokens=self.tokens,
            consecutive_reverts=self.consecutive_reverts,
        )


class Policy(Table, frozen=True, kw_only=True):
    """[improve]: which changes of a loop that improves its own work are kept, and when a person is asked."""

    max_consecutive_reverts: Positive = 3
    """Reverted changes in a row before a person is asked."""
    efficiency_floor: Ratio = 0.0
    """Improvement per token below which a change is reverted."""
    min_tokens_for_efficiency: Count = 1000
    """Tokens before efficiency is judged."""

    def __post_init__(self) -> None:
        check_positive(max_consecutive_reverts=self.max_consecutive_reverts)
        check_amounts(efficiency_floor=self.efficiency_floor)
        check_counts(min_tokens_for_efficiency=self.min_tokens_for_efficiency)


class WeighedEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence as it is shown beside the answer."""

    delta: int
    improved: bool


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    revert_cause: Cause | None = None
    escalation: Escalation = Escalation.NONE
    next_consecutive_reverts: int = 0
    reason: str = ""
    evidence: WeighedEvidence | None = None


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    gain = seen.work - seen.baseline_work
    if not seen.suite_passed:
        return _revert(seen, policy, Cause.REGRESSED, "the tests do not pass")
    if not seen.truth_clean:
        return _revert(seen, policy, Cause.REGRESSED, "not everything that it claims is backed")
    if gain <= 0:
        return _revert(
            seen, policy, Cause.NO_IMPROVEMENT, f"{seen.work} is no more than {seen.baseline_work}"
        )
    price = efficiency.judge(
        efficiency.Evidence(work=gain, tokens=seen.tokens),
        efficiency.Policy(
            min_tokens=policy.min_tokens_for_efficiency, floor=policy.efficiency_floor
        ),
    )
    if price.answer is not efficiency.Answer.EFFICIENT:
        return _revert(seen, policy, Cause.WASTEFUL, price.reason)
    return Verdict(
        answer=Answer.KEEP,
        reason=f"from {seen.baseline_work} to {seen.work}, and nothing broke",
        evidence=_weighed(seen),
    )


def _revert(seen: Evidence, policy: Policy, cause: Cause, reason: str) -> Verdict:
    limit = streak.Policy(
        max_consecutive=policy.max_consecutive_reverts, max_total=0, on_trip="human"
    )
    counted, breaker = streak.record_failure(
        streak.Evidence(consecutive=seen.consecutive_reverts), limit
    )
    open_ = breaker.answer is streak.Answer.OPEN
    count = f"{counted.consecutive}/{policy.max_consecutive_reverts} reverts in a row"
    return Verdict(
        answer=Answer.ESCALATE if open_ else Answer.REVERT,
        revert_cause=cause,
        escalation=breaker.escalation,
        next_consecutive_reverts=counted.consecutive,
        reason=f"{reason}; {count}",
        evidence=_weighed(seen),
    )


def _weighed(seen: Evidence) -> WeighedEvidence:
    gain = seen.work - seen.baseline_work
    return WeighedEvidence(**structs.asdict(seen), delta=gain, improved=gain > 0)


class Action(StrEnum):
    MERGED = "merged"
    DISCARDED = "discarded"
    ESCALATED = "escalated"
    SKIPPED = "skipped"  # there was nothing to improve


class StopReason(StrEnum):
    MAX_CYCLES = "max-cycles"
    ESCALATED = "escalated"


_ACTIONS = {
    Answer.KEEP: Action.MERGED,
    Answer.REVERT: Action.DISCARDED,
    Answer.ESCALATE: Action.ESCALATED,
}


class Candidate(Struct, frozen=True, kw_only=True):
    """A change, as its author hands it over."""

    present: bool = True
    commit: str = ""
    narrated: str = ""
    tokens: int = 0


class CandidateMeasure(Struct, frozen=True, kw_only=True):
    """The change, as others saw it."""

    suite_passed: bool
    truth_clean: bool
    work: int


class Context(Struct, frozen=True, kw_only=True):
    propose: Callable[[], Candidate]
    gather: Callable[[Candidate], CandidateMeasure]
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
        return Cycle(
            action=Action.SKIPPED,
            baseline_work=baseline_work,
            consecutive_reverts=consecutive_reverts,
        )
    measured = context.gather(candidate)
    verdict = judge(_seen(candidate, measured, baseline_work, consecutive_reverts), context.policy)
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


def _seen(
    candidate: Candidate, measured: CandidateMeasure, baseline_work: int, consecutive_reverts: int
) -> Evidence:
    return Evidence(
        suite_passed=measured.suite_passed,
        truth_clean=measured.truth_clean,
        work=measured.work,
        baseline_work=baseline_work,
        tokens=candidate.tokens,
        consecutive_reverts=consecutive_reverts,
        narrated=candidate.narrated,
    )
