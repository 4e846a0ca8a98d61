"""The user's repository behind the check trees, and the repositories that commands see in them.

A command gets a repository of plain files with a detached HEAD, the index, all tags and the user's
objects by alternates, so that `git describe` and `git ls-files` work. What it does to that
repository reaches neither the user's nor the next check.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from dos.git import files
from dos.git.repository import Writer
from dos.landing.trees import worktree_files
from dos.workspace import Workspace


class Source:
    """The user's repository, as the check trees need it."""

    def __init__(self, workspace: Workspace, git: Writer) -> None:
        self.workspace = workspace
        self.git = git
        self.common = workspace.common or workspace.state
        self.objects = self.common / "objects"

    def extensions(self) -> dict[str, str]:
        """Return the formats of the repository that another git directory has to repeat."""
        listing = self.git.attempt("config", "--null", "--get-regexp", r"^extensions\.").stdout
        formats = {}
        for entry in listing.split("\0"):
            key, _, value = entry.partition("\n")
            if key in ("extensions.objectformat", "extensions.partialclone"):
                formats[key.partition(".")[2]] = value
        return formats

    def tags(self) -> str:
        """Return the tags as git packs refs, one a line."""
        if not files.has_refs(self.workspace, "refs/tags"):
            return ""
        return self.git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags/")

    def shallow(self) -> str:
        """Return git's list of commits whose parents a shallow clone lacks."""
        return files.shallow_boundary(self.workspace)

    @property
    def modules(self) -> Path:
        """Where the repository keeps the submodules that it fetched."""
        return self.common / "modules"


def write_repository(
    folder: Path,
    *,
    commit: str,
    objects: Sequence[Path],
    index: Path,
    formats: Sequence[str],
    tags: str = "",
    shallow: str = "",
) -> None:
    """Write a git directory with plain files: no hook, no branch, no setting but the formats."""
    for name in ("refs", "objects/info"):
        (folder / name).mkdir(parents=True)
    (folder / "config").write_text("\n".join([*formats, "[core]", "\tbare = false", ""]))
    alternates = b"".join(os.fsencode(path) + b"\n" for path in objects)
    (folder / "objects" / "info" / "alternates").write_bytes(alternates)
    (folder / "HEAD").write_text(f"{commit}\n")
    if tags:
        packed = f"# pack-refs with: sorted\n{tags}"
        (folder / "packed-refs").write_bytes(packed.encode("utf-8", "surrogateescape"))
    if shallow:
        (folder / "shallow").write_text(shallow)
    if index.exists():
        shutil.copyfile(index, folder / "index")


def isolate_submodules(tree: Path, directory: Path, commits: Mapping[str, str]) -> None:
    """Give each submodule in a tree a repository for the commands, in place of the link to ours.

    Ours is found by the link that git has just written.
    """
    for path, commit in commits.items():
        marker = tree / path / ".git"
        if not marker.is_file():
            continue
        text = marker.read_text(errors="surrogateescape").removeprefix("gitdir:").strip()
        ours = Path(os.path.realpath(marker.parent / text))
        if not ours.is_relative_to(os.path.realpath(directory)):
            continue
        nested = {}
        if (tree / path / ".gitmodules").is_file():
            nested = worktree_files.recorded_commits(Writer(tree / path))
        isolate_submodules(tree / path, ours, nested)
        marker.unlink()
        write_repository(
            marker,
            commit=commit,
            objects=files.object_folders(ours),
            index=ours / "index",
            formats=format_lines({"objectformat": "sha256"} if len(commit) > 40 else {}),
        )


def format_lines(formats: Mapping[str, str]) -> list[str]:
    """Return the first lines of a git configuration, for a repository of these formats."""
    if not formats:
        return ["[core]", "\trepositoryformatversion = 0"]
    lines = ["[core]", "\trepositoryformatversion = 1", "[extensions]"]
    lines += [f"\t{key} = {value}" for key, value in formats.items()]
    return lines
