"""From a stored event to its fact."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct, ValidationError, json

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event

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
    from dos.journal.events.catalog import KINDS
    from dos.journal.events.upgrades import UPGRADES

    with _making:
        if name not in _kinds:
            fact = KINDS.get(name)
            _kinds[name] = _Kind(json.Decoder(fact), UPGRADES.get(name)) if fact else None
        return _kinds[name]
