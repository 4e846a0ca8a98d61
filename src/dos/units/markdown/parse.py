"""Finds the units among the marks of a document, and which lines belong to each."""

import re
import sys
from functools import cached_property

from msgspec import Struct, field, structs

from dos.units.markdown import blocks, fields, ids
from dos.units.markdown.ids import Lead
from dos.units.policy import Grammar
from dos.units.unit import Problem, ProblemKind

NAMED, NUMBERS, PHASES = "named", "numbers", "phases"
HEADER, COUNTED, ROW, ITEM = "header", "generic-header", "table-row", "list-item"
_MARKED = re.compile(
    r"[ \t]{1,9}(?:[^\w\s]{1,3}|\[[xX ]\])(?:[ \t]{1,9}[*_(]{0,3}shipped[*_)]{0,3})?$",
    re.IGNORECASE,
)
DEEPEST = 4  # units inside of units: each holds the text of those in it


class UnitDraft(Struct, kw_only=True):
    """A unit while its document is being read."""

    id: str
    plan: str
    plan_said: bool  # the line itself names the plan
    title: str
    line: int
    level: int = 0  # of a heading; 0 for the others
    sources: list[str]
    own: list[str]  # its heading, rows and items, as they are written
    parent: "UnitDraft | None" = None
    stated: dict[str, str] = field(default_factory=dict)
    sections: list[tuple[int, int]] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)  # lines that state a field
    unparseable: str = ""  # what in its lines may mean something else than it says
    cells: list[str] = field(default_factory=list)  # what else its row says


