"""What a power cut could leave of the files, worked out from the log of the operations on them.

What was synced is there. Of the rest each 512-byte sector holds any of its versions since its last
sync, and each change of a name happened or did not; so writes are lost, reordered and torn as a
real disk does it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from random import Random

from msgspec import Struct

from disk.operations import Kind, Operation

SECTOR = 512

Sectors = set[int]


class Image(Struct, frozen=True, kw_only=True):
    """One state of the directory after a power cut at one point of the log."""

    point: (
        int  # the cut came after this operation, by its index in the log, and before the next one
    )
    manner: str
    directories: tuple[str, ...]
    files: dict[str, bytes]
    acks: tuple[str, ...]  # everything that had been acknowledged by then

    def write_to(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise FileExistsError(f"{directory}: an image is written into an empty directory")
        for name in self.directories:
            (directory / name).mkdir(parents=True)
        for name, content in self.files.items():
            (directory / name).write_bytes(content)

    def digest(self) -> bytes:
        seen = hashlib.blake2b(repr((len(self.acks), self.directories)).encode(), digest_size=16)
        for name in sorted(self.files):
            seen.update(f"{name}\0{len(self.files[name])}\0".encode())
            seen.update(self.files[name])
        return seen.digest()


class DataChange:
    """A write, or with `data` None a cut or growth to the size `offset`."""

    def __init__(self, offset: int, data: bytes | None) -> None:
        self.offset = offset
        self.data = data
        self.durable = False
        self.doomed = False
        end = offset + len(data or b"")
        # A change of size lies in no sector of the data; -1 stands for the size itself.
        self.sectors = (
            {-1} if data is None else set(range(offset // SECTOR, (end + SECTOR - 1) // SECTOR))
        )


class FileNode:
    """A file apart from its names: what is on the disk for certain, and what came after."""

    def __init__(self, content: bytes = b"") -> None:
        self.settled = content
        self.changes: list[DataChange] = []

    def sync(self) -> None:
        for change in self.changes:
            change.durable = not change.doomed
        while self.changes and self.changes[0].durable:
            self.settled = _applied(self.settled, [(self.changes[0], self.changes[0].sectors)])
            del self.changes[0]

    def fail_sync(self) -> None:
        """A system that could not write a page forgets that it is dirty: a later sync does not
        write it either."""
        for change in self.changes:
            change.doomed = not change.durable

    def content(self, kept: Sequence[Sectors], *, grown: bool) -> bytes:
        """The file when of each change these sectors reached the disk, beside the durable ones.

        Where `grown`, the size was written before the data: what is missing at the end reads as
        zeros.
        """
        reached: Sectors = set()
        plan: list[tuple[DataChange, Sectors]] = []
        for change, chosen in zip(reversed(self.changes), reversed(kept), strict=True):
            arrived = change.sectors if change.durable else chosen
            if change.data is None:
                # A later write is on the disk only if the change of size before it is.
                plan.append((change, change.sectors if arrived or reached else set()))
            else:
                # A sector is written whole, with all that earlier writes had put into it.
                reached |= arrived
                plan.append((change, change.sectors & reached))
        content = _applied(self.settled, list(reversed(plan)))
        newest = (
            _applied(self.settled, [(change, change.sectors) for change in self.changes])
            if grown
            else b""
        )
        return content.ljust(len(newest), b"\0")


class DirectoryNode:
    pass


Node = FileNode | DirectoryNode
Names = dict[str, Node]


class NameChange:
    """A name that came (`target` only), went (`path` only) or became another (both)."""

    def __init__(self, node: Node, path: str = "", target: str = "") -> None:
        self.node = node
        self.path = path
        self.target = target
        self.names = {name for name in (path, target) if name}

    def apply(self, names: Names) -> None:
        if self.path and names.get(self.path) is self.node:
            del names[self.path]
        if self.target:
            names[self.target] = self.node


class Disk:
    """The state of the recorded directory, told operation by operation."""

    def __init__(self) -> None:
        self.nodes: dict[int, FileNode] = {}  # by inode, as the running system sees it
        self.names: Names = {}
        self.settled: Names = {}
        self.changes: list[NameChange] = []

    def follow(self, operation: Operation) -> None:
        match operation.kind:
            case Kind.FOUND | Kind.FOUND_DIRECTORY:
                node: Node = (
                    DirectoryNode()
                    if operation.kind is Kind.FOUND_DIRECTORY
                    else FileNode(operation.data)
                )
                if isinstance(node, FileNode):
                    # Two names of one file share its inode.
                    node = self.nodes.setdefault(operation.inode, node)
                self.names[operation.path] = self.settled[operation.path] = node
            case Kind.CREATE:
                self.nodes[operation.inode] = FileNode()
                self._rename(NameChange(self.nodes[operation.inode], target=operation.path))
            case Kind.MAKE_DIRECTORY:
                self._rename(NameChange(DirectoryNode(), target=operation.path))
            case Kind.WRITE:
                self._file(operation).changes.append(DataChange(operation.offset, operation.data))
            case Kind.TRUNCATE:
                self._file(operation).changes.append(DataChange(operation.offset, None))
            case Kind.SYNC:
                file = self._file(operation)
                file.sync()
                self._settle(lambda change: change.node is file and not change.path)
            case Kind.SYNC_DIRECTORY:
                folder = self.names.get(operation.path)  # None: the recorded directory itself
                self._settle(
                    lambda change: (
                        change.node is folder or operation.path in map(_parent, change.names)
                    )
                )
            case Kind.RENAME if isinstance(self._named(operation), DirectoryNode):
                raise ValueError(
                    f"{operation.path}: renamed, and it is a directory: that is not modelled"
                )
            case Kind.RENAME:
                self._rename(
                    NameChange(self._named(operation), path=operation.path, target=operation.target)
                )
            case Kind.LINK:
                self._rename(NameChange(self._named(operation), target=operation.target))
            case Kind.UNLINK:
                self._rename(NameChange(self._named(operation), path=operation.path))

    def fail(self, operation: Operation) -> None:
        if operation.kind is Kind.SYNC:
            self._file(operation).fail_sync()

    def image(self, luck: "Luck", *, point: int, acks: tuple[str, ...]) -> Image:
        names = dict(self.settled)
        for change in self.changes:
            if luck.keeps_name():
                change.apply(names)
        folders = {path for path, node in names.items() if isinstance(node, DirectoryNode)}
        reachable = {"", *(path for path in folders if folders.issuperset(_ancestors(path)))}
        contents: dict[FileNode, bytes] = {}  # a file with two names is drawn once
        files: dict[str, bytes] = {}
        for path, node in names.items():
            if isinstance(node, FileNode) and _parent(path) in reachable:
                if node not in contents:
                    contents[node] = node.content(luck.kept(node.changes), grown=luck.grows())
                files[path] = contents[node]
        directories = tuple(sorted(reachable - {""}))
        return Image(
            point=point, manner=luck.manner, directories=directories, files=files, acks=acks
        )

    @property
    def unsettled(self) -> bool:
        return bool(self.changes) or any(node.changes for node in self.nodes.values())

    def _rename(self, change: NameChange) -> None:
        change.apply(self.names)
        self.changes.append(change)

    def _settle(self, made_durable: Callable[[NameChange], bool]) -> None:
        """A durable name takes with it what happened before to that name and to the directories
        above it."""
        settled: list[NameChange] = []
        touched: set[str] = set()
        for change in reversed(self.changes):
            if made_durable(change) or change.names & touched:
                settled.insert(0, change)
                touched |= change.names.union(*map(_ancestors, change.names))
        for change in settled:
            change.apply(self.settled)
        self.changes = [change for change in self.changes if change not in settled]

    def _file(self, operation: Operation) -> FileNode:
        if operation.inode not in self.nodes:
            raise ValueError(f"{operation.path}: changed, but nobody was seen to create it")
        return self.nodes[operation.inode]

    def _named(self, operation: Operation) -> Node:
        if operation.path not in self.names:
            raise ValueError(
                f"{operation.path}: {operation.kind.name}, but nobody was seen to create it"
            )
        return self.names[operation.path]


class Luck:
    """What the cut spares of the changes that were not synced."""

    def __init__(self, manner: str, rng: Random) -> None:
        self.manner = manner
        self.rng = rng
        fixed = {"nothing unsynced": 0.0, "everything": 1.0}.get(manner)
        self.name_share = rng.choice((0.0, 0.5, 1.0)) if fixed is None else fixed
        self.data_share = rng.choice((0.2, 0.5, 0.8)) if fixed is None else fixed
        self.may_grow = fixed is None

    def keeps_name(self) -> bool:
        return self.rng.random() < self.name_share

    def grows(self) -> bool:
        return self.may_grow and self.rng.random() < 0.3

    def kept(self, changes: Sequence[DataChange]) -> list[Sectors]:
        match self.manner:
            case "scattered":
                return [
                    {sector for sector in change.sectors if self._spared()} for change in changes
                ]
            case "reordered":
                last = len(changes) - 1
                return [
                    change.sectors if at == last or self._spared() else set()
                    for at, change in enumerate(changes)
                ]
            case "torn":
                return self._torn(changes)
            case _:
                return [change.sectors if self._spared() else set() for change in changes]

    def _spared(self) -> bool:
        return self.rng.random() < self.data_share

    def _torn(self, changes: Sequence[DataChange]) -> list[Sectors]:
        """The cut came in the midst of one write: of those before it much is there, of those after
        it nothing."""
        if not changes:
            return []
        torn = self.rng.choice((len(changes) - 1, self.rng.randrange(len(changes))))
        earlier_are_there = self.rng.random() < 0.5
        kept = [
            change.sectors if earlier_are_there or self._spared() else set()
            for change in changes[:torn]
        ]
        sectors = sorted(changes[torn].sectors)
        if self.rng.random() < 0.5:
            kept.append(set(sectors[: self.rng.randrange(len(sectors) + 1)]))
        else:
            kept.append(set(sectors) - {self.rng.choice(sectors or [0])})
        return kept + [set() for _ in changes[torn + 1 :]]


def crash_images(operations: Sequence[Operation], rng: Random, per_point: int) -> Iterator[Image]:
    """At each point of the log: nothing unsynced, everything, and `per_point` random states
    between; no state twice."""
    seen: set[bytes] = set()
    for disk, at, acks in _points(operations):
        manners = ["nothing unsynced", "everything"]
        if disk.unsettled:
            manners += [
                rng.choice(("lost", "reordered", "torn", "scattered")) for _ in range(per_point)
            ]
        for manner in manners:
            image = disk.image(Luck(manner, rng), point=at, acks=tuple(acks))
            digest = image.digest()
            if digest not in seen:
                seen.add(digest)
                yield image


def final_image(operations: Sequence[Operation]) -> Image:
    """The directory as the log ends, with no power cut."""
    disk, at, acks = list(_points(operations))[-1]
    return disk.image(Luck("everything", Random(0)), point=at, acks=tuple(acks))


def _points(operations: Sequence[Operation]) -> Iterator[tuple[Disk, int, list[str]]]:
    """The moments at which the power can be cut; the disk and the acknowledgements go on changing
    after each."""
    disk = Disk()
    acks: list[str] = []
    # The -shm file of a database is shared memory: it is made anew after a crash.
    relevant = [
        (at, operation)
        for at, operation in enumerate(operations)
        if not operation.path.endswith("-shm")
    ]
    for (at, operation), following in zip_longest(
        relevant, (operation for _, operation in relevant[1:])
    ):
        acks += operation.acknowledgements
        if operation.error:
            disk.fail(operation)
        else:
            disk.follow(operation)
        # An acknowledgement leaves the disk as it is: the cut to try is the one after it, which
        # owes the most.
        acknowledged_next = following is not None and following.kind is Kind.ACK
        if not acknowledged_next and operation.kind not in (Kind.FOUND, Kind.FOUND_DIRECTORY):
            yield disk, at, acks


def _applied(content: bytes, plan: Sequence[tuple[DataChange, Sectors]]) -> bytes:
    result = bytearray(content)
    for change, sectors in plan:
        if not sectors:
            continue
        if change.data is None:
            del result[change.offset :]
            result.extend(bytes(change.offset - len(result)))
            continue
        end = change.offset + len(change.data)
        whole = len(sectors) == len(change.sectors)
        pieces = (
            [(change.offset, end)]
            if whole
            else [(at * SECTOR, (at + 1) * SECTOR) for at in sorted(sectors)]
        )
        for piece_start, piece_end in pieces:
            start, stop = max(change.offset, piece_start), min(end, piece_end)
            result.extend(bytes(max(0, start - len(result))))
            result[start:stop] = change.data[start - change.offset : stop - change.offset]
    return bytes(result)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _ancestors(path: str) -> set[str]:
    return {str(parent) for parent in PurePosixPath(path).parents} - {"."}
