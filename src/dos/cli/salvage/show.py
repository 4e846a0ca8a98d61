"""Show a saved work: its run, why it was saved, its files."""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.salvage.list import describe, read_saved, to_json
from dos.git.repository import Reader
from dos.landing import salvage
from dos.landing.salvage import SavedWork
from dos.text import printable_path, replace_undecodable
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    ref: Annotated[
        str, Option(help="its number, its ref or its commit", positional=True, metavar="REF|NUMBER")
    ]
    patch: Annotated[bool, Option(help="the change itself, too")] = False


def run(args: Args, context: Context) -> Reply:
    git = context.journal_world.git
    saved = salvage.with_size(git, salvage.find(read_saved(context), args.ref))
    changed = _changed(git, saved) if saved.commit else []
    patch = _patch(git, saved) if args.patch and saved.commit else ""
    told = [
        f"{saved.number}  {saved.ref}",
        f"saved   {utc_stamp(saved.at_ms)}" + (f" by {saved.run_id}" if saved.run_id else ""),
        f"whose   {describe(saved)}",
        f"size    {salvage.describe_size(saved)}",
        *([f"commit  {saved.commit}, a change of {saved.base[:9]}"] if saved.commit else []),
        *(f"  {how} {printable_path(path)}" for how, path in changed),
        *([patch] if patch else []),
    ]
    data: dict[str, Any] = to_json(saved) | {
        "changed": [{"how": how, "path": path} for how, path in changed]
    }
    return Reply(
        text="\n".join(told),
        data=data | ({"patch": patch} if args.patch else {}),
        indented=True,
        next_action=f"`dos salvage apply {saved.number}` takes it back."
        if saved.commit
        else f"ls -A {saved.ref}",
    )


def _changed(git: Reader, saved: SavedWork) -> list[tuple[str, str]]:
    """A added, M changed, D deleted: and the path, as text."""
    words = git.run(
        "diff-tree", "-r", "-z", "--no-renames", "--name-status", saved.base, saved.commit
    ).split("\0")
    return [
        (how, replace_undecodable(path)) for how, path in zip(words[::2], words[1::2], strict=False)
    ]


def _patch(git: Reader, saved: SavedWork) -> str:
    words = ("--no-color", "--no-ext-diff", "--no-textconv", "--binary", saved.base, saved.commit)
    return replace_undecodable(git.run("diff", *words)).rstrip("\n")
