"""Which work was saved and did not land: git's refs, the folders beside them, and what the journal tells of each."""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct, structs

from dos.errors import BadInput, GitFailed
from dos.git.repository import AS_DOS, Reader, Writer
from dos.journal.events import fleet
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select
from dos.landing import branch
from dos.text import join_some, plural, printable_path, quote
from dos.units.unit import Unit

_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
PREFIX = "refs/dos/salvage/"
MOST_FILES = 100_000  # that are counted in a folder
SHORTEST_COMMIT = 6
_ASIDE = re.compile(r"\d+-")
_FIELDS = (
    "refname", "objectname", "committerdate:unix", "contents:subject", "contents:trailers:key=Unit,valueonly",
)  # fmt: skip
_FORMAT = "".join(f"%({field})%00" for field in _FIELDS) + "%01"


class SavedWork(Struct, frozen=True, kw_only=True):
    number: int  # the oldest is 1: what comes later changes no number
    ref: str  # a ref, or where a folder is that git could not hold
    commit: str = ""  # empty for a folder
    base: str = ""  # what the commit is a change of; empty: of nothing
    at_ms: int = 0
    run_id: str = ""
    lane: str = ""
    unit: str = ""
    why: str = ""
    files: int = 0
    bytes: int = 0

    @property
    def name(self) -> str:
        """As short as it can be typed."""
        return self.ref.removeprefix(PREFIX)


def read(git: Reader, state: Path, happened: Iterable[Event]) -> list[SavedWork]:
    """Everything that is there, oldest first; what the journal tells of and is gone is gone."""
    told = _told(happened)
    found = [*_refs(git), *_folders(state / "salvage")]
    known = [_completed(saved, told.get(saved.ref)) for saved in found]
    known.sort(key=lambda saved: (saved.at_ms, saved.ref))
    return [structs.replace(saved, number=number) for number, saved in enumerate(known, 1)]


def with_size(git: Reader, saved: SavedWork) -> SavedWork:
    """With how many files it changes, and how much is in them."""
    if not saved.commit:
        return saved
    base = base_commit(git, saved.commit)
    words = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev", base, saved.commit)
    states = [
        record.split(" ") for record in git.run("diff-tree", *words).split("\0")[::2] if record
    ]
    blobs = [state[3] for state in states if state[1] not in ("000000", ":000000", "160000")]
    said = (
        git.run(
            "cat-file", "--batch-check=%(objectsize)", feed="".join(f"{blob}\n" for blob in blobs)
        )
        if blobs
        else ""
    )
    size = sum(int(line) for line in said.split() if line.isdigit())
    return structs.replace(saved, base=base, files=len(states), bytes=size)


def base_commit(git: Reader, commit: str) -> str:
    """What the saved commit is a change of: its parent where dos or a stash made it, else where it left our history."""
    subject, _, parents = (
        git.run("show", "--no-patch", "--format=%s%x00%P", commit).rstrip("\n").partition("\0")
    )
    first, *others = parents.split() or [""]
    is_stash = bool(others) and git.run("show", "--no-patch", "--format=%s", others[0]).startswith(
        "index on "
    )
    if subject.startswith("Salvaged by dos: ") or is_stash:
        return first or _nothing(git)
    shared = (
        git.attempt("merge-base", "HEAD", commit).stdout.strip() if git.commit_of("HEAD") else ""
    )
    return shared or first or _nothing(git)


def find(everything: list[SavedWork], asked: str) -> SavedWork:
    """By its number, its ref, the end of it, or its commit."""
    if asked.isascii() and asked.isdigit() and len(asked) < SHORTEST_COMMIT:
        found = [saved for saved in everything if saved.number == int(asked)]
    else:
        names = {asked, f"refs/{asked}", f"{PREFIX}{asked}"}
        found = [
            saved
            for saved in everything
            if saved.ref in names or saved.ref.endswith(f"/salvage/{asked}")
        ]
        if not found and len(asked) >= SHORTEST_COMMIT:
            found = [saved for saved in everything if saved.commit.startswith(asked)]
    if not found:
        there = join_some([f"{saved.number} ({saved.name})" for saved in reversed(everything)])
        raise BadInput(
            f"no saved work is called {quote(asked)}; "
            + (f"there is {there}" if there else "there is none at all"),
            hint="`dos salvage list` shows what there is.",
        )
    return found[-1]


class _Told(Struct, frozen=True):
    at_ms: int
    fact: fleet.WorkSalvaged
    unit: str


