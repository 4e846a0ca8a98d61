"""Is the journal what it should be? Walks all of it and names everything that is wrong, not only the first thing."""

from collections import Counter
from collections.abc import Callable
from typing import Protocol, assert_never, runtime_checkable

from msgspec import Struct

from dos import regions
from dos.errors import JournalCorrupt, StoreFailed
from dos.journal import lease_state as leases
from dos.journal import streams
from dos.journal.backend import ReadTransaction
from dos.journal.events import lanes
from dos.journal.events.envelope import SCHEMA, Event
from dos.journal.events.reader import decode
from dos.journal.fold import pruned_through
from dos.journal.lease_state import Leases
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease
from dos.text import comparison_key

PAGE = 2000
Progress = Callable[[int, int], None]  # events walked, of how many


class Problem(Struct, frozen=True):
    pos: int  # of the event; 0 when it is not about one
    what: str


class CheckReport(Struct, frozen=True, kw_only=True):
    events: int
    streams: int
    leases: int
    unknown_kinds: dict[
        str, int
    ]  # written by a newer version, or by somebody else; they change no state
    problems: list[Problem]


@runtime_checkable
class IntegrityCheck(Protocol):
    """A backend that can examine its own files."""

    def integrity(self) -> list[str]: ...


def check(store: Store, *, progress: Progress | None = None) -> CheckReport:
    """Everything is read in one view, so that writers who go on meanwhile are not taken for damage."""
    walk = _Walk()
    walk.note_all(_own_findings(store))
    total, marked = (
        _read_or(store, 0, lambda view: view.count(0)),
        _read_or(store, -1, pruned_through) >= 0,
    )
    limit, walked = PAGE, False
    while True:
        try:
            with store.backend.read() as view:
                walk.through = pruned_through(view) if marked else 0
                while page := view.raw(walk.last, limit):
                    for event, stored in page:
                        walk.see(event, stored)
                    limit = min(2 * limit, PAGE)
                    if progress:
                        progress(walk.count, total)
                walked = True
                walk.compare(view)
            return walk.report()
        except StoreFailed as error:
            if not _is_damage(error):
                raise
            if walked:
                walk.note(0, f"the lease table cannot be read: {error}")
                return walk.report()
            if limit > 1:
                limit //= 2  # closer to the place, page by page
                continue
            if (beyond := _next_readable(store, walk.last)) is None:
                walk.note(0, f"no event after {walk.last} can be read: {error}")
                return walk.report()
            walk.note(
                walk.last + 1,
                f"the events from {walk.last + 1} to {beyond} cannot be read: {error}",
            )
            walk.last = beyond


