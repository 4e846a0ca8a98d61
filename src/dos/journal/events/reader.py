"""Who reads which facts.

Whoever makes something of a mixture of events has a `FactReader`, and decides with it about every kind: it handles the
kind, or names it as silent. Whoever looks for facts of one kind uses `select`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar, cast, get_args, overload

from dos.journal.events.decode import decode
from dos.journal.events.envelope import Event, Fact

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
