"""Each lane works in a worktree of its own. Nothing in one is removed before it is saved."""

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
from dos.git.repository import AS_DOS, Writer
from dos.landing import worktree_files
from dos.machine import filesystem
from dos.text import join_some, slug

GATE = "worktrees.gate"  # in the state directory
BUSY_SECONDS = 120.0  # without a checkout it takes a few hundredths of one


def add(git: Writer, state: Path, path: Path, commit: str) -> None:
    """Known to git, at a commit, on no branch, with no file in it yet: those are written with nobody waiting."""
    for folder in (path.parent, state):
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(state / GATE):
        # Twice: also where an entry of ours for this place was left, and locked. Others' entries are none of ours.
        words = ("worktree", "add", "--quiet", "--force", "--force", "--no-checkout", "--detach")
        try:
            git.run(*words, str(path), commit)
        except GitUnanswered:
            if not (
                path / ".git"
            ).exists():  # else it came far enough: whoever uses it checks it out anyway
                raise


def list_worktrees(git: Writer) -> list[list[str]]:
    """The worktrees that git knows, each as the lines that it has for it; the first is `worktree PATH`."""
    with _among_readers(workspace.find(git.tree).state / GATE):
        said = git.run("worktree", "list", "--porcelain", "-z")
    return [entry.strip("\0").split("\0") for entry in said.split("\0\0") if entry.strip("\0")]


@contextmanager
def _alone(gate: Path) -> Iterator[None]:
    with _locked(os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), gate):
        yield


@contextmanager
def _among_readers(gate: Path) -> Iterator[None]:
    """Beside other readers. Where there is no gate, no worktree was made yet."""
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
                f"another process has been making a worktree for {BUSY_SECONDS:g} s ({gate})",
                hint="Look for a stopped `dos` process; `dos doctor` lists them.",
            )
        yield
    finally:
        os.close(opened)


READY = (
    "dos-ready"  # beside the worktree's HEAD: the setup command has run here; holds what it made
)
LOCKS = ("index.lock", "HEAD.lock")
LONGEST_POINTER = 65_536  # bytes of a file in which git keeps a path
_UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard", "--directory")
EARLIER = "left by an earlier run"
UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer")  # what `git reset` leaves in progress


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
    """A clean worktree at the target branch's head, on no branch: no ref of the user's can be moved from it."""
    path = (worktrees or state / "worktrees") / slug(lane)
    base = git.commit_of(f"refs/heads/{target}") if base == "" else base
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
                salvaged += _of_earlier_run(
                    save_commits(inside, run_id=run_id, why=EARLIER, base=base)
                )
                salvaged += _of_earlier_run(
                    save_changes(inside, state, run_id=run_id, why=EARLIER, base=base)
                )
            clear(inside, base)
        except GitFailed as error:
            salvaged += _give_way(path, state, run_id, f"could not be cleaned: {error}")
    if not (path / ".git").exists():
        salvaged += _of_earlier_run(_save_head(git, _known_head(git, path), run_id, EARLIER, base))
        add(git, state, path, base)
        clear(inside, base)
    left_out = worktree_files.copy_included_files(git, inside).left_out
    ready = _is_ready(inside)
    said = f"not copied: {join_some(left_out)}" if left_out else ""
    return Worktree(
        path=str(path), target=target, base=base, salvaged=salvaged, ready=ready, missing_files=said
    )


def _of_earlier_run(saved: list[Salvage]) -> list[Salvage]:
    return [structs.replace(each, earlier=True) for each in saved]


def _is_unused(inside: Writer) -> bool:
    """It was never checked out to the end, so that nobody can have worked in it."""
    directory = _directory(inside)
    unused = not (directory / READY).exists() and not (directory / "index").exists()
    if unused:
        (directory / "locked").unlink(missing_ok=True)  # by git, while it was made
    return unused


def mark_ready(inside: Writer) -> list[str]:
    """Record that the setup has run, and return the files that it left for git to see.

    Folders that it made and git does not ignore are hidden: an agent's `git add --all` would commit `node_modules`.
    """
    made = [path for path in inside.run(*_UNTRACKED).split("\0") if path]
    for path in made:
        folder = inside.tree / path
        if path.endswith("/") and not (folder / ".git").exists():
            (folder / ".gitignore").write_text("*\n")
    (_directory(inside) / READY).write_bytes(os.fsencode("\0".join(made)))
    return [path for path in made if not path.endswith("/")]


