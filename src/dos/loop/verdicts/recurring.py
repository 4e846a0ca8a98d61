"""Has what stopped this run stopped others before?"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.loop.verdicts.numbers import check_amounts, check_counts, check_positive

RUN_WEIGHT, COST_WEIGHT = 1000, 10


class Answer(StrEnum):
    NEW = "NEW"
    RECURRING = "RECURRING"


class Hit(Struct, frozen=True, kw_only=True):
    """One time that something stopped a run."""

    run: str
    cause_key: str
    iter_n: int = 0
    cost_usd: float | None = None
    wall_min: float | None = None
    example: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        check_counts(iter_n=self.iter_n)
        check_amounts(cost_usd=self.cost_usd, wall_min=self.wall_min)


class Evidence(Struct, frozen=True, kw_only=True):
    run: str
    cause_keys: tuple[str, ...] = ()  # of this run; blank ones say nothing
    prior_hits: tuple[Hit, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    min_recurrence: int = 2  # distinct runs, this one among them

    def __post_init__(self) -> None:
        check_positive(min_recurrence=self.min_recurrence)


class Cluster(Struct, frozen=True, kw_only=True):
    """Every hit of one cause."""

    cause_key: str
    runs_affected: int
    occurrences: int
    cost_usd: float
    wall_min: float
    example: str

    @property
    def score(self) -> float:
        return RUN_WEIGHT * self.runs_affected + COST_WEIGHT * self.cost_usd + self.wall_min


class Verdict(Struct, frozen=True, kw_only=True):
    recurring: bool
    cause_key: str = ""
    runs_affected: int = 0
    occurrences: int = 0
    cost_usd: float = 0.0
    wall_min: float = 0.0
    example: str = ""
    reason: str = ""

    @property
    def answer(self) -> Answer:
        return Answer.RECURRING if self.recurring else Answer.NEW


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    """Only what this run met is reported, however often something else stopped others."""
    keys = dict.fromkeys(key for key in seen.cause_keys if key.strip())
    if not keys:
        return Verdict(recurring=False, reason="nothing stopped this run")
    hits = [*seen.prior_hits, *(Hit(run=seen.run, cause_key=key) for key in keys)]
    worst = max((_cluster(key, hits) for key in keys), key=lambda cluster: cluster.score)
    recurring = worst.runs_affected >= policy.min_recurrence
    runs = "1 run" if worst.runs_affected == 1 else f"{worst.runs_affected} runs"
    return Verdict(
        recurring=recurring,
        cause_key=worst.cause_key,
        runs_affected=worst.runs_affected,
        occurrences=worst.occurrences,
        cost_usd=worst.cost_usd,
        wall_min=worst.wall_min,
        example=worst.example,
        reason=f"{worst.cause_key} stopped {runs}; from {policy.min_recurrence} it counts as recurring",
    )


def classify(
    this_run_id: str,
    this_run_cause_keys: Sequence[str],
    prior_hits: Iterable[Hit],
    min_recurrence: int = 2,
) -> Verdict:
    seen = Evidence(
        run=this_run_id, cause_keys=tuple(this_run_cause_keys), prior_hits=tuple(prior_hits)
    )
    return judge(seen, Policy(min_recurrence=min_recurrence))


def _cluster(key: str, hits: Sequence[Hit]) -> Cluster:
    alike = [hit for hit in hits if hit.cause_key == key]
    return Cluster(
        cause_key=key,
        runs_affected=len({hit.run for hit in alike}),
        occurrences=len(alike),
        cost_usd=round(sum(hit.cost_usd or 0.0 for hit in alike), 2),
        wall_min=round(sum(hit.wall_min or 0.0 for hit in alike), 1),
        example=next((hit.example for hit in alike if hit.example), ""),
    )
