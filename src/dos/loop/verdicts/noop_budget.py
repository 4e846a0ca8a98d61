"""Decide whether a turn that does nothing may be held open once more."""

from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Count, PublicRecord, Table, check_counts


class Answer(StrEnum):
    """Whether the budget of idle turns allows another."""

    LIVE = "LIVE"
    EXHAUSTED = "EXHAUSTED"


class Evidence(Struct, frozen=True, kw_only=True):
    """The idle turns so far."""

    noop_turns: int = 0  # in a row, so far

    def __post_init__(self) -> None:
        check_counts(noop_turns=self.noop_turns)


class Policy(Table, frozen=True, kw_only=True):
    """[noop_streak]: how many turns in a row may do nothing."""

    max_streak: Count = 4
    """Turns in a row that `dos hook marker` holds open, where [marker] sets no number."""

    def __post_init__(self) -> None:
        check_counts(max_streak=self.max_streak)


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether another idle turn is allowed."""

    answer: Answer = field(name="verdict")
    allow: bool = False
    noop_turns: int = 0  # with this one, where it is allowed
    reason: str = ""


class WaitMarkerDecision(PublicRecord, frozen=True, kw_only=True):
    """Whether another wait marker may be emitted."""

    allow: bool
    markers_emitted: int
    reason: str = ""


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Allow an idle turn as long as the limit is not reached."""
    turns = evidence.noop_turns
    most = policy.max_streak
    if turns >= most:
        return Verdict(
            answer=Answer.EXHAUSTED,
            noop_turns=turns,
            reason=f"{turns} turns in a row did nothing; {most} may",
        )
    return Verdict(
        answer=Answer.LIVE, allow=True, noop_turns=turns + 1, reason=f"turn {turns + 1} of {most}"
    )


def wait_marker_budget(markers_emitted: int, max_markers: int = 4) -> WaitMarkerDecision:
    """Decide the same for the markers that hold a turn open to wait."""
    verdict = judge(Evidence(noop_turns=markers_emitted), Policy(max_streak=max_markers))
    return WaitMarkerDecision(
        allow=verdict.allow, markers_emitted=verdict.noop_turns, reason=verdict.reason
    )


def propose_tighter_budget(observed_markers: int, current_max: int = 4) -> int:
    """Propose a budget that ends a wait of this many markers one earlier; never a looser one."""
    check_counts(observed_markers=observed_markers, current_max=current_max)
    return max(1, min(current_max, observed_markers - 1))
