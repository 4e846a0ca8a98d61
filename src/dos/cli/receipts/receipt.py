"""Print the receipt of a landed unit.

Give it to others: they check it with `dos verify-receipt`.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.receipts.files import write_receipt
from dos.errors import BadInput
from dos.receipts.io import find
from dos.receipts.receipt import canonical_bytes
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"found": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The unit, and where to write its receipt."""

    plan: Annotated[str, Option(help="plan of the unit", metavar="PLAN", positional=True)]
    unit: Annotated[
        str, Option(help="unit; or PLAN/UNIT as one word", metavar="UNIT", positional=True)
    ] = ""
    out: Annotated[str, Option(help="write it to a file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    if not args.unit and "/" not in args.plan:
        raise BadInput(
            f"{quote(args.plan)} is a plan; its unit is missing",
            hint=f"dos receipt {args.plan} UNIT",
        )
    if args.unit:
        name = f"{validated_name(args.plan, 'plan')}/{validated_name(args.unit, 'unit')}"
    else:
        name = validated_name(args.plan, "unit")
    issued = find.issued_receipts(context.journal_world, name)
    if not issued:
        why = "neither the journal nor git's notes have one"
        text = f"there is no receipt of {name}: {why}"
        return Reply(
            code=EXITS["none"], text=text, data={"unit": name, "receipt": None, "reason": why}
        )
    newest = issued[-1]
    text = canonical_bytes(newest).decode()
    if args.out:
        write_receipt(args.out, newest)
        text = f"{newest.verdict}  {name} at {newest.commit[:9]}, written to {args.out}"
    return Reply(text=text, data=to_builtins(newest))
