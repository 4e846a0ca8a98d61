"""Whether new files are copies of files that were there before a commit.

A copy has the same tokens: comments and layout of its own make it no other program. What is read
is bounded, so that a copy in a large tree may be missed; no other file is called one.
"""

import re
from collections.abc import Sequence

from dos.git.changes import FileChange
from dos.git.objects import Objects
from dos.verify import content, file_kinds, footprint
from dos.verify.file_kinds import Kind
from dos.verify.footprint import Footprint, Scope
from dos.verify.work.request import Request

MOST_FILES = 4_000  # of a tree that are looked at
MOST_READ = 40  # of them whose text is read
MOST_COMPARED = 500_000  # bytes of those texts whose tokens are compared
_FILES = (0o100644, 0o100755)  # modes: neither a link nor a submodule
_CODE = frozenset((Kind.SOURCE, Kind.TEST))
_WORDS = re.compile(rb"[A-Za-z_]\w++")
_TELLING_WORDS = 4  # the longest words of a copy, which its source has, too


class Copies:
    """Finds copies of the files in a tree, the one before a commit."""

    def __init__(self, objects: Objects, tree: str, scope: Scope, title: str) -> None:
        self._objects = objects
        self._tree = tree
        self._scope = scope
        self._title = title

    def judge(self, changed: Sequence[FileChange], found: Footprint) -> Footprint:
        """A footprint of new files; with a flaw if all are copies that nobody asked for."""
        paths = [file.path for file in found.files]
        if not all(map(_is_code, paths)) or any(map(self._scope.names, paths)):
            return found
        if Request(self._title).may_be_about_copies:
            return found
        source = self._source([change for change in changed if change.path in paths])
        if not source:
            return found
        return footprint.copied(paths, source)

    def _source(self, added: Sequence[FileChange]) -> str:
        """The path of which the first of these new files is a copy; empty unless all are."""
        existing = _Existing(self._objects, self._tree, {_suffix(change.path) for change in added})
        first = ""
        for change in added:
            source = existing.source_of(change)
            if not source:
                return ""
            first = first or source
        return first


class _Existing:
    """The files of a tree with one of some suffixes, as far as they are looked at."""

    def __init__(self, objects: Objects, tree: str, suffixes: set[str]) -> None:
        self._objects = objects
        self._paths: dict[str, str] = {}  # by blob
        self._may_read = MOST_READ
        self._may_compare = MOST_COMPARED
        for count, (path, entry) in enumerate(objects.files(tree)):
            if count >= MOST_FILES:
                break
            if _suffix(path) in suffixes and entry.mode in _FILES:
                self._paths.setdefault(entry.sha, path)

    def source_of(self, change: FileChange) -> str:
        """The path of which a new file is a copy; empty if none was found."""
        same = self._paths.get(change.new_blob, "")
        if _suffix(same) == _suffix(change.path):
            return same
        raw = self._objects.blob(change.new_blob) or b""
        if len(raw) > MOST_COMPARED:
            return ""
        copy = _Text(change.path, raw)
        blobs = self._nearest(change.path)
        for blob, other in zip(blobs, self._objects.blobs(blobs), strict=True):
            if other is None or not copy.may_be_from(other) or len(other) > self._may_compare:
                continue
            self._may_compare -= len(other)
            if copy.is_from(other):
                return self._paths[blob]
        return ""

    def _nearest(self, path: str) -> list[str]:
        """The blobs of the same suffix that may be read: those of like names and places first."""
        suffix = _suffix(path)
        alike = [blob for blob, other in self._paths.items() if _suffix(other) == suffix]
        alike.sort(key=lambda blob: _distance(path, self._paths[blob]))
        nearest = alike[: self._may_read]
        self._may_read -= len(nearest)
        return nearest


class _Text:
    """The text of a new file, which may be a copy."""

    def __init__(self, path: str, raw: bytes) -> None:
        self._path = path
        self._text = content.decode(raw)
        self._code = content.without_layout(path, self._text)
        lines = "\n".join(content.significant_lines(path, self._text))
        words = set(_WORDS.findall(lines.encode("utf-8", "surrogateescape")))
        self._telling = sorted(words, key=len)[-_TELLING_WORDS:]

    def may_be_from(self, raw: bytes) -> bool:
        """Whether another file has the longest words of this one."""
        return all(word in raw for word in self._telling)

    def is_from(self, raw: bytes) -> bool:
        """Whether another file has the same tokens."""
        other = content.decode(raw)
        if content.without_layout(self._path, other) != self._code:
            return False
        return not content.differs_in_substance(self._path, other, self._text)


def _is_code(path: str) -> bool:
    """Whether a file is code by its own name, too: settings and data of tests are not."""
    name = path.rpartition("/")[2]
    return file_kinds.kind(path) in _CODE and file_kinds.kind(name) in _CODE


def _distance(path: str, other: str) -> int:
    """How far one file is from another: 0 by the same name, 1 in the same folder, else 2."""
    folder, _, name = path.rpartition("/")
    other_folder, _, other_name = other.rpartition("/")
    if name == other_name:
        return 0
    return 1 if folder == other_folder else 2


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()
