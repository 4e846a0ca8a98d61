"""Show one piece of saved work: its run, reason and files."""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.salvage.list import describe, read_saved, to_json
from dos.git.repository import Reader
from dos.landing import salvage_list
from dos.landing.salvage_list import SavedWork
from dos.text import printable_path, replace_undecodable
from dos.times import format_duration, format_local_time, now_ms, utc_datetime
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which saved work to show."""

    ref: Annotated[
        str, Option(help="its number, ref or commit", positional=True, metavar="REF|NUMBER")
    ]
    patch: Annotated[bool, Option(help="also show the patch")] = False


def run(args: Args, context: Context) -> Reply:
    """Show one saved work with the files that it changes, and with --patch the changes."""
    git = context.journal_world.git
    saved = salvage_list.with_size(git, salvage_list.find(read_saved(context), args.ref))
    # The labels are aligned by hand: there are only four.
    lines = [
        f"{saved.number}  {saved.ref}",
        f"saved   {_when_and_by(saved)}",
        f"origin  {describe(saved)}",
        f"size    {salvage_list.describe_size(saved)}",
    ]
    changed: list[tuple[str, str]] = []
    patch = ""
    next_action = f"ls -A {saved.ref}"
    if saved.commit:
        changed = _changed_files(git, saved)
        next_action = f"`dos salvage apply {saved.number}` applies it."
        lines.append(f"commit  {saved.commit}, based on {saved.base[:9]}")
        for status, path in changed:
            lines.append(f"  {status} {printable_path(path)}")
        if args.patch:
            patch = _patch(git, saved)
            lines.append(patch)
    data: dict[str, Any] = to_json(saved)
    data["changed"] = []
    for status, path in changed:
        data["changed"].append({"how": status, "path": path})
    if args.patch:
        data["patch"] = patch
    text = "\n".join(filter(None, lines))
    return Reply(text=text, data=data, indented=True, next_action=next_action)


def _when_and_by(saved: SavedWork) -> str:
    """Return when the work was saved, and by which run if that is known."""
    now = utc_datetime(now_ms(None))
    at = utc_datetime(saved.at_ms)
    age = format_duration(max(0.0, (now - at).total_seconds()))
    text = f"{format_local_time(at, now)} ({age} ago)"
    if saved.run_id:
        text += f" by {saved.run_id}"
    return text


def _changed_files(git: Reader, saved: SavedWork) -> list[tuple[str, str]]:
    """Return status and path of each changed file: A added, M changed, D deleted."""
    words = git.run(
        "diff-tree", "-r", "-z", "--no-renames", "--name-status", saved.base, saved.commit
    ).split("\0")
    pairs = zip(words[::2], words[1::2], strict=False)
    return [(status, replace_undecodable(path)) for status, path in pairs]


def _patch(git: Reader, saved: SavedWork) -> str:
    """Return the changes as git prints them, with binary files; undecodable bytes are replaced.

    Programs that the user configured to show differences are not run: saved work is not trusted.
    """
    words = ("--no-color", "--no-ext-diff", "--no-textconv", "--binary", saved.base, saved.commit)
    return replace_undecodable(git.run("diff", *words)).rstrip("\n")
