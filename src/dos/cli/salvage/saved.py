"""What all verbs of saved work begin with."""

from typing import Any

from msgspec import to_builtins

from dos.errors import WorkspaceMissing
from dos.landing import salvage
from dos.landing.salvage import Saved
from dos.times import utc_stamp
from dos.verbs.context import Context


def everything(context: Context) -> list[Saved]:
    world = context.journal_world
    if world.workspace.common is None:
        raise WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository", hint="cd into one."
        )
    return salvage.read(world.git, world.workspace.state, world.journal.events())


def row(saved: Saved) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(saved)
    return data | {"at": utc_stamp(saved.at_ms), "kind": "ref" if saved.commit else "folder"}


def story(saved: Saved) -> str:
    """Whose it was, and why it was saved."""
    whose = " ".join(filter(None, (saved.lane, saved.unit))) or "of nobody who wrote it down"
    return f"{whose}: {saved.why}"
