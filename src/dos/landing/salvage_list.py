"""Lists, finds, applies and deletes saved work that did not land, for the verbs of `dos salvage`.

Saved work is a commit on a ref below `refs/dos/salvage/`, or a folder that git could not hold.
`landing/lane/salvage_writer.py` saves it. Work is identified by its ref; the numbers that people
type count from the oldest.
"""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs

from dos.errors import BadInput, GitFailed
from dos.git.repository import AS_DOS, SALVAGE_REFS, Reader, Writer
from dos.journal.events import fleet
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select
from dos.landing import branch
from dos.text import join_some, plural, printable_path, quote

_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
MOST_FILES = 100_000  # of a folder are counted
SHORTEST_COMMIT = 6
_ASIDE = re.compile(r"\d+-")
_FIELDS = (
    "refname",
    "objectname",
    "committerdate:unix",
    "contents:subject",
    "contents:trailers:key=Unit,valueonly",
)
_FORMAT = "".join(f"%({field})%00" for field in _FIELDS) + "%01"


class SavedWork(Struct, frozen=True, kw_only=True):
    """A saved commit or folder, with what git and the journal know about it."""

    number: int  # the oldest is 1, so that newer work changes no number
    ref: str  # a ref, or the path of a folder
    commit: str = ""  # empty for a folder
    base: str = ""  # the commit that it changes; empty: none
    at_ms: int = 0
    run_id: str = ""
    lane: str = ""
    unit: str = ""
    why: str = ""
    files: int = 0
    bytes: int = 0

    @property
    def name(self) -> str:
        """The shortest name that the verbs accept."""
        return self.ref.removeprefix(SALVAGE_REFS)


def read(git: Reader, state: Path, happened: Iterable[Event]) -> list[SavedWork]:
    """Return all saved work that exists, oldest first; events add its lane, unit and reason."""
    recorded = _recorded(happened)
    found = []
    for saved in (*_refs(git), *_folders(state / "salvage")):
        found.append(_completed(saved, recorded.get(saved.ref)))
    found.sort(key=_age)
    return [structs.replace(saved, number=number) for number, saved in enumerate(found, 1)]


def _age(saved: SavedWork) -> tuple[int, str]:
    return saved.at_ms, saved.ref


def with_size(git: Reader, saved: SavedWork) -> SavedWork:
    """Return the saved work with how many files its commit changes, and how large they are."""
    if not saved.commit:
        return saved
    base = base_commit(git, saved.commit)
    words = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev", base, saved.commit)
    records = git.run("diff-tree", *words).split("\0")[::2]
    states = [record.split(" ") for record in records if record]
    blobs = [state[3] for state in states if state[1] not in ("000000", ":000000", "160000")]
    sizes = ""
    if blobs:
        feed = "".join(f"{blob}\n" for blob in blobs)
        sizes = git.run("cat-file", "--batch-check=%(objectsize)", feed=feed)
    total = sum(int(size) for size in sizes.split() if size.isdigit())
    return structs.replace(saved, base=base, files=len(states), bytes=total)


def base_commit(git: Reader, commit: str) -> str:
    """Return the commit, or the empty tree, that a saved commit is a change of.

    That is its parent where dos or a stash made the commit, else where it left our history.
    """
    shown = git.run("show", "--no-patch", "--format=%s%x00%P", commit).rstrip("\n")
    subject, _, parents = shown.partition("\0")
    first, *others = parents.split() or [""]
    is_salvage = subject.startswith("Salvaged by dos: ")
    if is_salvage or (others and _is_stash_index(git, others[0])):
        return first or _empty_tree(git)
    shared = ""
    if git.commit_of("HEAD"):
        shared = git.attempt("merge-base", "HEAD", commit).stdout.strip()
    return shared or first or _empty_tree(git)


def _is_stash_index(git: Reader, commit: str) -> bool:
    subject = git.run("show", "--no-patch", "--format=%s", commit)
    return subject.startswith("index on ")


def find(everything: list[SavedWork], name: str) -> SavedWork:
    """Return the saved work with this number, ref, end of a ref, or commit; else raise BadInput."""
    if name.isascii() and name.isdigit() and len(name) < SHORTEST_COMMIT:
        found = [saved for saved in everything if saved.number == int(name)]
    else:
        refs = {name, f"refs/{name}", f"{SALVAGE_REFS}{name}"}
        ending = f"/salvage/{name}"
        found = [saved for saved in everything if saved.ref in refs or saved.ref.endswith(ending)]
        if not found and len(name) >= SHORTEST_COMMIT:
            found = [saved for saved in everything if saved.commit.startswith(name)]
    if found:
        return found[-1]
    names = join_some([f"{saved.number} ({saved.name})" for saved in reversed(everything)])
    if not names:
        raise BadInput(f"no saved work is called {quote(name)}", hint="There is no saved work.")
    raise BadInput(
        f"no saved work is called {quote(name)}; there is {names}",
        hint="`dos salvage list` shows all saved work.",
    )


class _Record(Struct, frozen=True):
    """What the journal says about saved work."""

    at_ms: int
    fact: fleet.WorkSalvaged
    unit: str


def _recorded(happened: Iterable[Event]) -> dict[str, _Record]:
    """Return the journal's record of saved work, by ref."""
    claimed: dict[str, str] = {}  # the unit that each run works on
    records: dict[str, _Record] = {}
    for event, fact in select(happened, fleet.UnitClaimed, fleet.WorkSalvaged):
        if isinstance(fact, fleet.UnitClaimed):
            claimed[fact.run_id] = fact.unit
        else:
            unit = "" if fact.earlier else claimed.get(fact.run_id, "")
            # Work that is saved once more keeps its ref, and the time when it was saved first.
            known = records.get(fact.ref)
            if known is None or known.fact.commit != fact.commit:
                records[fact.ref] = _Record(event.at_ms, fact, unit)
    return records


