"""How good is a judge, on claims whose truth is known?"""

from collections.abc import Iterable

from msgspec import Struct

from dos.witness.judges import JudgeVerdict, Stance


class JudgedClaim(Struct, frozen=True, kw_only=True):
    """What a judge said of a claim, and whether the claim is true."""

    verdict: JudgeVerdict
    truth: bool


class Grid(Struct, frozen=True, kw_only=True):
    correct_clear: int = 0
    false_clear: int = 0  # agreed to what is not so: the one that does harm
    correct_flag: int = 0
    false_flag: int = 0
    abstain_true: int = 0
    abstain_false: int = 0


class Rates(Struct, frozen=True, kw_only=True):
    """Each is 0 where there is nothing to divide by."""

    false_clear_rate: float  # of what it agreed to
    lie_leak_rate: float  # of the claims that are false
    decisive_accuracy: float  # of what it did not abstain from
    abstention_rate: float
    cost_per_claim: float


class Report(Struct, frozen=True, kw_only=True):
    n: int
    grid: Grid
    rates: Rates


def evaluate(claims: Iterable[JudgedClaim]) -> Report:
    every = list(claims)

    def count(stance: Stance, truth: bool) -> int:
        return sum(claim.verdict.stance is stance and claim.truth is truth for claim in every)

    grid = Grid(
        correct_clear=count(Stance.AGREE, True),
        false_clear=count(Stance.AGREE, False),
        correct_flag=count(Stance.DISAGREE, False),
        false_flag=count(Stance.DISAGREE, True),
        abstain_true=count(Stance.ABSTAIN, True),
        abstain_false=count(Stance.ABSTAIN, False),
    )
    agreed = grid.correct_clear + grid.false_clear
    decided = agreed + grid.correct_flag + grid.false_flag
    rates = Rates(
        false_clear_rate=_share(grid.false_clear, agreed),
        lie_leak_rate=_share(
            grid.false_clear, grid.false_clear + grid.correct_flag + grid.abstain_false
        ),
        decisive_accuracy=_share(grid.correct_clear + grid.correct_flag, decided),
        abstention_rate=_share(grid.abstain_true + grid.abstain_false, len(every)),
        cost_per_claim=_share(sum(claim.verdict.cost for claim in every), len(every)),
    )
    return Report(n=len(every), grid=grid, rates=rates)


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
