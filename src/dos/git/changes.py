"""What a commit is made of: its message, and each file as it was and as it is."""

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from dos.git import log
from dos.git.commits import resolve_commit
from dos.git.objects import SUBMODULE, Objects, TreeEntry
from dos.git.repository import Reader
from dos.verify import content
from dos.verify.message import Message


class FileChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob is a file that is not there."""

    path: str
    old_path: str = ""  # where it was, when it moved; else empty
    status: str = (
        "M"  # git's letter: A added, D deleted, M changed, R moved, C copied, T became another type
    )
    old_blob: str = ""
    new_blob: str = ""
    old_mode: str = ""
    new_mode: str = ""


class CommitFacts(Struct, frozen=True, kw_only=True):
    """A commit and what it changed against its first parent; a first commit made all that is in it."""

    sha: str
    parents: tuple[str, ...]
    subject: str
    body: str
    files: tuple[FileChange, ...]


_FORMAT = "--format=%H%x00%P%x00%B%x00"
_RAW = (
    "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--diff-merges=first-parent", "--no-relative",
    "--ignore-submodules=none", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-show-signature",
    "--no-mailmap", "--encoding=UTF-8",
)  # fmt: skip
_ABSENT = re.compile(r"0+")
_RANGE = re.compile(r"(?P<old>.*?)(?P<dots>\.{2,3})(?P<new>.*)", re.DOTALL)


class CommitRange(Struct, frozen=True, kw_only=True):
    """Which commits are meant, by their whole names."""

    words: tuple[str, ...]
    is_range: bool
    short: int  # how long git's short names are here


def parse_range(git: Reader, text: str) -> CommitRange:
    """One commit, or a range `A..B` or `A...B`; a side that is left out is HEAD."""
    found = _RANGE.fullmatch(text)
    if found is None:
        one = resolve_commit(git, text)
        return CommitRange(words=("--no-walk", one), is_range=False, short=_short(git, one))
    old, new = (resolve_commit(git, found[side] or "HEAD") for side in ("old", "new"))
    return CommitRange(words=(f"{old}{found['dots']}{new}",), is_range=True, short=_short(git, new))


def read_commits(git: Reader, wanted: CommitRange) -> Iterator[CommitFacts]:
    """Newest first. What they changed is against the first parent; a first commit made all that is in it."""
    fields = log.stream_fields(git, "log", _FORMAT, *_RAW, *wanted.words, "--")
    sha = next(fields, b"")
    while sha:
        parents, message, _ = (
            next(fields, b"") for _ in range(3)
        )  # the format ends with an empty field
        files, following = _files(fields)
        said = Message.parse(message.decode("utf-8", "replace"))
        yield CommitFacts(
            sha=sha.decode(),
            parents=tuple(parents.decode().split()),
            subject=said.subject,
            body=said.body,
            files=files,
        )
        sha = following


def _files(fields: Iterator[bytes]) -> tuple[tuple[FileChange, ...], bytes]:
    """`:modes blobs status`, then the path, again and again; and the field after them, which begins a commit."""
    found: list[FileChange] = []
    for head in fields:
        if not head.startswith((b":", b"\n:")):
            return tuple(found), head
        old_mode, new_mode, old, new, status = head.lstrip(b"\n:").decode().split(" ")
        found.append(
            FileChange(
                path=next(fields).decode("utf-8", "surrogateescape"),
                status=status,
                old_blob=_blob(old),
                new_blob=_blob(new),
                old_mode=old_mode,
                new_mode=new_mode,
            )
        )
    return tuple(found), b""


def _blob(name: str) -> str:
    return "" if _ABSENT.fullmatch(name) else name


def _short(git: Reader, sha: str) -> int:
    return len(log.short_names(git, [sha])[sha])


ALIKE = 0.5  # of the lines: a file that was taken away and one that came are one that moved
MOST_PAIRS = 2_500


def tree_changes(objects: Objects, old: str, new: str) -> list[FileChange]:
    """From one tree to another; an empty name is a tree with nothing in it."""
    found = list(_differing(objects, old, new, ""))
    gone = {path: entry for path, entry, after in found if entry is not None and after is None}
    come = {path: after for path, entry, after in found if entry is None and after is not None}
    moved = _moved(objects, gone, come)
    sources = set(moved.values())
    return [
        _change(path, entry or gone.get(moved.get(path, "")), after, moved.get(path, ""))
        for path, entry, after in found
        if not (after is None and path in sources)
    ]


def _change(
    path: str, before: TreeEntry | None, after: TreeEntry | None, old_path: str
) -> FileChange:
    status = "R" if old_path else "A" if before is None else "D" if after is None else "M"
    return FileChange(
        path=path,
        old_path=old_path,
        status=status,
        old_blob=before.sha if before else "",
        new_blob=after.sha if after else "",
        old_mode=f"{before.mode:06o}" if before else "",
        new_mode=f"{after.mode:06o}" if after else "",
    )


def _differing(
    objects: Objects, old: str, new: str, folder: str
) -> Iterator[tuple[str, TreeEntry | None, TreeEntry | None]]:
    waiting = [(old, new, folder)]
    while waiting:
        old, new, folder = waiting.pop()
        before = objects.tree(old) if old else {}
        after = objects.tree(new) if new else {}
        for name in sorted(before.keys() | after.keys()):
            mine, theirs = before.get(name), after.get(name)
            if mine == theirs:
                continue
            old_tree = mine.sha if mine and mine.is_tree else ""
            new_tree = theirs.sha if theirs and theirs.is_tree else ""
            if old_tree or new_tree:
                waiting.append((old_tree, new_tree, f"{folder}{name}/"))
            file, became = (None if each and each.is_tree else each for each in (mine, theirs))
            if file is not None or became is not None:
                yield folder + name, file, became


def _moved(
    objects: Objects, gone: dict[str, TreeEntry], come: dict[str, TreeEntry]
) -> dict[str, str]:
    """New path -> old path. The same content first, then what is alike; each file once."""
    moved: dict[str, str] = {}
    left = dict(gone)
    for path, entry in come.items():
        same = next((old for old, before in left.items() if before.sha == entry.sha), None)
        if same is not None and entry.mode != SUBMODULE:
            moved[path] = same
            del left[same]
    rest = [path for path in come if path not in moved]
    if not left or not rest or len(left) * len(rest) > MOST_PAIRS:
        return moved
    old_lines = {path: _lines(objects, entry) for path, entry in left.items()}
    new_lines = {path: _lines(objects, come[path]) for path in rest}
    pairs = sorted(
        ((_likeness(old_lines[old], new_lines[new]), new, old) for old in left for new in rest),
        key=lambda pair: (-pair[0], pair[1:]),
    )
    for likeness, new, old in pairs:
        if likeness >= ALIKE and new not in moved and old not in moved.values():
            moved[new] = old
    return moved


def _lines(objects: Objects, entry: TreeEntry) -> Counter[str]:
    raw = objects.blob(entry.sha) or b""
    return (
        Counter()
        if content.is_binary(raw)
        else Counter(filter(str.strip, content.decode(raw).split("\n")))
    )


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    return (old & new).total() / max(old.total(), new.total(), 1)
