"""Decide whether the tokens that were spent bought enough work."""

from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Ratio, Table, Tokens, check_amounts, check_counts


class Answer(StrEnum):
    """What the tokens bought."""

    EFFICIENT = "EFFICIENT"  # or too little was spent to tell
    COSTLY = "COSTLY"  # less work per token than the floor
    WASTEFUL = "WASTEFUL"  # no work at all


class Evidence(Struct, frozen=True, kw_only=True):
    """Work and tokens of a run."""

    work: int = 0
    tokens: int = 0

    def __post_init__(self) -> None:
        check_counts(work=self.work, tokens=self.tokens)


class Policy(Table, frozen=True, kw_only=True):
    """[efficiency]: how much work a token has to buy, once enough of them are spent to tell."""

    min_tokens: Tokens = 1000
    """Fewest tokens to judge a run by; with fewer it counts as efficient."""
    floor: Ratio = 0.0
    """Work per token below which a run is costly; one without any work is wasteful."""

    def __post_init__(self) -> None:
        check_counts(min_tokens=self.min_tokens)
        check_amounts(floor=self.floor)


class Priced(Struct, frozen=True, kw_only=True):
    """The evidence with the work per token."""

    work: int = 0
    tokens: int = 0
    ratio: float | None = None  # None: no token was spent


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a run is efficient, and its numbers."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    evidence: Priced = Priced()


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Compare the work per token with the floor, once enough tokens are spent."""
    ratio = evidence.work / evidence.tokens if evidence.tokens else None

    def verdict(answer: Answer, reason: str) -> Verdict:
        priced = Priced(work=evidence.work, tokens=evidence.tokens, ratio=ratio)
        return Verdict(answer=answer, reason=reason, evidence=priced)

    if ratio is None or evidence.tokens < policy.min_tokens:
        return verdict(Answer.EFFICIENT, f"{evidence.tokens} tokens are too few to judge")
    if evidence.work == 0:
        return verdict(Answer.WASTEFUL, f"{evidence.tokens} tokens bought nothing")
    if ratio < policy.floor:
        return verdict(
            Answer.COSTLY, f"{ratio:.3g} work for a token is below the floor of {policy.floor:g}"
        )
    return verdict(Answer.EFFICIENT, f"{evidence.work} work for {evidence.tokens} tokens")
