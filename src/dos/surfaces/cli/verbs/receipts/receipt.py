"""Print the receipt that a unit's landing left in the journal, so that it can be given to somebody else."""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.journal import receipt_events
from dos.records import receipts
from dos.records.names import checked
from dos.records.receipts import Rejected
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.receipts.files import write

EXITS = {"found": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    plan: Annotated[str, Option(help="the plan", metavar="PLAN", positional=True)]
    unit: Annotated[str, Option(help="the unit of that plan", metavar="UNIT", positional=True)]
    out: Annotated[str, Option(help="write it to a file", metavar="FILE")] = ""


def run(args: Args, desk: Desk) -> Reply:
    name = f"{checked(args.plan, 'plan')}/{checked(args.unit, 'unit')}"
    issued = receipt_events.issued(desk.journal_world.journal, name)
    found = receipts.parse(issued[-1]) if issued else Rejected(why="the journal holds none")
    if isinstance(found, Rejected):
        text = f"there is no receipt of {name}: {found.why}"
        return Reply(code=EXITS["none"], text=text, data={"unit": name, "receipt": None, "reason": found.why})
    if args.out:
        write(args.out, found)
    line = f"{found.verdict}  {name} at {found.commit[:9]}, written to {args.out}"
    return Reply(text=line if args.out else receipts.canonical(found).decode(), data=to_builtins(found))
