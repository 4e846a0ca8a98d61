"""Apply saved work to this work tree as uncommitted changes.

The work is merged with what was committed since. Your uncommitted changes are never touched: where
they overlap the saved work, or where both sides changed the same lines, nothing is applied and the
files are listed. No branch moves, and the work stays saved.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.salvage.list import read_saved
from dos.landing import salvage
from dos.text import plural, printable_path
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"applied": 0, "refused": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    ref: Annotated[
        str, Option(help="its number, its ref or its commit", positional=True, metavar="REF|NUMBER")
    ]
    dry_run: Annotated[bool, Option(help="say what would change, and change nothing")] = False


def run(args: Args, context: Context) -> Reply:
    saved = salvage.find(read_saved(context), args.ref)
    answer = salvage.apply(context.journal_world.workspace.tree, saved, dry_run=args.dry_run)
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
        met = [
            f"{saved.name} and what was committed since change the same lines; nothing was changed",
            *answer.conflicts,
        ]
        hint = f"Look at it: dos salvage show {saved.number} --patch; or merge it by hand: git merge {saved.commit[:12]}"
        return Reply(code=1, text="\n  ".join(met), data=data, next_action=hint)
    if answer.in_the_way:
        told = f"{saved.name} was not applied: {answer.in_the_way}; nothing was changed"
        return Reply(
            code=1,
            text=told,
            data=data,
            next_action="Commit or stash what is in the way, and try again.",
        )
    if not files:
        return Reply(
            text=f"{saved.name} is in this work tree already; nothing to change", data=data
        )
    would = "would be changed" if args.dry_run else "changed, and nothing is committed"
    return Reply(
        text="\n  ".join([f"{saved.name}: {plural(len(files), 'file')} {would}", *files]),
        data=data,
        next_action=""
        if args.dry_run
        else f"`git diff --cached` shows it; `dos salvage drop {saved.number}` lets go of it.",
    )
