"""Who reads which facts.

Whoever makes something of a mixture of events has a `FactReader`, and decides with it about every kind: it handles the
kind, or names it as silent. Whoever looks for facts of one kind uses `select`.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args, overload

from msgspec import Struct, ValidationError, json

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event, Fact

if TYPE_CHECKING:
    from dos.journal.events.catalog import AnyFact


class _Kind(Struct, frozen=True):
    decoder: json.Decoder[Any]
    upgrade: Callable[[Any, Event], Any] | None


_kinds: dict[str, _Kind | None] = {}  # those that were met; None: this version does not know it
_making = (
    threading.Lock()
)  # msgspec crashes when two threads look into one class for the first time


def decode(event: Event) -> "AnyFact | None":
    """The typed fact of an event; None for a kind this version does not know, which changes no state."""
    kind = _kinds[event.kind] if event.kind in _kinds else _met(event.kind)
    if kind is None:
        return None
    try:
        fact: AnyFact = kind.decoder.decode(event.raw)
    except ValidationError as error:
        raise JournalCorrupt(
            f"event {event.pos} ({event.kind}) does not have the fields of its kind: {error}",
            hint="Run `dos journal check` to see all the damage.",
        ) from error
    return kind.upgrade(fact, event) if kind.upgrade else fact


def _met(name: str) -> _Kind | None:
    from dos.journal.events.catalog import KINDS, UPGRADES

    with _making:
        if name not in _kinds:
            fact = KINDS.get(name)
            _kinds[name] = _Kind(json.Decoder(fact), UPGRADES.get(name)) if fact else None
        return _kinds[name]


Handled = TypeVar("Handled", bound=Fact)
A = TypeVar("A", bound=Fact)
B = TypeVar("B", bound=Fact)


class FactReader(Generic[Handled]):
    """Decodes the facts that its owner handles, and no others.

    `handles` is a fact's class or a union of them, the same as the type parameter: so mypy sees in a `match` that ends
    with `assert_never` that each of them is handled. `silent` are all other kinds, by name. A test holds that none is
    left out, so a new kind has to be decided about by every reader.
    """

    def __init__(self, handles: object, *, silent: str) -> None:
        self.handles = frozenset(
            fact.kind for fact in get_args(handles) or [cast(type[Fact], handles)]
        )
        self.silent = silent.split()

    def decode(self, event: Event) -> Handled | None:
        """None: its owner is silent about it."""
        return cast(Handled, decode(event)) if event.kind in self.handles else None

    def facts(self, happened: Iterable[Event]) -> Iterator[tuple[Event, Handled]]:
        """Each fact that its owner handles, with its event."""
        for event in happened:
            if event.kind in self.handles:
                yield event, cast(Handled, decode(event))


@overload
def select(happened: Iterable[Event], kind: type[A], /) -> Iterator[tuple[Event, A]]: ...
@overload
def select(
    happened: Iterable[Event], kind: type[A], other: type[B], /
) -> Iterator[tuple[Event, A | B]]: ...
def select(happened: Iterable[Event], *kinds: type[Fact]) -> Iterator[tuple[Event, Any]]:
    """The facts of one kind, or of two, each with its event."""
    wanted = {kind.kind for kind in kinds}
    for event in happened:
        if event.kind in wanted:
            yield event, decode(event)
