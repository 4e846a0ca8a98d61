"""States that are folded from events, and the snapshots that save folding them again.

A snapshot counts only for the code that made it, and only if no pruning has reached above it since.
"""

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar
from zlib import crc32

from msgspec import json

from dos.errors import Internal
from dos.journal import streams
from dos.journal.backend import ReadTransaction, live_leases, require_known_schema
from dos.journal.events import fleet, kinds, limits
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import JournalPruned
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.lease import Lease

SNAPSHOT_EVERY = 1000  # events beyond the last snapshot before another one is worth a write
PAGE = 2000


class State(Protocol):
    """A msgspec struct with defaults: `kind()` is the state before the first event."""

    name: ClassVar[str]

    def apply(self, event: Event) -> None:
        """Change by one event; a kind that means nothing to this state changes nothing."""
        ...


AnyState = TypeVar("AnyState", bound=State)


def fold(state: AnyState, events: Iterable[Event]) -> AnyState:
    """Apply events to a state, in order, and return it."""
    for event in events:
        state.apply(event)
    return state


def current(store: Store, kind: type[AnyState]) -> tuple[AnyState, int]:
    """Return the state now, and the position of the newest event in it.

    All of it is read in one view: if events were pruned between two pages, an ending could be
    missed.
    """
    with store.backend.read() as view:
        state, pos = _snapshot_or_new(view, kind)
        while page := view.tail(pos, PAGE):
            fold(state, map(require_known_schema, page))
            pos = page[-1].pos
    return state, pos


class Watch:
    """States that are kept up to date as the journal grows, with the leases of the same moment.

    Only new events are read, once for all states. Callers must not change a state. With
    `snapshots` a state's snapshot is written whenever the newest one is far behind.
    """

    def __init__(self, store: Store, *kinds: type[State], snapshots: bool = False) -> None:
        self._store = store
        self._kinds = kinds
        self._snapshots = snapshots
        self._states: dict[type[State], State] = {}
        # The position of the newest snapshot that is known, by state.
        self._snapshot_pos: dict[type[State], int] = {}
        self.pos = 0
        self.lapsed: list[Lease] = []  # leases of lanes that had lapsed and were not ended
        self.locks: list[Lease] = []  # leases of locks that had not lapsed

    def refresh(self) -> list[Lease]:
        """Apply new events, and return the leases of lanes that have not lapsed."""
        with self._store.backend.read() as view:
            if self._states:
                self._follow(view)
            else:
                self._begin(view)
            leases = self._read_leases(view)
            due: list[type[State]] = []
            if self._snapshots:
                due = [kind for kind in self._kinds if self._is_snapshot_due(view, kind)]
        for kind in due:
            save_snapshot(self._store, self._states[kind], self.pos, beyond=SNAPSHOT_EVERY)
            self._snapshot_pos[kind] = self.pos
        return leases

    def state(self, kind: type[AnyState]) -> AnyState:
        """Return a state as of the last `refresh`."""
        state = self._states[kind]
        assert isinstance(state, kind)
        return state

    def _read_leases(self, view: ReadTransaction) -> list[Lease]:
        """Note locks and lapsed leases, and return the leases of lanes that have not lapsed."""
        held = view.leases()
        live = live_leases(view, held)
        fences = {lease.fence for lease in live}
        self.lapsed = [lease for lease in held if not (lease.is_lock or lease.fence in fences)]
        self.locks = [lease for lease in live if lease.is_lock]
        return [lease for lease in live if not lease.is_lock]

    def _begin(self, view: ReadTransaction) -> None:
        """Load each state from its snapshot, which may be at different positions, and catch up."""
        loaded = {kind: _snapshot_or_new(view, kind) for kind in self._kinds}
        pos = min((snapshot_pos for _, snapshot_pos in loaded.values()), default=0)
        while page := view.tail(pos, PAGE):
            for event in map(require_known_schema, page):
                for state, snapshot_pos in loaded.values():
                    if event.pos > snapshot_pos:
                        state.apply(event)
                pos = event.pos
        for kind, (state, snapshot_pos) in loaded.items():
            self._states[kind] = state
            self._snapshot_pos[kind] = snapshot_pos
        self.pos = pos

    def _follow(self, view: ReadTransaction) -> None:
        while page := view.tail(self.pos, PAGE):
            for event in map(require_known_schema, page):
                for state in self._states.values():
                    state.apply(event)
                self.pos = event.pos

    def _is_snapshot_due(self, view: ReadTransaction, kind: type[State]) -> bool:
        """Whether the newest snapshot is far behind, whichever process wrote it."""
        if self.pos - self._snapshot_pos[kind] <= SNAPSHOT_EVERY:
            return False
        snapshot = _valid_snapshot(view, kind)
        if snapshot:
            self._snapshot_pos[kind] = snapshot[0]
        return self.pos - self._snapshot_pos[kind] > SNAPSHOT_EVERY


