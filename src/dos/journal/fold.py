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
from dos.journal import streams
from dos.journal.backend import ReadTransaction, live_leases, require_known_schema
from dos.journal.events import catalog, fleet, limits
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import JournalPruned
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.lease import Lease

SNAPSHOT_EVERY = 1000  # events folded beyond the last snapshot before another one is worth a write
PAGE = 2000


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


def current(store: Store, kind: type[AnyState]) -> tuple[AnyState, int]:
    """The state now, and the position of the newest event in it.

    All of it is read in one view: if old events were removed between two pages, an ending could be missed.
    """
    with store.backend.read() as view:
        state, pos = _newest(view, kind)
        while page := view.tail(pos, PAGE):
            fold(state, map(require_known_schema, page))
            pos = page[-1].pos
    return state, pos


class Watch:
    """States that are kept up to date as the journal grows, and read with the leases as of the same moment.

    Only what is new is read, once for all of them. Whoever reads a state must not change it.
    """

    def __init__(self, store: Store, *kinds: type[State], snapshots: bool = False) -> None:
        self._store, self._kinds, self._keep = store, kinds, snapshots
        self._states: dict[type[State], State] = {}
        self._kept: dict[
            type[State], int
        ] = {}  # the position of the newest snapshot that we know of
        self.pos = 0
        self.lapsed: list[
            Lease
        ] = []  # whose time was over at the last look, and that nobody had ended
        self.locks: list[Lease] = []  # that had not lapsed then

    def refresh(self) -> list[Lease]:
        """Take in what has happened; the leases that have not lapsed."""
        with self._store.backend.read() as view:
            if self._states:
                self._follow(view)
            else:
                self._begin(view)
            held = view.leases()
            standing = live_leases(view, held)
            fences = {lease.fence for lease in standing}
            self.lapsed = [lease for lease in held if not (lease.is_lock or lease.fence in fences)]
            self.locks = [lease for lease in standing if lease.is_lock]
            leases = [lease for lease in standing if not lease.is_lock]
            due = [kind for kind in self._kinds if self._keep and self._is_due(view, kind)]
        for kind in due:
            save_snapshot(self._store, self._states[kind], self.pos, beyond=SNAPSHOT_EVERY)
            self._kept[kind] = self.pos
        return leases

    def state(self, kind: type[AnyState]) -> AnyState:
        found = self._states[kind]
        assert isinstance(found, kind)
        return found

    def _begin(self, view: ReadTransaction) -> None:
        """Each state from its snapshot: they lie at positions of their own."""
        found = {kind: _newest(view, kind) for kind in self._kinds}
        pos = min((kept for _, kept in found.values()), default=0)
        while page := view.tail(pos, PAGE):
            for event in map(require_known_schema, page):
                for state, kept in found.values():
                    if event.pos > kept:
                        state.apply(event)
                pos = event.pos
        self._states = {kind: state for kind, (state, _) in found.items()}
        self._kept = {kind: kept for kind, (_, kept) in found.items()}
        self.pos = pos

    def _follow(self, view: ReadTransaction) -> None:
        while page := view.tail(self.pos, PAGE):
            for event in map(require_known_schema, page):
                for state in self._states.values():
                    state.apply(event)
                self.pos = event.pos

    def _is_due(self, view: ReadTransaction, kind: type[State]) -> bool:
        """Whether the newest snapshot is far behind, whoever of all that watch wrote it."""
        if self.pos - self._kept[kind] > SNAPSHOT_EVERY and (found := _snapshot(view, kind)):
            self._kept[kind] = found[0]
        return self.pos - self._kept[kind] > SNAPSHOT_EVERY


def save_snapshot(store: Store, state: State, pos: int, *, beyond: int = 0) -> None:
    """Remember the state as of a position, unless one is remembered that is later, or not `beyond` before it."""
    raw = encode(state)
    with store.backend.write() as tx:
        found = _snapshot(tx, type(state))
        if found is None or found[0] + beyond < pos:
            tx.keep_snapshot(state.name, code_hash(type(state)), pos, raw)


def encode(state: State) -> bytes:
    return json.encode(state)


def decode(kind: type[AnyState], raw: bytes) -> AnyState:
    return json.decode(raw, type=kind)


def pruned_through(view: ReadTransaction) -> int:
    """The position up to which superseded events have been removed, or may have been by a pruning that was cut off."""
    newest = view.load(streams.PRUNINGS, view.head(streams.PRUNINGS) - 1, 1)
    facts = select(map(require_known_schema, newest), JournalPruned)
    return max((fact.through for _, fact in facts), default=0)


@cache
def code_hash(kind: type[State]) -> str:
    """Changes with the code that folds, so that a state made by other rules is not taken for this one."""
    seen = 0
    made_with: tuple[str, ...] = getattr(
        kind, "made_with", ()
    )  # modules whose rules the state follows
    for module in (kind.__module__, fleet.__name__, limits.__name__, catalog.__name__, *made_with):
        spec = sys.modules[module].__spec__
        if spec is None or spec.origin is None:
            raise Internal(
                f"the state {kind.name!r} is defined in {module}, which has no source file"
            )
        seen = crc32(_source(spec.loader, spec.origin), seen)
    return f"{seen:08x}"


def _source(loader: object, origin: str) -> bytes:
    get_data = getattr(loader, "get_data", None)  # also reads out of a zip archive
    found: bytes = get_data(origin) if get_data else Path(origin).read_bytes()
    return found


def _snapshot(view: ReadTransaction, kind: type[State]) -> tuple[int, bytes] | None:
    found = view.snapshot(kind.name, code_hash(kind))
    # Below the pruned part the ending of a lease may be gone that a snapshot from within it still holds.
    return found if found and found[0] >= pruned_through(view) else None


def _newest(view: ReadTransaction, kind: type[AnyState]) -> tuple[AnyState, int]:
    found = _snapshot(view, kind)
    try:
        return (decode(kind, found[1]), found[0]) if found else (kind(), 0)
    except ValueError:
        return kind(), 0  # no loss: the events are there
