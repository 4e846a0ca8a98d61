"""List the receipts of landed units.

For each: what it says, of which commit, and who signed it.
"""

from typing import Any

from msgspec import Struct

from dos.receipts.io import find
from dos.receipts.receipt import Algorithm, Receipt
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "contract_error": 2}


# The fields of a receipt that the list has, in JSON and in part as text.
SHOWN_FIELDS = (
    "unit",
    "commit",
    "target",
    "verdict",
    "bound",
    "survives",
    "timestamp",
    "algorithm",
    "key_id",
)


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, context: Context) -> Reply:
    """List all receipts of the journal and of git's notes, oldest first; none is checked."""
    rows = [_row(receipt) for receipt in find.issued_receipts(context.journal_world)]
    width = max((len(row["unit"]) for row in rows), default=0)
    lines = []
    for row in rows:
        key_id = row["key_id"] or "not signed"
        lines.append(f"{row['unit']:<{width}}  {row['commit'][:9]}  {row['verdict']:<11}  {key_id}")
    text = "\n".join(lines) or "no unit has landed with a receipt yet"
    return Reply(text=text, data={"receipts": rows})


def _row(receipt: Receipt) -> dict[str, Any]:
    """Return the shown fields of a receipt, and whether it is signed at all."""
    row = {name: getattr(receipt, name) for name in SHOWN_FIELDS}
    return row | {"signed": receipt.algorithm != Algorithm.NONE}
