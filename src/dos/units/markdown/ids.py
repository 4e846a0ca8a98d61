"""Unit ids: what a heading, a list item or a table cell begins with.

`## 3. AUTH **AUTH2** — title` names the unit AUTH2 of the plan AUTH. An id has letters and a
number. A colon, a dash or bold separates it from the title; without any of them it has to belong
to a series that the document uses elsewhere, so that prose is not taken for a unit.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

LONGEST_LEAD = 400  # characters; what begins further right is no id
# Every repetition has a bound, so that the time for a line is linear in its length.
_ID = r"(?=[\w./'-]{0,100}[A-Za-z])(?=[\w./'-]{0,100}\d)[A-Za-z0-9][\w./'-]{0,100}?"
_SEPARATOR = r"(?:[ \t]{0,9}[—–:]|[ \t]{1,9}-{1,3}(?=[ \t]))"
_DRESS = r"[*`~\[]{0,4}"  # emphasis, code, a link
_UNDRESS = r"[*`~\]]{0,4}"
_BEFORE = r"(?:\[(?P<box>[ xX])\][ \t]{1,9})?(?:[^\w\s]{1,3}[ \t]{0,9})?"
# `✅ 3. AUTH **AUTH2** — title`: everything but the id may be missing.
_LEAD = re.compile(
    rf"{_BEFORE}(?:(?P<number>\d{{1,9}})[.)][ \t]{{1,9}})?{_DRESS}"
    rf"(?:(?P<plan>[A-Za-z][\w-]{{0,100}})[ \t]{{1,9}})?{_DRESS}(?P<id>{_ID})"
    rf"(?:(?P<undress>[*`~\]]{{1,4}})|(?={_SEPARATOR}))(?P<separator>{_SEPARATOR})?"
)
_SERIES_LEAD = re.compile(rf"{_BEFORE}(?:(?P<number>\d{{1,9}})[.)]?[ \t]{{1,9}})?{_DRESS}")
# After the letters of its series: 2, -2, 2a, 3.1, 3-retry, or -word.
_SUFFIX = re.compile(
    r"(?P<counted>-?\d{1,9}[A-Za-z]?(?:\.\w{1,30}){0,8}(?:-\w{1,60}){0,4})(?![\w-])"
    r"|-[A-Za-z]\w{0,60}(?:-\w{1,60}){0,4}"
)
_AFTER = re.compile(rf"{_UNDRESS}(?P<separator>{_SEPARATOR}|[.)](?=[ \t]))?")
_NUMBER = re.compile(r"(?P<id>\d{1,3}(?:\.\d{1,3}){0,8}[a-z]?)(?:[.):]|[ \t]{0,9}[—–]|(?=[ \t]|$))")
_NUMBERED = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,8}[.)][ \t]")
_PHASE = re.compile(
    r"phase[ \t]{1,9}(?P<number>\d{1,6}(?:\.\d{1,6}){0,8}[a-z]?)(?![\w-])", re.IGNORECASE
)
_RANGE = re.compile(
    r"(?P<series>[A-Za-z]{1,60})[-_]?\d[\w.]{0,60}(?:[-–—/]|\.{2,3})(?P=series)[-_]?\d"
)
_LETTERS = re.compile(r"[A-Za-z][A-Za-z_]{1,60}(?=-?\d)")
# A mark behind an id in a table cell, such as `AUTH1 ✅ shipped`.
_STATUS_MARK = re.compile(
    r"[ \t]{1,9}(?:[^\w\s]{1,3}|\[[xX ]\])(?:[ \t]{1,9}[*_(]{0,3}shipped[*_)]{0,3})?$",
    re.IGNORECASE,
)


class Lead(Struct, frozen=True, kw_only=True):
    """The id that a line begins with, and what stands around it."""

    id: str
    plan: str = ""
    numbered: bool = False
    separated: bool = False  # a colon or a dash separates the id from the words after it
    dressed: bool = False  # bold, code or a link separates it
    of_series: bool = False  # nothing does: it was recognised by its series
    box: str = ""
    title: str = ""
    is_range: bool = False


def parse_lead(text: str, known: Iterable[str] = (), asked: str = "") -> Lead | None:
    """The id that a text begins with; None if it begins with none.

    If nothing separates it from the words after it, it has to belong to a `known` series. Of the
    series that the caller `asked` for, a dash and a word make an id even then.
    """
    match = _LEAD.match(text[:LONGEST_LEAD])
    if not match:
        return parse_series_lead(text, known, asked)
    title = text[match.end() :].strip()
    if "**" in text[: match.start("id")] and not match["undress"]:
        title = title.replace("**", "", 1)  # the end of the bold that began before the id
    return Lead(
        id=match["id"],
        plan=match["plan"] or "",
        numbered=match["number"] is not None,
        separated=match["separator"] is not None,
        dressed=match["undress"] is not None,
        box=match["box"] or "",
        title=title,
        is_range=_is_range(match["id"], text[match.end("id") :]),
    )


def parse_series_lead(text: str, known: Iterable[str], asked: str = "") -> Lead | None:
    """The id of one of the known series that a text begins with, also without a separator.

    `known` has the longest series first, so that AUTHZ2 is not read as one of AUTH.
    """
    head = text[:LONGEST_LEAD]
    before = _SERIES_LEAD.match(head)
    if before is None:
        return None
    for series in known:
        at = before.end()
        if head.startswith(f"{series} {series}", at):
            at += len(series) + 1  # the plan, then the unit
        if head.startswith(series, at):
            suffix = _SUFFIX.match(head, at + len(series))
        else:
            suffix = None
        if suffix is None:
            continue
        end = suffix.end()
        separator = None
        if after := _AFTER.match(head, suffix.end()):
            end = after.end()
            separator = after["separator"]
        is_bare = separator is None and bool(head[end:].strip())
        if suffix["counted"] is None and is_bare and series != asked:
            continue  # `AUTH-related notes` names no unit
        unit_id = head[at : suffix.end()]
        return Lead(
            id=unit_id,
            numbered=before["number"] is not None,
            separated=separator is not None,
            of_series=True,
            box=before["box"] or "",
            title=text[end:].strip(),
            is_range=_is_range(unit_id, text[suffix.end() :]),
        )
    return None


def parse_id_cell(cell: str) -> Lead | None:
    """The id that fills a table cell; None if the cell holds anything else.

    Prose in a cell may begin with an id, and does not declare the unit by that.
    """
    lead = parse_lead(f"{bare_id(cell).strip('*`~ ')}:")
    if lead is None or not lead.separated or lead.title or lead.is_range:
        return None
    return lead


def bare_id(cell: str) -> str:
    """A cell without a link, and without a status mark behind the id, which is no title."""
    if cell.startswith("[") and "](" in cell:
        cell = cell[1 : cell.index("](")]
    return _STATUS_MARK.sub("", cell)


def leading_number(text: str) -> tuple[str, str] | None:
    """The number that a heading begins with, and the rest; a year is no number of a unit."""
    match = _NUMBER.match(text[:LONGEST_LEAD])
    if match is None:
        return None
    return match["id"], text[match.end() :].strip(" \t—–-:")


def leading_phase(text: str) -> tuple[str, str] | None:
    """The number of `Phase 2` at the beginning of a heading, and the rest."""
    match = _PHASE.match(text[:LONGEST_LEAD])
    if match is None:
        return None
    return match["number"], text[match.end() :].strip(" \t—–-:.")


def is_numbered(text: str) -> bool:
    """Whether a heading begins with a number and a dot, such as `2. Scope`."""
    return _NUMBERED.match(text[:LONGEST_LEAD]) is not None


def belongs_to_series(unit_id: str, series: str) -> bool:
    """Whether an id is the series followed by a number or a separator: AUTH2 is of AUTH."""
    rest = unit_id[len(series) :]
    return unit_id.startswith(series) and bool(rest) and rest[0] != "_" and not rest[0].isalpha()


def series_of(unit_id: str) -> str:
    """The series that an id seems to belong to; empty for a lone letter and a number."""
    found = _LETTERS.match(unit_id)
    if found:
        return found[0]
    return ""


def _is_range(unit_id: str, rest: str) -> bool:
    """Whether the id is the first of a range, such as AUTH1-AUTH3."""
    return _RANGE.match(unit_id + rest[:80]) is not None
