"""What came out of a log of a released version, line by line."""

from typing import Any

from dos.journal.events.envelope import Fact


class LineImported(Fact, frozen=True, kw_only=True):
    """A line of a released log format, kept as it was, with where it stood."""

    kind = "line_imported"
    file: str
    line: int
    op: str
    record: dict[str, Any]


class LineUnreadable(Fact, frozen=True, kw_only=True):
    """A line that could not be read is kept too: nothing is lost by importing."""

    kind = "line_unreadable"
    file: str
    line: int
    text: str
