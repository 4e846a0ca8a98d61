"""Delete saved work.

The commit is printed: git keeps it for some weeks, and `git update-ref` restores the ref. Saved
files that git could not hold are deleted for good.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.salvage.list import read_saved
from dos.errors import BadInput
from dos.landing import salvage
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"dropped": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    refs: Annotated[
        list[str],
        Option(help="their numbers, refs or commits", positional=True, metavar="REF|NUMBER"),
    ]
    dry_run: Annotated[bool, Option(help="say what would go, and let go of nothing")] = False
    yes: Annotated[bool, Option(help="really; without it nothing goes")] = False


def run(args: Args, context: Context) -> Reply:
    if not args.refs:
        raise BadInput("no saved work is named", hint="`dos salvage list` shows what there is.")
    there = read_saved(context)
    # All are looked up before any goes: each that goes changes the numbers of those after it.
    found = {saved.ref: saved for saved in (salvage.find(there, asked) for asked in args.refs)}
    names = [f"{saved.number} ({saved.name})" for saved in found.values()]
    if not args.yes and not args.dry_run:
        raise BadInput(
            f"{plural(len(found), 'piece')} of saved work would go: {', '.join(names)}; nothing was dropped",
            hint=f"Say that you mean it: dos salvage drop {' '.join(args.refs)} --yes",
        )
    dropped = []
    for saved in found.values():
        undo = "" if args.dry_run else salvage.drop(context.journal_world.workspace.tree, saved)
        dropped.append({"ref": saved.ref, "commit": saved.commit, "undo": undo})
    if args.dry_run:
        return Reply(
            text="would go: " + ", ".join(names), data={"dry_run": True, "dropped": dropped}
        )
    lines = [
        f"dropped {each['ref']}  " + (f"undo: {each['undo']}" if each["undo"] else "for good")
        for each in dropped
    ]
    return Reply(text="\n".join(lines), data={"dry_run": False, "dropped": dropped})
