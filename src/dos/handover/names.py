"""Names in a folder that some system takes for another name.

A work tree may be checked out on file systems that ignore case (macOS, Windows), that have another
normal form (HFS+), or that have short names and streams (NTFS).
"""

import re
from collections.abc import Collection, Iterable

from dos.text import comparison_key

# Code points that HFS+ leaves out when it compares names.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070)])
_IGNORED[0xFEFF] = None
# With the short name of NTFS.
_GIT = frozenset({".git", "git~1"})
_SHORT_GITMODULES = re.compile(r"gitmod~[1-4]|gi7eba~[1-9]|gi7eb~[1-9]\d|gi7e~[1-9]\d\d")
GITMODULES = b".gitmodules"


def folder_names_git(name: bytes) -> bool:
    """Whether some file system takes a name for `.git`, or for a path with it."""
    return any(spelling in _GIT for spelling in _spellings(name))


def disguises_gitmodules(name: bytes) -> bool:
    """Whether some file system takes a name for `.gitmodules`, although git does not."""
    if name == GITMODULES:
        return False
    return any(
        spelling == ".gitmodules" or _SHORT_GITMODULES.fullmatch(spelling)
        for spelling in _spellings(name)
    )


def _spellings(name: bytes) -> Iterable[str]:
    """Yield what NTFS and HFS+ make of a name, in lower case. NTFS takes `\\` for a separator."""
    lowered = name.lower()
    if b"git" not in lowered and b"gi7e" not in lowered and name.isascii():
        return  # most names
    text = comparison_key(name.decode("utf-8", "surrogateescape").translate(_IGNORED))
    for part in text.split("\\"):
        stream = part.partition(":")[0]
        yield stream.rstrip(" .")
        yield part


def fold(name: bytes) -> bytes:
    """Return the form in which two names collide: without case, in one normal form."""
    if name.isascii():
        return name.lower()
    return comparison_key(name.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogatepass")


def new_collision(
    names: Collection[bytes], before: Collection[bytes]
) -> tuple[bytes, bytes] | None:
    """Return two names of a folder that are one when folded; None where there are none.

    `before` has the names in that folder at the base. Two names that it had both may stay.
    """
    added = {fold(name): name for name in names if name not in before}
    if not added:
        return None
    counted = {fold(name) for name in names}
    if len(counted) == len(names):
        return None
    for name in names:
        other = added.get(fold(name), name)
        if other != name:
            return other, name
    return None