def _completed(saved: SavedWork, record: _Record | None) -> SavedWork:
    """Add what the journal knows, unless the number was reused for other work after a drop."""
    if record is None or record.fact.commit != saved.commit:
        return saved
    unit = record.unit or saved.unit
    return structs.replace(
        saved, at_ms=record.at_ms, lane=record.fact.lane, unit=unit, why=record.fact.why
    )


def _refs(git: Reader) -> list[SavedWork]:
    """Return the saved commits, as git's refs show them."""
    listing = git.run("for-each-ref", f"--format={_FORMAT}", SALVAGE_REFS)
    found = []
    for record in listing.split("\0\1\n"):
        if not record:
            continue
        ref, commit, seconds, subject, unit = record.split("\0")
        found.append(
            SavedWork(
                number=0,
                ref=ref,
                commit=commit,
                at_ms=int(seconds or 0) * 1000,
                run_id=ref.removeprefix(SALVAGE_REFS).partition("/")[0],
                unit=unit.strip(),
                why=subject.removeprefix("Salvaged by dos: "),
            )
        )
    return found


def _folders(place: Path) -> list[SavedWork]:
    """Return the moved folders: below a run, or beside the runs where a person put one."""
    found: list[SavedWork] = []
    if not place.is_dir():
        return found
    for path in place.iterdir():
        if _ASIDE.match(path.name):
            found.append(_folder("", path))
        elif path.is_dir():
            found += [_folder(path.name, aside) for aside in path.iterdir()]
    return found


def _folder(run_id: str, path: Path) -> SavedWork:
    files = 0
    size = 0
    for folder, _, names in os.walk(path):
        for name in names[: MOST_FILES - files]:
            files += 1
            size += (Path(folder) / name).lstat().st_size
    at_ms = path.lstat().st_ctime_ns // 1_000_000
    return SavedWork(
        number=0, ref=str(path), at_ms=at_ms, run_id=run_id, why="a folder", files=files, bytes=size
    )


def _empty_tree(git: Reader) -> str:
    """Return the empty tree, which git knows without storing it."""
    return _EMPTY_TREES[git.run("rev-parse", "--show-object-format").strip()]


class ApplyResult(Struct, frozen=True, kw_only=True):
    """What applying saved work changed, or what kept it from changing anything."""

    files: list[str]  # that it changes, or would change
    conflicts: list[str]  # where both sides changed the same lines
    in_the_way: str = ""  # the user's own files or operation

    @property
    def fits(self) -> bool:
        """Whether nothing keeps it from being applied."""
        return not self.conflicts and not self.in_the_way


def apply(tree: Path, saved: SavedWork, *, dry_run: bool = False) -> ApplyResult:
    """Apply the saved change to the work tree, staged and uncommitted: all of it, or nothing.

    Raises BadInput for a folder, and where the tree has no commit.
    """
    if not saved.commit:
        raise BadInput(
            f"{saved.ref} is a folder, and only saved commits can be applied",
            hint=f"Copy what you need from it: ls -A {saved.ref}",
        )
    top = Writer(Path(Reader(tree).run("rev-parse", "--show-toplevel").removesuffix("\n")))
    head = top.commit_of("HEAD")
    if head is None:
        raise BadInput(f"{top.tree} has no commit to apply it to", hint="Commit something first.")
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
    """Return the tree of both changes, and the paths in conflict. Only objects are written."""
    root = git.run(*AS_DOS, "commit-tree", f"{base}^{{tree}}", "-m", "base").strip()
    sides = []
    for side in (ours, theirs):
        words = ("commit-tree", f"{side}^{{tree}}", "-p", root, "-m", "side")
        sides.append(git.run(*AS_DOS, *words).strip())
    done = git.attempt("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
    tree, *names = [field for field in done.stdout.split("\0") if field]
    conflicts = [printable_path(name) for name in names]
    if done.returncode and not conflicts:
        conflicts = ["(git does not name the files)"]
    return tree, conflicts


def _in_the_way(tree: Writer, head: str, files: list[str]) -> str:
    """Return what of the user's the files would overwrite, or an empty text."""
    operation = branch.unfinished_operation(tree)
    if operation:
        return f"{tree.tree} has an unfinished operation ({operation})"
    edited = sorted(set(files) & set(tree.dirty_paths()))
    if edited:
        paths = join_some([printable_path(path) for path in edited])
        return f"it changes {paths}, which has uncommitted changes"
    untracked = branch.untracked_obstacles(tree, head, files)
    if untracked:
        paths = join_some([printable_path(path) for path in untracked])
        return f"{paths} exists and is in no commit"
    return ""


def drop(tree: Path, saved: SavedWork) -> str:
    """Delete the saved work, and return the command that restores it; empty for a folder."""
    if saved.commit:
        refused = Writer(tree).swap_ref(saved.ref, None, saved.commit)
        if refused:
            raise GitFailed(refused)
        # The empty old value: unless other work has that name by now.
        return f"git update-ref {saved.ref} {saved.commit} ''"
    path = Path(saved.ref)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return ""


def describe_size(saved: SavedWork) -> str:
    """Return the number of files and their size, for people."""
    size = float(saved.bytes)
    unit = "bytes"
    for larger in ("kB", "MB", "GB"):
        if size >= 1000:
            size /= 1000
            unit = larger
    return f"{plural(saved.files, 'file')}, {size:.0f} {unit}"
