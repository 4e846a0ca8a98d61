"""What a change adds to a file: bodies that do something, declarations, and stubs.

A stub is a body that does nothing yet: `pass`, `raise NotImplementedError`, `todo!()`. A
declaration (an import, a field, an abstract method, an exception class) is honest work by itself,
and does not turn the stubs beside it into work.
"""

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

# What says, in a comment, a string or a docstring, that the work is not done.
UNFINISHED = re.compile(
    r"\b(?:todo|fixme|xxx|tbd|unimplemented|implement me|implement this|placeholder|stub"
    r"|(?:not|isn't|aren't|never)[ _-](?:yet[ _-])?(?:implemented|supported[ _-]yet|done|written)"
    r"|(?:to be|will be|must be|needs to be) (?:implemented|written|done|added)"
    r"|coming soon|for now|(?:fill|write) (?:this |me )?(?:in )?later)\b",
    re.IGNORECASE,
)
# What says that an empty body is meant to be empty.
DELIBERATE = re.compile(
    r"\b(?:no-?op|(?:does|do|doing) nothing|nothing (?:to do|to clean|to close|to release|happens)"
    r"|nothing here|intentional(?:ly)?|deliberate(?:ly)?|on purpose|by design|ignored?|marker"
    r"|sentinel|namespace|silenced?|suppress(?:es|ed)?|discards?|swallows?|subclass(?:es)?"
    r"|overrid(?:e|es|den)|abstract|hook)\b",
    re.IGNORECASE,
)
# Names of things that are meant to do nothing.
NOTHING_BY_NAME = re.compile(
    r"(?i:^|_)(?i:noop|no_op|null|dummy|silent|mute|discard|ignore)|(?:No[oO]p|Null|Dummy|Silent)"
)
# Classes whose methods are for others to write.
ABSTRACT_BY_NAME = re.compile(r"^(?:Abstract|Base)(?![a-z])|(?:Base|Interface|Mixin)$")
ERROR_CLASS = re.compile(r"\w*(?:Error|Exception|Warning|Exit|Interrupt|Fault|Throwable)\b")


class Kind(StrEnum):
    """What a part of a file is."""

    REAL = "real"
    DECLARATION = "declaration"
    STUB = "stub"


class Part(NamedTuple):
    """A function, a class or a statement of a file; `text` is compared, and never shown."""

    kind: Kind
    name: str  # empty for a statement
    text: str


class Added(NamedTuple):
    """What a change of a file adds: whether one body is real, and the names of the stubs."""

    is_real: bool
    stubs: tuple[str, ...] = ()


REAL = Added(is_real=True)


def compare(old: Iterable[Part], new: Iterable[Part]) -> Added:
    """Return what the new parts add to the old ones.

    A body that was real and is a stub now was removed: that is no work, and no stub either.
    """
    known: Counter[Part] = Counter(old)
    emptied = {part.name for part in known if part.name and part.kind is Kind.REAL}
    stubs: list[str] = []
    for part in new:
        if known[part]:
            known[part] -= 1
            continue
        if part.kind is Kind.REAL:
            return REAL
        if part.kind is Kind.STUB and part.name not in emptied:
            stubs.append(part.name)
    return Added(is_real=False, stubs=tuple(stubs))


def is_deliberate(name: str, text: str) -> bool:
    """Whether an empty body is meant to be empty, by its name or by what is written in it."""
    if UNFINISHED.search(text):
        return False
    return bool(NOTHING_BY_NAME.search(name) or DELIBERATE.search(text))