class UnitParser:
    def __init__(
        self, text: blocks.MarkdownText, *, plan: str, document: str, grammar: Grammar, asked: str
    ) -> None:
        self.text, self.plan, self.document, self.grammar, self.asked = (
            text,
            plan,
            document,
            grammar,
            asked,
        )
        self.marks = list(blocks.find_marks(text.visible, tables=grammar.scan_tables))
        self.problems: list[Problem] = []
        self.leads = {
            mark.at: ids.parse_lead(mark.body)
            for mark in self.marks
            if isinstance(mark, blocks.Heading) and mark.level in grammar.heading_levels
        }
        self.known = self._series()
        self._begin()

    def _begin(self) -> None:
        self.found: list[UnitDraft] = []
        self.by_name: dict[tuple[str, str], UnitDraft] = {}
        self.by_id: dict[str, UnitDraft] = {}
        self.stack: list[UnitDraft] = []  # the headings above
        self.items: list[
            tuple[UnitDraft, int]
        ] = []  # the list items around, with the line after each
        self.owner: UnitDraft | None = None  # whose section this is
        self.since = 0
        self.open_plan = ""
        self.unmarked: blocks.Heading | None = (
            None  # the heading above, if it begins with an id and declares no unit
        )

    def _series(self) -> list[str]:
        """The series whose ids are recognised anywhere: asked for, the plan's, and those of the ids that stand out."""
        known = [self.asked, self.plan]
        strong = [
            lead for lead in self.leads.values() if lead and lead.separated and not lead.is_range
        ]
        for mark in self.marks:
            if isinstance(mark, blocks.Row):
                strong += [lead] if (lead := _first_cell(mark)) else []
            elif isinstance(mark, blocks.Item) and mark.boxed and not self.leads:
                strong += [lead] if (lead := ids.parse_lead(mark.body)) and lead.separated else []
        self.plans = {lead.plan for lead in strong if lead.plan}
        known += [*self.plans, *(ids.series_of(lead.id) for lead in strong)]
        return sorted(
            {series for series in known if series}, key=lambda series: (-len(series), series)
        )

    def find(self) -> str:
        """Find the units, and say in which style the document names them."""
        for mark in self.marks:
            match mark:
                case blocks.Heading():
                    self._heading(mark)
                case blocks.Field():
                    self._field(mark)
                case blocks.MistypedKey():
                    self._mistyped(mark)
                case blocks.Item():
                    self._item(mark)
                case blocks.Row():
                    self._row(mark)
        self._switch(None, ends=len(self.text.written))
        if any(not self.asked or ids.belongs_to_series(each.id, self.asked) for each in self.found):
            return NAMED
        return self._find_counted()

    def _find_counted(self) -> str:
        """The headings that only count, for a document in which nothing has an id."""
        named = self.found
        for style in (NUMBERS, PHASES):
            if (style == NUMBERS and self.asked) or (
                style == PHASES and not self.grammar.bare_phase_fallback
            ):
                continue
            self._begin()
            for mark in self.marks:
                if isinstance(mark, blocks.Heading):
                    self._counted_heading(mark, style)
                elif isinstance(mark, blocks.Field):
                    self._field(mark)
                elif (
                    isinstance(mark, blocks.Row)
                    and style == NUMBERS
                    and self.grammar.generic_numeric_table
                ):
                    self._counted_row(mark)
            self._switch(None, ends=len(self.text.written))
            if self.found:
                return style
        self.found = named
        return NAMED

    def _heading(self, mark: blocks.Heading) -> None:
        lead = self.leads.get(mark.at)
        if mark.at in self.leads and not (lead and lead.separated):
            lead = self._of_known_plan(ids.parse_series_lead(mark.body, self.known, self.asked))
        if lead and lead.is_range:
            self._complain(
                ProblemKind.RANGE,
                mark.at,
                f"the heading names several units at once: {mark.body[:80]}",
            )
            lead = None
        if lead is None and ids.is_numbered(mark.body):
            self.open_plan = ""
        elif lead and lead.numbered and lead.plan:
            self.open_plan = lead.plan
        if lead and not lead.separated and lead.id in self.by_id:
            lead = None  # it speaks about a unit that was declared before
        self.unmarked = mark if lead is None and self._begins_with_new_id(mark) else None
        self._place_heading(mark, lead, HEADER)

    def _begins_with_new_id(self, mark: blocks.Heading) -> bool:
        lead = ids.parse_lead(f"{mark.body.partition(' ')[0]}:") if mark.at in self.leads else None
        return lead is not None and not lead.is_range and lead.id not in self.by_id

    def _of_known_plan(self, lead: Lead | None) -> Lead | None:
        """An id that is recognised by its series belongs to the plan of that name, where the document has one."""
        plan = next(
            (plan for plan in self.plans if lead and ids.belongs_to_series(lead.id, plan)), ""
        )
        return structs.replace(lead, plan=plan) if lead and plan else lead

    def _counted_heading(self, mark: blocks.Heading, style: str) -> None:
        counted = (
            ids.leading_number(mark.body) if style == NUMBERS else ids.leading_phase(mark.body)
        )
        lead = None
        if counted and mark.at in self.leads:
            prefix = "" if style == NUMBERS else self.asked or "Phase "
            lead = Lead(id=prefix + counted[0], title=counted[1])
        self._place_heading(mark, lead if lead and lead.id not in self.by_id else None, COUNTED)

    def _place_heading(self, mark: blocks.Heading, lead: Lead | None, source: str) -> None:
        """A heading ends the sections beside it; one without a unit goes on with the section of the unit above."""
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
        self._bare_fields(unit, mark.at + 1)

    def _bare_fields(self, unit: UnitDraft, at: int) -> None:
        """Right below a heading a field needs no bullet."""
        visible = self.text.visible
        if at < len(visible) and not visible[at].strip():
            at += 1
        while at < len(visible) and (stated := fields.parse_field(visible[at], bare=True)):
            unit.stated[stated[0]] = stated[1]
            unit.taken.add(at)
            at += 1

    def _item(self, mark: blocks.Item) -> None:
        lead = ids.parse_lead(mark.body, self.known, self.asked)
        if lead is None or lead.is_range:
            return
        # In a unit's own section a box is more often a thing to check than another unit.
        anybodys = self.owner is None if mark.boxed else bool(self.open_plan)
        if not anybodys and not self._is_known(lead):
            return
        around = self._around(mark.at)
        if len(self.items) >= DEEPEST:
            return
        if unit := self._declare(lead, mark.at, ITEM, parent=around):
            end = self._end_of_item(mark)
            unit.sections.append((mark.at + 1, end))
            self.items.append((unit, end))

    def _end_of_item(self, mark: blocks.Item) -> int:
        for at in range(mark.at + 1, len(self.indents)):
            if self.indents[at] <= mark.indent:
                return at
        return len(self.indents)

    @cached_property
    def indents(self) -> list[int]:
        """How far to the right each line begins; a blank one belongs to whatever is around it."""
        bare = ((line, line.lstrip()) for line in self.text.visible)
        return [len(line) - len(rest) if rest else sys.maxsize for line, rest in bare]

    def _row(self, mark: blocks.Row) -> None:
        lead = _first_cell(mark)
        if lead is None and mark.cells:
            lead = ids.parse_lead(_bare(mark.cells[0]), self.known, self.asked)
            lead = lead if lead and self._is_known(lead) else None
        if lead and not lead.is_range:
            self._declare_row(mark, lead)

    def _counted_row(self, mark: blocks.Row) -> None:
        counted = ids.leading_number(_bare(mark.cells[0]).strip("*`~ ")) if mark.cells else None
        if counted:
            self._declare_row(mark, Lead(id=counted[0], title=counted[1]))

    def _declare_row(self, mark: blocks.Row, lead: Lead) -> None:
        unit = self._declare(lead, mark.at, ROW, parent=self._around(mark.at))
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
        """The unit that a line declares; None for one more heading of a unit that has its heading."""
        plan = (
            lead.plan
            or ("" if level else self.open_plan or (parent.plan if parent else ""))
            or self.plan
        )
        unit = self.by_name.get((plan, lead.id))
        if (
            unit is None
            and not lead.plan
            and (other := self.by_id.get(lead.id))
            and not (level and other.level)
        ):
            unit = other
        elif (
            unit is None
            and level
            and (other := self.by_id.get(lead.id))
            and not (other.plan_said or other.level)
        ):
            unit = other  # a row or an item came first, and did not say of which plan
        own = self.text.visible[at].strip()
        if unit is None:
            unit = UnitDraft(
                id=lead.id, plan=plan, plan_said=bool(lead.plan), title=lead.title, line=at + 1, level=level,
                sources=[source], own=[own], parent=parent,
            )  # fmt: skip
            self.found.append(unit)
            self.by_name[plan, lead.id] = unit
            self.by_id.setdefault(lead.id, unit)
            return unit
        if level and unit.level:
            self._complain(
                ProblemKind.DUPLICATE,
                at,
                f"unit {unit.plan}/{unit.id} has its heading in line {unit.line} already",
            )
            return None
        unit.own.append(own)
        unit.sources += [source] if source not in unit.sources else []
        if level:  # the heading is what defines it
            unit.level, unit.line, unit.parent, unit.plan = level, at + 1, parent, plan
            unit.title = lead.title or unit.title
            self.by_name[plan, lead.id] = unit
        return unit

    def _field(self, mark: blocks.Field) -> None:
        unit = self._around(mark.at)
        if unit is None:
            self._note_unmarked(mark)
            return
        unit.taken.add(mark.at)
        listed = not mark.value and mark.name in fields.LISTS
        unit.stated[mark.name] = self._listed_below(unit, mark) if listed else mark.value

    def _note_unmarked(self, mark: blocks.Field) -> None:
        if self.unmarked and mark.name in fields.OF_UNITS_ALONE:
            name, _, title = self.unmarked.body.partition(" ")
            what = f"the heading states `{mark.name}:` and declares no unit; write `{name}: {title[:80]}`"
            self._complain(ProblemKind.UNMARKED, self.unmarked.at, what)
            self.unmarked = None

    def _mistyped(self, mark: blocks.MistypedKey) -> None:
        """Read as prose it would say nothing, and the unit would be worked on as if it stood nowhere."""
        if unit := self._around(mark.at):
            what = f"`{mark.word}:` is no key of a unit; did you mean `{mark.meant}:`?"
            unit.unparseable = unit.unparseable or f"{self.document}:{mark.at + 1}: {what}"
            self._complain(ProblemKind.KEY_MISTYPED, mark.at, f"unit {unit.plan}/{unit.id}: {what}")

    def _listed_below(self, unit: UnitDraft, mark: blocks.Field) -> str:
        values = []
        for at in range(mark.at + 1, len(self.text.visible)):
            line = self.text.visible[at]
            bare = line.lstrip()
            if len(line) - len(bare) <= mark.indent or not bare.startswith(("- ", "* ", "+ ")):
                break
            values.append(fields.clean_value(bare[2:]))
            unit.taken.add(at)
        return ", ".join(values)

    def _around(self, at: int) -> UnitDraft | None:
        """The unit whose lines these are: the innermost list item, else the heading."""
        while self.items and self.items[-1][1] <= at:
            self.items.pop()
        return self.items[-1][0] if self.items else self.owner

    def _switch(self, owner: UnitDraft | None, *, ends: int, begins: int | None = None) -> None:
        if self.owner is owner:
            return
        if self.owner:
            self.owner.sections.append((self.since, ends))
        self.owner, self.since = owner, ends if begins is None else begins

    def _is_known(self, lead: Lead) -> bool:
        return lead.of_series or any(
            ids.belongs_to_series(lead.id, series) for series in self.known
        )

    def _complain(self, kind: ProblemKind, at: int, what: str) -> None:
        self.problems.append(Problem(kind=kind, what=what, document=self.document, line=at + 1))


def _first_cell(mark: blocks.Row) -> Lead | None:
    """The id that fills the first cell, where the header says that this column holds ids."""
    if (
        not mark.cells
        or not mark.header
        or mark.header[0].strip("*` ").lower() not in fields.UNIT_COLUMNS
    ):
        return None
    lead = ids.parse_lead(f"{_bare(mark.cells[0]).strip('*`~ ')}:")
    return lead if lead and lead.separated and not lead.title and not lead.is_range else None


def _bare(cell: str) -> str:
    """Without a link, and without a mark behind the id: that is no title."""
    cell = cell[1 : cell.index("](")] if cell.startswith("[") and "](" in cell else cell
    return _MARKED.sub("", cell)
