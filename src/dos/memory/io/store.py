"""A folder of notes, one markdown file each."""

import os
import re
from pathlib import Path

from dos.errors import BadInput
from dos.machine import filesystem
from dos.memory import note
from dos.memory.note import Note
from dos.text import LONGEST_PATH, comparison_key, did_you_mean, join_some, quote
from dos.unknown import Unknown
from dos.workspace import Workspace

INDEX = "MEMORY.md"  # which names the others
LARGEST_BYTES = 1_000_000


def find_store(workspace: Workspace, start: Path, given: str) -> Path:
    """Return the folder of notes: the given one, or that of Claude Code for this repository.

    A relative one counts from `start`. Raises BadInput where there is none.
    """
    if given:
        if not os.path.isdir(start / given):  # noqa: PTH112 - pathlib raises for what cannot be a name
            raise BadInput(
                f"--store {quote(given, LONGEST_PATH)} is not a folder",
                hint="Give the folder that holds the notes.",
            )
        return start / given
    places = [workspace.root / ".claude" / "memory", _of_claude_code(workspace.root)]
    for path in places:
        if path.is_dir():
            return path
    looked = " nor ".join(str(path) for path in places)
    raise BadInput(f"there is no folder of notes: neither {looked}", hint="Name it: --store FOLDER")


def _of_claude_code(root: Path) -> Path:
    """Return where Claude Code keeps its notes about a repository."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")  # noqa: PTH111
    return Path(home) / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root)) / "memory"


def read_notes(store: Path) -> list[Note]:
    """Return every note of a folder, by the name of its file, without the index."""
    try:
        paths = sorted(path for path in store.glob("*.md") if path.name != INDEX)
        return [read_note(path) for path in paths if path.is_file()]
    except OSError as error:
        raise BadInput(f"{store} cannot be read: {error.strerror}") from error


def read_note(path: Path) -> Note:
    """Return the note of a file. Raises BadInput for one that cannot be read."""
    content = filesystem.read_bounded(path, LARGEST_BYTES)
    if isinstance(content, Unknown):
        raise BadInput(content.why, hint="It is no note.")
    return note.parse(content.decode("utf-8", "replace"), path.stem)


def find_note(store: Path, name: str) -> Note:
    """Return the note of a name, in any case. Raises BadInput where none has it, or several."""
    notes = read_notes(store)
    wanted = comparison_key(name.removesuffix(".md"))
    matches = [each for each in notes if comparison_key(each.name) == wanted]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise BadInput(f"{len(matches)} notes are called {quote(name)}", hint="Give a path.")
    names = [each.name for each in notes]
    raise BadInput(
        f"{store} has no note {quote(name)}",
        hint=did_you_mean(name, names, "notes") or f"It has {join_some(names)}.",
    )
