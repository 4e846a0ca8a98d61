"""A note that an agent keeps between conversations: a markdown file with optional front matter."""

import re

from msgspec import Struct

LONGEST_FRONT_MATTER = 200  # lines
# What is a matter of opinion: no repository can say whether it is still true.
OPINIONS = ("user", "feedback")
_RULE = re.compile(r"(---|\.\.\.)\s*")
_NAME = re.compile(r"name[ \t]*:(?P<value>.*)")
_TYPE = re.compile(r"[ \t]*type[ \t]*:(?P<value>.*)")  # also below `metadata:`
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_VERDICT = "RECALL_"


class Note(Struct, frozen=True, kw_only=True):
    """A note, without its front matter and without the verdict of an earlier recall."""

    name: str
    type: str = ""
    body: str = ""

    @property
    def is_opinion(self) -> bool:
        """Whether the note is about a person and not about the repository."""
        return self.type.lower() in OPINIONS


def parse(text: str, stem: str) -> Note:
    """Return the note of a file. Its name is that of the file where it states none."""
    lines = text.removeprefix("\ufeff").splitlines()
    name = stem
    kind = ""
    body = lines
    end = _end_of_front_matter(lines)
    if end:
        for line in lines[1:end]:
            if stated := _NAME.match(line):
                name = _plain(stated["value"]) or stem
            elif stated := _TYPE.match(line):
                kind = _plain(stated["value"])
        body = lines[end + 1 :]
    return Note(name=name, type=kind, body=_FENCE.sub("", "\n".join(_without_banner(body))))


def _end_of_front_matter(lines: list[str]) -> int:
    """Return the line that closes the front matter; 0 where there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:LONGEST_FRONT_MATTER], 1):
        if _RULE.fullmatch(line):
            return number
    return 0


def _plain(value: str) -> str:
    return value.partition(" #")[0].strip().strip("\"'")


def _without_banner(lines: list[str]) -> list[str]:
    """Drop the quotation at the beginning that holds the verdict of an earlier recall."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    end = start
    while end < len(lines) and lines[end].lstrip().startswith(">"):
        end += 1
    if any(_VERDICT in line for line in lines[start:end]):
        return lines[end:]
    return lines
