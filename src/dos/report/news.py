"""What `dos wait` waits for: work that landed, a question for a person, a fleet that became idle.

Pure: it sorts events. `report/io/wait.py` reads them.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from dos.journal import streams
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import UnitLanded
from dos.journal.events.lanes import LeaseExpired, LeaseReleased, LeaseRevoked
from dos.journal.events.limits import DecisionRaised
from dos.journal.events.reader import select

_ENDINGS = {LeaseReleased.kind, LeaseExpired.kind, LeaseRevoked.kind}


class Until(StrEnum):
    """What ends the wait."""

    LANDED = "landed"  # a unit landed
    QUESTION = "question"  # a question was raised
    IDLE = "idle"  # no lane is leased
    ANY = "any"  # one of these; idle counts only if a lease ended after the position


class Verdict(StrEnum):
    """What ended the wait; of several, the first in this order."""

    QUESTION = "QUESTION"
    LANDED = "LANDED"
    IDLE = "IDLE"
    TIMEOUT = "TIMEOUT"


class Landed(Struct, frozen=True, kw_only=True):
    """A unit that landed."""

    unit: str
    lane: str
    commit: str
    run_id: str
    position: int


class Asked(Struct, frozen=True, kw_only=True):
    """A question that was raised; it may have been answered since."""

    id: str
    question: str
    choices: tuple[str, ...]
    position: int


class News(Struct, frozen=True, kw_only=True):
    """What happened after a position, up to another."""

    position: int  # the next wait starts here
    landed: tuple[Landed, ...] = ()
    questions: tuple[Asked, ...] = ()
    lease_ended: bool = False


def read_news(events: Iterable[Event], position: int) -> News:
    """Return the news among events in order; `position` is where they start."""
    events = list(events)
    landed = []
    questions = []
    for event, fact in select(events, UnitLanded, DecisionRaised):
        if isinstance(fact, UnitLanded):
            landed.append(
                Landed(
                    unit=fact.unit,
                    lane=fact.lane,
                    commit=fact.commit,
                    run_id=fact.run_id,
                    position=event.pos,
                )
            )
        else:
            choices = tuple(choice.name for choice in fact.choices)
            questions.append(
                Asked(id=fact.id, question=fact.question, choices=choices, position=event.pos)
            )
    return News(
        position=events[-1].pos if events else position,
        landed=tuple(landed),
        questions=tuple(questions),
        lease_ended=any(_ends_lane(event) for event in events),
    )


def verdict(news: News, until: Until, *, is_idle: bool) -> Verdict:
    """Return what the wait ends with; TIMEOUT while nothing happened that is waited for."""
    if news.questions and until in (Until.QUESTION, Until.ANY):
        return Verdict.QUESTION
    if news.landed and until in (Until.LANDED, Until.ANY):
        return Verdict.LANDED
    if is_idle and until in (Until.IDLE, Until.ANY):
        return Verdict.IDLE
    return Verdict.TIMEOUT


def _ends_lane(event: Event) -> bool:
    """Whether the event ended a lease of a lane."""
    return event.kind in _ENDINGS and event.stream in streams.lane_leases
