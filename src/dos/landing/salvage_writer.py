"""Saves work before a worktree is cleared, and makes saved work ready for a landing.

Commits and uncommitted changes are saved to refs below `refs/dos/salvage/`, one folder of refs for
each run. What git cannot hold in a commit, such as a nested repository, is moved to the salvage
folder of the state directory. `landing/salvage_list.py` lists, applies and deletes what was saved.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import structs

from dos.errors import GitUnanswered
from dos.fleet.effects import Salvage
from dos.git.commits import CommitText
from dos.git.repository import AS_DOS, SALVAGE_REFS, Writer
from dos.units.unit import Unit

UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer")  # what `git reset` leaves in progress


def save_uncommitted(
    inside: Writer, directory: Path, state: Path, *, run_id: str, why: str, base: str
) -> list[Salvage]:
    """Save uncommitted changes and stashes to refs, and return what was saved.

    Nested repositories and edited submodules, of which git would keep only a commit, are moved to
    the salvage folder. Ignored files stay. `directory` is git's folder of the worktree, and `base`
    is the commit to compare with where the worktree has none. The files of the worktree stay as
    they are, apart from those moved; HEAD no longer names a branch afterwards.
    """
    own_head = inside.commit_of("HEAD")  # None on a branch without a commit
    head = own_head or base
    # Unlike a checkout, this works in the middle of a merge too.
    inside.run("update-ref", "--no-deref", "HEAD", head)
    saved: list[Salvage] = []
    for name in UNFINISHED:
        stash = directory / name / "autostash"
        if stash.exists():
            commit = stash.read_text().strip()
            saved.append(_save_to_ref(inside, run_id, commit, f"{why}: stashed by a rebase"))
    dirty = inside.dirty_paths()
    for path in dirty:
        if path.endswith("/"):
            nested = inside.tree / path
            saved.append(_move_aside(nested, state, run_id, f"{why}: a nested repository"))
    submodules = inside.changed_submodules() if dirty else {}
    for path, edited in submodules.items():
        saved += _save_submodule(inside.tree / path, state, run_id, why, edited=edited)
    if inside.dirty_paths():
        commit = _commit_everything(inside, own_head, why)
        kept = _save_to_ref(inside, run_id, commit, f"{why}: uncommitted changes")
        saved.append(structs.replace(kept, onto=head))
    return saved


def _commit_everything(inside: Writer, parent: str | None, why: str) -> str:
    """Commit all files that are not ignored, on no branch, and return the commit."""
    inside.run("add", "--all")
    tree = inside.run("write-tree").strip()
    parents = ("-p", parent) if parent else ()
    words = ("commit-tree", tree, *parents, "-m", f"Salvaged by dos: {why}")
    return inside.run(*AS_DOS, *words).strip()


def save_head(git: Writer, head: str | None, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Save the commit `head` to a ref, unless the base or another salvage ref holds it already."""
    if head is None or git.is_ancestor(head, base):
        return []
    if git.run("for-each-ref", "--points-at", head, SALVAGE_REFS).strip():
        return []
    return [_save_to_ref(git, run_id, head, f"{why}: commits")]


def save_folder(path: Path, state: Path, run_id: str, why: str) -> list[Salvage]:
    """Move a folder that git cannot make sense of to the salvage folder.

    A folder without a file of anybody's stays, and nothing is returned.
    """
    if [name.name for name in path.iterdir()] in ([], [".git"]) and not (path / ".git").is_dir():
        (path / ".git").unlink(missing_ok=True)
        return []
    return [_move_aside(path, state, run_id, why)]


def _save_to_ref(inside: Writer, run_id: str, commit: str, why: str) -> Salvage:
    """Save a commit to the next free salvage ref of the run."""
    prefix = f"{SALVAGE_REFS}{run_id}/"
    taken = inside.run("for-each-ref", "--format=%(refname)", prefix).split()
    last = max((int(name.removeprefix(prefix)) for name in taken), default=0)
    ref = f"{prefix}{last + 1}"
    refused = inside.swap_ref(ref, commit, None, message="dos: salvage")
    if refused:
        raise GitUnanswered(
            f"{commit[:9]} could not be saved as {ref}: {refused}", hint=f"git show {commit[:9]}"
        )
    return Salvage(ref=ref, commit=commit, why=why)


