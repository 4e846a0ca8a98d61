"""Decide whether what a commit added is only stubs: bodies that do nothing yet.

Tests beside a stub are no work on it: a test of a stub proves nothing. A change that is not
understood counts as work.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dos.text import join_some, printable_path
from dos.verify import file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.stubs import bodies
from dos.verify.stubs.bodies import Added

LARGEST_TEXT = 1_000_000  # characters of a file that is read for stubs
# A unit whose title has one of these words asks for something without a body.
_ASKED_FOR = re.compile(
    r"\b(?:stubs?|skeletons?|scaffold\w*|placeholders?|no-?ops?|interfaces?|abstract|markers?"
    r"|protocols?|declar\w+|deprecat\w*|disabl\w*|remov\w*)\b",
    re.IGNORECASE,
)
# An added line that only a body with work in it has. Most commits have one, and are not parsed.
_WORK = re.compile(
    r"\s*(?:for|while|with|yield|elif|switch|match|try|await|foreach|until|unless|case)\b"
    r"|\s*(?:if|}? ?else if)\b(?!.*(?:TYPE_CHECKING|__name__))"
    r"|\s*return\b(?!.*(?i:todo|implement|errors\.|errorf)).*[\w\])]\s*(?:[-+*/%|&<>]|==|\(.)"
)


class TextChange(Struct, frozen=True, kw_only=True):
    """A text file before and after a commit; None where it does not exist."""

    path: str
    old: str | None
    new: str | None


def is_asked_for(title: str) -> bool:
    """Whether a unit's title asks for something that has no body."""
    return _ASKED_FOR.search(title) is not None


def has_work(lines: Iterable[str]) -> bool:
    """Whether one of the added lines is surely part of a real body."""
    return any(map(_WORK.match, lines))


def only_stubs(changes: Sequence[TextChange]) -> str:
    """Return which stubs were added and nothing else; empty if anything else was, or no stub."""
    program = [change for change in changes if file_kinds.kind(change.path) is not Kind.TEST]
    names: list[str] = []
    for change in program or changes:
        added = added_bodies(change)
        if added.is_real:
            return ""
        names += [f"{name} in {printable_path(change.path)}" for name in added.stubs]
    return join_some(names) if names else ""


def added_bodies(change: TextChange) -> Added:
    """Return what the change of one file adds; a file that is not understood is real work."""
    if change.new is None:
        return Added(is_real=False)
    if max(len(change.new), len(change.old or "")) > LARGEST_TEXT:
        return bodies.REAL
    suffix = change.path.rpartition(".")[2].lower()
    if suffix == "pyi":
        return Added(is_real=False)
    if suffix == "py":
        return _python(change.old or "", change.new)
    from dos.verify.stubs import block_bodies  # at use: most changes are of Python, or surely real

    if suffix not in block_bodies.SUFFIXES:
        return bodies.REAL
    old = block_bodies.parts(change.path, change.old or "")
    return bodies.compare(old, block_bodies.parts(change.path, change.new))


def _python(old: str, new: str) -> Added:
    from dos.verify.stubs import python_bodies  # at use, as above

    before = python_bodies.parts(old)
    after = python_bodies.parts(new)
    if before is None or after is None:
        return bodies.REAL
    return bodies.compare(before, after)
