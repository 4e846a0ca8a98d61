"""List the exit codes of every verb.

0 is always the good result. 2 is a usage or input error, 70 a bug in dos, 130 Ctrl-C. 77: an agent
of the fleet called a verb that only a person may use.
"""

from typing import Annotated

from msgspec import Struct

from dos.verbs import lookup
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The verbs to list; all by default."""

    verb: Annotated[
        list[str], Option(help="only this verb, or the verbs of this first word", positional=True)
    ] = []


def run(args: Args, _context: Context) -> Reply:
    """Return a line for each verb. JSON has the released tokens, the text has words."""
    if args.verb:
        verbs = lookup.find_verbs(args.verb)
        table = {verb.name: lookup.exit_codes(verb) for verb in verbs}
    else:
        table = lookup.all_exit_codes()
    lines = []
    for name, codes in table.items():
        rows = sorted(codes.items(), key=lambda item: item[1])
        listed = ", ".join(f"{code} {lookup.exit_words(token)}" for token, code in rows)
        lines.append(f"{name:<22} {listed}")
    return Reply(text="\n".join(lines), data=table)
