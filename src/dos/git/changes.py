"""What changed between two trees or in a commit, file by file."""

import re
from collections import Counter
from collections.abc import Collection, Iterator

from msgspec import Struct

from dos.git import log
from dos.git.commits import resolve_commit
from dos.git.objects import SUBMODULE, Objects, TreeEntry
from dos.git.repository import Reader
from dos.verify import content
from dos.verify.message import Message

ALIKE = 0.5  # share of common lines from which a deleted and an added file are one that moved
MOST_PAIRS = 2_500  # of deleted and added files whose lines are compared
LARGEST_PROGRAM = 200_000  # bytes of a file whose tokens are compared with those of another


class FileChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob stands for a missing file."""

    path: str
    old_path: str = ""  # its path before it was moved; else empty
    status: str = "M"  # git's letter: Added, Deleted, Modified, Renamed, Copied, Type changed
    old_blob: str = ""
    new_blob: str = ""
    old_mode: str = ""
    new_mode: str = ""


class CommitFacts(Struct, frozen=True, kw_only=True):
    """A commit and what it changed against its first parent; a root commit added all its files."""

    sha: str
    parents: tuple[str, ...]
    subject: str
    body: str
    files: tuple[FileChange, ...]


_FORMAT = "--format=%H%x00%P%x00%B%x00"
_RAW = (
    "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--diff-merges=first-parent",
    "--no-relative", "--ignore-submodules=none", "--no-ext-diff", "--no-textconv", "--no-color",
    "--no-notes", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8",
)  # fmt: skip
_ABSENT = re.compile(r"0+")
_RANGE = re.compile(r"(?P<old>.*?)(?P<dots>\.{2,3})(?P<new>.*)", re.DOTALL)


class CommitRange(Struct, frozen=True, kw_only=True):
    """One commit or a range of them, as arguments of `git log` with whole names."""

    words: tuple[str, ...]
    is_range: bool
    short: int  # how long git's abbreviated names are in this repository


def parse_range(git: Reader, text: str) -> CommitRange:
    """Parse one commit, or a range `A..B` or `A...B`; a side that is left out is HEAD.

    Raises BadInput when a side names no commit.
    """
    parts = _RANGE.fullmatch(text)
    if parts is None:
        commit = resolve_commit(git, text)
        return CommitRange(words=("--no-walk", commit), is_range=False, short=_short(git, commit))
    old = resolve_commit(git, parts["old"] or "HEAD")
    new = resolve_commit(git, parts["new"] or "HEAD")
    return CommitRange(words=(f"{old}{parts['dots']}{new}",), is_range=True, short=_short(git, new))


def read_commits(git: Reader, commits: CommitRange) -> Iterator[CommitFacts]:
    """Yield the commits of a range with what they changed, newest first."""
    fields = log.stream_fields(git, "log", _FORMAT, *_RAW, *commits.words, "--")
    sha = next(fields, b"")
    while sha:
        parents = next(fields, b"")
        message = Message.parse(next(fields, b"").decode("utf-8", "replace"))
        next(fields, b"")  # the format ends with an empty field
        files, following = _parse_files(fields)
        yield CommitFacts(
            sha=sha.decode(),
            parents=tuple(parents.decode().split()),
            subject=message.subject,
            body=message.body,
            files=files,
        )
        sha = following


def _parse_files(fields: Iterator[bytes]) -> tuple[tuple[FileChange, ...], bytes]:
    """Parse the changes of one commit: `:modes blobs status`, then the path, for each file.

    Also returns the field after them, which begins the next commit.
    """
    files: list[FileChange] = []
    for head in fields:
        if not head.startswith((b":", b"\n:")):
            return tuple(files), head
        old_mode, new_mode, old, new, status = head.lstrip(b"\n:").decode().split(" ")
        change = FileChange(
            path=next(fields).decode("utf-8", "surrogateescape"),
            status=status,
            old_blob=_blob(old),
            new_blob=_blob(new),
            old_mode=old_mode,
            new_mode=new_mode,
        )
        files.append(change)
    return tuple(files), b""


def _blob(name: str) -> str:
    if _ABSENT.fullmatch(name):
        return ""
    return name


def _short(git: Reader, sha: str) -> int:
    return len(log.short_names(git, [sha])[sha])


class _Difference(Struct, frozen=True):
    """A path at which two trees differ; None where one of them has no file."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


def tree_changes(objects: Objects, old: str, new: str) -> list[FileChange]:
    """Return what differs between two trees, with moved files; "" stands for an empty tree.

    Subtrees that are the same are not read.
    """
    differences = list(_differences(objects, old, new))
    deleted: dict[str, TreeEntry] = {}
    added: dict[str, TreeEntry] = {}
    for difference in differences:
        if difference.before is None and difference.after is not None:
            added[difference.path] = difference.after
        elif difference.before is not None and difference.after is None:
            deleted[difference.path] = difference.before
    moved = _moved_files(objects, deleted, added)
    sources = set(moved.values())
    changes = []
    for difference in differences:
        if difference.after is None and difference.path in sources:
            continue
        old_path = moved.get(difference.path, "")
        before = difference.before or deleted.get(old_path)
        changes.append(_file_change(difference.path, before, difference.after, old_path))
    return changes