class _Walk:
    """The history again, one event after the other, with every rule looked at."""

    def __init__(self) -> None:
        self.last = 0
        self.count = 0
        self.through = 0
        self._leases = Leases()
        self._heads: dict[
            str, tuple[int, int]
        ] = {}  # stream -> version and position of its newest event
        self._floors: dict[str, int] = {}  # stream -> the highest fence it was written under
        self._unknown: Counter[str] = Counter()
        self._problems: list[Problem] = []

    def note(self, pos: int, what: str) -> None:
        self._problems.append(Problem(pos, what))

    def note_all(self, found: list[str]) -> None:
        for what in found:
            self.note(0, what)

    def report(self) -> CheckReport:
        return CheckReport(
            events=self.count,
            streams=len(self._heads),
            leases=len(self._leases.live),
            unknown_kinds=dict(self._unknown),
            problems=self._problems,
        )

    def see(self, event: Event, stored: int) -> None:
        if event.pos <= self.last:
            self.note(event.pos, f"event {event.pos} comes after event {self.last}")
        self.last = event.pos
        self.count += 1
        try:
            event.verified(stored)
        except (JournalCorrupt, TypeError):
            self.note(event.pos, f"event {event.pos} is not what was written")
            return
        finally:
            # Also of a damaged event, or every one of them would be reported as a gap again.
            self._see_version(event)
        if event.schema > SCHEMA:
            self.note(
                event.pos,
                f"event {event.pos} has schema {event.schema}, and this dos reads up to {SCHEMA}",
            )
            return
        try:
            if decode(event) is None:
                self._unknown[event.kind] += 1
                _ = event.body
        except (JournalCorrupt, ValueError) as error:
            self.note(event.pos, f"event {event.pos} ({event.kind}) cannot be decoded: {error}")
            return
        self._see_fence(event)
        self._see_lease(event)

    def compare(self, view: ReadTransaction) -> None:
        """The lease table must say what the events say."""
        try:
            listed = {lease.fence: lease for lease in view.leases()}
        except ValueError as error:
            self.note(0, f"the lease table cannot be read: {error}")
            return
        for fence in sorted(listed.keys() | self._leases.live.keys()):
            if fence not in listed:
                self.note(
                    fence, f"the lease with fence {fence} is live and missing from the lease table"
                )
            elif fence not in self._leases.live:
                self.note(
                    fence, f"the lease table has fence {fence}, which by the events is not live"
                )
            elif listed[fence] != self._leases.live[fence]:
                self.note(
                    fence,
                    f"the lease table and the events disagree about the lease with fence {fence}",
                )

    def _see_version(self, event: Event) -> None:
        if not isinstance(event.stream, str) or not isinstance(event.ver, int):
            return
        version, pos = self._heads.get(event.stream, (0, 0))
        self._heads[event.stream] = (event.ver, event.pos)
        gap = event.ver > version + 1
        if event.ver <= version or (gap and pos >= self.through):
            self.note(
                event.pos, f"stream {event.stream!r} goes from version {version} to {event.ver}"
            )

    def _see_fence(self, event: Event) -> None:
        if event.fence is None:
            return
        floor = self._floors.get(event.stream, 0)
        self._floors[event.stream] = max(floor, event.fence)
        if event.fence < floor:
            self.note(
                event.pos,
                f"event {event.pos} was written under fence {event.fence}, after fence {floor}",
            )
        if event.fence not in self._leases.live and event.pos > self.through:
            self.note(
                event.pos,
                f"event {event.pos} was written under fence {event.fence}, which was not live",
            )

    def _see_lease(self, event: Event) -> None:
        match fact := leases.reader.decode(event):
            case None:
                return
            case (
                lanes.LeaseRenewed()
                | lanes.LeaseReleased()
                | lanes.LeaseExpired()
                | lanes.LeaseRevoked()
            ):
                self._see_change(event, fact.lease)
            case lanes.LeaseAdopted():
                self._see_change(event, fact.previous)
            case lanes.LeaseGranted():
                pass
            case never:
                assert_never(never)
        self._leases.apply(event)
        if begun := self._leases.live.get(event.pos):
            self._see_overlaps(event, begun)

    def _see_change(self, event: Event, fence: int) -> None:
        if fence not in self._leases.live and event.pos > self.through:
            self.note(
                event.pos,
                f"event {event.pos} ({event.kind}) is about fence {fence}, which was not live",
            )

    def _see_overlaps(self, event: Event, begun: Lease) -> None:
        if event.stream != streams.lease(begun.lane, is_lock=begun.is_lock):
            self.note(
                event.pos,
                f"event {event.pos} grants lane {begun.lane!r} on stream {event.stream!r}",
            )
        for other in self._leases.live.values():
            if other.fence != begun.fence and (why := _conflict(begun, other)):
                self.note(
                    event.pos, f"fence {begun.fence} was granted beside fence {other.fence}: {why}"
                )


def _conflict(begun: Lease, other: Lease) -> str:
    if begun.is_lock != other.is_lock:
        return ""
    if begun.is_lock:
        return (
            f"lock {begun.lane!r} was held"
            if comparison_key(begun.lane) == comparison_key(other.lane)
            else ""
        )
    if refusal := admission.judge_pair(begun, other):
        return refusal.detail
    unknown = regions.conflict(begun.region, begun.mode, other.region, other.mode)
    return "the region of one is unknown" if unknown else ""


def _own_findings(store: Store) -> list[str]:
    if not isinstance(store.backend, IntegrityCheck):
        return []
    try:
        return store.backend.integrity()
    except StoreFailed as error:
        if not _is_damage(error):
            raise
        return [str(error)]


def _is_damage(error: StoreFailed) -> bool:
    """Not a store that is busy, full or away: those have classes of their own."""
    return isinstance(error, JournalCorrupt) or type(error) is StoreFailed


def _read_or(store: Store, otherwise: int, read: Callable[[ReadTransaction], int]) -> int:
    try:
        with store.backend.read() as view:
            return read(view)
    except StoreFailed as error:
        if not _is_damage(error):
            raise
        return otherwise


def _next_readable(store: Store, after: int) -> int | None:
    """A position from which reading goes on: the steps double until one succeeds, then the edge is searched for."""

    def readable(pos: int) -> bool:
        return _read_or(store, -1, lambda view: len(view.raw(pos, 1))) >= 0

    step = 1
    while not readable(after + step):
        step *= 2
        if step > 1 << 40:
            return None
    low, high = after + step // 2, after + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if readable(middle) else (middle, high)
    return high
