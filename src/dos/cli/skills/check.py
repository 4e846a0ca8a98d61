"""Check that the installed skills are those of this version.

A copy that was edited, or that another version of dos wrote, has drifted: its commands may not fit.
"""

from pathlib import Path

from msgspec import Struct

from dos import workspace
from dos.skills import copies
from dos.skills.copies import CopyState
from dos.skills.io import installed
from dos.text import plural
from dos.verbs.context import Context, Reply

EXITS = {"current": 0, "findings": 1, "contract_error": 2}
_WORDS = {
    CopyState.DRIFTED: "differs from the skill of this version",
    CopyState.MISSING: "is missing",
    CopyState.BLOCKED: "is a link, or no file",
}


class Args(Struct, kw_only=True):
    """It takes no arguments."""


def run(_args: Args, context: Context) -> Reply:
    """Compare every copy with the package. Exits 1 if a copy has to be mended, or none is there."""
    found = installed.read_copies(workspace_root(context))
    present = [
        copy for places in found.values() for copy in places if copy.state is not CopyState.MISSING
    ]
    to_mend = copies.findings(found)
    rows = [
        {"skill": copy.skill, "path": copy.path, "state": copy.state, "fix": copy.fix}
        for copy in to_mend
    ]
    data = {"installed": len(present), "findings": rows}
    if not present:
        text = "No skill is installed here.\n  fix: dos init --skills"
        return Reply(code=1, text=text, data=data, indented=True)
    if not to_mend:
        count = plural(len(present), "copy").replace("copys", "copies")
        return Reply(text=f"{count} checked, all current", data=data, indented=True)
    lines = []
    for copy in to_mend:
        lines += [f"{copy.path} {_WORDS[copy.state]}", f"  fix: {copy.fix}"]
    return Reply(code=1, text="\n".join(lines), data=data, indented=True)


def workspace_root(context: Context) -> Path:
    """Return the top of the work tree, where programs look for skills."""
    return workspace.find(context.start_directory).tree
