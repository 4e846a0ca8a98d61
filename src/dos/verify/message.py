"""Commit messages: subject, body, unit trailers, and words that say the work is not finished."""

import re
from collections.abc import Iterator
from unicodedata import category, normalize

from msgspec import Struct

from dos.lazy_pattern import LazyPattern
from dos.text import ascii_lower
from dos.verify.doubt.statement import words_of_doubt
from dos.verify.policy import Stamp

LONGEST_SUBJECT = 4096  # characters; the rest of a longer line is ignored
_WORD = re.compile(r"[^\W_]+")
_ARCHIVED = LazyPattern(
    r"(?:[^:]*:[ \t]*)?(?:archive|rollup)[ \t]+\d{8}(?:T\d+Z?)?(?:\s|$)", re.IGNORECASE
)
_SNAPSHOT = LazyPattern(r"[^:]*\bsnapshot[ \t]*:", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TRAILER_LINE = LazyPattern(r"[A-Za-z][A-Za-z0-9\-]*:[ \t]|\(cherry picked from commit |[ \t]|$")
_UNIT_TRAILER = LazyPattern(r"(?ai:ships|units?):[ \t]*(?P<names>.+)")
# The issue that a commit belongs to; trackers show the commit there, and some close it.
_ISSUE_TRAILER = LazyPattern(
    r"(?ai:issues?|bugs?|jira|tickets?|tasks?|story)(?:-(?ai:id))?:[ \t]*(?P<names>.+)"
)


class Message(Struct, frozen=True):
    """A commit message, cut as git cuts it: the first paragraph is the subject."""

    subject: str
    body: str

    @classmethod
    def parse(cls, text: str) -> "Message":
        """Cut a raw message into subject and body; any line ends are accepted."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
        paragraphs = _PARAGRAPHS.split(lines, maxsplit=1)
        subject = " ".join(line.strip() for line in paragraphs[0].split("\n"))
        if len(paragraphs) > 1:
            body = paragraphs[1]
        else:
            body = ""
        return cls(subject[:LONGEST_SUBJECT].strip(), body)


def words(text: str) -> frozenset[str]:
    """The words of a text with case folded, as the message index stores them."""
    return frozenset(_WORD.findall(text.casefold()))


def trailers(message: Message) -> Iterator[tuple[list[str], bool]]:
    """Yield the unit names of each trailer line such as `Unit: A, B`, from the end upwards.

    The bool is True for a line that only looks like a trailer because prose stands in the same
    paragraph. Nothing above such a paragraph is a trailer.
    """
    for line, faint in _trailer_lines(message):
        if match := _UNIT_TRAILER.match(line):
            yield [name.strip() for name in match["names"].split(",")], faint


def issue_trailers(message: Message) -> Iterator[list[str]]:
    """Yield the names of each trailer line such as `Issue: PROJ-12`, from the end upwards."""
    for line, faint in _trailer_lines(message):
        if not faint and (match := _ISSUE_TRAILER.match(line)):
            yield [name.strip() for name in match["names"].split(",")]


def _trailer_lines(message: Message) -> Iterator[tuple[str, bool]]:
    """The lines of the last paragraphs, up to one with prose in it; its own lines are faint."""
    faint = False
    for paragraph in reversed(_PARAGRAPHS.split(message.body.strip())):
        lines = paragraph.split("\n")
        if not all(_TRAILER_LINE.match(line) for line in lines):
            faint = True
        yield from ((line, faint) for line in lines)
        if faint:
            return


def is_bookkeeping(subject: str, stamp: Stamp) -> bool:
    """Whether a subject never ships a unit: a snapshot, a dated archive, or a declared prefix."""
    lowered = ascii_lower(subject)
    folded = subject.casefold()
    prefixes = map(ascii_lower, stamp.bookkeeping_prefixes)
    return (
        any(map(lowered.startswith, prefixes))
        or ("snapshot" in folded and _SNAPSHOT.match(subject) is not None)
        or (("archive" in folded or "rollup" in folded) and _ARCHIVED.match(subject) is not None)
    )


def unfinished_words(line: str, begin: int = 0, end: int = 0) -> str:
    """The words, in lower case, by which a line says that its unit is not done; "" for none.

    The unit's name stands from `begin` to `end`.
    """
    return words_of_doubt(_readable(line[:begin]), _readable(line[end:] if end else line[begin:]))


def _readable(text: str) -> str:
    """The text without invisible characters, with one form for look-alikes."""
    if text.isascii():
        return text
    visible = "".join(char for char in normalize("NFKC", text) if category(char) != "Cf")
    return visible.replace("’", "'")
