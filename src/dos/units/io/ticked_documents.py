"""Mark landed units as shipped in the plan documents of a checkout.

A mark is written only if the parser then reads exactly one claim more: the unit's own. So a mark
can never end up on a line that means another unit.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.machine.filesystem import write_whole
from dos.units.io.documents import read_text
from dos.units.markdown import document
from dos.units.markdown.fields import STATUSES
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim, Unit

# Where a mark can go: the box of a list item, the end of a heading, a cell of a row.
MARK = "✅"
_OPEN_BOX = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)\[ \]")
_HEADING = re.compile(r"^(\s{0,3}#{1,6}\s.*?)(\s+#+)?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_NOT_DONE = (PlanClaim.OPEN, PlanClaim.BLOCKED)


def tick(text: str, lines: Iterable[int]) -> str:
    """Return the text with a mark on each of these lines, which count from 1 and declare a unit."""
    rows = text.splitlines(keepends=True)
    for number in lines:
        row = rows[number - 1]
        bare = row.rstrip("\r\n")
        rows[number - 1] = _tick_line(bare) + row[len(bare) :]
    return "".join(rows)


def _tick_line(line: str) -> str:
    """Tick the box of a list item; put the mark at the end of a heading, or into a table row."""
    if _OPEN_BOX.match(line):
        return _OPEN_BOX.sub(r"\1[x]", line)
    if heading := _HEADING.match(line):
        closing = heading[2] or ""
        return f"{heading[1]} {MARK}{closing}"
    if _CELL.search(line):
        return _tick_row(line)
    return f"{line.rstrip()} {MARK}"


def _tick_row(line: str) -> str:
    """Replace a status that says otherwise by `done`; where there is none, mark the title."""
    cells = _CELL.split(line)
    if line.lstrip().startswith("|"):
        first = 1
    else:
        first = 0
    for place in range(first + 1, len(cells)):
        written = cells[place].strip()
        if STATUSES.get(written.strip("*_`").lower()) in _NOT_DONE:
            cells[place] = cells[place].replace(written, "done")
            return "|".join(cells)
    if len(cells) > first + 2:
        title = first + 1
    else:
        title = first
    cells[title] = f"{cells[title].rstrip()} {MARK} "
    return "|".join(cells)


class TickedDocument(Struct, frozen=True, kw_only=True):
    """A plan document before and after its landed units were marked."""

    name: str
    before: str
    after: str
    ticked: tuple[Unit, ...]
    refused: Mapping[str, str]  # unit -> why its line cannot be marked


def tick_documents(root: Path, units: Sequence[Unit], grammar: Grammar) -> list[TickedDocument]:
    """Plan the marks for these units, which have landed. Nothing is written."""
    by_document: dict[str, list[Unit]] = {}
    for unit in units:
        by_document.setdefault(unit.document, []).append(unit)
    return [
        _tick_document(root, name, landed, grammar) for name, landed in sorted(by_document.items())
    ]


def write_document(root: Path, planned: TickedDocument) -> None:
    """Write the document. Raises BadInput if it was edited since it was read."""
    path = root / planned.name
    if read_text(path) != planned.before:
        raise BadInput(f"{planned.name} was edited meanwhile", hint="Run `dos plan --tick` again.")
    write_whole(path, planned.after.encode())


def _tick_document(
    root: Path, name: str, units: Sequence[Unit], grammar: Grammar
) -> TickedDocument:
    """Plan the marks of one document. Units whose line cannot be marked are refused, with why."""
    before = read_text(root / name)
    if not isinstance(before, str) or before.encode() != (root / name).read_bytes():
        refused = {unit.name: f"{name} is not plain UTF-8 text" for unit in units}
        return TickedDocument(name=name, before="", after="", ticked=(), refused=refused)
    after = before
    ticked: list[Unit] = []
    refused = {}
    for unit in units:
        marked = tick(after, [unit.line])
        if _claims(marked, name, grammar) == _claims(after, name, grammar) | {
            unit.name: PlanClaim.SHIPPED
        }:
            after = marked
            ticked.append(unit)
        else:
            refused[unit.name] = f"a mark in {name}:{unit.line} would not be read as this unit's"
    return TickedDocument(
        name=name, before=before, after=after, ticked=tuple(ticked), refused=refused
    )


def _claims(text: str, name: str, grammar: Grammar) -> dict[str, str]:
    """What the document says about each of its units."""
    plan = document.plan_name(name)
    found = document.read(text, plan=plan, document=name, grammar=grammar)
    return {unit.name: unit.claimed for unit in found.units}
