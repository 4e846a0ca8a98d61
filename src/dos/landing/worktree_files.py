"""`.worktreeinclude`: which of the files that git ignores in the main work tree a lane's worktree gets a copy of.

It is written as a `.gitignore` is. Only what git ignores in both trees is copied: a secret that is not ignored in the
lane would be in the next commit, and a file that is tracked there is the lane's own.
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


class IncludedFiles(Struct, frozen=True, kw_only=True):
    copied: list[str]  # new, or not as the main tree has it
    left_out: list[str]  # each with why


def copy_included_files(main: Reader, lane: Reader) -> IncludedFiles:
    """Copy what is listed, every time: the next unit finds what the main work tree has now."""
    top = Path(main.run("rev-parse", "--show-toplevel").removesuffix("\n"))
    if not (top / LIST).is_file():
        return IncludedFiles(copied=[], left_out=[])
    listed = _listed_and_ignored(Reader(top))
    _check_size(top, listed)
    wanted, left_out = _admitted(listed, lane)
    copied = []
    # Beside the worktree: what a copy that was broken off leaves inside of it would be saved as somebody's work.
    place = lane.tree.parent.with_name("including") / lane.tree.name
    place.parent.mkdir(parents=True, exist_ok=True)
    for path in wanted:
        try:
            if _copy(top / path, lane.tree / path, place):
                copied.append(path)
        except OSError as error:
            if os.path.lexists(top / path):  # else it went away meanwhile
                left_out.append(f"{printable_path(path)}: {error.strerror}")
    place.unlink(missing_ok=True)
    return IncludedFiles(copied=copied, left_out=left_out)


def _listed_and_ignored(main: Reader) -> list[str]:
    """What matches the list and is ignored."""
    matching = main.run("ls-files", "-z", "--others", "--ignored", f"--exclude-from={LIST}")
    return _ignored(main, matching.split("\0"))


def _ignored(tree: Reader, paths: Iterable[str]) -> list[str]:
    feed = "".join(f"{path}\0" for path in paths if path)
    if not feed:
        return []
    return [
        path
        for path in tree.attempt("check-ignore", "-z", "--stdin", feed=feed).stdout.split("\0")
        if path
    ]


def _check_size(top: Path, paths: list[str]) -> None:
    sizes: dict[str, int] = {}
    for path in paths:
        try:
            size = (top / path).lstat().st_size
        except OSError:
            continue  # gone meanwhile, or not to be looked at: copying it will say
        first = path.partition("/")[0]
        sizes[first] = sizes.get(first, 0) + size
    if sum(sizes.values()) > MOST_BYTES or len(paths) > MOST_FILES:
        largest = max(sizes, key=lambda name: sizes[name])
        raise BadInput(
            f"{top / LIST} lists {plural(len(paths), 'file')} with {sum(sizes.values()) // 1_000_000:,} MB, most of it"
            f" in {printable_path(largest)}; at most {MOST_FILES:,} files and {MOST_BYTES // 1_000_000} MB are copied for"
            " each lane",
            hint="Take it out of the list, and let [workers] setup in dos.toml make or install it.",
        )


def _admitted(listed: list[str], lane: Reader) -> tuple[list[str], list[str]]:
    """What may be put into the lane, and why the rest may not."""
    left_out = [
        f"{printable_path(path)}: a repository of its own" for path in listed if path.endswith("/")
    ]
    files = [path for path in listed if not path.endswith("/")]
    reachable = [path for path in files if _is_reachable(lane.tree, path)]
    left_out += [
        f"{printable_path(path)}: not a folder on the way there"
        for path in files
        if path not in set(reachable)
    ]
    tracked = set(lane.run("ls-files", "-z").split("\0"))
    untracked = [path for path in reachable if path not in tracked]
    ignored = set(_ignored(lane, untracked))
    left_out += [
        f"{printable_path(path)}: tracked in the lane" for path in reachable if path in tracked
    ]
    left_out += [
        f"{printable_path(path)}: not ignored in the lane"
        for path in untracked
        if path not in ignored
    ]
    return [path for path in untracked if path in ignored], left_out


def _is_reachable(tree: Path, path: str) -> bool:
    """Every folder on the way is one, or is not there yet: through a link, something else would be written over."""
    folders = [tree / folder for folder in list(Path(path).parents)[:-1]]
    if any(
        os.path.lexists(folder) and not stat.S_ISDIR(folder.lstat().st_mode) for folder in folders
    ):
        return False
    return not os.path.lexists(tree / path) or not stat.S_ISDIR((tree / path).lstat().st_mode)


def _copy(source: Path, target: Path, place: Path) -> bool:
    """Whole or not at all, a link as a link; False when it is there already."""
    if _is_same(source, target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if source.is_symlink():
        place.symlink_to(source.readlink())
    else:
        place.touch(mode=0o600)
        shutil.copy2(source, place)
    place.replace(target)
    return True


def _is_same(source: Path, target: Path) -> bool:
    if not os.path.lexists(target):
        return False
    one, two = source.lstat(), target.lstat()
    if stat.S_ISLNK(one.st_mode) and stat.S_ISLNK(two.st_mode):
        return source.readlink() == target.readlink()
    return (one.st_mode, one.st_size, one.st_mtime_ns) == (
        two.st_mode,
        two.st_size,
        two.st_mtime_ns,
    )


_GITLINK = "160000"


def check_out_submodules(inside: Writer, fetched: Path) -> str:
    """Put every submodule, and theirs, at the commit that the tree names; empty, or which one could not be had and why.

    `fetched` is where the main checkout keeps the repositories of its submodules (`.git/modules`).
    """
    if not (inside.tree / ".gitmodules").exists():
        return ""
    wanted = _recorded_commits(inside)
    for name, path in inside.submodules().items():
        commit = wanted.get(path)
        if commit is None:
            continue  # .gitmodules tells of it, and the tree does not hold it
        if not _is_at(inside.tree / path, commit) and (
            problem := _fetch(inside, name, path, commit, fetched / name)
        ):
            return problem
        if problem := check_out_submodules(Writer(inside.tree / path), fetched / name / "modules"):
            return problem
    return ""


def _recorded_commits(inside: Writer) -> dict[str, str]:
    """Path -> the commit that the tree names."""
    entries = inside.run("ls-files", "--stage", "-z").split("\0")
    fields = (entry.partition("\t") for entry in entries if entry.startswith(_GITLINK))
    return {path: state.split(" ")[1] for state, _, path in fields}


def _is_at(folder: Path, commit: str) -> bool:
    return (folder / ".git").exists() and Writer(folder).commit_of("HEAD") == commit


def _fetch(inside: Writer, name: str, path: str, commit: str, fetched: Path) -> str:
    """Empty, or why it could not be had."""
    if not (inside.tree / path / ".git").exists() and _holds(fetched, commit):
        _copy_from_main_checkout(inside, name, path, fetched)
        if _is_at(inside.tree / path, commit):
            return ""
    done = inside.run_once(
        "submodule", "--quiet", "update", "--init", "--force", "--checkout", "--", path
    )
    if done.returncode == 0 and _is_at(inside.tree / path, commit):
        return ""
    said = (done.stderr.strip().splitlines() or ["git did not say why"])[-1]
    return f"the submodule {printable_path(path)} could not be checked out at {commit[:9]}: {said}"


def _holds(repository: Path, commit: str) -> bool:
    return (repository / "HEAD").exists() and Writer(repository).commit_of(commit) is not None


def _copy_from_main_checkout(inside: Writer, name: str, path: str, fetched: Path) -> None:
    """From the repository that the main checkout has of it; its remote stays the real one.

    Git lets no submodule be cloned from a path of this machine, since a hostile `.gitmodules` could name any: this one
    is named by us.
    """
    settings = (
        "protocol.file.allow=always",
        f"submodule.{name}.url={fetched}",
        f"submodule.{name}.active=true",
    )
    words = [word for setting in settings for word in ("-c", setting)]
    done = inside.run_once(
        *words, "submodule", "--quiet", "update", "--init", "--checkout", "--", path
    )
    if done.returncode != 0:
        return
    copied = Writer(inside.tree / path)
    url = Writer(fetched).attempt("config", "--get", "remote.origin.url").stdout.strip()
    if url:
        copied.run("remote", "set-url", "origin", url)
    # What is published is what a remote has: not the branches of the main checkout.
    for ref in copied.run("for-each-ref", "--format=%(refname)", "refs/remotes/").split():
        copied.attempt("update-ref", "-d", ref)
    copied.run_once("fetch", "--quiet", str(fetched), "+refs/remotes/*:refs/remotes/*")
