"""The health of a lease for the population plan, and the runs that should be halted.

More is needed to call a holder dead here than for `dos liveness`: a dead holder loses its lane to
another worker. Silence is not enough; its process must be gone, or its lease expired by the
store's own clock.
"""

from msgspec import Struct

from dos.fields import check_counts
from dos.lease import LEASE_OVER, PROCESS_GONE
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer, Evidence, Policy, Verdict


class LeaseHealth(Struct, frozen=True, kw_only=True):
    """What a lease counts for when workers are placed."""

    answer: Answer | None  # None: there is no lease
    why: str = ""  # does not depend on when it was asked
    spinning_age_ms: int | None = None


EXITED = LeaseHealth(answer=Answer.STALLED, why=PROCESS_GONE)
EXPIRED = LeaseHealth(answer=Answer.STALLED, why=LEASE_OVER)


def lease_health(evidence: Evidence, policy: Policy = Policy()) -> LeaseHealth:
    """Judge whether the holder of a lease is dead, alive, or alive without progress."""
    if evidence.lapsed:
        return EXPIRED
    verdict = liveness.judge(evidence, policy)
    if verdict.answer is Answer.UNKNOWN:
        return LeaseHealth(answer=Answer.UNKNOWN, why=verdict.reason)
    if evidence.process_alive is False:
        return EXITED
    if verdict.answer is Answer.ADVANCING:
        return LeaseHealth(answer=Answer.ADVANCING)
    if verdict.answer is Answer.STALLED:
        why = "it sends no heartbeat, and its lease is not over"
    else:
        why = "it is alive, and nothing lands"
    age_ms = _progress_age_ms(evidence)
    return LeaseHealth(answer=Answer.SPINNING, why=why, spinning_age_ms=age_ms)


class HaltPolicy(Struct, frozen=True, kw_only=True):
    """When a halt is proposed."""

    budget_ms: int | None = None  # a stalled run younger than this is left alone; None: none is
    repropose_ms: int = 1_800_000

    def __post_init__(self) -> None:
        check_counts(budget_ms=self.budget_ms, repropose_ms=self.repropose_ms)


class HaltCandidate(Struct, frozen=True, kw_only=True):
    """A run that is watched, with the verdict on it and the proposals so far."""

    run_id: str
    verdict: Verdict
    evidence: Evidence
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""  # what is to be stopped
    ended: bool = False  # the journal says how it ended, so that there is nothing to stop
    proposed_ms: tuple[int, ...] = ()  # when a halt was proposed since its last progress

    @property
    def moved_ms(self) -> int:
        """When it last made progress; names the period without progress since then."""
        return self.evidence.now_ms - _progress_age_ms(self.evidence)


def within_budget(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    """Whether a stalled run is too young for a halt to be proposed."""
    too_young = policy.budget_ms is not None and run.evidence.age_ms < policy.budget_ms
    return run.verdict.answer is Answer.STALLED and too_young


def is_due(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    """Whether a halt of the run is to be proposed now.

    Once for each period without progress, and again after `repropose_ms`.
    """
    makes_progress = run.verdict.answer not in (Answer.SPINNING, Answer.STALLED)
    if run.ended or makes_progress or within_budget(run, policy):
        return False
    if not run.proposed_ms:
        return True
    return run.evidence.now_ms - max(run.proposed_ms) >= policy.repropose_ms


def _progress_age_ms(evidence: Evidence) -> int:
    """The time since the last progress, or since the run began where there was none."""
    if evidence.progress_age_ms is None:
        return evidence.age_ms
    return evidence.progress_age_ms
