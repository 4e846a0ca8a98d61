"""Delete saved work.

The commit is printed: git keeps it for some weeks, and `git update-ref` restores the ref. Saved
files that git could not hold are deleted for good.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.salvage.list import read_saved
from dos.errors import BadInput
from dos.landing import salvage_list
from dos.landing.salvage_list import SavedWork
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"dropped": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which saved work to delete."""

    refs: Annotated[
        list[str],
        Option(help="numbers, refs or commits", positional=True, metavar="REF|NUMBER"),
    ]
    dry_run: Annotated[bool, Option(help="show what would be deleted, delete nothing")] = False
    yes: Annotated[bool, Option(help="confirm; without it nothing is deleted")] = False


def run(args: Args, context: Context) -> Reply:
    """Delete the named saved work; without --yes only say what would be deleted."""
    if not args.refs:
        raise BadInput("no saved work is named", hint="`dos salvage list` shows the saved work.")
    saved_works = read_saved(context)
    # All are looked up before one is deleted: a deletion changes the numbers of those after it.
    chosen: dict[str, SavedWork] = {}
    for ref in args.refs:
        found = salvage_list.find(saved_works, ref)
        chosen[found.ref] = found  # named twice, it is deleted once
    names = ", ".join(f"{saved.number} ({saved.name})" for saved in chosen.values())
    if not args.yes and not args.dry_run:
        count = f"{plural(len(chosen), 'piece')} of saved work"
        raise BadInput(
            f"{count} would be deleted: {names}; nothing was deleted",
            hint=f"Confirm with --yes: dos salvage drop {' '.join(args.refs)} --yes",
        )
    dropped = []
    lines = []
    for saved in chosen.values():
        undo = ""
        if not args.dry_run:
            undo = salvage_list.drop(context.journal_world.workspace.tree, saved)
        dropped.append({"ref": saved.ref, "commit": saved.commit, "undo": undo})
        if undo:
            lines.append(f"deleted {saved.ref}  undo: {undo}")
        else:
            lines.append(f"deleted {saved.ref} for good")
    data = {"dry_run": args.dry_run, "dropped": dropped}
    if args.dry_run:
        return Reply(text=f"would be deleted: {names}", data=data)
    return Reply(text="\n".join(lines), data=data)
