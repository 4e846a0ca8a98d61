"""Can a command fail at all? One that cannot witnesses nothing, whatever it is run for."""

import re
from collections.abc import Sequence

# Each of them ends with 0 wherever it is run and whatever was done.
_ALWAYS_WELL = frozenset(
    {"true", ":", "echo", "printf", "sleep", "pwd", "date", "whoami", "hostname"}
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})


def cannot_fail(words: Sequence[str]) -> bool:
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    if program in _SHELLS and len(words) > 2 and words[1] == "-c":
        # A shell ends as its last statement does.
        last = re.split(r"[;\n]", words[2].rstrip("; \n"))[-1]
        return any(all(map(_is_idle, way.split("&&"))) for way in last.split("||"))
    return program in _ALWAYS_WELL


def _is_idle(statement: str) -> bool:
    words = statement.split()
    return words == ["exit", "0"] or cannot_fail(words)