def _is_ready(inside: Writer) -> bool:
    """The setup has run, and what it made is still here: an agent may have committed it, and then it was cleared."""
    mark = _directory(inside) / READY
    if not mark.exists():
        return False
    made = os.fsdecode(mark.read_bytes()).split("\0")
    return all((inside.tree / path).exists() for path in made if path)


def save_changes(inside: Writer, state: Path, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Put what nobody committed on a ref, and leave the tree as its head is, on no branch."""
    directory = _unlocked(inside)
    found = inside.commit_of("HEAD")  # none on a branch without a commit
    head = found or base
    inside.run(
        "update-ref", "--no-deref", "HEAD", head
    )  # unlike a checkout, also in the middle of a merge
    stashes = [stash for name in UNFINISHED if (stash := directory / name / "autostash").exists()]
    saved = [
        _keep(inside, run_id, stash.read_text().strip(), f"{why}: stashed by a rebase")
        for stash in stashes
    ]
    # A repository inside of the repository: git would keep only its name, and of a submodule only its commit.
    dirty = inside.dirty_paths()
    nested = [path for path in dirty if path.endswith("/")]
    saved += [
        _set_aside(inside.tree / path, state, run_id, f"{why}: a nested repository")
        for path in nested
    ]
    for path, edited in (inside.changed_submodules() if dirty else {}).items():
        saved += _save_submodule(inside.tree / path, state, run_id, why, edited=edited)
    if inside.dirty_paths():
        # A commit of everything that is not ignored, on no branch.
        inside.run("add", "--all")
        tree = inside.run("write-tree").strip()
        parents = ("-p", found) if found else ()
        commit = inside.run(
            *AS_DOS, "commit-tree", tree, *parents, "-m", f"Salvaged by dos: {why}"
        ).strip()
        kept = _keep(inside, run_id, commit, f"{why}: uncommitted changes")
        saved.append(structs.replace(kept, onto=head))
    clear(inside, head)
    return saved


def save_commits(inside: Writer, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Put the head on a ref when neither the target nor another such ref holds it."""
    _directory(inside)
    return _save_head(inside, inside.commit_of("HEAD"), run_id, why, base)


def _save_head(git: Writer, head: str | None, run_id: str, why: str, base: str) -> list[Salvage]:
    if head is None or git.is_ancestor(head, base):
        return []
    if git.run("for-each-ref", "--points-at", head, "refs/dos/salvage/").strip():
        return []
    return [_keep(git, run_id, head, f"{why}: commits")]


def clear(inside: Writer, commit: str) -> None:
    """To a commit. Only after `save_changes`. Ignored files stay: they are caches, and a build without them is slow."""
    directory = _unlocked(inside)
    for left in (directory / name for name in UNFINISHED if (directory / name).exists()):
        shutil.rmtree(left)
    inside.run("checkout", "--quiet", "--force", "--detach", commit)
    inside.run("reset", "--quiet", "--hard")
    inside.run("clean", "-fdq")  # with one f: never a repository
    if submodules := _checked_out(inside, directory):
        words = ("submodule", "--quiet", "update", "--force", "--checkout", "--recursive", "--")
        inside.attempt(
            *words, *submodules
        )  # one that cannot be had is for the setup and the tests to miss


def unpublished_submodule(inside: Writer, old: str, new: str) -> str | None:
    """A submodule that would land at a commit which nobody else could fetch."""
    for path, commit in inside.submodules_between(old, new).items():
        inner = Writer(inside.tree / path)
        if (inner.tree / ".git").exists() and not _is_on_a_ref(inner, commit, "refs/remotes/"):
            return path
    return None


def _checked_out(inside: Writer, directory: Path) -> list[str]:
    """The submodules that somebody has checked out here, also when their files were set aside."""
    if not (inside.tree / ".gitmodules").exists():
        return []
    found = inside.submodules().items()
    return [
        path
        for name, path in found
        if (inside.tree / path / ".git").exists() or (directory / "modules" / name).exists()
    ]


def _unlocked(inside: Writer) -> Path:
    """Its directory. A lock there is of a git that was ended, with the agent or the worker that had started it."""
    directory = _directory(inside)
    left = [directory / name for name in LOCKS if (directory / name).exists()]
    if left:
        orphans.wait_for_git(inside.tree)
    for lock in left:
        lock.unlink(missing_ok=True)
    return directory


def _directory(inside: Writer) -> Path:
    """Where git keeps what concerns this worktree alone. Anywhere else, the user's own files would be at stake.

    Read from the two files that lead there and back: it is asked before every step, and git would take a process.
    """
    link = inside.tree / ".git"
    if link.is_file():  # else git would look for one in the folders above
        found = _leads_to(link)
        back = f"{found}/gitdir"
        if os.path.isfile(back) and _leads_to(Path(back)) == os.path.realpath(link):  # noqa: PTH113 - a name too long is no file
            return Path(found)
    raise GitFailed(f"{inside.tree} is not a worktree any more")


def _leads_to(pointer: Path) -> str:
    """The path that a file of git's holds, as git reads it; an agent may have written anything there."""
    with pointer.open("rb") as file:
        text = os.fsdecode(file.read(LONGEST_POINTER))
    path = text.removeprefix("gitdir: ").partition("\0")[0].rstrip("\n")
    return os.path.realpath(pointer.parent / path)


def _is_on_a_ref(inside: Writer, commit: str, *prefixes: str) -> bool:
    if inside.commit_of(commit) is None:
        return False
    return bool(inside.run("for-each-ref", "--count=1", "--contains", commit, *prefixes))


def _keep(inside: Writer, run_id: str, commit: str, why: str) -> Salvage:
    prefix = f"refs/dos/salvage/{run_id}/"
    taken = inside.run("for-each-ref", "--format=%(refname)", prefix).split()
    ref = f"{prefix}{1 + max((int(name.removeprefix(prefix)) for name in taken), default=0)}"
    if refused := inside.swap_ref(ref, commit, None, message="dos: salvage"):
        raise GitUnanswered(
            f"{commit[:9]} could not be saved as {ref}: {refused}", hint=f"git show {commit[:9]}"
        )
    return Salvage(ref=ref, commit=commit, why=why)


def _set_aside(path: Path, state: Path, run_id: str, why: str) -> Salvage:
    """What git cannot save is moved as it is."""
    place = state / "salvage" / run_id
    place.mkdir(parents=True, exist_ok=True)
    taken = (name.name.partition("-")[0] for name in place.iterdir())
    number = 1 + max((int(name) for name in taken if name.isdecimal()), default=0)
    target = place / f"{number}-{path.name}"
    shutil.move(path, target)
    return Salvage(ref=str(target), commit="", why=why)


def _known_head(git: Writer, path: Path) -> str | None:
    """Where a worktree was when git last knew it, also if nothing there leads back to git any more."""
    for place, *about in list_worktrees(git):
        if place == f"worktree {path.resolve()}":
            return git.commit_of(about[0].removeprefix("HEAD ")) if about else None
    return None


def _give_way(path: Path, state: Path, run_id: str, why: str) -> list[Salvage]:
    """What git cannot make out is moved as it is, unless there is not a single file in it."""
    if [name.name for name in path.iterdir()] in ([], [".git"]) and not (path / ".git").is_dir():
        (path / ".git").unlink(missing_ok=True)
        return []
    return [_set_aside(path, state, run_id, why)]


def _save_submodule(
    path: Path, state: Path, run_id: str, why: str, *, edited: bool
) -> list[Salvage]:
    """Its commits stay where they are, on a ref of its own repository; its files, if they were edited, are moved."""
    inner = Writer(path)
    if (head := inner.commit_of("HEAD")) and not _is_on_a_ref(
        inner, head, "refs/remotes/", "refs/dos/salvage/"
    ):
        _keep(inner, run_id, head, why)
    if not edited:
        return []
    saved = _set_aside(path, state, run_id, f"{why}: a submodule with uncommitted changes")
    if (link := Path(saved.ref) / ".git").is_file():
        link.unlink()  # it names a repository that has its work tree elsewhere
    path.mkdir()  # as a submodule that was not fetched; or it would count as deleted
    return [saved]
