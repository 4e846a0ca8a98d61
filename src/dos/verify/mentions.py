"""Recognise units in commit messages without knowing which unit to expect.

A unit is an id of letters and a number (AUTH1), a tracker's key (PROJ-12), or an ordinal of a
series (cache layer Phase 1). It begins the subject or stands in brackets at its end. A bare number
is no unit: it counts bugs or names a version.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dos.lazy_pattern import LazyPattern
from dos.text import ascii_lower
from dos.verify.message import LONGEST_SUBJECT, Message, is_bookkeeping, trailers, words
from dos.verify.naming import Rung, UnitName
from dos.verify.policy import Stamp

SubjectAndUnits = tuple[str, str]  # a commit's subject, and the units that its trailers name

_RELEASE = LazyPattern(r"(?ai:v)\d+(?:\.\d+)+:")
_ID = r"[A-Za-z][A-Za-z_'\-]*\d[\w.'\-]*"
_ID_IN_CAPITALS = r"[A-Z][A-Z_\-]*\d[\w.'\-]*"  # in prose only capitals tell an id from a word
_KEY = r"(?!(?:UTF|SHA|ISO|RFC|CVE|HTTP|GPT|MD|GH)-)[A-Z][A-Z0-9_]{1,30}-\d{1,9}"
_ORDINAL = r"(?:phase|step|stage|milestone|wave|slice)[ \t]*\d+(?:\.\d+)*[a-z]?"
_FOLDER = r"(?:[\w.\-]+/)?"
_WORD = r"[\w.'\-]+"
_END = r"(?![\w.\-]*\w)"
_AT_BEGINNING = (
    LazyPattern(rf"{_FOLDER}{_ID}:(?:\s|$)"),
    LazyPattern(rf"{_FOLDER}(?:{_WORD}[ \t]+){{0,4}}{_WORD}:?[ \t]+(?i:{_ORDINAL}){_END}"),
    LazyPattern(
        rf"{_FOLDER}(?:\w+\()?(?P<series>[A-Za-z]+)\)?:?[ \t]+(?P=series)[_\-]?\d\w*{_END}"
    ),
    LazyPattern(rf"{_FOLDER}[A-Z]{{2,}}:?[ \t]+(?:{_ID_IN_CAPITALS}|\d+:){_END}"),
    LazyPattern(rf"\[{_ID_IN_CAPITALS}\]"),
)
_AT_END = LazyPattern(
    rf"\((?:refs )?(?:[\w.\-]+/)*{_WORD}:?[ \t]+(?:(?i:{_ORDINAL})|{_ID_IN_CAPITALS})\)"
    rf"(?:[ \t]*\(#\d+\))?[ \t]*$"
)
# A tracker's key in one of the forms of `names.forms`. The words after it are often the title of a
# fault, so it names a unit and claims nothing about what the commit changed.
_KEY_FORM = LazyPattern(
    rf"\({_KEY}\)|{_KEY}(?:\.?[ \t]|[ \t]*[;|–—]|$)|\w{{1,30}}\({_KEY}\)!?:"
    rf"|\w{{1,30}}(?:\([^()]{{0,60}}\))?!?:[ \t]*{_KEY}(?:[ \t:]|$)"
)
_KEY_AT_END = LazyPattern(rf"[(\[]{_KEY}[)\]](?:[ \t]*\(#\d+\))?[ \t]*$")
_CLOSES = LazyPattern(
    rf"(?:^|[,;.(][ \t]*)(?ai:close[sd]|fixe[sd]|resolve[sd]|implements)[ \t]+(?:#\d|{_KEY})"
)
_TRAILER = LazyPattern(r"^(?ai:ships|units?):[ \t]*\S", re.MULTILINE)
# Names of things that end in a number and are no units.
_THINGS = LazyPattern(
    r"(?:.*/)?(?:(?:python|py|utf|arm|amd|sha|base|oauth|http|ipv|log|es|md|mp|web|vue|angular|v)"
    r"[-_]?\d|(?:a11y|i18n|l10n|k8s|s3|h2|x86|d3|e2e|p2p|w3c)\b)",
    re.IGNORECASE,
)
_PLAN_AND_ID = LazyPattern(r"(?P<plan>[A-Za-z][A-Za-z_\-]*?)[_\-]?\d[\w.'\-]*")


def names_some_unit(message: str) -> bool:
    """Whether a whole message names a unit, any unit, as its own."""
    if _TRAILER.search(message):
        return True
    subject = message.partition("\n")[0][:LONGEST_SUBJECT].strip()
    if is_ship_shaped(subject) or _KEY_FORM.match(subject):
        return True
    return bool(_KEY_AT_END.search(subject) or _CLOSES.search(subject))


def is_ship_shaped(subject: str) -> bool:
    """Whether a subject looks, by some convention, as if it shipped a unit."""
    subject = subject[:LONGEST_SUBJECT].strip()
    if _RELEASE.match(subject) or is_bookkeeping(subject, Stamp()):
        return False
    if any(pattern.match(subject) for pattern in _AT_BEGINNING) and not _THINGS.match(subject):
        return True
    return _AT_END.search(subject) is not None


def ship_shaped_commits(commits: Sequence[SubjectAndUnits]) -> list[SubjectAndUnits]:
    """The commits whose subject looks as if it shipped a unit."""
    return [commit for commit in commits if is_ship_shaped(commit[0])]


def commits_naming(
    commits: Iterable[SubjectAndUnits],
    units: Iterable[tuple[str, str]],
    stamp: Stamp,
    *,
    is_declared: bool = True,
) -> list[SubjectAndUnits]:
    """The commits that name at least one of the units, by the workspace's grammar.

    `is_declared` says whether plans declare the units, as `UnitName.find_in` takes it.

    Units are looked up by the words of a message first: a history has many commits and a plan
    many units, and most pairs have no word in common.
    """
    by_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for plan, phase in units:
        for word in words(phase) or {""}:
            by_word[word].append((plan, phase))
    naming = []
    for subject, unit_names in commits:
        message = Message(subject, f"Unit: {unit_names}" if unit_names else "")
        possible: set[tuple[str, str]] = set()
        for word in words(f"{subject} {unit_names}"):
            possible.update(by_word.get(word, ()))
        for unit in possible:
            if UnitName(*unit, stamp).find_in(message, is_declared=is_declared):
                naming.append((subject, unit_names))
                break
    return naming


def grammar_recognises_some(commits: Iterable[SubjectAndUnits], stamp: Stamp) -> bool:
    """Whether the grammar recognises a unit in any of the commits, whatever units exist."""
    for subject, _ in commits:
        guesses = {(match["plan"], match[0]) for match in _PLAN_AND_ID.finditer(subject)}
        if commits_naming([(subject, "")], guesses, stamp, is_declared=False):
            return True
    return False


# A commit that names six units would ship six, five of them without their acceptance.
# By these rungs a message alone ships a unit; by any other one the changed files decide.
_SHIPS_ALONE = frozenset(
    {
        Rung.DIRECT,
        Rung.GIT_TRAILER,
        Rung.TRAILER,
        Rung.RELEASE_PREFIX,
        Rung.BODY_MENTION,
        Rung.BRACKETED,
        Rung.PUNCTUATED,
        Rung.LEADING,
        Rung.SCOPE,
        Rung.TYPED,
        Rung.ENDING,
        Rung.CLOSING,
    }
)
# What may be the name of a unit: plan/phase, or an id with a number, alone or after its plan.
_UNIT_NAME = LazyPattern(r"[^\s/]+(?:/[^\s/]+)+|(?:[\w.'\-]+:?[ \t]+)?(?=\D*\d)[\w.'\-]+")


class OtherUnits(Struct, frozen=True, kw_only=True):
    """The units that a message names besides the claimed one."""

    plainly: tuple[str, ...] = ()  # named so that the message ships them, as written
    faintly: tuple[tuple[str, str], ...] = ()  # plan and phase of those that it may ship


def other_units(message: Message, claimed: UnitName, declared: Iterable[UnitName]) -> OtherUnits:
    """Find the units besides the claimed one that a message names.

    A unit that is only spoken of in prose is not named. A unit in a trailer counts even if no
    plan declares it yet: it would be done before anybody asked for it.
    """
    message_words = words(f"{message.subject}\n{message.body}")
    plainly: dict[str, None] = {}
    recognised = [claimed]
    faintly: list[tuple[str, str]] = []
    for unit in declared:
        if unit.is_declared_as(claimed.plan, claimed.phase):
            continue
        if not any(needle <= message_words for needle in unit.needles()):
            continue  # cheap: most units are not in the message at all
        naming = unit.find_in(message, is_declared=True)
        if naming is None or naming.negated:
            continue
        if naming.rung in _SHIPS_ALONE and not naming.faint:
            plainly[f"{unit.plan}/{unit.phase}"] = None
            recognised.append(unit)
        else:
            faintly.append((unit.plan, unit.phase))
    for names, faint in trailers(message):
        if not faint:
            plainly |= dict.fromkeys(_unrecognised(names, recognised))
    return OtherUnits(plainly=tuple(plainly), faintly=tuple(faintly))


def _unrecognised(names: Iterable[str], units: Sequence[UnitName]) -> list[str]:
    """The trailer's names that can be units and are none of these."""
    unknown = []
    for name in names:
        if _UNIT_NAME.fullmatch(name) and not any(_is_name_or_id(unit, name) for unit in units):
            unknown.append(name)
    return unknown


def _is_name_or_id(unit: UnitName, name: str) -> bool:
    """Whether a trailer names the unit, also by its id without the plan."""
    if unit.matches_trailer(name):
        return True
    return ascii_lower(name) in map(ascii_lower, unit.spellings)
