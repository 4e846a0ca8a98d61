"""List the units of a plan document: which it claims as shipped, and which are left.

This is `dos enumerate`. These are claims of the document and of the caller; `dos plan` compares
them with git.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.units.markdown import document, fields, ids
from dos.units.markdown.document import Declaration
from dos.units.policy import Grammar
from dos.units.unit import Problem, ProblemKind


class ShippedBy(StrEnum):
    """What claims that a unit shipped."""

    META = "meta-shipped"  # the caller says so
    STAMP = "stamp"  # its own heading or row says so
    CHILDREN = "child-rollup"
    NONE = "none"


class DriftKind(StrEnum):
    """How a document and its reading disagree."""

    EMPTY = "empty"
    UNPARSEABLE = "unparseable"
    MISMATCH = "list_table_mismatch"


class Drift(Struct, frozen=True, kw_only=True):
    """Something about a document that makes the list doubtful, and the lines it is on."""

    kind: DriftKind
    detail: str
    span: tuple[int, int] | None = None  # the first line and the last


class Entry(Struct, frozen=True, kw_only=True):
    """A unit of the document, and what claims that it shipped."""

    unit: str
    source: str
    shipped: bool
    shipped_by: ShippedBy
    evidence: str


class Enumeration(Struct, frozen=True, kw_only=True):
    """The units of one document, as `dos enumerate --json` prints them."""

    series: str
    units: tuple[str, ...]
    remaining: tuple[str, ...]
    shipped: tuple[str, ...]
    by_unit: dict[str, Entry]
    drift: tuple[Drift, ...]


def enumerate_units(
    text: str,
    grammar: Grammar = Grammar(),
    series: str = "",
    meta_shipped: Collection[str] = (),
    *,
    plan: str = "",
) -> Enumeration:
    """The units of one document in its order, of one series if it is named. Never raises.

    `meta_shipped` are ids that the caller knows to have shipped. With `rollup_parents` in the
    grammar, a unit whose children have all shipped counts as shipped as well.
    """
    series = series.strip().upper()
    read = document.read(text, plan=plan, grammar=grammar, series=series)
    declared = []
    by_unit: dict[str, Entry] = {}
    for declaration in read.declared:
        unit_id = declaration.unit.id
        if series and not ids.belongs_to_series(unit_id, series):
            continue
        declared.append(declaration)
        by_unit.setdefault(unit_id, _entry(declaration, meta_shipped))
    if grammar.rollup_parents:
        _roll_up(by_unit, declared)
    drift = _unparseable(text, read.problems)
    for unit_id in dict.fromkeys(meta_shipped):
        if unit_id not in by_unit:
            detail = f"{unit_id} is said to have shipped, and the document does not declare it"
            drift.append(Drift(kind=DriftKind.MISMATCH, detail=detail))
    if not by_unit:
        if series:
            detail = f"no unit of the series {series} was found"
        else:
            detail = "no unit was found"
        drift.append(Drift(kind=DriftKind.EMPTY, detail=detail))
    return Enumeration(
        series=series,
        units=tuple(by_unit),
        remaining=tuple(unit_id for unit_id, entry in by_unit.items() if not entry.shipped),
        shipped=tuple(unit_id for unit_id, entry in by_unit.items() if entry.shipped),
        by_unit=by_unit,
        drift=tuple(drift),
    )


def _unparseable(text: str, problems: Sequence[Problem]) -> list[Drift]:
    """What hides a part of the document from the parser."""
    drift = []
    for problem in problems:
        if problem.kind is ProblemKind.NOT_CLOSED:
            span = (problem.line, problem.line)
            drift.append(Drift(kind=DriftKind.UNPARSEABLE, detail=problem.what, span=span))
    if "\0" in text:
        detail = "the document is not text: it holds a NUL character"
        drift.append(Drift(kind=DriftKind.UNPARSEABLE, detail=detail))
    return drift


def _entry(declared: Declaration, meta_shipped: Collection[str]) -> Entry:
    """A unit with what claims that it shipped; the caller's word comes first."""
    unit_id = declared.unit.id
    by = ShippedBy.NONE
    evidence = ""
    if unit_id in meta_shipped:
        by = ShippedBy.META
        evidence = "named by the caller"
    elif declared.stamp:
        by = ShippedBy.STAMP
        evidence = declared.stamp
    return Entry(
        unit=unit_id,
        source=declared.source,
        shipped=by is not ShippedBy.NONE,
        shipped_by=by,
        evidence=evidence,
    )


def _roll_up(by_unit: dict[str, Entry], declared: Sequence[Declaration]) -> None:
    """Mark units whose children have all shipped, unless their text says that something is left.

    AUTH2 is the parent of AUTH2.1 and of AUTH2-retry. `by_unit` is changed in place.
    """
    children: dict[str, list[str]] = {}
    for unit_id in by_unit:
        for parent in _ancestors(unit_id):
            if parent in by_unit:
                children.setdefault(parent, []).append(unit_id)
    texts = {}
    for declaration in declared:
        unit = declaration.unit
        texts[unit.id] = f"{unit.title}\n{unit.text}"
    # The longest ids are the deepest, so a parent is reached when its children are settled.
    for parent in sorted(children, key=len, reverse=True):
        entry = by_unit[parent]
        if entry.shipped or not all(by_unit[child].shipped for child in children[parent]):
            continue
        if not fields.says_not_done(texts[parent]):
            evidence = ", ".join(children[parent])
            by_unit[parent] = Entry(
                unit=parent,
                source=entry.source,
                shipped=True,
                shipped_by=ShippedBy.CHILDREN,
                evidence=evidence,
            )


def _ancestors(unit_id: str) -> list[str]:
    """Every id that this one continues with a dot or a dash."""
    return [unit_id[:at] for at, character in enumerate(unit_id) if character in ".-" and at]
