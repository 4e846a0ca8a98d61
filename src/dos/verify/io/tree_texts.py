"""The texts of a small tree, read once for all units that are asked about."""

from dos.git.objects import Objects
from dos.verify import content, file_kinds
from dos.verify.dead_code.importers import Texts
from dos.verify.file_kinds import Kind

MOST_FILES = 200  # in a larger tree nothing is looked for
MOST_BYTES = 3_000_000
_AT_ONCE = 100
_READ = frozenset((Kind.SOURCE, Kind.TEST, Kind.CONFIG, Kind.CI, Kind.BOOKKEEPING))
_last: dict[str, Texts | None] = {}  # the tree that was read last, in this process


def tree_texts(objects: Objects, tree: str) -> Texts | None:
    """The files of a tree that are code or settings, by path; None if they are too many."""
    if tree not in _last:
        texts = _read(objects, tree)
        _last.clear()
        _last[tree] = texts
    return _last[tree]


def _read(objects: Objects, tree: str) -> Texts | None:
    """Read the texts of a tree, unless it is too large."""
    found: dict[str, str] = {}
    for path, entry in objects.files(tree):
        if len(found) >= MOST_FILES:
            return None
        if file_kinds.kind(path) in _READ:
            found[path] = entry.sha
    texts: dict[str, str] = {}
    left = MOST_BYTES
    paths = list(found)
    for first in range(0, len(paths), _AT_ONCE):
        batch = paths[first : first + _AT_ONCE]
        for path, raw in zip(batch, objects.blobs([found[path] for path in batch]), strict=True):
            left -= len(raw or b"")
            if raw is not None and not content.is_binary(raw):
                texts[path] = content.decode(raw)
        if left < 0:
            return None
    return Texts(texts)
