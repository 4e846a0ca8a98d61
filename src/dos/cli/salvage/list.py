"""List saved work that has not landed, newest first."""

from typing import Annotated

from msgspec import Struct

from dos.cli.salvage import saved as reading
from dos.errors import BadInput
from dos.landing import salvage
from dos.text import comparison_key, validated_name
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="only what was saved on this lane", metavar="LANE")] = ""
    limit: Annotated[int, Option(help="so many of the newest; 0 for all", metavar="N")] = 50


def run(args: Args, context: Context) -> Reply:
    if args.limit < 0:
        raise BadInput(f"--limit {args.limit} is below 0", hint="0 shows all.")
    lane = comparison_key(validated_name(args.lane, "lane name")) if args.lane else ""
    there = [
        saved
        for saved in reversed(reading.everything(context))
        if not lane or comparison_key(saved.lane) == lane
    ]
    some = [
        salvage.sized(context.journal_world.git, saved) for saved in there[: args.limit or None]
    ]
    lines = []
    for saved in some:
        lines.append(
            f"{saved.number:>3}  {saved.name}  {utc_stamp(saved.at_ms)}  {salvage.measure(saved)}"
        )
        lines.append(f"     {reading.story(saved)}")
    if len(there) > len(some):
        lines.append(f"and {len(there) - len(some)} older: --limit 0 shows all")
    nothing = f"nothing is saved of lane {args.lane!r}" if args.lane else "nothing is saved"
    return Reply(
        text="\n".join(lines) or nothing,
        data={"salvaged": [reading.row(saved) for saved in some], "count": len(there)},
        next_action="`dos salvage show NUMBER` shows one, `dos salvage apply NUMBER` takes it back."
        if some
        else "",
    )
