"""Commit messages: subject, body, unit trailers, and words that say the work is not finished."""

import re
from collections.abc import Iterator
from unicodedata import category, normalize

from msgspec import Struct

from dos.verify.policy import Stamp

LONGEST_SUBJECT = 4096  # characters; the rest of a longer line is ignored
_WORD = re.compile(r"[^\W_]+")
_ARCHIVED = re.compile(
    r"(?:[^:]*:[ \t]*)?(?:archive|rollup)[ \t]+\d{8}(?:T\d+Z?)?(?:\s|$)", re.IGNORECASE
)
_SNAPSHOT = re.compile(r"[^:]*\bsnapshot[ \t]*:", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TRAILER_LINE = re.compile(r"[A-Za-z][A-Za-z0-9\-]*:[ \t]|\(cherry picked from commit |[ \t]|$")
_UNIT_TRAILER = re.compile(r"(?:ships|units?):[ \t]*(?P<names>.+)", re.IGNORECASE)

# Words that say "not done". Each pattern is for one place relative to the unit's name.
_FOLDER = re.compile(r"(?:wip|todo|draft|plan|revert|undo|blocked|partial|skip|broken)(?=/)")
_AFTER = re.compile(
    r"[\s:—–,;.(\[\-]*(?P<word>(?:not|no|never|wip|w\.i\.p|todo|fixme|tbd|plan(?:ned|ning)?"
    r"|start(?:ed|ing)?|begin|began|draft|blocked|revert(?:ed|ing|s)?|undo(?:ne)?|partial(?:ly)?"
    r"|skip(?:ped|s)?|remov(?:e[ds]?|ing)|half|stub(?:bed|s)?|placeholder|scaffold(?:ing)?"
    r"|skeleton|unfinished|unimplemented|incomplete|back(?:ed|ing)? out"
    r"|roll(?:ed|ing)? back)\b)(?!')"
)
_BEFORE = re.compile(
    r"\b(?P<word>not|no|without|except|wip|todo|plan|start(?:ed)?|draft|blocked|revert(?:ed)?|undo"
    r"|partial|skip|remove|pending|unfinished)[\s:(\[\-]*$"
)
# Elsewhere in the line these are ordinary words, unless they end it or stand in brackets.
_ANYWHERE = re.compile(
    r"[(\[](?:wip|todo|fixme|tbd|draft|unfinished|incomplete|partial|half[ -]done)[)\]]"
    r"|\b(?:wip|unfinished|incomplete|half[ -]done|work in progress|unimplemented"
    r"|w\.i\.p\.?|not[ -]done)\b"
    r"|\b(?:todo|fixme|tbd)[\s.!]*$"
    r"|\b(?:not|isn't|never|no) (?:\w+ ){0,2}"
    r"(?:done|finished|working|works?|compiles?|complete|completed|implemented|started|shipped"
    r"|ready|yet)[\s.!)\]]*$"
)
_PART = re.compile(r"\bpart (\d+) (?:of|/) (\d+)\b")
_IN_CAPITALS = re.compile(r"\b(?:WIP|TODO|FIXME|TBD)\b")


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
    faint = False
    for paragraph in reversed(_PARAGRAPHS.split(message.body.strip())):
        lines = paragraph.split("\n")
        if not all(_TRAILER_LINE.match(line) for line in lines):
            faint = True
        for line in lines:
            if match := _UNIT_TRAILER.match(line):
                yield [name.strip() for name in match["names"].split(",")], faint
        if faint:
            return


def is_bookkeeping(subject: str, stamp: Stamp) -> bool:
    """Whether a subject never ships a unit: a snapshot, a dated archive, or a declared prefix."""
    lowered = subject.lower()
    return (
        any(lowered.startswith(prefix.lower()) for prefix in stamp.bookkeeping_prefixes)
        or _SNAPSHOT.match(subject) is not None
        or _ARCHIVED.match(subject) is not None
    )


def unfinished_words(line: str, begin: int = 0, end: int = 0) -> str:
    """The words, in lower case, by which a line says that its unit is not done; "" for none.

    The unit's name stands from `begin` to `end`. Words directly beside the name weigh most, so
    they are looked for first.
    """
    before = _readable(line[:begin])
    after = _readable(line[end:] if end else line[begin:])
    whole = f"{before} {after}"
    if match := _FOLDER.match(before.casefold()):
        return match[0]
    if match := _BEFORE.search(before.casefold()):
        return match["word"]
    if match := _AFTER.match(after.casefold()):
        return match["word"]
    if match := _ANYWHERE.search(whole.casefold()) or _IN_CAPITALS.search(whole):
        return match[0].casefold()
    part = _PART.search(whole.casefold())
    if part and part[1] != part[2]:
        return part[0]
    return ""


def _readable(text: str) -> str:
    """The text without invisible characters, with one form for look-alikes."""
    if text.isascii():
        return text
    visible = "".join(char for char in normalize("NFKC", text) if category(char) != "Cf")
    return visible.replace("’", "'")
