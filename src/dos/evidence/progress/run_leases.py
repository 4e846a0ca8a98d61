"""What the journal knows of the lanes that one run took, gave back and lost."""

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct, field

from dos.journal import events, streams
from dos.journal.events import Event
from dos.journal.states import leases
from dos.journal.store import Reading, Store, readable
from dos.records.leases import Lease, Request
from dos.records.names import folded


class Wanted(Struct, frozen=True, kw_only=True):
    """Whose leases: the run's; and one that names no run, if it has the lane and the stamp, as older loops know it."""

    run_id: str
    lane: str = ""
    loop_ts: str = ""

    def fits(self, asked: Request) -> bool:
        if asked.is_lock or (self.lane and folded(asked.lane) != folded(self.lane)):
            return False
        if self.loop_ts and asked.loop_ts != self.loop_ts:
            return False
        return asked.run_id == self.run_id or bool(not asked.run_id and self.lane and self.loop_ts)


class History(Struct, kw_only=True):
    """The leases of a run, in the order in which they were granted."""

    granted: dict[int, Request] = field(default_factory=dict)  # by fence
    began_ms: int = 0  # when the first of them was granted
    beats: list[int] = field(default_factory=list)  # when it gave a sign of life
    moves: list[int] = field(default_factory=list)  # when it took another lane, or gave one back
    live: list[Lease] = field(default_factory=list)  # nobody has ended them

    def apply(self, event: Event, wanted: Wanted) -> None:
        match leases.reader.decode(event):
            case events.LeaseGranted() as fact:
                if wanted.fits(fact.asked):
                    if self.granted:  # taking the first lane is no progress yet
                        self.moves.append(event.at_ms)
                    self._take(event, fact.asked)
            case events.LeaseAdopted() as fact:
                if wanted.fits(fact.asked):
                    self._take(event, fact.asked)
            case events.LeaseRenewed() as fact:
                if fact.lease in self.granted:
                    self.beats.append(event.at_ms)
            case events.LeaseReleased() as fact:
                if fact.lease in self.granted:
                    self.moves.append(event.at_ms)
            case events.LeaseExpired() | events.LeaseRevoked() | None:
                pass  # what others did to it says nothing good of it
            case never:
                assert_never(never)

    def _take(self, event: Event, asked: Request) -> None:
        if not self.granted:
            self.began_ms = event.at_ms
        self.granted[event.pos] = asked
        self.beats.append(event.at_ms)


def gather(store: Store, wanted: Wanted) -> History:
    with store.backend.read() as view:
        history = History(live=[lease for lease in view.leases() if wanted.fits(lease)])
        streams = _streams(view, wanted, history.live)
        found = sorted((event for stream in streams for event in _leases(view, stream)), key=_pos)
    for event in found:
        history.apply(event, wanted)
    return history


def _streams(view: Reading, wanted: Wanted, live: list[Lease]) -> set[str]:
    """Where its leases are written down; all lanes, only when nothing says which."""
    if lanes := {lease.lane for lease in live} | ({wanted.lane} if wanted.lane else set()):
        return {streams.lease(lane) for lane in lanes}
    return set(view.streams(streams.lane_leases.prefix))


def _leases(view: Reading, stream: str) -> Iterator[Event]:
    return (readable(event) for event in view.load(stream, 0, None) if event.kind in leases.reader.handles)


def _pos(event: Event) -> int:
    return event.pos
