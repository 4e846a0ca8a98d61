"""A walk over all folders that differ from the base, which judges every changed entry.

It needs no recursion, and it ends: at most `Limits.paths` entries are looked at. What it has passed
is known to be complete, because each folder that is not in the base at the same path was read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from dos.handover import judge
from dos.handover.judge import FOLDER, LINK, SUBMODULE
from dos.handover.limits import Limits
from dos.handover.names import GITMODULES
from dos.handover.objects import Folder, Id, parse_folder
from dos.handover.refusal import Refused, Rule, show_path

# Reads folders: yields the raw content of each in order. A missing one raises.
ReadFolders = Callable[[Sequence[Id]], Iterator[bytes]]
AT_ONCE = 200  # folders that are read together
MOST_KEPT = 200_000  # entries of the base's folders that are kept in memory


class Visit(Struct, frozen=True):
    """A folder to compare with the base."""

    path: bytes  # with `/` last; empty at the top
    folder: Id
    base: Id | None  # the folder that the base has at this path


class Walk:
    """Compares trees with one base, and collects what has to be looked at besides."""

    def __init__(self, read: ReadFolders, limits: Limits, id_bytes: int) -> None:
        self.files: set[Id] = set()  # of all changed files and links
        self.links: dict[Id, list[bytes]] = {}  # paths by the object of the target
        self.gitmodules: set[Id] = set()  # versions of the file at the top
        self.folders: set[Id] = set()
        self._read = read
        self._limits = limits
        self._id_bytes = id_bytes
        self._entries: set[tuple[bytes, bytes, Id]] = set()  # judged: path, mode, object
        self._base_folders: dict[Id, Folder] = {}
        self._kept = 0

    def compare(self, trees: Iterable[Id], base: Id) -> Refused | None:
        """Judge everything in these trees that the base does not have at the same path."""
        level = [Visit(b"", tree, base) for tree in dict.fromkeys(trees) if tree != base]
        depth = 0
        while level:
            refusal = judge.judge_depth(level[0].path, depth, self._limits)
            if refusal:
                return refusal
            below: list[Visit] = []
            for begin in range(0, len(level), AT_ONCE):
                refusal = self._compare_some(level[begin : begin + AT_ONCE], below)
                if refusal:
                    return refusal
            level = below
            depth += 1
        return None

    def _compare_some(self, visits: list[Visit], below: list[Visit]) -> Refused | None:
        """Compare some folders of one level; the changed folders in them are added to `below`."""
        self._read_base(visits)
        contents = self._read([visit.folder for visit in visits])
        for visit, content in zip(visits, contents, strict=True):
            self.folders.add(visit.folder)
            try:
                folder = parse_folder(content, self._id_bytes)
            except ValueError as error:
                return Refused(
                    rule=Rule.PACK,
                    reason=f"the folder {show_path(visit.path)} is not a valid tree: {error}",
                )
            refusal = self._compare_folder(visit, folder, below)
            if refusal:
                return refusal
        return None

    def _read_base(self, visits: list[Visit]) -> None:
        """Read the folders of the base that these visits need, once each."""
        wanted = {visit.base for visit in visits if visit.base is not None}
        if self._kept > MOST_KEPT:
            self._base_folders.clear()
            self._kept = 0
        missing = [base for base in wanted if base not in self._base_folders]
        for base, content in zip(missing, self._read(missing), strict=True):
            try:
                self._base_folders[base] = parse_folder(content, self._id_bytes)
            except ValueError:
                self._base_folders[base] = {}  # then everything in it counts as changed
            self._kept += len(self._base_folders[base])

    def _compare_folder(self, visit: Visit, folder: Folder, below: list[Visit]) -> Refused | None:
        before: Folder = {}
        if visit.base is not None:
            before = self._base_folders[visit.base]
        refusal = judge.judge_names(visit.path, folder, before)
        if refusal:
            return refusal
        # Sorted, so that the same work is always refused for the same reason.
        for name, (mode, sha) in sorted(folder.items() - before.items()):
            base_mode, base_id = before.get(name, (None, None))
            key = (visit.path + name, mode, sha)
            if key in self._entries:
                continue
            self._entries.add(key)
            if len(self._entries) > self._limits.paths:
                return Refused(
                    rule=Rule.LIMIT,
                    reason=f"more than {self._limits.paths:,} paths were changed; fewer are taken",
                )
            refusal = judge.judge_entry(visit.path, name, mode, base_mode, self._limits)
            if refusal:
                return refusal
            if mode == FOLDER:
                base = base_id if base_mode == FOLDER else None
                below.append(Visit(visit.path + name + b"/", sha, base))
            else:
                self._collect(visit.path + name, mode, sha)
        return None

    def _collect(self, path: bytes, mode: bytes, sha: Id) -> None:
        """Remember an entry whose content has to be there, or to be judged."""
        if mode == SUBMODULE:
            return  # the commit is in another repository
        self.files.add(sha)
        if mode == LINK:
            self.links.setdefault(sha, []).append(path)
        elif path == GITMODULES:
            self.gitmodules.add(sha)
