"""Find the units among the marks of a plan document, and the lines that belong to each.

A heading with an id opens the section of a unit, which lasts until a heading of the same level.
A table row or a list item with an id declares a unit as well, and several of them can declare
the same unit: the heading defines it, the others add fields. Where nothing has an id, headings
that only count (`2.` or `Phase 2`) are read instead.
"""

import sys
from functools import cached_property

from msgspec import structs

from dos.units.markdown import blocks, fields, ids
from dos.units.markdown.draft import COUNTED, HEADER, ITEM, NAMED, NUMBERS, PHASES, ROW, UnitDraft
from dos.units.markdown.ids import Lead
from dos.units.policy import Grammar
from dos.units.unit import Problem, ProblemKind

DEEPEST = 4  # levels of units inside units: each contains the text of those in it


class UnitParser:
    """Reads one document: `find` fills `units` and `problems`."""

    def __init__(
        self, text: blocks.MarkdownText, *, plan: str, document: str, grammar: Grammar, series: str
    ) -> None:
        self.text = text
        self.plan = plan
        self.document = document
        self.grammar = grammar
        self.series = series  # that the caller asks for; empty: all
        self.marks = list(blocks.find_marks(text.visible, tables=grammar.scan_tables))
        self.problems: list[Problem] = []
        self.leads: dict[int, Lead | None] = {}
        for mark in self.marks:
            if isinstance(mark, blocks.Heading) and mark.level in grammar.heading_levels:
                self.leads[mark.at] = ids.parse_lead(mark.body)
        self.known_series = self._find_series()
        self._reset()

    def _reset(self) -> None:
        """Forget what was found, to read the marks in another style."""
        self.units: list[UnitDraft] = []
        self.by_name: dict[tuple[str, str], UnitDraft] = {}
        self.by_id: dict[str, UnitDraft] = {}
        self.stack: list[UnitDraft] = []  # the units of the headings above
        self.items: list[tuple[UnitDraft, int]] = []  # list items around, with the line after each
        self.owner: UnitDraft | None = None  # whose section the current line is in
        self.since = 0
        self.open_plan = ""
        # The heading above, if it begins with an id and declares no unit.
        self.unmarked: blocks.Heading | None = None

    def _find_series(self) -> list[str]:
        """The series whose ids are recognised anywhere, the longest first.

        They are the one that is asked for, the plan's, and those of the ids that stand out.
        """
        strong = []
        for lead in self.leads.values():
            if lead and lead.separated and not lead.is_range:
                strong.append(lead)
        for mark in self.marks:
            if isinstance(mark, blocks.Row):
                if lead := _id_in_first_cell(mark):
                    strong.append(lead)
            elif isinstance(mark, blocks.Item) and mark.boxed and not self.leads:
                lead = ids.parse_lead(mark.body)
                if lead and lead.separated:
                    strong.append(lead)
        self.plans = {lead.plan for lead in strong if lead.plan}
        known = {self.series, self.plan, *self.plans, *(ids.series_of(lead.id) for lead in strong)}
        known.discard("")
        return sorted(known, key=lambda series: (-len(series), series))

    def find(self) -> str:
        """Find the units, and return the style in which the document names them."""
        for mark in self.marks:
            match mark:
                case blocks.Heading():
                    self._read_heading(mark)
                case blocks.Field():
                    self._read_field(mark)
                case blocks.MistypedKey():
                    self._read_mistyped_key(mark)
                case blocks.Item():
                    self._read_item(mark)
                case blocks.Row():
                    self._read_row(mark)
        self._switch(None, ends=len(self.text.written))
        for unit in self.units:
            if not self.series or ids.belongs_to_series(unit.id, self.series):
                return NAMED
        return self._find_counted()

    def _find_counted(self) -> str:
        """Read headings that only count as units, for a document in which nothing has an id."""
        named = self.units
        styles = []
        if not self.series:
            styles.append(NUMBERS)
        if self.grammar.bare_phase_fallback:
            styles.append(PHASES)
        for style in styles:
            self._reset()
            self._read_counted(style)
            if self.units:
                return style
        self.units = named
        return NAMED

    def _read_counted(self, style: str) -> None:
        """Read the marks once, with headings that count as units."""
        reads_rows = style == NUMBERS and self.grammar.generic_numeric_table
        for mark in self.marks:
            if isinstance(mark, blocks.Heading):
                self._read_counted_heading(mark, style)
            elif isinstance(mark, blocks.Field):
                self._read_field(mark)
            elif isinstance(mark, blocks.Row) and reads_rows:
                self._read_counted_row(mark)
        self._switch(None, ends=len(self.text.written))

    def _read_heading(self, mark: blocks.Heading) -> None:
        """Declare the unit of a heading, if its id is clear and new."""
        lead = self.leads.get(mark.at)
        if mark.at in self.leads and not (lead and lead.separated):
            by_series = ids.parse_series_lead(mark.body, self.known_series, self.series)
            lead = self._with_known_plan(by_series)
        if lead and lead.is_range:
            what = f"the heading names several units at once: {mark.body[:80]}"
            self._report(ProblemKind.RANGE, mark.at, what)
            lead = None
        if lead is None and ids.is_numbered(mark.body):
            self.open_plan = ""
        elif lead and lead.numbered and lead.plan:
            self.open_plan = lead.plan
        if lead and not lead.separated and lead.id in self.by_id:
            lead = None  # it is about a unit that was declared before
        self.unmarked = mark if lead is None and self._begins_with_new_id(mark) else None
        self._place_heading(mark, lead, HEADER)

    def _begins_with_new_id(self, mark: blocks.Heading) -> bool:
        """Whether the heading's first word could be an id that is not declared yet."""
        if mark.at not in self.leads:
            return False
        lead = ids.parse_lead(f"{mark.body.partition(' ')[0]}:")
        return lead is not None and not lead.is_range and lead.id not in self.by_id

    def _with_known_plan(self, lead: Lead | None) -> Lead | None:
        """An id that is recognised by its series belongs to the document's plan of that name."""
        if lead is None:
            return None
        for plan in self.plans:
            if ids.belongs_to_series(lead.id, plan):
                return structs.replace(lead, plan=plan)
        return lead

    def _read_counted_heading(self, mark: blocks.Heading, style: str) -> None:
        """Declare the unit of a heading that begins with a number or a phase."""
        if style == NUMBERS:
            prefix = ""
            counted = ids.leading_number(mark.body)
        else:
            prefix = self.series or "Phase "
            counted = ids.leading_phase(mark.body)
        lead = None
        if counted and mark.at in self.leads:
            number, title = counted
            lead = Lead(id=prefix + number, title=title)
        if lead and lead.id in self.by_id:
            lead = None
        self._place_heading(mark, lead, COUNTED)

    def _place_heading(self, mark: blocks.Heading, lead: Lead | None, source: str) -> None:
        """End the sections beside a heading; one without a unit continues the unit above."""
        while self.stack and self.stack[-1].level >= mark.level:
            self.stack.pop()
        self.items.clear()
        above = self.stack[-1] if self.stack else None
        if lead is None:
            self._switch(above, ends=mark.at)
            return
        unit = self._declare(lead, mark.at, source, parent=above, level=mark.level)
        if unit is None:
            self._switch(None, ends=mark.at)
            return
        self._switch(unit, ends=mark.at, begins=mark.at + 1)
        self.stack.append(unit)
        self._read_bare_fields(unit, mark.at + 1)

    def _read_bare_fields(self, unit: UnitDraft, at: int) -> None:
        """Directly below a heading a field needs no bullet."""
        visible = self.text.visible
        if at < len(visible) and not visible[at].strip():
            at += 1
        while at < len(visible) and (stated := fields.parse_field(visible[at], bare=True)):
            unit.stated[stated[0]] = stated[1]
            unit.field_lines.add(at)
            at += 1

    def _read_item(self, mark: blocks.Item) -> None:
        """Declare the unit of a list item, if it cannot be a mere thing to check."""
        lead = ids.parse_lead(mark.body, self.known_series, self.series)
        if lead is None or lead.is_range:
            return
        # In a unit's own section a box is more often a thing to check than another unit.
        may_declare = self.owner is None if mark.boxed else bool(self.open_plan)
        if not may_declare and not self._is_known(lead):
            return
        around = self._unit_at(mark.at)
        if len(self.items) >= DEEPEST:
            return
        if unit := self._declare(lead, mark.at, ITEM, parent=around):
            end = self._end_of_item(mark)
            unit.sections.append((mark.at + 1, end))
            self.items.append((unit, end))

    def _end_of_item(self, mark: blocks.Item) -> int:
        """The first line below an item that is not indented further than it."""
        for at in range(mark.at + 1, len(self.indents)):
            if self.indents[at] <= mark.indent:
                return at
        return len(self.indents)

    @cached_property
    def indents(self) -> list[int]:
        """The indentation of each line; a blank one belongs to whatever is around it."""
        indents = []
        for line in self.text.visible:
            rest = line.lstrip()
            indents.append(len(line) - len(rest) if rest else sys.maxsize)
        return indents

    def _read_row(self, mark: blocks.Row) -> None:
        """Declare the unit of a table row, by its first cell."""
        lead = _id_in_first_cell(mark)
        if lead is None and mark.cells:
            lead = ids.parse_lead(ids.bare_id(mark.cells[0]), self.known_series, self.series)
            if lead and not self._is_known(lead):
                return
        if lead and not lead.is_range:
            self._declare_row(mark, lead)

    def _read_counted_row(self, mark: blocks.Row) -> None:
        """Declare the unit of a table row that begins with a number."""
        if not mark.cells:
            return
        counted = ids.leading_number(ids.bare_id(mark.cells[0]).strip("*`~ "))
        if counted:
            number, title = counted
            self._declare_row(mark, Lead(id=number, title=title))

    def _declare_row(self, mark: blocks.Row, lead: Lead) -> None:
        """Declare a row's unit, and read its other cells by the header."""
        unit = self._declare(lead, mark.at, ROW, parent=self._unit_at(mark.at))
        if unit is None:
            return
        columns = fields.column_fields(mark.header)[1:] or ["title"]
        for place, cell in enumerate(mark.cells[1:]):
            column = columns[place] if place < len(columns) else ""
            if column == "title":
                unit.title = unit.title or cell
            elif column:
                unit.stated.setdefault(column, fields.clean_value(cell))
            elif cell:
                head = mark.header[place + 1] if place + 1 < len(mark.header) else ""
                unit.cells.append(f"{head}: {cell}" if head else cell)

    def _declare(
        self, lead: Lead, at: int, source: str, *, parent: UnitDraft | None, level: int = 0
    ) -> UnitDraft | None:
        """The unit that a line declares; None for a second heading of a unit."""
        plan = lead.plan or self._plan_around(parent, level) or self.plan
        own_line = self.text.visible[at].strip()
        unit = self.by_name.get((plan, lead.id)) or self._declared_before(lead, level)
        if unit is None:
            unit = UnitDraft(
                id=lead.id, plan=plan, names_plan=bool(lead.plan), title=lead.title, line=at + 1,
                level=level, sources=[source], own_lines=[own_line], parent=parent,
            )  # fmt: skip
            self.units.append(unit)
            self.by_name[plan, lead.id] = unit
            self.by_id.setdefault(lead.id, unit)
            return unit
        if level and unit.level:
            what = f"unit {unit.plan}/{unit.id} has its heading in line {unit.line} already"
            self._report(ProblemKind.DUPLICATE, at, what)
            return None
        unit.own_lines.append(own_line)
        if source not in unit.sources:
            unit.sources.append(source)
        if level:  # the heading is what defines it
            unit.level = level
            unit.line = at + 1
            unit.parent = parent
            unit.plan = plan
            unit.title = lead.title or unit.title
            self.by_name[plan, lead.id] = unit
        return unit

    def _plan_around(self, parent: UnitDraft | None, level: int) -> str:
        """The plan that the lines around a row or an item name; a heading states its own."""
        if level:
            return ""
        return self.open_plan or (parent.plan if parent else "")

    def _declared_before(self, lead: Lead, level: int) -> UnitDraft | None:
        """The unit of the same id that a line means which does not name another plan."""
        other = self.by_id.get(lead.id)
        if other is None:
            return None
        if not lead.plan and not (level and other.level):
            return other
        # A row or an item came first, and did not say of which plan.
        if level and not (other.names_plan or other.level):
            return other
        return None

    def _read_field(self, mark: blocks.Field) -> None:
        """Give a field to the unit around it."""
        unit = self._unit_at(mark.at)
        if unit is None:
            self._note_unmarked(mark)
            return
        unit.field_lines.add(mark.at)
        if not mark.value and mark.name in fields.LISTS:
            unit.stated[mark.name] = self._list_below(unit, mark)
        else:
            unit.stated[mark.name] = mark.value

    def _note_unmarked(self, mark: blocks.Field) -> None:
        """Report a heading that has fields of a unit and declares none."""
        if self.unmarked and mark.name in fields.OF_UNITS_ALONE:
            name, _, title = self.unmarked.body.partition(" ")
            what = (
                f"the heading states `{mark.name}:` and declares no unit;"
                f" write `{name}: {title[:80]}`"
            )
            self._report(ProblemKind.UNMARKED, self.unmarked.at, what)
            self.unmarked = None

    def _read_mistyped_key(self, mark: blocks.MistypedKey) -> None:
        """Hold the unit: read as prose, the line would be lost and the unit done without it."""
        if unit := self._unit_at(mark.at):
            what = fields.describe_mistyped_key(mark.word, mark.meant)
            unit.unparseable = unit.unparseable or f"{self.document}:{mark.at + 1}: {what}"
            problem = f"unit {unit.plan}/{unit.id}: {what}"
            self._report(ProblemKind.KEY_MISTYPED, mark.at, problem)

    def _list_below(self, unit: UnitDraft, mark: blocks.Field) -> str:
        """The values of a field that is written as a list below its key."""
        values = []
        for at in range(mark.at + 1, len(self.text.visible)):
            line = self.text.visible[at]
            bare = line.lstrip()
            if len(line) - len(bare) <= mark.indent or not bare.startswith(("- ", "* ", "+ ")):
                break
            values.append(fields.clean_value(bare[2:]))
            unit.field_lines.add(at)
        return ", ".join(values)

    def _unit_at(self, at: int) -> UnitDraft | None:
        """The unit that a line belongs to: of the innermost list item, else of the heading."""
        while self.items and self.items[-1][1] <= at:
            self.items.pop()
        if self.items:
            return self.items[-1][0]
        return self.owner

    def _switch(self, owner: UnitDraft | None, *, ends: int, begins: int | None = None) -> None:
        """End the current section, and begin one of another unit or of none."""
        if self.owner is owner:
            return
        if self.owner:
            self.owner.sections.append((self.since, ends))
        self.owner = owner
        self.since = ends if begins is None else begins

    def _is_known(self, lead: Lead) -> bool:
        """Whether an id belongs to a series of this document."""
        if lead.of_series:
            return True
        return any(ids.belongs_to_series(lead.id, series) for series in self.known_series)

    def _report(self, kind: ProblemKind, at: int, what: str) -> None:
        """Note a problem with the document, at a line."""
        self.problems.append(Problem(kind=kind, what=what, document=self.document, line=at + 1))


def _id_in_first_cell(mark: blocks.Row) -> Lead | None:
    """The id that fills the first cell, if the header says that this column holds ids."""
    if not mark.cells or not mark.header:
        return None
    if mark.header[0].strip("*` ").lower() not in fields.UNIT_COLUMNS:
        return None
    return ids.parse_id_cell(mark.cells[0])
