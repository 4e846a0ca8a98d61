"""A loop that improves something: propose a change, measure it, keep it or discard it.

The caller passes in all functions that act; only which of them is called is decided here.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct, field, structs

from dos.fields import Positive, Ratio, Table, Tokens, check_amounts, check_counts, check_positive
from dos.loop.verdicts import breaker, efficiency
from dos.loop.verdicts.breaker import Escalation


class Answer(StrEnum):
    """What becomes of a change."""

    KEEP = "KEEP"
    REVERT = "REVERT"
    ESCALATE = "ESCALATE"  # reverted, and too often in a row to go on without a person


class Cause(StrEnum):
    """Why a change is reverted."""

    REGRESSED = "regressed"  # the tests fail, or a claim is not backed
    WASTEFUL = "wasteful"  # better, at too high a price
    NO_IMPROVEMENT = "no-improvement"


class Evidence(Struct, frozen=True, kw_only=True):
    """What was measured of a change."""

    suite_passed: bool
    truth_clean: bool
    work: int = 0
    baseline_work: int = 0
    tokens: int = 0
    consecutive_reverts: int = 0
    narrated: str = ""  # what its author says of it; it decides nothing

    def __post_init__(self) -> None:
        check_counts(
            work=self.work,
            baseline_work=self.baseline_work,
            tokens=self.tokens,
            consecutive_reverts=self.consecutive_reverts,
        )


class Policy(Table, frozen=True, kw_only=True):
    """[improve]: which changes of an improvement loop are kept, and when a person is asked."""

    max_consecutive_reverts: Positive = 3
    """Reverted changes in a row at which the loop stops and asks a person."""
    efficiency_floor: Ratio = 0.0
    """Gained work per token below which a change is reverted."""
    min_tokens_for_efficiency: Tokens = 1000
    """Fewest tokens of a change to apply efficiency_floor to it."""

    def __post_init__(self) -> None:
        check_positive(max_consecutive_reverts=self.max_consecutive_reverts)
        check_amounts(efficiency_floor=self.efficiency_floor)
        check_counts(min_tokens_for_efficiency=self.min_tokens_for_efficiency)


class WeighedEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence, as the answer shows it."""

    delta: int
    improved: bool


