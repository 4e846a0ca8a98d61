"""The receipts of landed units: those of the journal, and in a clone without one those of git's notes."""

from dos.journal import streams
from dos.journal.truth.receipts import issued
from dos.records import receipts
from dos.records.receipts import Receipt
from dos.sources.receipts import notes
from dos.sources.world import World


def gather(world: World, unit: str = "") -> list[Receipt]:
    """Oldest first; of one unit, where one is named. What is no receipt is passed over."""
    store = world.journal
    with store.backend.read(once=True) as view:
        names = [unit] if unit else sorted(streams.unit.subject(name) for name in view.streams(streams.unit.prefix))
    found = [data for name in names for data in issued(store, name)]
    if world.workspace.common is not None:
        found += notes.every(world.git)
    read = [each for each in map(receipts.parse, found) if isinstance(each, Receipt) and each.unit]
    unique = {receipts.canonical(each): each for each in read if unit in ("", each.unit)}
    return list(unique.values())
