"""Is a change that was made to improve something worth keeping?"""

from enum import StrEnum

from msgspec import Struct, field, structs

from dos.fields import Count, Positive, Ratio, Table
from dos.verdicts.progress import efficiency, streak
from dos.verdicts.progress.numbers import check_amounts, check_counts, check_positive
from dos.verdicts.progress.streak import Escalation


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
    efficiency_floor: Ratio = 0.0
    min_tokens_for_efficiency: Count = 1000

    def __post_init__(self) -> None:
        check_positive(max_consecutive_reverts=self.max_consecutive_reverts)
        check_amounts(efficiency_floor=self.efficiency_floor)
        check_counts(min_tokens_for_efficiency=self.min_tokens_for_efficiency)


class Weighed(Evidence, frozen=True, kw_only=True):
    """The evidence as it is shown beside the answer."""

    delta: int
    improved: bool


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    revert_cause: Cause | None = None
    escalation: Escalation = Escalation.NONE
    next_consecutive_reverts: int = 0
    reason: str = ""
    evidence: Weighed | None = None


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    gain = seen.work - seen.baseline_work
    if not seen.suite_passed:
        return _revert(seen, policy, Cause.REGRESSED, "the tests do not pass")
    if not seen.truth_clean:
        return _revert(seen, policy, Cause.REGRESSED, "not everything that it claims is backed")
    if gain <= 0:
        return _revert(seen, policy, Cause.NO_IMPROVEMENT, f"{seen.work} is no more than {seen.baseline_work}")
    price = efficiency.judge(
        efficiency.Evidence(work=gain, tokens=seen.tokens),
        efficiency.Policy(min_tokens=policy.min_tokens_for_efficiency, floor=policy.efficiency_floor),
    )
    if price.answer is not efficiency.Answer.EFFICIENT:
        return _revert(seen, policy, Cause.WASTEFUL, price.reason)
    return Verdict(
        answer=Answer.KEEP,
        reason=f"from {seen.baseline_work} to {seen.work}, and nothing broke",
        evidence=_weighed(seen),
    )


def _revert(seen: Evidence, policy: Policy, cause: Cause, reason: str) -> Verdict:
    limit = streak.Policy(max_consecutive=policy.max_consecutive_reverts, max_total=0, on_trip="human")
    counted, breaker = streak.record_failure(streak.Evidence(consecutive=seen.consecutive_reverts), limit)
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


def _weighed(seen: Evidence) -> Weighed:
    gain = seen.work - seen.baseline_work
    return Weighed(**structs.asdict(seen), delta=gain, improved=gain > 0)