def _told(happened: Iterable[Event]) -> dict[str, _Told]:
    claimed: dict[str, str] = {}  # the unit that each run is at
    told: dict[str, _Told] = {}
    for event, fact in select(happened, fleet.UnitClaimed, fleet.WorkSalvaged):
        if isinstance(fact, fleet.UnitClaimed):
            claimed[fact.run_id] = fact.unit
        else:
            unit = "" if fact.earlier else claimed.get(fact.run_id, "")
            told[fact.ref] = _Told(event.at_ms, fact, unit)
    return told


def _completed(saved: SavedWork, told: _Told | None) -> SavedWork:
    # A number that was given out again after a drop is other work than the journal tells of.
    if told is None or told.fact.commit != saved.commit:
        return saved
    unit = told.unit or saved.unit
    return structs.replace(
        saved, at_ms=told.at_ms, lane=told.fact.lane, unit=unit, why=told.fact.why
    )


def _refs(git: Reader) -> list[SavedWork]:
    said = git.run("for-each-ref", f"--format={_FORMAT}", PREFIX)
    found = []
    for record in said.split("\0\1\n"):
        if not record:
            continue
        ref, commit, seconds, subject, unit = record.split("\0")
        found.append(
            SavedWork(
                number=0,
                ref=ref,
                commit=commit,
                at_ms=int(seconds or 0) * 1000,
                run_id=ref.removeprefix(PREFIX).partition("/")[0],
                unit=unit.strip(),
                why=subject.removeprefix("Salvaged by dos: "),
            )
        )
    return found


def _folders(place: Path) -> list[SavedWork]:
    """What was moved as it was: below its run, or beside the runs where a person was told to put it."""
    if not place.is_dir():
        return []
    runs = [path for path in place.iterdir() if path.is_dir() and not _ASIDE.match(path.name)]
    found = [("", path) for path in place.iterdir() if _ASIDE.match(path.name)]
    found += [(run.name, path) for run in runs for path in run.iterdir()]
    return [_folder(run_id, path) for run_id, path in found]


def _folder(run_id: str, path: Path) -> SavedWork:
    files = size = 0
    for folder, _, names in os.walk(path):
        for name in names[: MOST_FILES - files]:
            files, size = files + 1, size + (Path(folder) / name).lstat().st_size
    at_ms = path.lstat().st_ctime_ns // 1_000_000
    return SavedWork(
        number=0, ref=str(path), at_ms=at_ms, run_id=run_id, why="a folder", files=files, bytes=size
    )


def _nothing(git: Reader) -> str:
    """The empty tree, which git knows without its being stored."""
    return _EMPTY_TREES[git.run("rev-parse", "--show-object-format").strip()]


class ApplyResult(Struct, frozen=True, kw_only=True):
    files: list[str]  # that are changed by it, or would be
    conflicts: list[str]  # where both sides changed the same: then nothing was done
    in_the_way: str = ""  # of the user's; then nothing was done either

    @property
    def fits(self) -> bool:
        return not self.conflicts and not self.in_the_way


def apply(tree: Path, saved: SavedWork, *, dry_run: bool = False) -> ApplyResult:
    """Bring the change into the work tree, staged and uncommitted: all of it, or none."""
    if not saved.commit:
        raise BadInput(
            f"{saved.ref} is a folder that git could not hold, so it cannot be applied as a change",
            hint=f"Look what is in it, and copy what you want: ls -A {saved.ref}",
        )
    top = Writer(Path(Reader(tree).run("rev-parse", "--show-toplevel").removesuffix("\n")))
    head = top.commit_of("HEAD")
    if head is None:
        raise BadInput(
            f"{top.tree} has no commit to apply anything to", hint="Commit something first."
        )
    merged, conflicts = _merged(top, base_commit(top, saved.commit), head, saved.commit)
    files = top.paths_between(head, merged)
    if conflicts:
        return ApplyResult(files=files, conflicts=conflicts)
    in_the_way = _in_the_way(top, head, files)
    if not in_the_way and not dry_run and files:
        try:
            top.run("read-tree", "-m", "-u", head, merged)
        except GitFailed as error:
            in_the_way = error.message
    return ApplyResult(files=files, conflicts=[], in_the_way=in_the_way)