def _move_aside(path: Path, state: Path, run_id: str, why: str) -> Salvage:
    """Move what git cannot save to the salvage folder of the run, under the next free number."""
    folder = state / "salvage" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    taken = (entry.name.partition("-")[0] for entry in folder.iterdir())
    number = 1 + max((int(name) for name in taken if name.isdecimal()), default=0)
    target = folder / f"{number}-{path.name}"
    shutil.move(path, target)
    return Salvage(ref=str(target), commit="", why=why)


def _save_submodule(
    path: Path, state: Path, run_id: str, why: str, *, edited: bool
) -> list[Salvage]:
    """Save a submodule: its head to a ref of its own repository, edited files to the folder."""
    inner = Writer(path)
    head = inner.commit_of("HEAD")
    if head and not is_on_a_ref(inner, head, "refs/remotes/", SALVAGE_REFS):
        _save_to_ref(inner, run_id, head, why)
    if not edited:
        return []
    saved = _move_aside(path, state, run_id, f"{why}: a submodule with uncommitted changes")
    link = Path(saved.ref) / ".git"
    if link.is_file():
        link.unlink()  # it names a repository whose work tree is elsewhere
    path.mkdir()  # like a submodule that was not fetched; without it, it would count as deleted
    return [saved]


def is_on_a_ref(inside: Writer, commit: str, *prefixes: str) -> bool:
    """Whether the commit is here, and is contained in a ref below one of the prefixes."""
    if inside.commit_of(commit) is None:
        return False
    return bool(inside.run("for-each-ref", "--count=1", "--contains", commit, *prefixes))


# Saved or unnamed work of an agent, made ready for a landing

_MESSAGE = """Work on {name}

{title}

The agent ended without a commit. dos committed what it left; the acceptance command ran on that.

Unit: {name}
Committed-by: dos
"""
_NAMED = """{said}

The agent did not name the unit. dos added the name after the acceptance command had passed.

Unit: {name}
Named-by: dos
"""


def commit_saved(inside: Writer, saved: str, unit: Unit, identity: Mapping[str, str]) -> str:
    """Commit the files of a saved commit on top of the head, and return the new commit.

    The message has the unit's trailer, the author is the identity that agents commit with, the
    committer is dos. It can be repeated.
    """
    if inside.object_of("HEAD^{tree}") == inside.object_of(f"{saved}^{{tree}}"):
        # Git made the commit before, and died before it answered.
        return inside.run("rev-parse", "HEAD").strip()
    inside.run("read-tree", "--reset", "-u", saved)
    title = " ".join(unit.title.split()) or unit.name
    message = _MESSAGE.format(name=unit.name, title=title)
    words = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "-m", message]
    author = identity.get("GIT_AUTHOR_NAME")
    email = identity.get("GIT_AUTHOR_EMAIL")
    if author and email:
        words.append(f"--author={author} <{email}>")
    inside.run(*AS_DOS, *words)
    return inside.run("rev-parse", "HEAD").strip()


def add_unit_trailer(inside: Writer, head: str, unit: Unit) -> str:
    """Return a copy of the commit `head` with the unit's trailer, committed by dos.

    Files, parents and author are the commit's own. It is made from the commit alone, since nobody
    has measured what is in the index or on top by now. Raises MalformedObject where git no longer
    accepts a header of that commit.
    """
    text = CommitText.read(inside, head)
    message = _NAMED.format(said=text.message.strip() or unit.name, name=unit.name)
    committer = inside.run(*AS_DOS, "var", "GIT_COMMITTER_IDENT").strip()
    return text.write_copy(inside, message, committer=committer)


def lay_out_saved(
    inside: Writer, saved: str, *, base: str, is_inside: Callable[[str], bool]
) -> bool:
    """Put the changes of a saved commit into a clean tree, uncommitted.

    Only paths that `is_inside` admits are written: a path outside the lane would make the next
    work stray too. Returns False, and changes nothing, where the target has changed those paths
    since.
    """
    parent = inside.commit_of(f"{saved}^1")
    if parent is None:
        return False
    changed = [path for path in inside.paths_between(parent, saved) if is_inside(path)]
    changed_since: set[str] = set()
    if parent != base:
        changed_since = set(inside.paths_between(parent, base))
    if not changed or changed_since & set(changed):
        return False
    words = ("--literal-pathspecs", "restore", f"--source={saved}", "--worktree")
    paths = "".join(f"{path}\0" for path in changed)
    inside.run(*words, "--pathspec-from-file=-", "--pathspec-file-nul", feed=paths)
    return True
