"""List the skills, and where each is installed."""

from typing import Any

from msgspec import Struct

from dos.cli.skills.check import workspace_root
from dos.skills.copies import CopyState
from dos.skills.io import installed, packaged
from dos.skills.skill import CORE
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """It takes no arguments."""


def run(_args: Args, context: Context) -> Reply:
    """Return every skill of the package with its copies in this repository."""
    copies = installed.read_copies(workspace_root(context))
    rows: list[dict[str, Any]] = []
    lines = []
    for skill in packaged.skills().values():
        places = [copy for copy in copies[skill.name] if copy.state is not CopyState.MISSING]
        rows.append(
            {
                "name": skill.name,
                "description": skill.description,
                "core": skill.name in CORE,
                "copies": [{"path": copy.path, "state": copy.state} for copy in places],
            }
        )
        where = ", ".join(copy.path for copy in places) or "not installed"
        lines += [skill.name, f"  {skill.description}", f"  {where}"]
    return Reply(
        text="\n".join(lines),
        data=rows,
        indented=True,
        next_action="`dos init --skills` installs the core skills, --all all of them.",
    )