class Verdict(Struct, frozen=True, kw_only=True):
    """What becomes of a change, and why."""

    answer: Answer = field(name="verdict")
    revert_cause: Cause | None = None
    escalation: Escalation = Escalation.NONE
    next_consecutive_reverts: int = 0
    reason: str = ""
    evidence: WeighedEvidence | None = None


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Keep a change that passes the tests, is proven, and gains enough work for its tokens.

    The checks are made in this order, and the first that fails names the cause of the revert.
    """
    gain = evidence.work - evidence.baseline_work
    if not evidence.suite_passed:
        return _revert(evidence, policy, Cause.REGRESSED, "the tests do not pass")
    if not evidence.truth_clean:
        return _revert(evidence, policy, Cause.REGRESSED, "not everything that it claims is backed")
    if gain <= 0:
        return _revert(
            evidence,
            policy,
            Cause.NO_IMPROVEMENT,
            f"{evidence.work} is no more than {evidence.baseline_work}",
        )
    price = efficiency.judge(
        efficiency.Evidence(work=gain, tokens=evidence.tokens),
        efficiency.Policy(
            min_tokens=policy.min_tokens_for_efficiency, floor=policy.efficiency_floor
        ),
    )
    if price.answer is not efficiency.Answer.EFFICIENT:
        return _revert(evidence, policy, Cause.WASTEFUL, price.reason)
    return Verdict(
        answer=Answer.KEEP,
        reason=f"from {evidence.baseline_work} to {evidence.work}, and nothing broke",
        evidence=_weighed(evidence),
    )


def _revert(evidence: Evidence, policy: Policy, cause: Cause, reason: str) -> Verdict:
    """Revert the change, and escalate to a person after too many reverts in a row."""
    limit = breaker.Policy(
        max_consecutive=policy.max_consecutive_reverts, max_total=0, on_trip="human"
    )
    before = breaker.Evidence(consecutive=evidence.consecutive_reverts)
    counted, tripped = breaker.record_failure(before, limit)
    answer = Answer.REVERT
    if tripped.answer is breaker.Answer.OPEN:
        answer = Answer.ESCALATE
    count = f"{counted.consecutive}/{policy.max_consecutive_reverts} reverts in a row"
    return Verdict(
        answer=answer,
        revert_cause=cause,
        escalation=tripped.escalation,
        next_consecutive_reverts=counted.consecutive,
        reason=f"{reason}; {count}",
        evidence=_weighed(evidence),
    )


def _weighed(evidence: Evidence) -> WeighedEvidence:
    """Return the evidence with the gain over the baseline."""
    gain = evidence.work - evidence.baseline_work
    return WeighedEvidence(**structs.asdict(evidence), delta=gain, improved=gain > 0)


class Action(StrEnum):
    """What a cycle did."""

    MERGED = "merged"
    DISCARDED = "discarded"
    ESCALATED = "escalated"
    SKIPPED = "skipped"  # there was nothing to improve


class StopReason(StrEnum):
    """Why the loop ended: a person has to look, or as many cycles ran as allowed."""

    MAX_CYCLES = "max-cycles"
    ESCALATED = "escalated"


_ACTIONS = {
    Answer.KEEP: Action.MERGED,
    Answer.REVERT: Action.DISCARDED,
    Answer.ESCALATE: Action.ESCALATED,
}


class Candidate(Struct, frozen=True, kw_only=True):
    """A change, as its author proposes it.

    `narrated` is what the author says about it; it is shown and never decides anything.
    """

    present: bool = True
    commit: str = ""
    narrated: str = ""
    tokens: int = 0


class CandidateMeasure(Struct, frozen=True, kw_only=True):
    """What was measured of a proposed change, by the loop and not by its author."""

    suite_passed: bool
    truth_clean: bool
    work: int


class Context(Struct, frozen=True, kw_only=True):
    """The functions that act, and the policy by which they are called."""

    propose: Callable[[], Candidate]
    gather: Callable[[Candidate], CandidateMeasure]
    merge: Callable[[Candidate], None]
    discard: Callable[[Candidate], None]
    escalate: Callable[[Verdict], None]
    baseline_work: int = 0
    policy: Policy = Policy()


class Cycle(Struct, frozen=True, kw_only=True):
    """What one cycle did, and what the next one starts from."""

    action: Action
    baseline_work: int  # for the next one
    consecutive_reverts: int  # before the next one
    verdict: Verdict | None = None  # None: nothing was judged


class LoopResult(Struct, frozen=True, kw_only=True):
    """What all cycles of a loop came to."""

    cycles: int
    kept: int
    reverted: int  # without the one that was escalated
    skipped: int
    escalated: bool
    final_baseline: int
    stop_reason: StopReason


def run_cycle(context: Context, baseline_work: int, consecutive_reverts: int = 0) -> Cycle:
    """Propose, measure and judge one change, then merge or discard it."""
    candidate = context.propose()
    if not candidate.present:
        return Cycle(
            action=Action.SKIPPED,
            baseline_work=baseline_work,
            consecutive_reverts=consecutive_reverts,
        )
    measured = context.gather(candidate)
    verdict = judge(
        _evidence(candidate, measured, baseline_work, consecutive_reverts), context.policy
    )
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
    """Run cycles until one escalates to a person, or `max_cycles` were run.

    A cycle with nothing to improve counts. Raises ValueError for a negative number.
    """
    if max_cycles < 0:
        raise ValueError(f"max_cycles is {max_cycles}; it cannot be below 0")
    done: list[Action] = []
    baseline = context.baseline_work
    reverts = consecutive_reverts
    while len(done) < max_cycles and Action.ESCALATED not in done:
        cycle = run_cycle(context, baseline, reverts)
        baseline = cycle.baseline_work
        reverts = cycle.consecutive_reverts
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


def _evidence(
    candidate: Candidate, measured: CandidateMeasure, baseline_work: int, consecutive_reverts: int
) -> Evidence:
    """Put together what the author proposes, what was measured, and the reverts so far."""
    return Evidence(
        suite_passed=measured.suite_passed,
        truth_clean=measured.truth_clean,
        work=measured.work,
        baseline_work=baseline_work,
        tokens=candidate.tokens,
        consecutive_reverts=consecutive_reverts,
        narrated=candidate.narrated,
    )
