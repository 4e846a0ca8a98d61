"""One plan document: its units, what the document claims about each, and what is wrong with it."""

from textwrap import dedent

from msgspec import Struct

from dos.units.markdown import blocks, fields
from dos.units.markdown.fields import claim_of_line, claim_of_status
from dos.units.markdown.parse import COUNTED, HEADER, ITEM, NAMED, ROW, UnitDraft, UnitParser
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit

_SOURCES = (HEADER, COUNTED, ROW, ITEM)


class Declaration(Struct, frozen=True, kw_only=True):
    """A unit, and how the document declares it."""

    unit: Unit
    source: str  # header, table-row, list-item, joined by +; generic-header
    stamp: str = ""  # the line that says it shipped


class Document(Struct, frozen=True, kw_only=True):
    name: str
    plan: str
    declared: tuple[Declaration, ...]
    style: str = (
        NAMED  # numbers and phases: nothing in it has an id, and its headings are only counted
    )
    problems: tuple[Problem, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units that can be worked on. A number is no name to land a commit under."""
        return tuple(each.unit for each in self.declared) if self.style == NAMED else ()


def plan_name(document: str) -> str:
    """The plan that a file is, by its name: `docs/auth-plan.md` is AUTH."""
    name = document.replace("\\", "/").rpartition("/")[2]
    return (name.rpartition(".")[0] or name).removesuffix("-plan").upper()


def read(
    text: str, *, plan: str = "", document: str = "", grammar: Grammar = Grammar(), series: str = ""
) -> Document:
    """The units of a document. With a `series`, headings that only count are read as units of it."""
    shown = blocks.read_text(text)
    plan = shown.front.get("plan") or plan
    reading = UnitParser(shown, plan=plan, document=document, grammar=grammar, asked=series)
    style = reading.find()
    others = frozenset(reading.by_id)
    problems = reading.problems
    if shown.unclosed:
        line, what = shown.unclosed
        problem = f"{what} that begins here has no end, and hides what follows"
        problems.append(
            Problem(kind=ProblemKind.NOT_CLOSED, what=problem, document=document, line=line)
        )
    return Document(
        name=document,
        plan=plan,
        declared=tuple(_declared(each, shown, document, others) for each in reading.found),
        style=style,
        problems=tuple(problems),
    )


def _declared(
    found: UnitDraft, text: blocks.MarkdownText, document: str, others: frozenset[str]
) -> Declaration:
    stated, front = found.stated, text.front
    gated = fields.stated_text(stated, "gated") or _inherited(found, "gated")
    soak = fields.stated_text(stated, "soak") or _inherited(found, "soak")
    claimed, stamp = _claim(found, others, held=bool(gated or soak))
    unit = Unit(
        plan=found.plan,
        id=found.id,
        title=found.title or found.id,
        text=_text(found, text),
        lane=stated.get("lane") or _inherited(found, "lane") or front.get("lane", ""),
        agent=fields.stated_text(stated, "agent") or _inherited(found, "agent"),
        paths=fields.split_list(stated.get("paths") or _inherited(found, "paths")),
        acceptance=stated.get("acceptance", ""),
        depends=fields.unit_names(stated.get("depends", "")),
        plan_class=stated.get("class")
        or _inherited(found, "class")
        or front.get("classification", ""),
        gated=gated,
        soak_until=soak,
        claimed=claimed,
        unparseable=found.unparseable,
        document=document,
        line=found.line,
    )
    return Declaration(
        unit=unit, source="+".join(sorted(found.sources, key=_SOURCES.index)), stamp=stamp
    )


def _claim(found: UnitDraft, others: frozenset[str], *, held: bool) -> tuple[PlanClaim, str]:
    """What is claimed, and the line that says so when it is that the unit shipped."""
    said = [(claim_of_line(line, found.id, others), line) for line in found.own]
    for claim, line in said:
        if claim is PlanClaim.SHIPPED:
            return claim, line
    status = found.stated.get("status", "")
    claim = claim_of_status(status) if status else PlanClaim.OPEN
    if claim is PlanClaim.SHIPPED:
        return claim, f"status: {status}"
    if held or any(claim is PlanClaim.BLOCKED for claim, _ in said):
        return PlanClaim.BLOCKED, ""
    return claim, ""


def _inherited(found: UnitDraft, name: str) -> str:
    """A row or an item has what the unit around it has; a heading states its own."""
    return (
        "" if found.level or found.parent is None else fields.stated_text(found.parent.stated, name)
    )


def _text(found: UnitDraft, text: blocks.MarkdownText) -> str:
    sections = (range(begin, end) for begin, end in found.sections)
    body = "\n".join(
        text.written[at] for section in sections for at in section if at not in found.taken
    )
    return (body if found.level else dedent(body)).strip() or "\n".join(found.cells)
