"""From a stored event to its fact."""

import threading
from typing import Any

from msgspec import ValidationError, json

from dos.errors import JournalCorrupt
from dos.journal.events import Event
from dos.journal.facts.catalog import KINDS, AnyFact
from dos.journal.facts.upgrades import UPGRADES

_decoders: dict[str, json.Decoder[Any]] = {}
_making = threading.Lock()  # msgspec crashes when two threads look into one class for the first time


def decode(event: Event) -> AnyFact | None:
    """The typed fact of an event; None for a kind this version does not know, which changes no state."""
    if event.kind not in KINDS:
        return None
    try:
        fact: AnyFact = _decoder(event.kind).decode(event.raw)
    except ValidationError as error:
        raise JournalCorrupt(
            f"event {event.pos} ({event.kind}) does not have the fields of its kind: {error}",
            hint="Run `dos journal check` to see all the damage.",
        ) from error
    upgrade = UPGRADES.get(event.kind)
    return upgrade(fact, event) if upgrade else fact


def _decoder(kind: str) -> json.Decoder[Any]:
    if (known := _decoders.get(kind)) is not None:
        return known
    with _making:
        return _decoders.setdefault(kind, json.Decoder(KINDS[kind]))
