"""What a command has left in a tree: files that are not in git, and those that git never shows."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dos.git.repository import Reader

_HIDDEN = (
    "-name", ".git", "-o", "-type", "p", "-o", "-type", "s", "-o", "-type", "b", "-o", "-type", "c",
)  # fmt: skip


def untracked_paths(git: Reader, kept: Sequence[str] = ()) -> list[str]:
    """Return what is in the tree and not in git, ignored or not; folders end with `/`.

    The paths that are kept are left out.
    """
    exclusions: list[str] = []
    for path in kept:
        exclusions += ["-x", f"/{_escaped(path)}"]
    listing = git.run("ls-files", "-z", "--others", "--directory", *exclusions)
    return [path for path in listing.split("\0") if path]


def hidden_files(tree: Path, kept: Sequence[str] = ()) -> list[Path]:
    """Return what git neither shows nor removes: pipes, sockets, devices, each `.git`.

    Nothing below the paths that are kept. Raises CalledProcessError if a folder cannot be read.
    """
    skipped: list[str] = []
    for path in kept:
        skipped += ["-path", f"./{_escaped(path.rstrip('/'))}", "-prune", "-o"]
    listing = subprocess.run(
        ["find", ".", "-mindepth", "1", *skipped, "(", *_HIDDEN, ")", "-prune", "-print0"],
        cwd=tree,
        capture_output=True,
        check=True,
    ).stdout
    return [tree / os.fsdecode(path) for path in listing.split(b"\0") if path]


def at_most(paths: list[str], most: int) -> list[str]:
    """Return paths that hold all of these, no more than `most`, by naming folders above them."""
    while len(paths) > most:
        deepest = max(path.rstrip("/").count("/") for path in paths)
        if not deepest:
            break
        shorter: dict[str, None] = {}
        for path in paths:
            if path.rstrip("/").count("/") == deepest:
                shorter[path.rstrip("/").rpartition("/")[0] + "/"] = None
            else:
                shorter[path] = None
        paths = list(shorter)
    return paths


def _escaped(path: str) -> str:
    """Return a pattern of git or find that matches exactly this path."""
    return "".join(f"\\{letter}" if letter in "\\*?[! " else letter for letter in path)
