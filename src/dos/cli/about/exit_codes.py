"""List the exit codes of every verb.

0 is always the good direction, 2 always means that what was typed or written cannot be used, 70 is a bug of dos, 77
means that an agent of the fleet asked for what only a person may do, 130 is Ctrl-C.
"""

from typing import Annotated

from msgspec import Struct

from dos.verbs import catalog
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    verb: Annotated[
        list[str], Option(help="only this verb, or this family of verbs", positional=True)
    ] = []


def run(args: Args, context: Context) -> Reply:
    if args.verb:
        table = {verb.name: catalog.exit_codes(verb) for verb in catalog.find_verbs(args.verb)}
    else:
        table = catalog.all_exit_codes()
    lines = []
    for name, exits in table.items():
        rows = sorted(exits.items(), key=lambda row: row[1])
        lines.append(f"{name:<22} " + ", ".join(f"{code} {token}" for token, code in rows))
    return Reply(text="\n".join(lines), data=table)
