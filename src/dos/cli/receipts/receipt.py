"""Print the receipt of a landed unit.

Give it to others: they check it with `dos verify-receipt`.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.receipts.files import write_receipt as write
from dos.errors import BadInput
from dos.receipts import receipt
from dos.receipts.io import find
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"found": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    plan: Annotated[str, Option(help="the plan", metavar="PLAN", positional=True)]
    unit: Annotated[
        str, Option(help="the unit; or PLAN/UNIT as one word", metavar="UNIT", positional=True)
    ] = ""
    out: Annotated[str, Option(help="write it to a file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    if not args.unit and "/" not in args.plan:
        raise BadInput(
            f"{quote(args.plan)} is a plan; which unit of it?", hint=f"dos receipt {args.plan} UNIT"
        )
    name = (
        f"{validated_name(args.plan, 'plan')}/{validated_name(args.unit, 'unit')}"
        if args.unit
        else validated_name(args.plan, "unit")
    )
    issued = find.issued_receipts(context.journal_world, name)
    if not issued:
        why = "neither the journal nor git's notes hold one"
        text = f"there is no receipt of {name}: {why}"
        return Reply(
            code=EXITS["none"], text=text, data={"unit": name, "receipt": None, "reason": why}
        )
    found = issued[-1]
    if args.out:
        write(args.out, found)
    line = f"{found.verdict}  {name} at {found.commit[:9]}, written to {args.out}"
    return Reply(
        text=line if args.out else receipt.canonical_bytes(found).decode(), data=to_builtins(found)
    )
