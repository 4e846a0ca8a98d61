"""A unit while its document is being read, and the words for how a document declares units."""

from msgspec import Struct, field

# The style of a document: its units have ids; or its headings only count, by numbers or phases.
NAMED = "named"
NUMBERS = "numbers"
PHASES = "phases"

# What declares a unit. Several of them can declare the same one.
HEADER = "header"
COUNTED = "generic-header"
ROW = "table-row"
ITEM = "list-item"


class UnitDraft(Struct, kw_only=True):
    """A unit while its document is being read.

    Several lines may declare one unit, such as a heading and a row of a table: each of them adds
    to the draft. `document.py` makes the unit of it when all lines were read.
    """

    id: str
    plan: str
    names_plan: bool  # the line itself names the plan
    title: str
    line: int
    level: int = 0  # of a heading; 0 for rows and items
    sources: list[str]
    own_lines: list[str]  # its heading, rows and items, as they are written
    parent: "UnitDraft | None" = None
    stated: dict[str, str] = field(default_factory=dict)
    sections: list[tuple[int, int]] = field(default_factory=list)
    field_lines: set[int] = field(default_factory=set)  # the lines that state a field
    unparseable: str = ""  # what in its lines may mean something else than it says
    cells: list[str] = field(default_factory=list)  # the cells of its row that are no field
