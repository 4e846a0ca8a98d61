"""States are folded from events; a snapshot only saves the time of folding them again.

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
from dos.journal import engine_events, events
from dos.journal.events import Event, JournalPruned
from dos.journal.store import Reading, Store, readable, unlapsed
from dos.records.leases import Lease

SNAPSHOT_EVERY = 1000  # events folded beyond the last snapshot before another one is worth a write
PAGE = 2000
PRUNINGS = "journal/pruned"  # the stream that says what was removed


class State(Protocol):
    """A msgspec struct that can be made from nothing: `kind()` is the state before the first event."""

    name: ClassVar[str]

    def apply(self, event: Event) -> None:
        """Change by one event; a kind that means nothing here changes nothing."""
        ...


AnyState = TypeVar("AnyState", bound=State)


def fold(state: AnyState, happened: Iterable[Event]) -> AnyState:
    for event in happened:
        state.apply(event)
    return state


def current(store: Store, kind: type[AnyState], *, keep: bool = False) -> tuple[AnyState, int]:
    """The state now, and the position of the newest event in it; with `keep`, snapshots are written as it pays.

    All of it is read in one view: if old events were removed between two pages, an ending could be missed.
    """
    with store.backend.read() as view:
        state, pos, folded = _fold_all(view, kind)
    if keep and folded > SNAPSHOT_EVERY:
        _keep(store, state, pos)
    return state, pos


def with_leases(store: Store, kind: type[AnyState], *, keep: bool = False) -> tuple[AnyState, int, list[Lease]]:
    """Also the leases that have not lapsed, as of the same moment: between two looks a worker could end."""
    with store.backend.read() as view:
        state, pos, folded = _fold_all(view, kind)
        leases = [lease for lease in unlapsed(view) if not lease.is_lock]
    if keep and folded > SNAPSHOT_EVERY:
        _keep(store, state, pos)
    return state, pos, leases


class Watch:
    """States that are kept up to date as the journal grows, and read with the leases as of the same moment.

    Only what is new is folded. Whoever reads a state must not change it.
    """

    def __init__(self, store: Store, *kinds: type[State], keep: bool = False) -> None:
        self._store = store
        self._keep = keep
        self._states: dict[type[State], State] = {}
        self._seen = dict.fromkeys(kinds, 0)  # the position that each state has come to
        self._kept = dict.fromkeys(kinds, 0)
        self.pos = 0

    def look(self) -> list[Lease]:
        """Take in what has happened; the leases that have not lapsed."""
        with self._store.backend.read() as view:
            for kind in self._seen:
                if kind not in self._states:
                    self._states[kind], self._seen[kind], folded = _fold_all(view, kind)
                    self._kept[kind] = self._seen[kind] - folded
                else:
                    self._follow(view, kind)
            self.pos = max(self._seen.values(), default=0)
            leases = [lease for lease in unlapsed(view) if not lease.is_lock]
        for kind, seen in self._seen.items():
            if self._keep and seen - self._kept[kind] > SNAPSHOT_EVERY:
                keep(self._store, self._states[kind], seen)
                self._kept[kind] = seen
        return leases

    def state(self, kind: type[AnyState]) -> AnyState:
        found = self._states[kind]
        assert isinstance(found, kind)
        return found

    def _follow(self, view: Reading, kind: type[State]) -> None:
        state = self._states[kind]
        while page := view.tail(self._seen[kind], PAGE):
            for event in map(readable, page):
                state.apply(event)
                self._seen[kind] = event.pos


def _fold_all(view: Reading, kind: type[AnyState]) -> tuple[AnyState, int, int]:
    """The state, the position of its newest event, and how many events had to be folded."""
    state, pos = _newest(view, kind)
    folded = 0
    while page := view.tail(pos, PAGE):
        fold(state, map(readable, page))
        pos, folded = page[-1].pos, folded + len(page)
    return state, pos, folded


def keep(store: Store, state: State, pos: int) -> None:
    """Remember the state as of a position, unless a later one is remembered already."""
    code, raw = code_hash(type(state)), encode(state)
    with store.backend.write() as tx:
        found = tx.snapshot(state.name, code)
        if found is None or found[0] < pos:
            tx.keep_snapshot(state.name, code, pos, raw)


_keep = keep  # in `current` the plain name is a flag


def encode(state: State) -> bytes:
    return json.encode(state)


def decode(kind: type[AnyState], raw: bytes) -> AnyState:
    return json.decode(raw, type=kind)


def pruned_through(view: Reading) -> int:
    """The position up to which superseded events have been removed, or may have been by a pruning that was cut off."""
    newest = view.load(PRUNINGS, view.head(PRUNINGS) - 1, 1)
    facts = [events.decode(readable(event)) for event in newest]
    return max((fact.through for fact in facts if isinstance(fact, JournalPruned)), default=0)


@cache
def code_hash(kind: type[State]) -> str:
    """Changes with the code that folds, so that a state made by other rules is not taken for this one."""
    seen = 0
    made_with: tuple[str, ...] = getattr(kind, "made_with", ())  # modules whose rules the state follows
    for module in (kind.__module__, events.__name__, engine_events.__name__, *made_with):
        spec = sys.modules[module].__spec__
        if spec is None or spec.origin is None:
            raise Internal(f"the state {kind.name!r} is defined in {module}, which has no source file")
        seen = crc32(_source(spec.loader, spec.origin), seen)
    return f"{seen:08x}"


def _source(loader: object, origin: str) -> bytes:
    get_data = getattr(loader, "get_data", None)  # also reads out of a zip archive
    found: bytes = get_data(origin) if get_data else Path(origin).read_bytes()
    return found


def _newest(view: Reading, kind: type[AnyState]) -> tuple[AnyState, int]:
    found = view.snapshot(kind.name, code_hash(kind))
    # Below the pruned part the ending of a lease may be gone that a snapshot from within it still holds.
    if found is None or found[0] < pruned_through(view):
        return kind(), 0
    try:
        return decode(kind, found[1]), found[0]
    except ValueError:
        return kind(), 0  # no loss: the events are there
