"""Checks a journal: walks all events and reports every problem, not only the first."""

from collections import Counter
from collections.abc import Callable
from typing import Protocol, assert_never, runtime_checkable

from msgspec import Struct

from dos import regions
from dos.errors import JournalCorrupt, StoreFailed
from dos.journal import lease_state, streams
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
_FARTHEST_STEP = 1 << 40  # positions beyond the damage at which the search for more ends
Progress = Callable[[int, int], None]  # events walked, of how many


class Problem(Struct, frozen=True):
    """One thing that is wrong with a journal."""

    pos: int  # of the event; 0 when it is not about one
    what: str


class CheckReport(Struct, frozen=True, kw_only=True):
    """The result of a check. The field names are keys of `dos journal check --json`."""

    events: int
    streams: int
    leases: int
    unknown_kinds: dict[str, int]  # of a newer version or another program; they change no state
    problems: list[Problem]


@runtime_checkable
class IntegrityCheck(Protocol):
    """A backend that can examine its own files."""

    def integrity(self) -> list[str]:
        """Return what is wrong with the files, as sentences."""
        ...


def check(store: Store, *, progress: Progress | None = None) -> CheckReport:
    """Walk a journal and report what is wrong with it.

    Everything is read in one view, so that events that are written meanwhile are not taken for
    damage. Around events that cannot be read the walk is taken up again after the damage. Raises
    StoreFailed only for a store that is busy, full or away.
    """
    walk = _Walk()
    for problem in _backend_problems(store):
        walk.report_problem(0, problem)
    total = _read_or(store, 0, lambda view: view.count(0))
    is_pruning_readable = _read_or(store, -1, pruned_through) >= 0
    limit = PAGE
    is_walked = False
    while True:
        try:
            with store.backend.read() as view:
                walk.pruned_through = pruned_through(view) if is_pruning_readable else 0
                while page := view.raw(walk.last, limit):
                    walk.examine_page(page)
                    limit = min(2 * limit, PAGE)
                    if progress:
                        progress(walk.count, total)
                is_walked = True
                walk.compare_leases(view)
            return walk.report()
        except StoreFailed as error:
            if not _is_damage(error):
                raise
            if is_walked:
                walk.report_problem(0, f"the lease table cannot be read: {error}")
                return walk.report()
            if limit > 1:
                limit //= 2  # smaller pages come closer to the damage
            elif not _skip_damage(store, walk, error):
                return walk.report()


def _skip_damage(store: Store, walk: "_Walk", error: StoreFailed) -> bool:
    """Report events that cannot be read and move past them; False when none can be read after."""
    beyond = _next_readable(store, walk.last)
    if beyond is None:
        walk.report_problem(0, f"no event after {walk.last} can be read: {error}")
        return False
    first = walk.last + 1
    walk.report_problem(first, f"the events from {first} to {beyond} cannot be read: {error}")
    walk.last = beyond
    return True


