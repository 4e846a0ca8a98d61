"""The receipts that were issued, as the journal keeps them."""

from msgspec import json

from dos.journal import streams
from dos.journal.events.reader import select
from dos.journal.events.receipts import ReceiptIssued
from dos.journal.store import Store


def issued(store: Store, unit: str, commit: str = "") -> list[bytes]:
    """The receipts of a unit, oldest first; of one commit, where one is named."""
    return [
        json.encode(fact.receipt, order="sorted")
        for _, fact in select(store.load(streams.unit(unit)), ReceiptIssued)
        if fact.receipt and commit in ("", fact.commit)
    ]
