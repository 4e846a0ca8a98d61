"""Saves work before a worktree is cleared, and makes saved work ready for a landing.

Commits and uncommitted changes are saved to refs below `refs/dos/salvage/`, one folder of refs for
each run. What git cannot hold in a commit, such as a nested repository, is moved to the salvage
folder of the state directory. `landing/salvage_list.py` lists, applies and deletes what was saved.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from dos.errors import GitUnanswered
from dos.fleet.effects import Salvage
from dos.git.commits import CommitText
from dos.git.repository import AS_DOS, SALVAGE_REFS, Writer
from dos.machine import filesystem
from dos.text import escape_invisible, replace_undecodable
from dos.units.unit import Unit

LONGEST_NAME = 60  # characters, of what is moved aside


def save_head(git: Writer, head: str | None, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Save the commit `head` to a ref, unless the base or another salvage ref holds it already."""
    if head is None or git.is_ancestor(head, base):
        return []
    if is_saved(git, head):
        return []
    return [save_to_ref(git, run_id, head, f"{why}: commits")]


def is_saved(git: Writer, commit: str) -> bool:
    """Whether a salvage ref points at the commit."""
    return bool(git.run("for-each-ref", "--points-at", commit, SALVAGE_REFS).strip())


def save_snapshot(
    git: Writer, run_id: str, snapshot: str, why: str, *, is_earlier: bool
) -> Salvage | None:
    """Save a commit that was made of files just now; None: the same is saved already.

    A process that died may have saved the same files on the same commit: that commit differs from
    this one in its date alone. What this run has saved is returned as if it were saved again, so
    that taking a lane over can be repeated. What another run has saved counts only for work that is
    `is_earlier`: otherwise an agent has done the same once more, and that is judged again.
    """
    content = git.run("show", "--no-patch", "--format=%T %P", snapshot).strip()
    words = ("--format=%(refname) %(objectname) %(tree) %(parent)", SALVAGE_REFS)
    is_saved_before = False
    for line in git.run("for-each-ref", *words).splitlines():
        ref, commit, saved = line.split(" ", 2)
        if saved.strip() != content:
            continue
        is_saved_before = True
        if ref.startswith(f"{SALVAGE_REFS}{run_id}/"):
            return Salvage(ref=ref, commit=commit, why=why)
    if is_saved_before and is_earlier:
        return None
    return save_to_ref(git, run_id, snapshot, why)


def save_folder(path: Path, state: Path, run_id: str, why: str) -> list[Salvage]:
    """Move a folder that git cannot make sense of to the salvage folder.

    A folder without a file of anybody's stays, and nothing is returned.
    """
    path.chmod(0o700)  # a folder that is closed to its owner cannot be read or moved
    if [name.name for name in path.iterdir()] in ([], [".git"]) and not (path / ".git").is_dir():
        (path / ".git").unlink(missing_ok=True)
        return []
    return [move_aside(path.parent, path.name, state, run_id, why)]


def save_to_ref(inside: Writer, run_id: str, commit: str, why: str) -> Salvage:
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


def move_aside(below: Path, path: str, state: Path, run_id: str, why: str) -> Salvage:
    """Move what git cannot save to the salvage folder of the run, under the next free number.

    `path` leads to it from the folder `below`, through no link; raises OSError. Of its name is kept
    what can be written and shown everywhere.
    """
    folder = state / "salvage" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    taken = (entry.name.partition("-")[0] for entry in folder.iterdir())
    number = 1 + max((int(name) for name in taken if name.isdecimal()), default=0)
    name = escape_invisible(replace_undecodable(Path(path).name))[:LONGEST_NAME]
    target = folder / f"{number}-{name}"
    filesystem.move(below, path, target)
    return Salvage(ref=str(target), commit="", why=why)


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


def commit_saved(
    git: Writer, head: str, saved: str, unit: Unit, identity: Mapping[str, str]
) -> str:
    """Commit the files of a saved commit on top of the head, and return the new commit.

    The message has the unit's trailer, the author is the identity that agents commit with, the
    committer is dos. It can be repeated.
    """
    tree = git.object_of(f"{saved}^{{tree}}") or ""
    if git.object_of(f"{head}^{{tree}}") == tree:
        return head  # it was made before, and git died before it answered
    title = " ".join(unit.title.split()) or unit.name
    message = _MESSAGE.format(name=unit.name, title=title)
    author: tuple[str, ...] = ()
    name = identity.get("GIT_AUTHOR_NAME")
    email = identity.get("GIT_AUTHOR_EMAIL")
    if name and email:
        author = ("-c", f"author.name={name}", "-c", f"author.email={email}")
    return git.run(
        *AS_DOS, *author, "commit-tree", tree, "-p", head, "-F", "-", feed=message
    ).strip()


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
    git: Writer, inside: Writer, saved: str, *, base: str, is_inside: Callable[[str], bool]
) -> bool:
    """Put the changes of a saved commit into a clean tree, uncommitted.

    Only paths that `is_inside` admits are written: a path outside the lane would make the next
    work stray too. Returns False, and changes nothing, where the target has changed those paths
    since.
    """
    parent = git.commit_of(f"{saved}^1")
    if parent is None:
        return False
    changed = [path for path in git.paths_between(parent, saved) if is_inside(path)]
    changed_since: set[str] = set()
    if parent != base:
        changed_since = set(git.paths_between(parent, base))
    if not changed or changed_since & set(changed):
        return False
    words = ("--literal-pathspecs", "restore", f"--source={saved}", "--worktree")
    paths = "".join(f"{path}\0" for path in changed)
    inside.run(*words, "--pathspec-from-file=-", "--pathspec-file-nul", feed=paths)
    return True
