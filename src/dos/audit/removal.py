"""Tells what code a commit removes: tests about it may go with it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dos.audit.suites import functions, statements
from dos.verify import file_kinds

_MOVED = 0.5  # of the statements of a function that are in a new one
_SHORTEST_NAME = 3  # characters of a name that is found in a test by more than chance
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|fun|function|struct|enum|interface|type|trait|module|object|record"
    r"|const|let|var|val)\s+(?:\([^)\n]*\)\s*)?([^\W\d]\w{2,})"
)
_NAME = re.compile(r"[^\W\d]\w{2,}")
_SUBJECT_WORD = re.compile(r"[^\W\d]\w{3,}")
_SAYS_REMOVED = re.compile(
    r"\b(?:remov(?:e[sd]?|ing|al)|delet(?:e[sd]?|ing)|drop(?:s|ped|ping)?|strip(?:s|ped|ping)?"
    r"|revert(?:s|ed|ing)?|back(?:s|ed|ing)? ?out|roll(?:s|ed|ing)? ?back|undo(?:es)?|undid"
    r"|retire[sd]?|get(?:s|ting)? rid|no longer|kill(?:s|ed)?)\b",
    re.IGNORECASE,
)
_SAYS_REVERTED = re.compile(
    r"\b(?:revert(?:s|ed|ing)?|back(?:s|ed|ing)? ?out|roll(?:s|ed|ing)? ?back|undo(?:es)?|undid)\b",
    re.IGNORECASE,
)


_KEYWORDS = file_kinds.words(
    "self this super return yield None null nil true false True False undefined else elif case "
    "with from import class def func function const static void public private protected final "
    "async await throw throws raise raises try catch except finally while for break continue pass "
    "new del not and end then type struct enum let var val int str bool string float double list "
    "dict assert"
)


class CodeChange(Struct, frozen=True):
    """A file of the program before and after; None where there is none."""

    path: str
    old: str | None
    new: str | None


def says_removed(subject: str) -> bool:
    """Whether a subject says that something was removed or reverted."""
    return _SAYS_REMOVED.search(subject) is not None


def says_reverted(subject: str) -> bool:
    """Whether a subject says that a change was taken back."""
    return _SAYS_REVERTED.search(subject) is not None


def removed_names(changes: Sequence[CodeChange], subject: str) -> frozenset[str]:
    """Return the names that the code lost.

    A function whose statements are in a new one was renamed or moved, a file whose definitions are
    elsewhere was moved, and as many new names are a renaming: nothing of that was removed. A
    subject that says so is believed for every name that the code no longer has; one that says that
    a change was taken back, for every name in lines that are gone and for what it names itself, if
    any are.
    """
    files = [_ChangedFile(change) for change in changes]
    if not any(file.went for file in files):
        return frozenset()
    defined = frozenset().union(*[file.defined for file in files])
    before = frozenset().union(*[file.went.names for file in files if file.went]) - defined
    after = frozenset().union(*[file.came.names for file in files if file.came])
    is_said = says_removed(subject)
    removed = set(_lost_functions(files, defined))
    if is_said or len(before - after) > len(after - before):
        removed |= before - after
    for file in files:
        if file.change.new is None and file.went and not file.went.names <= after:
            removed.add(file.change.path.rpartition("/")[2].partition(".")[0])
    if is_said:
        removed |= _lost_words(changes)
    if says_reverted(subject):
        lost = _words_of_lost_lines(files)
        removed |= lost
        if lost:
            removed.update(_SUBJECT_WORD.findall(_SAYS_REVERTED.sub("", subject)))
    return frozenset(name for name in removed - _KEYWORDS if len(name) >= _SHORTEST_NAME)


class _Code:
    """Lines of source: their statements, what they define, and what is in their functions."""

    def __init__(self, path: str, text: str) -> None:
        told = statements.read(path, text)
        self.lines = [statement.masked for statement in told]
        self.functions: dict[str, list[str]] = {}
        for name, body in functions.owned(told).items():
            if name:
                self.functions[name] = [statement.masked for statement in body[1:]]
        self.names = frozenset(_DEFINED.findall(text)).union(self.functions)


class _ChangedFile:
    """The lines that a file lost and gained, None without any, and what it defines now."""

    def __init__(self, change: CodeChange) -> None:
        self.change = change
        old, new = change.old or "", change.new or ""
        before, after = old.split("\n"), new.split("\n")
        self.went = _lines_of(change.path, before, after)
        self.came = _lines_of(change.path, after, before)
        self.defined = frozenset(_DEFINED.findall(new))


def _lines_of(path: str, ours: Sequence[str], theirs: Sequence[str]) -> _Code | None:
    """Return our lines that they do not have; None without any."""
    known = set(theirs)
    lines = [line for line in ours if line not in known and line.strip()]
    return _Code(path, "\n".join(lines)) if lines else None


def _lost_functions(files: Sequence[_ChangedFile], defined: frozenset[str]) -> Iterator[str]:
    """Yield the functions that are gone, and whose statements are in no new function."""
    before: dict[str, list[str]] = {}
    came: set[str] = set()
    after: set[str] = set()
    for file in files:
        if file.went:
            before.update(file.went.functions)
        if file.came:
            came.update(file.came.lines)
            after |= file.came.names
    for name, body in before.items():
        is_there = name in after or name in defined
        if not is_there and sum(line in came for line in body) < _MOVED * len(body):
            yield name


def _lost_words(changes: Sequence[CodeChange]) -> set[str]:
    """Return the words that the code had and no longer has."""
    old: set[str] = set()
    new: set[str] = set()
    for change in changes:
        old.update(_NAME.findall(change.old or ""))
        new.update(_NAME.findall(change.new or ""))
    return old - new


def _words_of_lost_lines(files: Sequence[_ChangedFile]) -> set[str]:
    """Return the names that lines of code which are gone have more often than lines that came."""
    went: Counter[str] = Counter()
    came: Counter[str] = Counter()
    for file in files:
        for line in file.went.lines if file.went else ():
            went.update(_NAME.findall(line))
        for line in file.came.lines if file.came else ():
            came.update(_NAME.findall(line))
    return set(went - came)
