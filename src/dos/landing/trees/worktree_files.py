"""Fills a new worktree with what git leaves out: the files of `.worktreeinclude`, and submodules.

`.worktreeinclude` is written like a `.gitignore`. Only files that git ignores in both trees are
copied: a secret that the lane does not ignore would be in its next commit, and a file that the
lane tracks is the lane's own. Submodules are taken from what the main checkout has fetched, so
that a worktree can be made without a network.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.git.repository import Reader, Writer
from dos.text import plural, printable_path

LIST = ".worktreeinclude"
MOST_BYTES = 500_000_000
MOST_FILES = 20_000
_GITLINK = "160000"


# The files of .worktreeinclude


class IncludedFiles(Struct, frozen=True, kw_only=True):
    """What was copied into a worktree, and what could not be."""

    copied: list[str]  # new, or changed in the main tree
    left_out: list[str]  # each with the reason


def copy_included_files(
    main: Reader, lane: Reader, *, half_copy: Path | None = None
) -> IncludedFiles:
    """Copy the listed files of the main work tree into a lane's, and return what was done.

    It is done for every unit, so that each finds what the main tree has now. `half_copy` is a file
    outside the tree that no other process uses. Raises BadInput for a list that names too much.
    """
    top = Path(main.run("rev-parse", "--show-toplevel").removesuffix("\n"))
    if not (top / LIST).is_file():
        return IncludedFiles(copied=[], left_out=[])
    listed = _listed_and_ignored(Reader(top))
    _check_size(top, listed)
    admitted, left_out = _admitted(listed, lane)
    copied = []
    # Outside the worktree: half a copy inside it would be saved as somebody's work.
    if half_copy is None:
        half_copy = lane.tree.parent.with_name("including") / lane.tree.name
    half_copy.parent.mkdir(parents=True, exist_ok=True)
    for path in admitted:
        try:
            if _copy(top / path, lane.tree / path, half_copy):
                copied.append(path)
        except OSError as error:
            if os.path.lexists(top / path):  # otherwise it was deleted meanwhile
                left_out.append(f"{printable_path(path)}: {error.strerror}")
    half_copy.unlink(missing_ok=True)
    return IncludedFiles(copied=copied, left_out=left_out)


def included_stamps(top: Path) -> dict[str, str]:
    """Return the size and time of each listed file of the main work tree, by its path."""
    if not (top / LIST).is_file():
        return {}
    stamps = {}
    for path in _listed_and_ignored(Reader(top)):
        try:
            status = (top / path).lstat()
        except OSError:
            continue  # deleted meanwhile
        stamps[path] = f"{status.st_size} {status.st_mtime_ns}"
    return stamps


def _listed_and_ignored(main: Reader) -> list[str]:
    """Return the paths that match the list and that git ignores."""
    matching = main.run("ls-files", "-z", "--others", "--ignored", f"--exclude-from={LIST}")
    return _ignored(main, matching.split("\0"))


def _ignored(tree: Reader, paths: Iterable[str]) -> list[str]:
    """Return those of the paths that git ignores in a tree."""
    feed = "".join(f"{path}\0" for path in paths if path)
    if not feed:
        return []
    answer = tree.attempt("check-ignore", "-z", "--stdin", feed=feed).stdout
    return [path for path in answer.split("\0") if path]


def _check_size(top: Path, paths: list[str]) -> None:
    """Raise BadInput when the listed files are too many or too large to copy for each lane."""
    sizes: dict[str, int] = {}  # by top folder
    for path in paths:
        try:
            size = (top / path).lstat().st_size
        except OSError:
            continue  # deleted meanwhile, or unreadable: copying it will say so
        folder = path.partition("/")[0]
        sizes[folder] = sizes.get(folder, 0) + size
    total = sum(sizes.values())
    if total <= MOST_BYTES and len(paths) <= MOST_FILES:
        return
    largest = max(sizes, key=sizes.__getitem__)
    raise BadInput(
        f"{top / LIST} lists {plural(len(paths), 'file')} with {total // 1_000_000:,} MB, most of"
        f" it in {printable_path(largest)}; at most {MOST_FILES:,} files and"
        f" {MOST_BYTES // 1_000_000} MB are copied for each lane",
        hint="Remove it from the list, and let [workers] setup in dos.toml make or install it.",
    )


def _admitted(listed: list[str], lane: Reader) -> tuple[list[str], list[str]]:
    """Return the paths that may be copied into the lane, and the others with the reason."""
    tracked = set(lane.run("ls-files", "-z").split("\0"))
    candidates: list[str] = []
    repositories: list[str] = []
    unreachable: list[str] = []
    in_lane: list[str] = []
    for path in listed:
        if path.endswith("/"):
            repositories.append(f"{printable_path(path)}: a nested repository")
        elif not _is_reachable(lane.tree, path):
            unreachable.append(f"{printable_path(path)}: a parent in the lane is not a folder")
        elif path in tracked:
            in_lane.append(f"{printable_path(path)}: tracked in the lane")
        else:
            candidates.append(path)
    ignored = set(_ignored(lane, candidates))
    admitted = [path for path in candidates if path in ignored]
    visible = [
        f"{printable_path(path)}: not ignored in the lane"
        for path in candidates
        if path not in ignored
    ]
    return admitted, [*repositories, *unreachable, *in_lane, *visible]


def _is_reachable(tree: Path, path: str) -> bool:
    """Whether every parent is a folder or missing: through a link, other files would be written."""
    for folder in list(Path(path).parents)[:-1]:
        parent = tree / folder
        if os.path.lexists(parent) and not stat.S_ISDIR(parent.lstat().st_mode):
            return False
    target = tree / path
    return not os.path.lexists(target) or not stat.S_ISDIR(target.lstat().st_mode)


def _copy(source: Path, target: Path, half_copy: Path) -> bool:
    """Copy a file, or a link as a link, whole or not at all; False when it is there already."""
    if _is_same(source, target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    half_copy.unlink(missing_ok=True)
    if source.is_symlink():
        half_copy.symlink_to(source.readlink())
    else:
        half_copy.touch(mode=0o600)
        shutil.copy2(source, half_copy)
    half_copy.replace(target)
    return True


def _is_same(source: Path, target: Path) -> bool:
    """Whether the target is the same link, or a file of the same mode, size and time."""
    if not os.path.lexists(target):
        return False
    ours = source.lstat()
    theirs = target.lstat()
    if stat.S_ISLNK(ours.st_mode) and stat.S_ISLNK(theirs.st_mode):
        return source.readlink() == target.readlink()
    return (
        ours.st_mode == theirs.st_mode
        and ours.st_size == theirs.st_size
        and ours.st_mtime_ns == theirs.st_mtime_ns
    )


# Submodules


def check_out_submodules(inside: Writer, fetched: Path) -> str:
    """Check out every submodule, and theirs, at the commit that the tree records.

    `fetched` is where the main checkout keeps the repositories of its submodules (`.git/modules`).
    Returns an empty text, or which submodule could not be checked out and why.
    """
    if not (inside.tree / ".gitmodules").is_file():
        return ""
    recorded = recorded_commits(inside)
    for name, path in inside.submodules().items():
        commit = recorded.get(path)
        if commit is None:
            continue  # in .gitmodules, but not in the tree
        problem = ""
        if not _is_at(inside, path, commit):
            problem = _fetch(inside, name, path, commit, fetched / name)
        problem = problem or check_out_submodules(
            inside.submodule(path), fetched / name / "modules"
        )
        if problem:
            return problem
    return ""


def recorded_commits(inside: Writer) -> dict[str, str]:
    """Return the commit that the tree records for each submodule path."""
    commits = {}
    for entry in inside.run("ls-files", "--stage", "-z").split("\0"):
        if entry.startswith(_GITLINK):
            state, _, path = entry.partition("\t")
            commits[path] = state.split(" ")[1]
    return commits


def _is_at(inside: Writer, path: str, commit: str) -> bool:
    if not (inside.tree / path / ".git").exists():
        return False
    return inside.submodule(path).commit_of("HEAD") == commit


def _fetch(inside: Writer, name: str, path: str, commit: str, fetched: Path) -> str:
    """Check out one submodule, without a network where possible; empty, or why it failed."""
    if not (inside.tree / path / ".git").exists() and _holds(fetched, commit):
        _copy_from_main_checkout(inside, name, path, fetched)
        if _is_at(inside, path, commit):
            return ""
    words = ("submodule", "--quiet", "update", "--init", "--force", "--checkout", "--", path)
    done = inside.run_once(*words)
    if done.returncode == 0 and _is_at(inside, path, commit):
        return ""
    errors = done.stderr.strip().splitlines() or ["git gave no reason"]
    shown = printable_path(path)
    return f"the submodule {shown} could not be checked out at {commit[:9]}: {errors[-1]}"


def _holds(repository: Path, commit: str) -> bool:
    return (repository / "HEAD").exists() and Writer(repository).commit_of(commit) is not None


def _copy_from_main_checkout(inside: Writer, name: str, path: str, fetched: Path) -> None:
    """Clone a submodule from the main checkout's repository of it; its remote stays the real one.

    Git allows no clone of a submodule from a local path, since a hostile `.gitmodules` could name
    any: this path is ours, so it is allowed for this one command.
    """
    settings = (
        "protocol.file.allow=always",
        f"submodule.{name}.url={fetched}",
        f"submodule.{name}.active=true",
    )
    words: list[str] = []
    for setting in settings:
        words += ["-c", setting]
    words += ["submodule", "--quiet", "update", "--init", "--checkout", "--", path]
    if inside.run_once(*words).returncode != 0:
        return
    copied = inside.submodule(path)
    url = Writer(fetched).attempt("config", "--get", "remote.origin.url").stdout.strip()
    if url:
        copied.run("remote", "set-url", "origin", url)
    # Only what a remote has is published: the branches of the main checkout are not.
    for ref in copied.run("for-each-ref", "--format=%(refname)", "refs/remotes/").split():
        copied.attempt("update-ref", "-d", ref)
    copied.run_once("fetch", "--quiet", str(fetched), "+refs/remotes/*:refs/remotes/*")
