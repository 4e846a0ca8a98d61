"""List the receipts of landed units.

For each: what it says, of which commit, and who signed it.
"""

from typing import Any

from msgspec import Struct

from dos.receipts.io import find
from dos.receipts.receipt import Algorithm, Receipt
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    rows = [_row(each) for each in find.issued_receipts(context.journal_world)]
    width = max((len(row["unit"]) for row in rows), default=0)
    lines = [
        f"{row['unit']:<{width}}  {row['commit'][:9]}  {row['verdict']:<11}  {row['key_id'] or 'not signed'}"
        for row in rows
    ]
    return Reply(
        text="\n".join(lines) or "no unit has landed with a receipt yet", data={"receipts": rows}
    )


def _row(found: Receipt) -> dict[str, Any]:
    kept = (
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
    return {name: getattr(found, name) for name in kept} | {
        "signed": found.algorithm != Algorithm.NONE
    }
