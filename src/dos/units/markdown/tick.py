"""Mark units as shipped in the text of a plan document.

The mark goes where a person would put it: into the box of a list item, behind a heading, into the
status cell of a table row.
"""

import re
from collections.abc import Iterable

from dos.units.markdown.fields import STATUSES
from dos.units.unit import PlanClaim

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
