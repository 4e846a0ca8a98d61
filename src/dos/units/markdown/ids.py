"""How a unit is named: the id that a heading, a list item or a table cell begins with."""

import re
from collections.abc import Iterable

from msgspec import Struct

LONGEST_LEAD = 400  # an id further right than this is none
# Every repetition has a bound, so that no line can take more time than its length.
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
    r"(?P<counted>-?\d{1,9}[A-Za-z]?(?:\.\w{1,30}){0,8}(?:-\w{1,60}){0,4})(?![\w-])|-[A-Za-z]\w{0,60}(?:-\w{1,60}){0,4}"
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


class Lead(Struct, frozen=True, kw_only=True):
    """What a line begins with: an id, and what stands around it."""

    id: str
    plan: str = ""
    numbered: bool = False
    separated: bool = False  # a colon or a dash tells the id from the words after it
    dressed: bool = False  # bold, code or a link does
    of_series: bool = False  # neither does: it was recognised by its series
    box: str = ""
    title: str = ""
    is_range: bool = False


def parse_lead(text: str, known: Iterable[str] = (), asked: str = "") -> Lead | None:
    """The id that a text begins with.

    Where nothing tells it from the words after it, it has to belong to a series that is `known`. Of the series that
    somebody `asked` for by name, a dash and a word make an id even then.
    """
    found = _LEAD.match(text[:LONGEST_LEAD])
    if not found:
        return parse_series_lead(text, known, asked)
    title = text[found.end() :].strip()
    if "**" in text[: found.start("id")] and not found["undress"]:
        title = title.replace("**", "", 1)  # the end of the bold that began before the id
    return Lead(
        id=found["id"],
        plan=found["plan"] or "",
        numbered=found["number"] is not None,
        separated=found["separator"] is not None,
        dressed=found["undress"] is not None,
        box=found["box"] or "",
        title=title,
        is_range=_is_range(found["id"], text[found.end("id") :]),
    )


def parse_series_lead(text: str, known: Iterable[str], asked: str = "") -> Lead | None:
    head = text[:LONGEST_LEAD]
    before = _SERIES_LEAD.match(head)
    if before is None:
        return None
    for series in known:
        at = before.end()
        if head.startswith(f"{series} {series}", at):
            at += len(series) + 1  # the plan, then the unit
        if not head.startswith(series, at) or not (suffix := _SUFFIX.match(head, at + len(series))):
            continue
        after = _AFTER.match(head, suffix.end())
        end, separator = (after.end(), after["separator"]) if after else (suffix.end(), None)
        bare = separator is None and bool(head[end:].strip())
        if suffix["counted"] is None and bare and series != asked:
            continue  # `AUTH-related notes` names no unit
        return Lead(
            id=head[at : suffix.end()],
            numbered=before["number"] is not None,
            separated=separator is not None,
            of_series=True,
            box=before["box"] or "",
            title=text[end:].strip(),
            is_range=_is_range(head[at : suffix.end()], text[suffix.end() :]),
        )
    return None


def leading_number(text: str) -> tuple[str, str] | None:
    """The number that a heading begins with, and the rest; a year is no number of a unit."""
    found = _NUMBER.match(text[:LONGEST_LEAD])
    return (found["id"], text[found.end() :].strip(" \t—–-:")) if found else None


def leading_phase(text: str) -> tuple[str, str] | None:
    found = _PHASE.match(text[:LONGEST_LEAD])
    return (found["number"], text[found.end() :].strip(" \t—–-:.")) if found else None


def is_numbered(text: str) -> bool:
    return _NUMBERED.match(text[:LONGEST_LEAD]) is not None


def belongs_to_series(unit_id: str, series: str) -> bool:
    rest = unit_id[len(series) :]
    return unit_id.startswith(series) and bool(rest) and rest[0] != "_" and not rest[0].isalpha()


def series_of(unit_id: str) -> str:
    """The series that an id seems to belong to; empty for one that is a lone letter and a number."""
    found = _LETTERS.match(unit_id)
    return found[0] if found else ""


def _is_range(unit_id: str, rest: str) -> bool:
    return _RANGE.match(unit_id + rest[:80]) is not None
