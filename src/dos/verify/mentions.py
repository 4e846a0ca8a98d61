"""Would some convention call this subject a ship?

A unit is an id of letters and a number (AUTH1), or an ordinal of a series (cache layer Phase 1); it begins the subject
or stands in parentheses at its end. A bare number is none: it counts bugs, or says which version.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dos.verify.naming import (
    LONGEST_SUBJECT,
    Message,
    Rung,
    UnitName,
    is_bookkeeping,
    trailers,
    words,
)
from dos.verify.policy import Stamp

_RELEASE = re.compile(r"v\d+(?:\.\d+)+:", re.IGNORECASE)
_ID = r"[A-Za-z][A-Za-z_'\-]*\d[\w.'\-]*"
_SHOUTED = r"[A-Z][A-Z_\-]*\d[\w.'\-]*"  # in running text only capitals tell an id from a word
_ORDINAL = r"(?:phase|step|stage|milestone|wave|slice)[ \t]*\d+(?:\.\d+)*[a-z]?"
_FOLDER = r"(?:[\w.\-]+/)?"
_WORD = r"[\w.'\-]+"
_END = r"(?![\w.\-]*\w)"
_FIRST = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_FOLDER}{_ID}:(?:\s|$)",
        rf"{_FOLDER}(?:{_WORD}[ \t]+){{0,4}}{_WORD}:?[ \t]+(?i:{_ORDINAL}){_END}",
        rf"{_FOLDER}(?:\w+\()?(?P<series>[A-Za-z]+)\)?:?[ \t]+(?P=series)[_\-]?\d\w*{_END}",
        rf"{_FOLDER}[A-Z]{{2,}}:?[ \t]+(?:{_SHOUTED}|\d+:){_END}",
        rf"\[{_SHOUTED}\]",
    )
)
_LAST = re.compile(
    rf"\((?:refs )?(?:[\w.\-]+/)*{_WORD}:?[ \t]+(?:(?i:{_ORDINAL})|{_SHOUTED})\)(?:[ \t]*\(#\d+\))?[ \t]*$"
)
_TRAILER = re.compile(r"^(?:ships|units?):[ \t]*\S", re.IGNORECASE | re.MULTILINE)
# Names of things that end in a number and are no units.
_THINGS = re.compile(
    r"(?:.*/)?(?:(?:python|py|utf|arm|amd|sha|base|oauth|http|ipv|log|es|md|mp|web|vue|angular|v)[-_]?\d"
    r"|(?:a11y|i18n|l10n|k8s|s3|h2|x86|d3|e2e|p2p|w3c)\b)",
    re.IGNORECASE,
)


def names_some_unit(message: str) -> bool:
    """Whether a whole message names some unit as its own."""
    return _TRAILER.search(message) is not None or is_ship_shaped(message.partition("\n")[0])


def is_ship_shaped(subject: str) -> bool:
    subject = subject[:LONGEST_SUBJECT].strip()
    if _RELEASE.match(subject) or is_bookkeeping(subject, Stamp()):
        return False
    begins = any(pattern.match(subject) for pattern in _FIRST) and not _THINGS.match(subject)
    return begins or _LAST.search(subject) is not None


Commit = tuple[str, str]  # the subject, and the units that its trailers name
_UNIT_ID = re.compile(r"(?P<plan>[A-Za-z][A-Za-z_\-]*?)[_\-]?\d[\w.'\-]*")


def ship_shaped_commits(commits: Sequence[Commit]) -> list[Commit]:
    """Those whose subject looks as if it shipped something, by some convention."""
    return [commit for commit in commits if is_ship_shaped(commit[0])]


def commits_naming(
    commits: Iterable[Commit], units: Iterable[tuple[str, str]], stamp: Stamp
) -> list[Commit]:
    """Those that name one of the units."""
    by_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for plan, phase in units:
        for word in words(phase) or {""}:
            by_word[word].append((plan, phase))
    found = []
    for subject, units_line in commits:
        message = Message(subject, f"Unit: {units_line}" if units_line else "")
        asked = {
            unit for word in words(f"{subject} {units_line}") for unit in by_word.get(word, ())
        }
        if any(UnitName(*unit, stamp).find_in(message) for unit in asked):
            found.append((subject, units_line))
    return found


def grammar_recognises_some(commits: Iterable[Commit], stamp: Stamp) -> bool:
    """Whether the grammar makes out a unit in any of them, whatever units there are."""
    for subject, _ in commits:
        guesses = {(found["plan"], found[0]) for found in _UNIT_ID.finditer(subject)}
        if commits_naming([(subject, "")], guesses, stamp):
            return True
    return False


# By these a commit ships a unit alone. Any other way counts where the changed files speak for it: they are asked.
_PLAIN = frozenset(
    {Rung.DIRECT, Rung.GIT_TRAILER, Rung.TRAILER, Rung.RELEASE_PREFIX, Rung.BODY_MENTION}
)
# What may be the name of a unit: plan/phase, or an id with a number in it, alone or after its plan.
_NAME = re.compile(r"[^\s/]+(?:/[^\s/]+)+|(?:[\w.'\-]+:?[ \t]+)?(?=\D*\d)[\w.'\-]+")


class OtherUnits(Struct, frozen=True, kw_only=True):
    plainly: tuple[str, ...] = ()  # the other units, as their plans or the trailers call them
    faintly: tuple[tuple[str, str], ...] = ()  # plan and phase of those that it may ship


def other_units(message: Message, claimed: UnitName, declared: Iterable[UnitName]) -> OtherUnits:
    """The units besides the claimed one that a message names. A unit that is spoken of in prose is not named."""
    said = words(f"{message.subject}\n{message.body}")
    plainly: dict[str, None] = {}
    known = [claimed]  # the units whose names in the trailers need no second look
    faintly: list[tuple[str, str]] = []
    for unit in declared:
        if unit.is_declared_as(claimed.plan, claimed.phase) or not any(
            needle <= said for needle in unit.needles()
        ):
            continue
        naming = unit.find_in(message)
        if naming is None or naming.negated:
            continue
        if naming.rung in _PLAIN and not naming.faint:
            plainly[f"{unit.plan}/{unit.phase}"] = None
            known.append(unit)
        else:
            faintly.append((unit.plan, unit.phase))
    for listed, faint in trailers(message):
        # Also one that no plan declares yet: it would be done before anybody asked for it.
        foreign = (
            name
            for name in listed
            if _NAME.fullmatch(name) and not any(_is_name_or_id(each, name) for each in known)
        )
        plainly |= {} if faint else dict.fromkeys(foreign)
    return OtherUnits(plainly=tuple(plainly), faintly=tuple(faintly))


def _is_name_or_id(unit: UnitName, name: str) -> bool:
    """Whether a name in a trailer is that of the unit, or its id without the plan: which is careless, and no lie."""
    return unit.matches_trailer(name) or name.casefold() in {
        spelling.casefold() for spelling in unit.spellings
    }
