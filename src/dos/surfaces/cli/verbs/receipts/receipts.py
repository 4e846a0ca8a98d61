"""List the receipts of landed units: what each says, of which commit, and who signed it."""

from typing import Any

from msgspec import Struct

from dos.journal import receipt_events
from dos.records import receipts
from dos.records.receipts import Algorithm, Rejected
from dos.surfaces.cli.desk import Desk, Reply

EXITS = {"listed": 0, "contract_error": 2}
STREAMS = "unit/"


class Args(Struct, kw_only=True):
    pass


def run(args: Args, desk: Desk) -> Reply:
    store = desk.journal_world.journal
    with store.backend.read(once=True) as view:
        names = [stream.removeprefix(STREAMS) for stream in view.streams(STREAMS)]
    rows = [row for name in sorted(names) for row in map(_row, receipt_events.issued(store, name)) if row]
    width = max((len(row["unit"]) for row in rows), default=0)
    lines = [
        f"{row['unit']:<{width}}  {row['commit'][:9]}  {row['verdict']:<11}  {row['key_id'] or 'not signed'}"
        for row in rows
    ]
    return Reply(text="\n".join(lines) or "no unit has landed with a receipt yet", data={"receipts": rows})


def _row(data: bytes) -> dict[str, Any] | None:
    found = receipts.parse(data)
    if isinstance(found, Rejected):
        return None
    kept = ("unit", "commit", "target", "verdict", "bound", "survives", "timestamp", "algorithm", "key_id")
    return {name: getattr(found, name) for name in kept} | {"signed": found.algorithm != Algorithm.NONE}