def _file_change(
    path: str, before: TreeEntry | None, after: TreeEntry | None, old_path: str
) -> FileChange:
    if old_path:
        status = "R"
    elif before is None:
        status = "A"
    elif after is None:
        status = "D"
    else:
        status = "M"
    old_blob, old_mode = _blob_and_mode(before)
    new_blob, new_mode = _blob_and_mode(after)
    return FileChange(
        path=path,
        old_path=old_path,
        status=status,
        old_blob=old_blob,
        new_blob=new_blob,
        old_mode=old_mode,
        new_mode=new_mode,
    )


def _blob_and_mode(entry: TreeEntry | None) -> tuple[str, str]:
    """Return the hash of a file and its mode as git prints it; two empty texts for no file."""
    if entry is None:
        return "", ""
    return entry.sha, f"{entry.mode:06o}"


def _differences(objects: Objects, old: str, new: str) -> Iterator[_Difference]:
    """Yield every file that differs between two trees; an empty name stands for an empty tree.

    Folders with the same hash are not opened. A file that became a folder is a deletion, and each
    file in the folder an addition.
    """
    waiting = [(old, new, "")]
    while waiting:
        old, new, folder = waiting.pop()
        old_entries = _entries(objects, old)
        new_entries = _entries(objects, new)
        for name in sorted(old_entries.keys() | new_entries.keys()):
            before, after = old_entries.get(name), new_entries.get(name)
            if before == after:
                continue
            old_tree, new_tree = _tree_name(before), _tree_name(after)
            if old_tree or new_tree:
                waiting.append((old_tree, new_tree, f"{folder}{name}/"))
            old_file = before
            if old_tree:
                old_file = None
            new_file = after
            if new_tree:
                new_file = None
            if old_file is not None or new_file is not None:
                yield _Difference(folder + name, old_file, new_file)


def _entries(objects: Objects, tree: str) -> dict[str, TreeEntry]:
    """Return what a tree holds; nothing for the empty name."""
    if not tree:
        return {}
    return objects.tree(tree)


def _tree_name(entry: TreeEntry | None) -> str:
    if entry is None or not entry.is_tree:
        return ""
    return entry.sha


def _moved_files(
    objects: Objects, deleted: dict[str, TreeEntry], added: dict[str, TreeEntry]
) -> dict[str, str]:
    """Return old paths by new paths: files of the same content first, then alike ones."""
    moved: dict[str, str] = {}
    left = dict(deleted)
    for path, entry in added.items():
        same = next((old for old, before in left.items() if before.sha == entry.sha), None)
        if same is not None and entry.mode != SUBMODULE:
            moved[path] = same
            del left[same]
    rest = {path: entry for path, entry in added.items() if path not in moved}
    if left and rest and len(left) * len(rest) <= MOST_PAIRS:
        moved |= _alike_files(objects, left, rest)
        moved |= _same_programs(objects, _without(left, moved.values()), _without(rest, moved))
    return moved


def _without(entries: dict[str, TreeEntry], paths: Collection[str]) -> dict[str, TreeEntry]:
    return {path: entry for path, entry in entries.items() if path not in paths}


def _same_programs(
    objects: Objects, deleted: dict[str, TreeEntry], added: dict[str, TreeEntry]
) -> dict[str, str]:
    """Return old paths by new paths of files that differ in comments and layout alone."""
    suffixes = set(map(_suffix, deleted)) & set(map(_suffix, added))
    sources: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path, entry in deleted.items():
        if _suffix(path) in suffixes:
            key, text = _program(objects, path, entry)
            sources.setdefault(key, []).append((path, text))
    moved: dict[str, str] = {}
    for path, entry in added.items():
        if _suffix(path) in suffixes:
            key, text = _program(objects, path, entry)
            alike = sources.get(key, [])
            if alike and key[1] and not content.differs_in_substance(path, alike[0][1], text):
                moved[path] = alike.pop(0)[0]
    return moved


def _program(objects: Objects, path: str, entry: TreeEntry) -> tuple[tuple[str, str], str]:
    """Return what is the same of one program in every layout, with its suffix; and its text."""
    raw = objects.blob(entry.sha) or b""
    if content.is_binary(raw) or len(raw) > LARGEST_PROGRAM:
        return (_suffix(path), ""), ""
    text = content.decode(raw)
    return (_suffix(path), content.without_layout(path, text)), text


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _alike_files(
    objects: Objects, deleted: dict[str, TreeEntry], added: dict[str, TreeEntry]
) -> dict[str, str]:
    """Return old paths by new paths of files that share most lines, the most alike first."""
    old_lines = {path: _line_counts(objects, entry) for path, entry in deleted.items()}
    new_lines = {path: _line_counts(objects, entry) for path, entry in added.items()}
    pairs: list[tuple[float, str, str]] = []
    for old in deleted:
        for new in added:
            likeness = _likeness(old_lines[old], new_lines[new])
            if likeness >= ALIKE:
                pairs.append((likeness, new, old))
    pairs.sort(key=lambda pair: (-pair[0], pair[1:]))
    moved: dict[str, str] = {}
    for _, new, old in pairs:
        if new not in moved and old not in moved.values():
            moved[new] = old
    return moved


def _line_counts(objects: Objects, entry: TreeEntry) -> Counter[str]:
    raw = objects.blob(entry.sha) or b""
    if content.is_binary(raw):
        return Counter()
    return Counter(filter(str.strip, content.decode(raw).split("\n")))


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    return (old & new).total() / max(old.total(), new.total(), 1)
