"""Find changes that only pretend: code that is not written yet, and tests that ask nothing."""

import re
from collections.abc import Sequence

from dos.audit import test_cases
from dos.audit.changed_lines import ChangedLines
from dos.audit.test_cases import Case, Grade
from dos.verify.content import significant_lines
from dos.verify.stubs import only_stubs
from dos.verify.stubs.only_stubs import TextChange

# What says in code that the work is not done.
_NOT_WRITTEN = re.compile(
    r"\bNotImplemented\w*|\b(?:todo|unimplemented)!|UnsupportedOperationException"
    r"|(?i:\bnot[ _-](?:yet[ _-])?implemented\b)|\bTODO\(\)"
)
# A line of a body that may be a stub; a change without one is not parsed.
_IDLE = re.compile(
    r"\s*(?:pass|\.\.\.|return(?:\s+(?:None|null|nil|undefined|0|false|False|\"\"|''|\{\}|\[\]))?)"
    r"\s*;?\s*$|.*(?i:\b(?:todo|fixme|stub|placeholder)\b)"
)
# An assignment or a call.
_STATEMENT = re.compile(r"[^=!<>]=[^=]|\w\(")
# An added line that declares something, or only opens or closes a block.
_DECLARES = re.compile(
    r"\s*(?:(?:pub(?:\([^)]*\))?|public|private|protected|static|async|export|default|abstract"
    r"|final|override|virtual|inline)\s+)*+(?:def|fn|func|fun|function|class|struct|interface"
    r"|import|from|use|require|include|#include|package|@)\b"
    r"|[\s{}()\[\],;|]*(?:end|else|do|begin)?[\s{}()\[\],;|]*$"
)
# A line of a test that asks nothing.
_ASKS_NOTHING = re.compile(
    r"\s*(?:pass|\.\.\.|return\b.*|skip.*|pending\b.*|\w+\.skip\w*\(.*|end|[{}()\[\],;\s]*)$",
    re.IGNORECASE,
)


def not_written(changes: Sequence[TextChange]) -> str:
    """Return what of the code is only announced; empty if the change does something.

    The changes are those of the program that `may_be_unwritten`, without tests and documents.
    """
    for change in changes:
        if _does_work(_significant_added(change), change.old or ""):
            return only_stubs.only_stubs(changes)
    return _first_mark(changes)


def may_be_unwritten(added: Sequence[str]) -> bool | None:
    """Whether added lines announce code that is not written; None if they do not tell."""
    if only_stubs.has_work(added):
        return False
    if any(_NOT_WRITTEN.search(line) or _IDLE.match(line) for line in added):
        return True
    return False if any(map(_STATEMENT.search, added)) else None


def _significant_added(change: TextChange) -> list[str]:
    """The lines of code that a change adds."""
    old = "\n".join(significant_lines(change.path, change.old or ""))
    new = "\n".join(significant_lines(change.path, change.new or ""))
    return ChangedLines(old, new).added()


def _does_work(added: Sequence[str], old: str) -> bool:
    """Whether an added line is more than a declaration, a mark, or a piece of an old line."""
    for line in added:
        if _NOT_WRITTEN.search(line) or _IDLE.match(line) or _DECLARES.match(line):
            continue
        if line.strip() not in old:
            return True
    return False


def _first_mark(changes: Sequence[TextChange]) -> str:
    for change in changes:
        for line in _significant_added(change):
            if _NOT_WRITTEN.search(line):
                return f"{line.strip()[:60]} in {change.path}"
    return ""


def asks_nothing(changes: Sequence[TextChange]) -> str:
    """Return the new test cases, if there are some and none of them asks anything; else empty."""
    names: list[str] = []
    for change in changes:
        known = {case.name for case in test_cases.read(change.path, change.old or "").cases}
        for case in test_cases.read(change.path, change.new or "").cases:
            if case.name in known:
                continue
            if not _is_idle(case):
                return ""
            names.append(case.name)
        if not names and ChangedLines(change.old or "", change.new or "").added():
            return ""
    return ", ".join(names[:3])


def _is_idle(case: Case) -> bool:
    """Whether nothing in a case can fail."""
    if case.count(Grade.WEAK):
        return False
    vacuous = {assertion.text for assertion in case.assertions}
    for line in case.text.split("\n")[1:]:
        if line.strip() not in vacuous and not _ASKS_NOTHING.match(line):
            return False
    return True
