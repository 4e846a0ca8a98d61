"""Makes, prepares and clears the worktrees of lanes; nothing is removed before it is saved.

A worktree is another checkout of the repository. Each lane has one, on no branch, and keeps it
from run to run with its ignored files, which make builds fast.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs

from dos import workspace
from dos.agents.io import orphans
from dos.errors import GitFailed, GitUnanswered
from dos.fleet.effects import Salvage, Worktree
from dos.git.repository import Writer
from dos.landing import salvage_writer, worktree_files
from dos.machine import filesystem
from dos.text import join_some, slug

GATE = "worktrees.gate"  # lock file in the state directory, held while git adds a worktree
BUSY_SECONDS = 120.0  # to wait for the gate; without a checkout, adding takes some 20 ms
READY = "dos-ready"  # beside the worktree's HEAD: the setup has run; holds what it made
LOCKS = ("index.lock", "HEAD.lock")
LONGEST_POINTER = 65_536  # bytes of a file in which git keeps a path
EARLIER = "left by an earlier run"

_ADD = ("worktree", "add", "--quiet", "--force", "--force", "--no-checkout", "--detach")
_UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard", "--directory")
_UPDATE_SUBMODULES = (
    "submodule", "--quiet", "update", "--force", "--checkout", "--recursive", "--",
)  # fmt: skip


def add(git: Writer, state: Path, path: Path, commit: str) -> None:
    """Register a worktree with git at a commit, on no branch, without checking out any file.

    Files are written afterwards, so that nobody waits for the gate meanwhile.
    """
    for folder in (path.parent, state):
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(state / GATE):
        # --force twice: also over an entry of ours that was left for this path, and locked.
        try:
            git.run(*_ADD, str(path), commit)
        except GitUnanswered:
            # With a .git file it came far enough: whoever uses it checks it out anyway.
            if not (path / ".git").exists():
                raise


def list_worktrees(git: Writer) -> list[list[str]]:
    """Return git's lines for each worktree it knows; the first line is `worktree PATH`."""
    with _among_readers(workspace.find(git.tree).state / GATE):
        listing = git.run("worktree", "list", "--porcelain", "-z")
    entries = [entry.strip("\0") for entry in listing.split("\0\0")]
    return [entry.split("\0") for entry in entries if entry]


@contextmanager
def _alone(gate: Path) -> Iterator[None]:
    """Hold the gate alone."""
    with _locked(os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), gate):
        yield