def _merged(git: Writer, base: str, ours: str, theirs: str) -> tuple[str, list[str]]:
    """The tree of both changes, and the paths at which they meet. Nothing but objects is written."""
    from_base = git.run(*AS_DOS, "commit-tree", f"{base}^{{tree}}", "-m", "base").strip()
    sides = [
        git.run(*AS_DOS, "commit-tree", f"{side}^{{tree}}", "-p", from_base, "-m", "side").strip()
        for side in (ours, theirs)
    ]
    done = git.attempt("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
    tree, *names = [each for each in done.stdout.split("\0") if each]
    return tree, [printable_path(name) for name in names] or (
        ["somewhere"] if done.returncode else []
    )


def _in_the_way(tree: Writer, head: str, files: list[str]) -> str:
    if begun := branch.unfinished_operation(tree):
        return f"{tree.tree} is in the middle of something ({begun})"
    if edited := sorted(set(files) & set(tree.dirty_paths())):
        return f"it changes {join_some([printable_path(path) for path in edited])}, which nobody has committed yet"
    hidden = branch.untracked_obstacles(tree, head, files)
    return (
        f"{join_some([printable_path(path) for path in hidden])} is there already, in no commit"
        if hidden
        else ""
    )


def drop(tree: Path, saved: SavedWork) -> str:
    """Let go of it; how it can be had back."""
    if saved.commit:
        if refused := Writer(tree).swap_ref(saved.ref, None, saved.commit):
            raise GitFailed(refused)
        return f"git update-ref {saved.ref} {saved.commit} ''"  # unless other work has that name by now
    path = Path(saved.ref)
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return ""


def describe_size(saved: SavedWork) -> str:
    """How much it is, for people."""
    size, unit = float(saved.bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size >= 1000:
            size, unit = size / 1000, larger
    return f"{plural(saved.files, 'file')}, {size:.0f} {unit}"


_MESSAGE = """Work on {name}

{title}

Its agent ended without a commit. dos committed what it had left, which the acceptance command was then run on.

Unit: {name}
Committed-by: dos
"""
_NAMED = """{said}

Its agent did not name the unit. dos added the name, once the acceptance command had passed.

Unit: {name}
Named-by: dos
"""


def commit_saved(inside: Writer, saved: str, unit: Unit, identity: Mapping[str, str]) -> str:
    """Commit the files of a saved commit on top of the head, with the unit's trailer; the new commit.

    The author is whoever the agents commit as; the committer is dos. It can be repeated.
    """
    if inside.object_of("HEAD^{tree}") == inside.object_of(f"{saved}^{{tree}}"):
        return inside.run("rev-parse", "HEAD").strip()  # git made it, and died before it said so
    inside.run("read-tree", "--reset", "-u", saved)
    message = _MESSAGE.format(name=unit.name, title=" ".join(unit.title.split()) or unit.name)
    name, email = identity.get("GIT_AUTHOR_NAME"), identity.get("GIT_AUTHOR_EMAIL")
    author = (f"--author={name} <{email}>",) if name and email else ()
    inside.run(
        *AS_DOS, "commit", "--quiet", "--no-verify", "--cleanup=verbatim", *author, "-m", message
    )
    return inside.run("rev-parse", "HEAD").strip()


def add_unit_trailer(inside: Writer, head: str, unit: Unit) -> str:
    """The commit `head` with the unit's trailer added: same files, parents and author; the committer is dos.

    It is made of the commit alone: what lies in the index, or on top of it by now, nobody has measured. MalformedObject
    where git takes a header of that commit from nobody any more.
    """
    header, _, said = inside.run("cat-file", "commit", head).partition("\n\n")
    kept = [line for line in header.split("\n") if line.startswith(("tree ", "parent ", "author "))]
    encoding = [line for line in header.split("\n") if line.startswith("encoding ")]
    committer = f"committer {inside.run(*AS_DOS, 'var', 'GIT_COMMITTER_IDENT').strip()}"
    message = _NAMED.format(said=said.strip() or unit.name, name=unit.name)
    feed = "\n".join([*kept, committer, *encoding, "", message])
    return inside.run("hash-object", "-t", "commit", "-w", "--stdin", feed=feed).strip()


def lay_out_saved(
    inside: Writer, saved: str, *, base: str, is_inside: Callable[[str], bool]
) -> bool:
    """Put the changes of a saved commit into a clean tree, uncommitted; False, and nothing done, where they do not fit.

    Only paths that `is_inside` admits: what was left outside of the lane would make the next work stray too. They fit
    where nobody has changed those paths since.
    """
    parent = inside.commit_of(f"{saved}^1")
    if parent is None:
        return False
    changed = [path for path in inside.paths_between(parent, saved) if is_inside(path)]
    moved = set() if parent == base else set(inside.paths_between(parent, base))
    if not changed or moved & set(changed):
        return False
    words = (
        "--literal-pathspecs",
        "restore",
        f"--source={saved}",
        "--worktree",
        "--pathspec-from-file=-",
    )
    inside.run(*words, "--pathspec-file-nul", feed="".join(f"{path}\0" for path in changed))
    return True
