"""Raw commits and folders as git stores them."""

import re
from functools import cache

from msgspec import Struct

Id = bytes  # the hash of an object in its short form: 20 or 32 bytes
Folder = dict[bytes, tuple[bytes, Id]]  # mode and id by name

_SHA1_DIGITS = 40


class Commit(Struct, frozen=True):
    """What of a commit matters for a hand-over."""

    tree: Id
    parents: tuple[Id, ...]


def parse_commit(content: bytes) -> Commit:
    """Parse a commit that git has checked. Raises ValueError when it has no tree."""
    tree = b""
    parents = []
    for line in content.partition(b"\n\n")[0].split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree" and not tree:
            tree = bytes.fromhex(value.decode("ascii"))
        elif key == b"parent":
            parents.append(bytes.fromhex(value.decode("ascii")))
        else:
            break
    if not tree:
        raise ValueError("it has no tree")
    return Commit(tree, tuple(parents))


def parse_folder(content: bytes, id_bytes: int) -> Folder:
    """Parse the entries of a tree. Raises ValueError when it is not written as one.

    The same name twice is an error too: which of the two counts would depend on the reader. Modes
    are returned without the zeros before them that old programs wrote.
    """
    records = _entry(id_bytes).findall(content)
    folder = {name: (mode, sha) for mode, name, sha in records}
    length = sum(map(len, folder)) + len(folder) * (2 + id_bytes)
    length += sum(len(mode) for mode, _ in folder.values())
    if length != len(content):
        raise ValueError("it has a damaged or doubled entry")
    if any(mode.startswith(b"0") for mode, _ in folder.values()):
        return {name: (mode.lstrip(b"0"), sha) for name, (mode, sha) in folder.items()}
    return folder


@cache
def _entry(id_bytes: int) -> re.Pattern[bytes]:
    return re.compile(rb"([0-7]{1,7}) ([^\0]*)\0(.{%d})" % id_bytes, re.DOTALL)


# The beginning of the index of a pack: a mark, the version, and counts by the first byte of a name.
INDEX_HEADER_BYTES = 8 + 256 * 4
_INDEX_MARK = b"\xfftOc\x00\x00\x00\x02"


def index_count(header: bytes) -> int:
    """Return how many objects an index of version 2 has, as our own git writes it.

    Raises ValueError for anything else.
    """
    if len(header) != INDEX_HEADER_BYTES or not header.startswith(_INDEX_MARK):
        raise ValueError("it is not an index of version 2")
    return int.from_bytes(header[-4:], "big")


def split_names(names: bytes, id_bytes: int) -> list[Id]:
    """Return the objects of a pack from that part of its index that has their names."""
    return [names[at : at + id_bytes] for at in range(0, len(names), id_bytes)]
