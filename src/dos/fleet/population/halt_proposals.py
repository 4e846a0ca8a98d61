"""Which runs should somebody stop? Proposed once for each time that a run stops moving, and again after a while."""

from msgspec import Struct

from dos.loop.verdicts.liveness import Answer, Evidence, Verdict
from dos.loop.verdicts.numbers import check_counts


class Policy(Struct, frozen=True, kw_only=True):
    budget_ms: int | None = None  # a stalled run younger than this is left alone; None: no run is
    repropose_ms: int = 1_800_000

    def __post_init__(self) -> None:
        check_counts(budget_ms=self.budget_ms, repropose_ms=self.repropose_ms)


class Watched(Struct, frozen=True, kw_only=True):
    run_id: str
    verdict: Verdict
    seen: Evidence
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""  # what is to be stopped
    ended: bool = False  # the journal says how it ended: nothing is left to stop
    proposed_ms: tuple[int, ...] = ()  # when it was proposed, since it moved last

    @property
    def moved_ms(self) -> int:
        """When it moved last: what names the time since then, in which it does not."""
        age_ms = (
            self.seen.age_ms if self.seen.progress_age_ms is None else self.seen.progress_age_ms
        )
        return self.seen.now_ms - age_ms


def within_budget(run: Watched, policy: Policy = Policy()) -> bool:
    too_young = policy.budget_ms is not None and run.seen.age_ms < policy.budget_ms
    return run.verdict.answer is Answer.STALLED and too_young


def is_due(run: Watched, policy: Policy = Policy()) -> bool:
    if (
        run.ended
        or run.verdict.answer not in (Answer.SPINNING, Answer.STALLED)
        or within_budget(run, policy)
    ):
        return False
    return not run.proposed_ms or run.seen.now_ms - max(run.proposed_ms) >= policy.repropose_ms
