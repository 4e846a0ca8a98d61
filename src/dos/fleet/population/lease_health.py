"""What a lease counts for when places are given out: more is asked before somebody is called dead than for a look.

Who is dead for a plan loses the lane to another worker, so silence is not enough: its process is gone by the system's
own word, or its lease is over by the store's own clock.
"""

from msgspec import Struct

from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer, Evidence, Policy


class Standing(Struct, frozen=True, kw_only=True):
    answer: Answer
    why: str = ""  # nothing in it depends on when it was asked
    spinning_age_ms: int | None = None


def standing(seen: Evidence, policy: Policy = Policy()) -> Standing:
    if seen.lapsed:
        return Standing(answer=Answer.STALLED, why="its lease is over")
    verdict = liveness.judge(seen, policy)
    if verdict.answer is Answer.UNKNOWN:
        return Standing(answer=Answer.UNKNOWN, why=verdict.reason)
    if seen.process_alive is False:
        return Standing(answer=Answer.STALLED, why="its process is gone")
    if verdict.answer is Answer.ADVANCING:
        return Standing(answer=Answer.ADVANCING)
    age_ms = seen.age_ms if seen.progress_age_ms is None else seen.progress_age_ms
    silent = verdict.answer is Answer.STALLED
    why = "it beats no more, and its lease is not over" if silent else "it lives, and nothing lands"
    return Standing(answer=Answer.SPINNING, why=why, spinning_age_ms=age_ms)
