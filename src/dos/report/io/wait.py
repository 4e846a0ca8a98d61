"""Waits until work landed, a question was raised or the fleet became idle.

The command line, MCP and the server share it. It reads the journal from a position on, so that a
caller who passes the position of the last answer misses nothing and hears nothing twice.
"""

import time

from msgspec import Struct

from dos.journal.store import Store
from dos.report import news
from dos.report.news import Asked, Landed, News, Until, Verdict

LONGEST_SECONDS = 50.0  # clients of MCP and proxies give up on an answer after a minute
PAGE = 500  # events that one answer covers at most


class Waited(Struct, frozen=True, kw_only=True):
    """What ended a wait, and the position from which to wait next."""

    verdict: Verdict
    reason: str
    position: int
    landed: tuple[Landed, ...]
    questions: tuple[Asked, ...]
    idle: bool  # no lane is leased now
    waited_seconds: float


def wait_for_news(
    store: Store, until: Until, *, after: int | None = None, seconds: float = LONGEST_SECONDS
) -> Waited:
    """Wait until there is news after a position, by default the newest, or the time is over.

    An answer holds the news of one page of events. When it is a TIMEOUT its position may be before
    the end of the journal: the next call goes on from there.
    """
    began = time.monotonic()
    deadline = began + min(seconds, LONGEST_SECONDS)
    position = store.last() if after is None else after
    lease_ended = False
    while True:
        page = store.tail(position, PAGE)
        found = news.read_news(page, position)
        lease_ended = lease_ended or found.lease_ended
        is_idle = not store.leases(lapsed=False)
        # Of a full page the rest may say that work began again.
        at_end = len(page) < PAGE
        became_idle = lease_ended or until is Until.IDLE
        verdict = news.verdict(found, until, is_idle=is_idle and at_end and became_idle)
        position = found.position
        remaining = deadline - time.monotonic()
        if verdict is not Verdict.TIMEOUT or remaining <= 0:
            return Waited(
                verdict=verdict,
                reason=_reason(verdict, found),
                position=position,
                landed=found.landed,
                questions=found.questions,
                idle=is_idle,
                waited_seconds=round(time.monotonic() - began, 3),
            )
        if at_end:
            # A lease that lapses writes no event, so it is looked for at least every second.
            store.wait(position, min(remaining, 1.0))


def _reason(verdict: Verdict, found: News) -> str:
    """Return the verdict as a sentence."""
    match verdict:
        case Verdict.QUESTION:
            return found.questions[0].question
        case Verdict.LANDED:
            return f"landed: {', '.join(entry.unit for entry in found.landed)}"
        case Verdict.IDLE:
            return "no lane is leased: nobody works"
        case Verdict.TIMEOUT:
            return "nothing that was waited for happened"
