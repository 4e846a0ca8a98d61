"""The question that every transport asks before a tool is used, and the answers there are."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos.regions import Region

# How an agent asked, in the event of an answer.
HOOK = "hook"
PIPE = "pipe"  # its own protocol


class AskerKind(StrEnum):
    """Who asks, by what could be proven."""

    HOLDER = "holder"  # it holds a lease, and its fence is current
    LOST = "lost"  # it held a lease that has ended or that another took over
    STRANGER = "stranger"  # nobody that is known, inside the tree of a fleet's lane
    PERSON = "person"  # a person's own session


class Posture(StrEnum):
    """What a person's own session is told about regions that others hold."""

    OBSERVE = "observe"  # a warning, once for each session and lane
    GATE = "gate"  # the program asks its user
    BLOCK = "block"  # denied
    ASSIST = "assist"  # as GATE; calls that are proven to change nothing are allowed at once


class Neighbour(Struct, frozen=True, kw_only=True):
    """A live lease of somebody else, and what it covers."""

    lane: str
    region: Region
    run_id: str = ""
    holder: str = ""  # as its lease names it


class OwnLane(Struct, frozen=True, kw_only=True):
    """A further lane that the asker holds."""

    lane: str
    region: Region


class Asker(Struct, frozen=True, kw_only=True):
    """Who asks, what it may change, and who holds what beside it."""

    kind: AskerKind
    lane: str = ""
    region: Region | None = None  # of its lease; None: it has none
    fence: int | None = None
    run_id: str = ""
    session: str = ""
    further: tuple[OwnLane, ...] = ()  # what it holds beside `lane`
    neighbours: tuple[Neighbour, ...] = ()
    posture: Posture = Posture.OBSERVE


class Footprint(Struct, frozen=True, kw_only=True):
    """What a tool call writes.

    `paths` are relative to the top of the work tree, in the form of git; a path outside of it is
    absolute. `unknown` says why there may be more than these; empty: these are all. A call that
    only reads has no paths and nothing unknown. That says nothing of effects elsewhere, on another
    machine for one: that there is none at all has to be proven.
    """

    paths: tuple[str, ...] = ()
    unknown: str = ""
    has_no_effect: bool = False  # proven: the tool only shows something

    @property
    def reads_only(self) -> bool:
        """Whether it is certain that nothing is written."""
        return not self.paths and not self.unknown


def joined(footprints: Sequence[Footprint]) -> Footprint:
    """Return the footprint of one call that several descriptions tell of: whatever any of them
    writes, and unknown where one is."""
    paths = dict.fromkeys(path for each in footprints for path in each.paths)
    return Footprint(
        paths=tuple(paths),
        unknown=next((each.unknown for each in footprints if each.unknown), ""),
        has_no_effect=all(each.has_no_effect for each in footprints),
    )


class Ask(Struct, frozen=True, kw_only=True):
    """May this asker use this tool now?"""

    asker: Asker
    tool: str
    footprint: Footprint
    command: str = ""  # of a shell tool, as it was given
    moment: str = "pretool"


class Allow(Struct, frozen=True, kw_only=True):
    """It may. `note` is a fact for the agent or its user; empty: nothing is said."""

    note: str = ""
    reason_class: str = ""
    about: str = ""  # the lane that the note is about: it is said once for each session and lane
    # The call is proven to change nothing and the posture is ASSIST: the program need not ask.
    at_once: bool = False


class Deny(Struct, frozen=True, kw_only=True):
    """It must not. The agent is told the reason and the hint."""

    reason: str
    hint: str = ""
    reason_class: str = ""  # OUT_OF_REGION, FENCE_LOST, REGION_HELD, …

    @property
    def sentence(self) -> str:
        """The reason and the hint, as the agent reads them."""
        return f"{self.reason} {self.hint}".strip()


class AskPerson(Struct, frozen=True, kw_only=True):
    """Only a person can say; until then the request stays open."""

    question: str
    reason_class: str = ""


Answer = Allow | Deny | AskPerson
