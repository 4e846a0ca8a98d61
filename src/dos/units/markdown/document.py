"""One plan document: its units, what it claims about each, and what is wrong with it.

A claim is kept and compared with git; it never counts as the truth. A row or a list item inherits
the lane, the paths and the like of the unit around it; a heading states its own.
"""

from textwrap import dedent

from msgspec import Struct

from dos.units.markdown import blocks, fields
from dos.units.markdown.draft import COUNTED, HEADER, ITEM, NAMED, ROW, UnitDraft
from dos.units.markdown.fields import claim_of_line, claim_of_status
from dos.units.markdown.parse import UnitParser
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit

_SOURCES = (HEADER, COUNTED, ROW, ITEM)


class Declaration(Struct, frozen=True, kw_only=True):
    """A unit, and how the document declares it."""

    unit: Unit
    source: str  # header, table-row, list-item, joined by +; generic-header
    stamp: str = ""  # the line that says it shipped


class Document(Struct, frozen=True, kw_only=True):
    """A plan document that was read, with every unit that it declares in its order."""

    name: str
    plan: str
    declared: tuple[Declaration, ...]
    style: str = NAMED  # numbers, phases: nothing in it has an id, and its headings are counted
    problems: tuple[Problem, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that can be worked on. A number is no name to land a commit under."""
        if self.style != NAMED:
            return ()
        return tuple(declaration.unit for declaration in self.declared)


def plan_name(document: str) -> str:
    """The plan that a file is, by its name: `docs/auth-plan.md` is AUTH.

    Front matter with `plan:` takes precedence; `read` looks for that.
    """
    name = document.replace("\\", "/").rpartition("/")[2]
    return (name.rpartition(".")[0] or name).removesuffix("-plan").upper()


def read(
    text: str, *, plan: str = "", document: str = "", grammar: Grammar = Grammar(), series: str = ""
) -> Document:
    """Read the units of a document. Never raises: what is wrong is in `problems`.

    The front matter's plan wins over `plan`. With a `series`, headings that only count are units
    of it.
    """
    markdown = blocks.read_text(text)
    plan = markdown.front.get("plan") or plan
    parser = UnitParser(markdown, plan=plan, document=document, grammar=grammar, series=series)
    style = parser.find()
    ids = frozenset(parser.by_id)
    problems = parser.problems
    if markdown.unclosed:
        line, what = markdown.unclosed
        what = f"{what} that begins here has no end, and hides what follows"
        kind = ProblemKind.NOT_CLOSED
        problems.append(Problem(kind=kind, what=what, document=document, line=line))
    return Document(
        name=document,
        plan=plan,
        declared=tuple(_declaration(draft, markdown, document, ids) for draft in parser.units),
        style=style,
        problems=tuple(problems),
    )


def _declaration(
    draft: UnitDraft, markdown: blocks.MarkdownText, document: str, ids: frozenset[str]
) -> Declaration:
    """A draft as a unit; fields that it lacks come from around it or the front matter."""
    stated = draft.stated
    front = markdown.front
    gated = fields.stated_text(stated, "gated") or _inherited(draft, "gated")
    soak = fields.stated_text(stated, "soak") or _inherited(draft, "soak")
    claimed, stamp = _claim(draft, ids, is_held=bool(gated or soak))
    plan_class = stated.get("class") or _inherited(draft, "class")
    unit = Unit(
        plan=draft.plan,
        id=draft.id,
        title=draft.title or draft.id,
        text=_text(draft, markdown),
        lane=stated.get("lane") or _inherited(draft, "lane") or front.get("lane", ""),
        agent=fields.stated_text(stated, "agent") or _inherited(draft, "agent"),
        paths=fields.split_list(stated.get("paths") or _inherited(draft, "paths")),
        acceptance=stated.get("acceptance", ""),
        tests_may_change=bool(stated.get("tests") or _inherited(draft, "tests")),
        depends=fields.unit_names(stated.get("depends", "")),
        plan_class=plan_class or front.get("classification", ""),
        gated=gated,
        soak_until=soak,
        claimed=claimed,
        unparseable=draft.unparseable,
        document=document,
        line=draft.line,
    )
    source = "+".join(sorted(draft.sources, key=_SOURCES.index))
    return Declaration(unit=unit, source=source, stamp=stamp)


def _claim(draft: UnitDraft, ids: frozenset[str], *, is_held: bool) -> tuple[PlanClaim, str]:
    """What the document claims of a unit; and the line that says so, if it says `shipped`."""
    is_blocked = is_held
    for line in draft.own_lines:
        claim = claim_of_line(line, draft.id, ids)
        if claim is PlanClaim.SHIPPED:
            return claim, line
        if claim is PlanClaim.BLOCKED:
            is_blocked = True
    status = draft.stated.get("status", "")
    if status:
        claim = claim_of_status(status)
    else:
        claim = PlanClaim.OPEN
    if claim is PlanClaim.SHIPPED:
        return claim, f"status: {status}"
    if is_blocked:
        return PlanClaim.BLOCKED, ""
    return claim, ""


def _inherited(draft: UnitDraft, name: str) -> str:
    """A field of the unit around a row or an item; a heading states its own."""
    if draft.level or draft.parent is None:
        return ""
    return fields.stated_text(draft.parent.stated, name)


def _text(draft: UnitDraft, markdown: blocks.MarkdownText) -> str:
    """The lines of a unit's sections without its fields; else the other cells of its row."""
    lines = []
    for begin, end in draft.sections:
        for at in range(begin, end):
            if at not in draft.field_lines:
                lines.append(markdown.written[at])
    body = "\n".join(lines)
    if not draft.level:
        body = dedent(body)
    return body.strip() or "\n".join(draft.cells)
