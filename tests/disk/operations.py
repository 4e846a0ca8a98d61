"""The log that the recording disk keeps: what was done to the files, in the order in which it was
done."""

import os
import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path

from msgspec import Struct

MAGIC = b"DISKLOG1"
HEADER = struct.Struct(
    "<8sQQQ"
)  # magic, end of the last whole record, operations counted, reserved
RECORD = struct.Struct(
    "<IiQQqIIII"
)  # kind, error, number, inode, offset, pid, lengths of path, target and data


class Kind(IntEnum):
    FOUND = 0  # a file that was there, and durable, when the recording began
    CREATE = 1
    MAKE_DIRECTORY = 2
    WRITE = 3
    TRUNCATE = 4  # to the size in `offset`, smaller or larger
    SYNC = 5
    SYNC_DIRECTORY = 6
    RENAME = 7
    LINK = 8
    UNLINK = 9
    ACK = 10
    FOUND_DIRECTORY = 11


class Operation(Struct, frozen=True, kw_only=True):
    kind: Kind
    path: str  # relative to the recorded directory
    target: str = ""  # the new name, of a rename or a link
    inode: int = 0
    offset: int = 0
    data: bytes = b""
    number: int = (
        0  # what `at` counts in a run; 0 for an acknowledgement and for what was there before
    )
    error: int = 0  # the errno of an operation that failed, injected or real
    pid: int = 0

    @property
    def acknowledgements(self) -> list[str]:
        return self.data.decode().splitlines() if self.kind is Kind.ACK else []


def start_log(log: Path, disk_dir: Path) -> None:
    """Begin a log with what the directory holds; a log that is there goes on, with its count at 0
    again."""
    if log.exists():
        magic, end, _, _ = HEADER.unpack_from(log.read_bytes()[: HEADER.size])
        _check_magic(magic, log)
        with log.open("r+b") as file:
            file.write(HEADER.pack(MAGIC, end, 0, 0))
        return
    records = b"".join(_packed(operation) for operation in _present(disk_dir))
    log.write_bytes(HEADER.pack(MAGIC, HEADER.size + len(records), 0, 0) + records)


def read_log(path: Path) -> list[Operation]:
    log = path.read_bytes()
    magic, end, _, _ = HEADER.unpack_from(log)
    _check_magic(magic, path)
    operations = []
    at = HEADER.size
    while at < end:
        kind, error, number, inode, offset, pid, *lengths = RECORD.unpack_from(log, at)
        at += RECORD.size
        parts = []
        for length in lengths:
            parts.append(log[at : at + length])
            at += length
        operations.append(
            Operation(
                kind=Kind(kind),
                path=os.fsdecode(parts[0]),
                target=os.fsdecode(parts[1]),
                inode=inode,
                offset=offset,
                data=parts[2],
                number=number,
                error=error,
                pid=pid,
            )
        )
    return operations


def counted(operations: Sequence[Operation]) -> int:
    """How many operations a run made: the last number at which a fault could strike it."""
    return max((operation.number for operation in operations), default=0)


def _present(disk_dir: Path) -> Iterator[Operation]:
    for path in sorted(disk_dir.rglob("*")):
        name, inode = str(path.relative_to(disk_dir)), path.lstat().st_ino
        if path.is_dir():
            yield Operation(kind=Kind.FOUND_DIRECTORY, path=name, inode=inode)
        elif path.name != "ACK":
            yield Operation(kind=Kind.FOUND, path=name, inode=inode, data=path.read_bytes())


def _packed(operation: Operation) -> bytes:
    path = os.fsencode(operation.path)
    head = RECORD.pack(
        operation.kind, 0, 0, operation.inode, 0, 0, len(path), 0, len(operation.data)
    )
    return head + path + operation.data


def _check_magic(magic: bytes, log: Path) -> None:
    if magic != MAGIC:
        raise ValueError(f"{log}: not the log of a recording disk: it begins with {magic!r}")
