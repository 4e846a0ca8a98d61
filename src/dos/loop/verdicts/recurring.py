"""Decide whether what stopped this run has stopped others before."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.fields import check_amounts, check_counts, check_positive

RUN_WEIGHT = 1000
COST_WEIGHT = 10


class Answer(StrEnum):
    """Whether the cause is new."""

    NEW = "NEW"
    RECURRING = "RECURRING"


class Hit(Struct, frozen=True, kw_only=True):
    """One stop of a run, with its cause."""

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
    """What stopped this run and the runs before it."""

    run: str
    cause_keys: tuple[str, ...] = ()  # of this run; blank ones are ignored
    prior_hits: tuple[Hit, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    """From how many runs on a cause is recurring."""

    min_recurrence: int = 2  # distinct runs, with this one

    def __post_init__(self) -> None:
        check_positive(min_recurrence=self.min_recurrence)


class Cluster(Struct, frozen=True, kw_only=True):
    """All hits of one cause."""

    cause_key: str
    runs_affected: int
    occurrences: int
    cost_usd: float
    wall_min: float
    example: str
    example_run: str = ""  # the newest run that it stopped

    @property
    def score(self) -> float:
        """The weight of the cause: runs first, then cost, then time."""
        return RUN_WEIGHT * self.runs_affected + COST_WEIGHT * self.cost_usd + self.wall_min


class Verdict(Struct, frozen=True, kw_only=True):
    """The worst cause of this run, and whether it is recurring."""

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
        if self.recurring:
            return Answer.RECURRING
        return Answer.NEW


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Judge the worst of the causes that stopped this run; other causes do not count."""
    keys = dict.fromkeys(key for key in evidence.cause_keys if key.strip())
    if not keys:
        return Verdict(recurring=False, reason="nothing stopped this run")
    hits = [*evidence.prior_hits, *(Hit(run=evidence.run, cause_key=key) for key in keys)]
    clusters = [_cluster(key, hits) for key in keys]
    worst = max(clusters, key=lambda cluster: cluster.score)
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
        reason=f"{worst.cause_key} stopped {runs};"
        f" from {policy.min_recurrence} it counts as recurring",
    )


def recurring_causes(hits: Sequence[Hit], policy: Policy = Policy()) -> list[Cluster]:
    """Return the causes that stopped enough runs to count as recurring, the worst first.

    `hits` are in the order in which the runs stopped.
    """
    keys = dict.fromkeys(hit.cause_key for hit in hits if hit.cause_key.strip())
    clusters = [_cluster(key, hits) for key in keys]
    found = [each for each in clusters if each.runs_affected >= policy.min_recurrence]
    return sorted(found, key=lambda cluster: cluster.score, reverse=True)


def classify(
    this_run_id: str,
    this_run_cause_keys: Sequence[str],
    prior_hits: Iterable[Hit],
    min_recurrence: int = 2,
) -> Verdict:
    """Judge the causes of a run against earlier hits, for callers without the records."""
    evidence = Evidence(
        run=this_run_id, cause_keys=tuple(this_run_cause_keys), prior_hits=tuple(prior_hits)
    )
    return judge(evidence, Policy(min_recurrence=min_recurrence))


def _cluster(key: str, hits: Sequence[Hit]) -> Cluster:
    alike = [hit for hit in hits if hit.cause_key == key]
    return Cluster(
        cause_key=key,
        runs_affected=len({hit.run for hit in alike}),
        occurrences=len(alike),
        cost_usd=round(sum(hit.cost_usd or 0.0 for hit in alike), 2),
        wall_min=round(sum(hit.wall_min or 0.0 for hit in alike), 1),
        example=next((hit.example for hit in alike if hit.example), ""),
        example_run=alike[-1].run,
    )