@contextmanager
def _among_readers(gate: Path) -> Iterator[None]:
    """Hold the gate beside other readers; without a gate, no worktree was made yet."""
    try:
        opened = os.open(gate, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    with _locked(opened, gate, shared=True):
        yield


@contextmanager
def _locked(opened: int, gate: Path, *, shared: bool = False) -> Iterator[None]:
    try:
        if not filesystem.lock_file(
            opened, gives_up=filesystem.gives_up_after(BUSY_SECONDS), shared=shared
        ):
            raise GitFailed(
                f"another process has held the lock for worktrees for {BUSY_SECONDS:g} s ({gate})",
                hint="Look for a stopped dos process: dos doctor",
            )
        yield
    finally:
        os.close(opened)


def prepare(
    git: Writer,
    state: Path,
    *,
    lane: str,
    run_id: str,
    target: str,
    worktrees: Path | None = None,
    base: str | None = "",
) -> Worktree:
    """Return a clean worktree of the lane at the target's head, on no branch.

    Without a branch, no ref of the user's can be moved from it. Work of an earlier run in it is
    saved first; a folder that git cannot make sense of is moved to the salvage folder. `base` is
    the target's commit where the target is a remote branch, None if that branch is missing.
    """
    path = (worktrees or state / "worktrees") / slug(lane)
    if base == "":
        base = git.commit_of(f"refs/heads/{target}")
    if base is None:
        raise GitFailed(
            f"the target branch {target!r} has no commit",
            hint=f"Commit something first: git -C {git.tree} commit",
        )
    inside = Writer(path)
    salvaged: list[Salvage] = []
    if path.exists():
        orphans.wait_for_git(path, of_workers=True)
        try:
            if not _is_unused(inside):
                # Commits first: a ref can be made also where the files cannot be read.
                commits = save_commits(inside, run_id=run_id, why=EARLIER, base=base)
                salvaged += _of_earlier_run(commits)
                changes = save_changes(inside, state, run_id=run_id, why=EARLIER, base=base)
                salvaged += _of_earlier_run(changes)
            clear(inside, base)
        except GitFailed as error:
            salvaged += salvage_writer.save_folder(
                path, state, run_id, f"could not be cleaned: {error}"
            )
    if not (path / ".git").exists():
        earlier_head = _known_head(git, path)
        commits = salvage_writer.save_head(git, earlier_head, run_id=run_id, why=EARLIER, base=base)
        salvaged += _of_earlier_run(commits)
        add(git, state, path, base)
        clear(inside, base)
    left_out = worktree_files.copy_included_files(git, inside).left_out
    missing = f"not copied: {join_some(left_out)}" if left_out else ""
    return Worktree(
        path=str(path),
        target=target,
        base=base,
        salvaged=salvaged,
        ready=_is_ready(inside),
        missing_files=missing,
    )


def _of_earlier_run(saved: list[Salvage]) -> list[Salvage]:
    return [structs.replace(work, earlier=True) for work in saved]


def _is_unused(inside: Writer) -> bool:
    """Whether its checkout was never finished, so that nobody can have worked in it."""
    directory = _directory(inside)
    unused = not (directory / READY).exists() and not (directory / "index").exists()
    if unused:
        (directory / "locked").unlink(missing_ok=True)  # git locks a worktree while adding it
    return unused


def mark_ready(inside: Writer) -> list[str]:
    """Record that the setup has run, and return the files it made that git would commit.

    Folders that it made and git does not ignore are hidden by a .gitignore in them: an agent's
    `git add --all` would commit `node_modules`.
    """
    made = [path for path in inside.run(*_UNTRACKED).split("\0") if path]
    for path in made:
        folder = inside.tree / path
        if path.endswith("/") and not (folder / ".git").exists():
            (folder / ".gitignore").write_text("*\n")
    (_directory(inside) / READY).write_bytes(os.fsencode("\0".join(made)))
    return [path for path in made if not path.endswith("/")]


def _is_ready(inside: Writer) -> bool:
    """Whether the setup has run and what it made is here: an agent may have committed it."""
    mark = _directory(inside) / READY
    if not mark.exists():
        return False
    made = os.fsdecode(mark.read_bytes()).split("\0")
    return all((inside.tree / path).exists() for path in made if path)


def save_changes(inside: Writer, state: Path, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Save uncommitted changes, and leave the tree clean at its head, on no branch.

    Ignored files stay. Returns what was saved; raises GitFailed if this is no longer a worktree.
    """
    directory = _unlocked(inside)
    head = inside.commit_of("HEAD") or base
    saved = salvage_writer.save_uncommitted(
        inside, directory, state, run_id=run_id, why=why, base=base
    )
    clear(inside, head)
    return saved


def save_commits(inside: Writer, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Save the head to a ref, unless the base or another salvage ref holds it already.

    Raises GitFailed if this is no longer a worktree.
    """
    _directory(inside)
    return salvage_writer.save_head(
        inside, inside.commit_of("HEAD"), run_id=run_id, why=why, base=base
    )


def clear(inside: Writer, commit: str) -> None:
    """Reset the tree to a commit, on no branch; only after `save_changes`.

    Ignored files stay: they are caches, and a build without them is slow.
    """
    directory = _unlocked(inside)
    for name in salvage_writer.UNFINISHED:
        if (directory / name).exists():
            shutil.rmtree(directory / name)
    inside.run("checkout", "--quiet", "--force", "--detach", commit)
    inside.run("reset", "--quiet", "--hard")
    inside.run("clean", "-fdq")  # one f: never removes a nested repository
    submodules = _checked_out(inside, directory)
    if submodules:
        # One that cannot be had is for the setup and the tests to miss.
        inside.attempt(*_UPDATE_SUBMODULES, *submodules)


def unpublished_submodule(inside: Writer, old: str, new: str) -> str | None:
    """Return a submodule that would land at a commit which no remote has, or None."""
    for path, commit in inside.submodules_between(old, new).items():
        inner = Writer(inside.tree / path)
        if not (inner.tree / ".git").exists():
            continue
        if not salvage_writer.is_on_a_ref(inner, commit, "refs/remotes/"):
            return path
    return None


def _checked_out(inside: Writer, directory: Path) -> list[str]:
    """Return the submodules that were checked out here, also when their files were moved away."""
    if not (inside.tree / ".gitmodules").exists():
        return []
    paths = []
    for name, path in inside.submodules().items():
        if (inside.tree / path / ".git").exists() or (directory / "modules" / name).exists():
            paths.append(path)
    return paths


def _unlocked(inside: Writer) -> Path:
    """Return git's directory of the worktree, without locks.

    A lock belongs to a git process that was ended with the agent or worker that started it.
    """
    directory = _directory(inside)
    left = [directory / name for name in LOCKS if (directory / name).exists()]
    if left:
        orphans.wait_for_git(inside.tree)
    for lock in left:
        lock.unlink(missing_ok=True)
    return directory


def _directory(inside: Writer) -> Path:
    """Return the folder in which git keeps this worktree's own state, or raise GitFailed.

    Anywhere else the user's own files would be at stake. It is read from the two files that lead
    there and back: this is asked before every step, and git would cost a process.
    """
    link = inside.tree / ".git"
    if link.is_file():  # otherwise git would search the folders above
        found = _leads_to(link)
        back = f"{found}/gitdir"
        if os.path.isfile(back) and _leads_to(Path(back)) == os.path.realpath(link):  # noqa: PTH113 - a name too long is no file
            return Path(found)
    raise GitFailed(f"{inside.tree} is no longer a worktree")


def _leads_to(pointer: Path) -> str:
    """Return the path in a pointer file as git reads it; an agent may have written anything."""
    with pointer.open("rb") as file:
        text = os.fsdecode(file.read(LONGEST_POINTER))
    path = text.removeprefix("gitdir: ").partition("\0")[0].rstrip("\n")
    return os.path.realpath(pointer.parent / path)


def _known_head(git: Writer, path: Path) -> str | None:
    """Return the head that git remembers for a worktree whose folder no longer leads to git."""
    for first, *lines in list_worktrees(git):
        if first == f"worktree {path.resolve()}" and lines:
            return git.commit_of(lines[0].removeprefix("HEAD "))
    return None