class _Walk:
    """Replays the history one event after the other and checks every rule."""

    def __init__(self) -> None:
        self.last = 0  # the position of the event that was examined last
        self.count = 0
        self.pruned_through = 0  # up to here gaps and missing leases are explained by pruning
        self._leases = Leases()
        # By stream: version and position of its newest event, and its highest fence.
        self._heads: dict[str, tuple[int, int]] = {}
        self._floors: dict[str, int] = {}
        self._unknown: Counter[str] = Counter()
        self._problems: list[Problem] = []

    def report_problem(self, pos: int, what: str) -> None:
        self._problems.append(Problem(pos, what))

    def report(self) -> CheckReport:
        return CheckReport(
            events=self.count,
            streams=len(self._heads),
            leases=len(self._leases.live),
            unknown_kinds=dict(self._unknown),
            problems=self._problems,
        )

    def examine_page(self, page: list[tuple[Event, int]]) -> None:
        for event, checksum in page:
            self._examine(event, checksum)

    def _examine(self, event: Event, checksum: int) -> None:
        pos = event.pos
        if pos <= self.last:
            self.report_problem(pos, f"event {pos} comes after event {self.last}")
        self.last = pos
        self.count += 1
        try:
            event.verified(checksum)
        except (JournalCorrupt, TypeError):
            self.report_problem(pos, f"event {pos} is not what was written")
            return
        finally:
            # Also for a damaged event, or its successor would be reported as a gap again.
            self._examine_version(event)
        if event.schema > SCHEMA:
            self.report_problem(
                pos, f"event {pos} has schema {event.schema}, and this dos reads up to {SCHEMA}"
            )
            return
        try:
            if decode(event) is None:
                self._unknown[event.kind] += 1
                _ = event.body  # raises if it is not JSON
        except (JournalCorrupt, ValueError) as error:
            self.report_problem(pos, f"event {pos} ({event.kind}) cannot be decoded: {error}")
            return
        self._examine_fence(event)
        self._examine_lease(event)

    def compare_leases(self, view: ReadTransaction) -> None:
        """Report where the lease table differs from what the events say."""
        try:
            listed = {lease.fence: lease for lease in view.leases()}
        except ValueError as error:
            self.report_problem(0, f"the lease table cannot be read: {error}")
            return
        live = self._leases.live
        for fence in sorted(listed.keys() | live.keys()):
            if fence not in listed:
                what = f"the lease with fence {fence} is live and missing from the lease table"
            elif fence not in live:
                what = f"the lease table has fence {fence}, which by the events is not live"
            elif listed[fence] != live[fence]:
                what = f"the lease table and the events disagree about the lease with fence {fence}"
            else:
                continue
            self.report_problem(fence, what)

    def _examine_version(self, event: Event) -> None:
        if not isinstance(event.stream, str) or not isinstance(event.ver, int):
            return
        version, pos = self._heads.get(event.stream, (0, 0))
        self._heads[event.stream] = (event.ver, event.pos)
        is_gap = event.ver > version + 1
        if event.ver <= version or (is_gap and pos >= self.pruned_through):
            self.report_problem(
                event.pos, f"stream {event.stream!r} goes from version {version} to {event.ver}"
            )

    def _examine_fence(self, event: Event) -> None:
        if event.fence is None:
            return
        written = f"event {event.pos} was written under fence {event.fence}"
        floor = self._floors.get(event.stream, 0)
        self._floors[event.stream] = max(floor, event.fence)
        if event.fence < floor:
            self.report_problem(event.pos, f"{written}, after fence {floor}")
        if event.fence not in self._leases.live and event.pos > self.pruned_through:
            self.report_problem(event.pos, f"{written}, which was not live")

    def _examine_lease(self, event: Event) -> None:
        match fact := lease_state.reader.decode(event):
            case None:
                return
            case (
                lanes.LeaseRenewed()
                | lanes.LeaseReleased()
                | lanes.LeaseExpired()
                | lanes.LeaseRevoked()
            ):
                self._examine_change(event, fact.lease)
            case lanes.LeaseAdopted():
                self._examine_change(event, fact.previous)
            case lanes.LeaseGranted():
                pass
            case never:
                assert_never(never)
        self._leases.apply(event)
        granted = self._leases.live.get(event.pos)
        if granted:
            self._examine_overlaps(event, granted)

    def _examine_change(self, event: Event, fence: int) -> None:
        if fence not in self._leases.live and event.pos > self.pruned_through:
            self.report_problem(
                event.pos,
                f"event {event.pos} ({event.kind}) is about fence {fence}, which was not live",
            )

    def _examine_overlaps(self, event: Event, granted: Lease) -> None:
        if event.stream != streams.lease(granted.lane, is_lock=granted.is_lock):
            self.report_problem(
                event.pos,
                f"event {event.pos} grants lane {granted.lane!r} on stream {event.stream!r}",
            )
        for other in self._leases.live.values():
            if other.fence == granted.fence:
                continue
            conflict = _conflict(granted, other)
            if conflict:
                self.report_problem(
                    event.pos,
                    f"fence {granted.fence} was granted beside fence {other.fence}: {conflict}",
                )


def _conflict(granted: Lease, other: Lease) -> str:
    """Return why two leases may not be held together; "" when they may."""
    if granted.is_lock != other.is_lock:
        return ""
    if granted.is_lock:
        if comparison_key(granted.lane) == comparison_key(other.lane):
            return f"lock {granted.lane!r} was held"
        return ""
    refusal = admission.judge_pair(granted, other)
    if refusal:
        return refusal.detail
    if regions.conflict(granted.region, granted.mode, other.region, other.mode):
        return "the region of one is unknown"
    return ""


def _backend_problems(store: Store) -> list[str]:
    """Return what the backend finds wrong with its own files, if it can look."""
    if not isinstance(store.backend, IntegrityCheck):
        return []
    try:
        return store.backend.integrity()
    except StoreFailed as error:
        if not _is_damage(error):
            raise
        return [str(error)]


def _is_damage(error: StoreFailed) -> bool:
    """Whether an error means damage; a busy, full or missing store has a class of its own."""
    return isinstance(error, JournalCorrupt) or type(error) is StoreFailed


def _read_or(store: Store, default: int, read: Callable[[ReadTransaction], int]) -> int:
    """Return what `read` finds in a view, or the default where damage prevents it."""
    try:
        with store.backend.read() as view:
            return read(view)
    except StoreFailed as error:
        if not _is_damage(error):
            raise
        return default


def _next_readable(store: Store, after: int) -> int | None:
    """Return a position from which events can be read again, or None.

    The steps double until one succeeds; then the edge of the damage is searched for.
    """

    def is_readable(pos: int) -> bool:
        return _read_or(store, -1, lambda view: len(view.raw(pos, 1))) >= 0

    step = 1
    while not is_readable(after + step):
        step *= 2
        if step > _FARTHEST_STEP:
            return None
    low, high = after + step // 2, after + step
    while high - low > 1:
        middle = (low + high) // 2
        if is_readable(middle):
            high = middle
        else:
            low = middle
    return high
