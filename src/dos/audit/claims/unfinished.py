"""Find changes that only pretend: code that is not written yet, and tests that ask nothing."""

import re
from collections.abc import Sequence

from dos.audit.claims.changed_lines import ChangedLines
from dos.verify.content import significant_lines
from dos.verify.stubs import only_stubs
from dos.verify.stubs.only_stubs import TextChange

# What says in code that the work is not done.
_NOT_WRITTEN = re.compile(
    r"\bNotImplemented\w*|\b(?:todo|unimplemented)!|UnsupportedOperationException"
    r"|(?i:\bnot[ _-](?:yet[ _-])?implemented\b)|\bTODO\(\)"
    r"|\bpanic\(\"(?i:todo|unimplemented)"
)
# A line of a body that may be a stub; a change without one is not parsed.
_IDLE = re.compile(
    r"\s*+(?:pass|\.\.\.|return(?:\s++(?:None|null|nil|undefined|0|false|False|\"\"|''|\{\}|\[\]))?)"
    r"\s*+(?:;\s*+)?$|.*(?i:\b(?:todo|fixme|stub|placeholder)\b)"
)
# An assignment or a call.
_STATEMENT = re.compile(r"[^=!<>]=[^=]|\w\(")
# An added line that declares something, or only opens or closes a block.
_DECLARES = re.compile(
    r"\s*+(?:(?:pub(?:\([^)]*\))?|public|private|protected|static|async|export|default|abstract"
    r"|final|override|virtual|inline)\s+)*+(?:def|fn|func|fun|function|class|struct|interface"
    r"|import|from|use|require|include|#include|package|@)\b"
    r"|[\s{}()\[\],;|]*+(?:(?:end|else|do|begin)[\s{}()\[\],;|]*+)?$"
)
# A line that begins a test, or marks it.
_OPENS_CASE = re.compile(
    r"\s*+(?:@\w|#\[|\[[A-Z]\w*\]|(?:(?:async|public|private|static|final|void|export)\s+)*+"
    r"(?:def|func|fn|fun|function|class|sub|proc)\s|describe\b|context\b|it\b|tests?\b|specify\b"
    r"|scenario\b|TEST\w*\(|public\s|void\s)"
)
# What a line that asks something has, in most languages and frameworks.
_ASKS = re.compile(
    r"assert|expect|should|must|refute|check|verif|ensure|require|rais|throw|equal|match|compar"
    r"|fail|error|\bok\b|\bis\(|==|!=|\bdiff\b|grep|\[\[? |\bt\.\w+\(|approx|contain|snapshot|toBe"
    r"|fatal|panic|exit|status",
    re.IGNORECASE,
)
_RUNNING_IS_ENOUGH = re.compile(
    r"rais|throw|error|crash|panic|fail|warn|smoke|compil|run|safe|accept|allow", re.IGNORECASE
)
_COMMENTS = ("#", "//", "*", "/*", "--")
# A line of a test that cannot fail.
_ASKS_NOTHING = re.compile(
    r"\s*+(?:pass|\.\.\.|return\b.*|skip.*|pending\b.*|\w+\.skip\w*\(.*|end|[{}()\[\],;=>\s]*+"
    r"|(?:\w++\.)?(?:xct)?assert(?:_?true)?[ (!]++(?:true|1)\s*+(?:\)[\s;]*+|;|,\s*+f?[\"'].*)?"
    r"|expect\((?:true|1)\)\.\w+\((?:true|1)?\);?|\w+\.pass\(\);?"
    r"|\w+\.(?:true|ok|truthy|is|equal)\((?:true|1)(?:, ?(?:true|1))?\);?)$",
    re.IGNORECASE,
)


def not_written(changes: Sequence[TextChange]) -> str:
    """Return what of the code is only announced; empty if the change does something.

    The changes are those of the program that `may_be_unwritten`, without tests and documents.
    """
    stubs = _stub_names(changes)
    for change in changes:
        if _does_work(_significant_added(change), change.old or "", stubs):
            return only_stubs.only_stubs(changes)
    return _first_mark(changes) or only_stubs.only_stubs(changes)


def may_be_unwritten(added: Sequence[str]) -> bool | None:
    """Whether added lines announce code that is not written; None if they do not tell."""
    if only_stubs.has_work(added):
        return False
    if any(_NOT_WRITTEN.search(line) or _IDLE.match(line) for line in added):
        return True
    return False if any(map(_STATEMENT.search, added)) else None


def says_unwritten(added: Sequence[str]) -> bool:
    """Whether an added line says that code is not written yet."""
    return any(map(_NOT_WRITTEN.search, added))


def _stub_names(changes: Sequence[TextChange]) -> frozenset[str]:
    """The names of the new functions that do nothing, and of new files that have nothing else."""
    names: set[str] = set()
    for change in changes:
        if not says_unwritten((change.new or "").split("\n")):
            continue
        added = only_stubs.added_bodies(change)
        names.update(added.stubs)
        if change.old is None and not added.is_real:
            names.add(change.path.rpartition("/")[2].partition(".")[0])
    return frozenset(names)


def _significant_added(change: TextChange) -> list[str]:
    """The lines of code that a change adds."""
    old = "\n".join(significant_lines(change.path, change.old or ""))
    new = "\n".join(significant_lines(change.path, change.new or ""))
    return ChangedLines(old, new).added()


def _does_work(added: Sequence[str], old: str, stubs: frozenset[str]) -> bool:
    """Whether an added line is more than a declaration, a mark, a piece of an old line, or a call
    of a function that is not written.
    """
    for line in added:
        if _NOT_WRITTEN.search(line) or _IDLE.match(line) or _DECLARES.match(line):
            continue
        if line.strip() not in old and not any(name in line for name in stubs):
            return True
    return False


def _first_mark(changes: Sequence[TextChange]) -> str:
    for change in changes:
        for line in _significant_added(change):
            if _NOT_WRITTEN.search(line):
                return f"{line.strip()[:60]} in {change.path}"
    return ""


def asks_nothing(changes: Sequence[TextChange]) -> bool:
    """Whether the changes of tests open new cases, and no added line can fail.

    Where the tests beside them ask in plain words, cases without such a word only run the code,
    unless their names say that to run is enough.
    """
    if any(_asks_something(change) for change in changes):
        return False
    opens = False
    runs = False
    for change in changes:
        asks_plainly = _ASKS.search(change.old or "") is not None
        for line in _significant_added(change):
            if _OPENS_CASE.match(line):
                opens = True
            elif not _ASKS_NOTHING.match(line):
                if not asks_plainly:
                    return False
                runs = True
    return opens and (not runs or len(changes) == 1)


def _asks_something(change: TextChange) -> bool:
    """Whether an added line plainly asks something; most tests have one, and are not parsed."""
    for line in ChangedLines(change.old or "", change.new or "").added():
        if _OPENS_CASE.match(line):
            if _RUNNING_IS_ENOUGH.search(line):
                return True
            continue
        is_comment = line.lstrip().startswith(_COMMENTS)
        if not is_comment and _ASKS.search(line) and not _ASKS_NOTHING.match(line):
            return True
    return False
