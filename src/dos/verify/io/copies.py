"""Whether new files are copies of files that were there before a commit.

A copy has the same tokens: comments and layout of its own make it no other program. What is read
is bounded, so that a copy in a large tree may be missed; no other file is called one.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence

from dos.git.changes import FileChange
from dos.git.objects import Objects
from dos.verify import content, file_kinds, footprint
from dos.verify.file_kinds import Kind
from dos.verify.footprint import Footprint, Scope
from dos.verify.survival import File

MOST_FOLDERS = 100  # of a tree that are looked at
MOST_READ = 30  # files of which the text is read, for each new file of a commit
MOST_READ_IN_ALL = 300
MOST_COMPARED = 500_000  # bytes of them whose tokens are compared
MOST_TREES = 2_000  # that are kept for other commits
MOST_KEPT = 4_000_000  # bytes of texts that are kept for other commits
_FILES = (0o100644, 0o100755)  # modes: neither a link nor a submodule
_CODE = frozenset((Kind.SOURCE, Kind.TEST))
_WORDS = re.compile(rb"[A-Za-z_]\w++")
_TELLING_WORDS = 4  # the longest words of a copy, which its source has, too


class Copies:
    """Finds copies in the commits of one repository, and keeps what it read for the next."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._names: dict[str, dict[str, str]] = {}  # of the files in each tree, by blob
        self._folders: dict[str, dict[str, str]] = {}  # the trees in each tree, by name
        self._texts: dict[str, bytes] = {}
        self._kept = 0

    def judge(
        self, found: Footprint, changed: Sequence[FileChange], tree: str, scope: Scope, title: str
    ) -> Footprint:
        """A footprint of new files; with a flaw if all are copies that nobody asked for.

        `tree` is the one before the commit.
        """
        paths = [file.path for file in found.files]
        if not all(map(_is_code, paths)) or any(map(scope.names, paths)):
            return found
        blobs = {change.path: change.new_blob for change in changed}
        search = _Search(self, list(self.folders(tree, paths[0])))
        first = ""
        for file in found.files:
            source = search.source_of(blobs[file.path], file)
            if not source:
                return found
            first = first or source
        from dos.verify.work.request import Request  # at use: it is rare that it comes to this

        if Request(title).may_be_about_copies:
            return found
        return footprint.copied(paths, first)

    def files(self, tree: str) -> dict[str, str]:
        """The names of the files directly in a tree, by their blobs."""
        if tree not in self._names:
            if len(self._names) >= MOST_TREES:
                self._names.clear()
                self._folders.clear()
            entries = self._objects.tree(tree).items()
            self._names[tree] = {entry.sha: name for name, entry in entries if entry.mode in _FILES}
            self._folders[tree] = {name: entry.sha for name, entry in entries if entry.is_tree}
        return self._names[tree]

    def entry(self, tree: str, name: str) -> str:
        """The blob of a file by its name in a tree; empty if there is none."""
        entry = self._objects.tree(tree).get(name)
        return entry.sha if entry and entry.mode in _FILES else ""

    def folders(self, tree: str, near: str) -> Iterator[tuple[str, str]]:
        """The folders of a tree, each as its path, which ends with a slash, and its own tree.

        Those that lead to the path `near` come first, then those that are not deep.
        """
        waiting = deque([("", tree)])
        for _ in range(MOST_FOLDERS):
            if not waiting:
                return
            path, tree = waiting.popleft()
            yield path, tree
            self.files(tree)  # reads its folders, too
            for name, below in self._folders[tree].items():
                folder = (f"{path}{name}/", below)
                if near.startswith(folder[0]):
                    waiting.appendleft(folder)
                else:
                    waiting.append(folder)

    def texts(self, blobs: Sequence[str]) -> list[tuple[str, bytes]]:
        """Blobs with their contents; empty for those that are missing or too large."""
        if self._kept > MOST_KEPT:
            self._texts.clear()
            self._kept = 0
        unread = [blob for blob in blobs if blob not in self._texts]
        for blob, raw in zip(unread, self._objects.blobs(unread), strict=True):
            self._texts[blob] = b""
            if raw is not None and len(raw) <= MOST_COMPARED:
                self._texts[blob] = raw
                self._kept += len(raw)
        return [(blob, self._texts[blob]) for blob in blobs]


class _Search:
    """Looks for the sources of the new files of one commit, in the tree before it."""

    def __init__(self, known: Copies, folders: list[tuple[str, str]]) -> None:
        self._known = known
        self._folders = folders
        self._may_read = MOST_READ_IN_ALL
        self._may_compare = MOST_COMPARED

    def source_of(self, blob: str, file: File) -> str:
        """The path of which a new file is a copy; empty if none was found."""
        suffix = _suffix(file.path)
        for folder, tree in self._folders:
            name = self._known.files(tree).get(blob)
            if name is not None and _suffix(name) == suffix:
                return folder + name
        words = _telling_words(file.new or ())
        paths = self._nearest(file.path)
        for source, raw in self._known.texts(list(paths)):
            has_words = raw and all(word in raw for word in words)
            if not has_words or len(raw) > self._may_compare:
                continue
            self._may_compare -= len(raw)
            [(_, copy)] = self._known.texts([blob])
            if _is_copy(file, content.decode(copy), content.decode(raw)):
                return paths[source]
        return ""

    def _nearest(self, path: str) -> dict[str, str]:
        """Paths of the same suffix that may be read, by blob: of like names and places first."""
        nearest: dict[str, str] = {}
        for blob, other in self._by_distance(path):
            if self._may_read <= 0 or len(nearest) >= MOST_READ:
                break
            if blob not in nearest:
                nearest[blob] = other
                self._may_read -= 1
        return nearest

    def _by_distance(self, path: str) -> Iterator[tuple[str, str]]:
        """The files of the same suffix: of the same name, in the same folder, and all others."""
        name = path.rpartition("/")[2]
        own_folder = path.removesuffix(name)
        suffix = _suffix(path)
        for folder, tree in self._folders:
            entry = self._known.entry(tree, name)
            if entry:
                yield entry, folder + name
        for folder, tree in sorted(self._folders, key=lambda each: each[0] != own_folder):
            for blob, other in self._known.files(tree).items():
                if _suffix(other) == suffix:
                    yield blob, folder + other


def _telling_words(lines: Sequence[str]) -> list[bytes]:
    """The longest words of a code, which every copy of it has."""
    code = "\n".join(lines).encode("utf-8", "surrogateescape")
    return sorted(set(_WORDS.findall(code)), key=len)[-_TELLING_WORDS:]


def _is_copy(file: File, text: str, other: str) -> bool:
    """Whether the text of a new file has the same tokens as another."""
    if content.without_layout(file.path, other) != content.without_layout(file.path, text):
        return False
    return not content.differs_in_substance(file.path, other, text)


def _is_code(path: str) -> bool:
    """Whether a file is code by its own name, too: settings and data of tests are not."""
    name = path.rpartition("/")[2]
    return file_kinds.kind(path) in _CODE and file_kinds.kind(name) in _CODE


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()
