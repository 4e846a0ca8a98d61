"""Would some convention call this subject a ship?

A unit is an id of letters and a number (AUTH1), or an ordinal of a series (cache layer Phase 1); it begins the subject
or stands in parentheses at its end. A bare number is none: it counts bugs, or says which version.
"""

import re

from dos.verify.naming import LONGEST_SUBJECT, is_bookkeeping
from dos.verify.stamp import Stamp

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


def is_of_a_unit(message: str) -> bool:
    """Whether a whole message names some unit as its own."""
    return _TRAILER.search(message) is not None or is_ship_shaped(message.partition("\n")[0])


def is_ship_shaped(subject: str) -> bool:
    subject = subject[:LONGEST_SUBJECT].strip()
    if _RELEASE.match(subject) or is_bookkeeping(subject, Stamp()):
        return False
    begins = any(pattern.match(subject) for pattern in _FIRST) and not _THINGS.match(subject)
    return begins or _LAST.search(subject) is not None
