"""Find expected output that a commit changes without any code that could have changed it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from dos.audit.weakening import TestChange, Weakening, WeakeningKind
from dos.verify import runners

# Below `testdata` lies what tests read as well; only these are what they compare with.
_RESULT = re.compile(r"\.(?:out|stdout|stderr|want|result)$", re.IGNORECASE)
_TEST_DATA = re.compile(r"(?:^|/)testdata/")


@lru_cache(maxsize=4096)  # a history names the same paths again and again
def is_result(path: str) -> bool:
    """Whether a file is what a test compares its result with, and not what it reads."""
    if not runners.is_expected_output(path):
        return False
    return runners.is_expected_output(_TEST_DATA.sub("/", path)) or _RESULT.search(path) is not None


def find(changes: Sequence[TestChange]) -> list[Weakening]:
    """Return the expected output that says something else now.

    `changes` are those of a commit that changes nothing else: no code, no test, no dependency.
    New files and a new layout of the same text take nothing away.
    """
    found = []
    kind = WeakeningKind.OUTPUT_REWRITTEN
    detail = "the expected output changed, and no code did"
    for change in changes:
        if change.old is None or change.new is None:
            continue
        if "".join(change.old.split()) != "".join(change.new.split()):
            found.append(Weakening(path=change.path, what=kind, detail=detail))
    return found
