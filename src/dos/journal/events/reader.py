"""Decodes events, and makes every reader decide about every kind.

Code that reads a mixture of events has a `FactReader`: it names the kinds that it handles, and all
others as silent. Code that looks for one or two kinds uses `select`. Only the checker and the
transfer of a journal decode events of every kind with `decode`.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args, overload

from msgspec import Struct, ValidationError, json

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event, Fact

if TYPE_CHECKING:
    from dos.journal.events.kinds import AnyFact


class _Kind(Struct, frozen=True):
    """How events of one kind are decoded, and brought up to date if an older version wrote them."""

    decoder: json.Decoder[Any]
    upgrade: Callable[[Any, Event], Any] | None


# The kinds that were decoded so far; None for a kind that this version does not know.
_kinds: dict[str, _Kind | None] = {}
# msgspec crashes when two threads inspect one class for the first time.
_kinds_lock = threading.Lock()


def decode(event: Event) -> "AnyFact | None":
    """Return the typed fact of an event, or None for a kind that this version does not know.

    Raises JournalCorrupt when the body does not have the fields of its kind.
    """
    if event.kind in _kinds:
        kind = _kinds[event.kind]
    else:
        kind = _load_kind(event.kind)
    if kind is None:
        return None
    try:
        fact: AnyFact = kind.decoder.decode(event.raw)
    except ValidationError as error:
        raise JournalCorrupt(
            f"event {event.pos} ({event.kind}) does not have the fields of its kind: {error}",
            hint="Run `dos journal check` to see all the damage.",
        ) from error
    if kind.upgrade is not None:
        fact = kind.upgrade(fact, event)
    return fact


def _load_kind(name: str) -> _Kind | None:
    # Imported at use: a verb that decodes no event does not pay for all their classes.
    from dos.journal.events.kinds import KINDS, UPGRADES

    with _kinds_lock:
        if name not in _kinds:
            fact = KINDS.get(name)
            kind = None
            if fact is not None:
                kind = _Kind(json.Decoder(fact), UPGRADES.get(name))
            _kinds[name] = kind
        return _kinds[name]


Handled = TypeVar("Handled", bound=Fact)
A = TypeVar("A", bound=Fact)
B = TypeVar("B", bound=Fact)


class FactReader(Generic[Handled]):
    """Decodes the facts that its owner handles, and no others.

    `handles` is a class of facts or a union of them, the same as the type parameter, so that mypy
    checks a `match` over them that ends with `assert_never`. `silent` names all other kinds. A
    test fails when a kind is in neither, so every reader has to decide about a new kind.
    """

    def __init__(self, handles: object, *, silent: str) -> None:
        facts = get_args(handles) or [cast(type[Fact], handles)]
        self.handles = frozenset(fact.kind for fact in facts)
        self.silent = silent.split()

    def decode(self, event: Event) -> Handled | None:
        """Return the event's fact, or None if the owner is silent about its kind."""
        if event.kind not in self.handles:
            return None
        return cast(Handled, decode(event))

    def facts(self, events: Iterable[Event]) -> Iterator[tuple[Event, Handled]]:
        """Yield each event that the owner handles, with its fact."""
        for event in events:
            if event.kind in self.handles:
                yield event, cast(Handled, decode(event))


@overload
def select(events: Iterable[Event], kind: type[A], /) -> Iterator[tuple[Event, A]]: ...
@overload
def select(
    events: Iterable[Event], kind: type[A], other: type[B], /
) -> Iterator[tuple[Event, A | B]]: ...
def select(events: Iterable[Event], *kinds: type[Fact]) -> Iterator[tuple[Event, Any]]:
    """Yield the events of one kind, or of two, each with its fact."""
    names = {kind.kind for kind in kinds}
    for event in events:
        if event.kind in names:
            yield event, decode(event)
