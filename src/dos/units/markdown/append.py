"""Append a unit to the text of a plan document, in the form that the document uses."""

from collections.abc import Sequence

from msgspec import Struct

from dos.units.markdown.document import Document

DEFAULT_LEVEL = 2


class NewUnit(Struct, frozen=True, kw_only=True):
    """A unit that is to be added to a plan."""

    plan: str
    id: str
    title: str
    lane: str = ""
    paths: tuple[str, ...] = ()
    acceptance: str = ""
    depends: tuple[str, ...] = ()
    text: str = ""

    @property
    def name(self) -> str:
        """The name by which everything else refers to the unit: PLAN/ID."""
        return f"{self.plan}/{self.id}"


def append_unit(text: str, document: Document, new: NewUnit) -> str:
    """Return the text with the unit as its last heading, on the level of the others.

    Whether it then declares this unit and changes no other one, the caller has to read.
    """
    rows = text.splitlines()
    lines = [f"{'#' * _heading_level(rows, document)} {new.plan} {new.id}: {new.title}"]
    lines += _fields(new)
    if new.text:
        lines += ["", *new.text.splitlines()]
    body = text.rstrip()
    separator = "\n\n" if body else ""
    return f"{body}{separator}{chr(10).join(lines)}\n"


def _heading_level(rows: Sequence[str], document: Document) -> int:
    """The level of the last heading that declares a unit."""
    for declaration in reversed(document.declared):
        row = rows[declaration.unit.line - 1].lstrip()
        level = len(row) - len(row.lstrip("#"))
        if level:
            return level
    return DEFAULT_LEVEL


def _fields(new: NewUnit) -> list[str]:
    lines = []
    if new.lane:
        lines.append(f"- lane: {new.lane}")
    if new.paths:
        lines.append(f"- paths: {', '.join(new.paths)}")
    if new.depends:
        lines.append(f"- depends: {', '.join(new.depends)}")
    if new.acceptance:
        lines.append(f"- acceptance: `{new.acceptance}`")
    return lines
