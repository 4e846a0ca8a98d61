"""What a lease counts for when places are given out: more is asked before somebody is called dead than for a look.

Who is dead for a plan loses the lane to another worker, so silence is not enough: its process is gone by the system's
own word, or its lease is over by the store's own clock.
"""

from msgspec import Struct

from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer, Evidence, Policy, Verdict
from dos.loop.verdicts.numbers import check_counts


class LeaseHealth(Struct, frozen=True, kw_only=True):
    answer: Answer
    why: str = ""  # nothing in it depends on when it was asked
    spinning_age_ms: int | None = None


def lease_health(seen: Evidence, policy: Policy = Policy()) -> LeaseHealth:
    if seen.lapsed:
        return LeaseHealth(answer=Answer.STALLED, why="its lease is over")
    verdict = liveness.judge(seen, policy)
    if verdict.answer is Answer.UNKNOWN:
        return LeaseHealth(answer=Answer.UNKNOWN, why=verdict.reason)
    if seen.process_alive is False:
        return LeaseHealth(answer=Answer.STALLED, why="its process is gone")
    if verdict.answer is Answer.ADVANCING:
        return LeaseHealth(answer=Answer.ADVANCING)
    age_ms = seen.age_ms if seen.progress_age_ms is None else seen.progress_age_ms
    silent = verdict.answer is Answer.STALLED
    why = "it beats no more, and its lease is not over" if silent else "it lives, and nothing lands"
    return LeaseHealth(answer=Answer.SPINNING, why=why, spinning_age_ms=age_ms)


class HaltPolicy(Struct, frozen=True, kw_only=True):
    budget_ms: int | None = None  # a stalled run younger than this is left alone; None: no run is
    repropose_ms: int = 1_800_000

    def __post_init__(self) -> None:
        check_counts(budget_ms=self.budget_ms, repropose_ms=self.repropose_ms)


class HaltCandidate(Struct, frozen=True, kw_only=True):
    run_id: str
    verdict: Verdict
    evidence: Evidence
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""  # what is to be stopped
    ended: bool = False  # the journal says how it ended: nothing is left to stop
    proposed_ms: tuple[int, ...] = ()  # when it was proposed, since it moved last

    @property
    def moved_ms(self) -> int:
        """When it moved last: what names the time since then, in which it does not."""
        age_ms = (
            self.evidence.age_ms
            if self.evidence.progress_age_ms is None
            else self.evidence.progress_age_ms
        )
        return self.evidence.now_ms - age_ms


def within_budget(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    too_young = policy.budget_ms is not None and run.evidence.age_ms < policy.budget_ms
    return run.verdict.answer is Answer.STALLED and too_young


def is_due(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    if (
        run.ended
        or run.verdict.answer not in (Answer.SPINNING, Answer.STALLED)
        or within_budget(run, policy)
    ):
        return False
    return not run.proposed_ms or run.evidence.now_ms - max(run.proposed_ms) >= policy.repropose_ms
