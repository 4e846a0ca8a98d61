"""Apply saved work to this work tree as uncommitted changes.

The work is merged with what was committed since. Your uncommitted changes are never touched: where
they overlap the saved work, or where both sides changed the same lines, nothing is applied and the
files are listed. No branch moves, and the work stays saved.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.salvage.list import read_saved
from dos.landing import salvage_list
from dos.text import plural, printable_path
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"applied": 0, "refused": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which saved work to apply."""

    ref: Annotated[
        str, Option(help="its number, ref or commit", positional=True, metavar="REF|NUMBER")
    ]
    dry_run: Annotated[bool, Option(help="show what would change, change nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Apply the saved work to the files, or say what keeps it from being applied."""
    saved = salvage_list.find(read_saved(context), args.ref)
    answer = salvage_list.apply(context.journal_world.workspace.tree, saved, dry_run=args.dry_run)
    files = [printable_path(path) for path in answer.files]
    data = {
        "ref": saved.ref,
        "commit": saved.commit,
        "applied": answer.fits and not args.dry_run,
        "files": files,
        "conflicts": answer.conflicts,
        "in_the_way": answer.in_the_way,
    }
    if answer.conflicts:
        lines = [
            f"{saved.name} and later commits change the same lines; nothing was changed",
            *answer.conflicts,
        ]
        next_action = (
            f"Look at it: dos salvage show {saved.number} --patch; "
            f"or merge it yourself: git merge {saved.commit[:12]}"
        )
        return Reply(code=1, text="\n  ".join(lines), data=data, next_action=next_action)
    if answer.in_the_way:
        return Reply(
            code=1,
            text=f"{saved.name} was not applied: {answer.in_the_way}; nothing was changed",
            data=data,
            next_action="Commit or stash these changes, and try again.",
        )
    if not files:
        text = f"{saved.name} is already in this work tree; nothing to change"
        return Reply(text=text, data=data)
    changed = f"{saved.name}: {plural(len(files), 'file')}"
    if args.dry_run:
        return Reply(text="\n  ".join([f"{changed} would be changed", *files]), data=data)
    return Reply(
        text="\n  ".join([f"{changed} changed, nothing committed", *files]),
        data=data,
        next_action="`git diff --cached` shows the changes; "
        f"`dos salvage drop {saved.number}` deletes the saved work.",
    )
