"""Follows moved modules into the tests that import them, so that such a test counts as unchanged.

A test that names a module by its new place, and is otherwise as it was, judges as it did.
"""

import re
from collections.abc import Iterable

from dos.git.changes import FileChange
from dos.verify import file_kinds

_NAME = re.compile(r"[^\W\d][\w.-]*(?:/[\w.-]+)*")
# Words by which tests judge: no module of such a name is followed.
_JUDGING = re.compile(r"assert|expect|test|skip|raises|should", re.IGNORECASE)


def with_new_names(text: str, changes: Iterable[FileChange]) -> str:
    """Return a test with the new name of each module of the program that was moved."""
    names: dict[str, str] = {}
    for change in changes:
        if change.old_path and file_kinds.is_program(change.path):
            names |= _new_names(change.old_path, change.path)
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    known = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w-])(?:{known})(?![\w-])", lambda match: names[match[0]], text)


def _new_names(old_path: str, new_path: str) -> dict[str, str]:
    """Return the names of a module from every folder that both places share: `a.b`, `a/b`."""
    old, new = (path.rpartition(".")[0].split("/") for path in (old_path, new_path))
    names: dict[str, str] = {}
    while old and new:
        is_name = len(old) > 1 or len(new) == 1  # its last name alone says no folder
        for separator in "./":
            before = separator.join(old)
            if is_name and _NAME.fullmatch(before) and not _JUDGING.search(before):
                names[before] = separator.join(new)
        if old[0] != new[0]:
            break
        old, new = old[1:], new[1:]
    return names