def save_snapshot(store: Store, state: State, pos: int, *, beyond: int = 0) -> None:
    """Write a state as of a position, unless a snapshot exists that is less than `beyond` older."""
    raw = encode(state)
    with store.backend.write() as tx:
        snapshot = _valid_snapshot(tx, type(state))
        if snapshot is None or snapshot[0] + beyond < pos:
            tx.keep_snapshot(state.name, code_hash(type(state)), pos, raw)


def encode(state: State) -> bytes:
    """Return a state as its snapshot stores it."""
    return json.encode(state)


def decode(kind: type[AnyState], raw: bytes) -> AnyState:
    """Return the state that a snapshot stores. Raises ValueError if it is of another shape."""
    return json.decode(raw, type=kind)


def pruned_through(view: ReadTransaction) -> int:
    """Return the position up to which superseded events were removed.

    A pruning that was cut off may have removed only some of them.
    """
    newest = view.load(streams.PRUNINGS, view.head(streams.PRUNINGS) - 1, 1)
    facts = select(map(require_known_schema, newest), JournalPruned)
    return max((fact.through for _, fact in facts), default=0)


@cache
def code_hash(kind: type[State]) -> str:
    """Return a hash of the code that folds a state.

    It changes with the rules, so that a state made by other rules is not taken for this one. A
    state names further modules that it depends on in `made_with`.
    """
    modules = [kind.__module__, fleet.__name__, limits.__name__, kinds.__name__]
    modules += getattr(kind, "made_with", ())
    checksum = 0
    for module in modules:
        spec = sys.modules[module].__spec__
        if spec is None or spec.origin is None:
            raise Internal(
                f"the state {kind.name!r} is defined in {module}, which has no source file"
            )
        checksum = crc32(_source(spec.loader, spec.origin), checksum)
    return f"{checksum:08x}"


def _source(loader: object, origin: str) -> bytes:
    get_data = getattr(loader, "get_data", None)  # it also reads from a zip archive
    if get_data is None:
        return Path(origin).read_bytes()
    source: bytes = get_data(origin)
    return source


def _valid_snapshot(view: ReadTransaction, kind: type[State]) -> tuple[int, bytes] | None:
    snapshot = view.snapshot(kind.name, code_hash(kind))
    if snapshot is None:
        return None
    # A snapshot within the pruned part may hold a lease whose ending is gone.
    if snapshot[0] < pruned_through(view):
        return None
    return snapshot


def _snapshot_or_new(view: ReadTransaction, kind: type[AnyState]) -> tuple[AnyState, int]:
    """Return the state of the newest snapshot and its position, else a new state and 0."""
    snapshot = _valid_snapshot(view, kind)
    if snapshot is None:
        return kind(), 0
    pos, raw = snapshot
    try:
        return decode(kind, raw), pos
    except ValueError:
        return kind(), 0  # nothing is lost: the events are there
