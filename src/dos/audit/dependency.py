"""Claims to raise a dependency: `Bump serde from 1.0.92 to 1.0.94`."""

import re
from collections.abc import Iterable

from msgspec import Struct

from dos.audit.subject import Subject
from dos.verify.file_kinds import words

_RAISE = re.compile(
    r"(?P<verb>bump|upgrade|update|raise|pin|downgrade)(?:s|d|ed)?\s+(?:dependency\s+|package\s+)?"
    r"(?P<name>[@\w][\w@/.\-:]{0,99})\s+"
    r"(?:(?:version\s+)?from\s+[`\"']?v?\d[\w.+\-]{0,40}[`\"']?\s+)?to\s+(?:version\s+)?"
    r"[`\"']?v?(?P<version>\d[\w.+\-]{0,40}+)[`\"']?"
    r"(?P<ends>\s*(?:$|[(,;.:\[])|\s+(?:in|for|and|as|due|to|because|on|with)\b)?",
    re.IGNORECASE,
)
# These are said of any number; the others of versions alone.
_LOOSE = words("update raise pin")
_NO_NAMES = frozenset(
    ("version", "versions", "release", "to", "it", "the", "minimum", "requirement")
)
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class DependencyRaise(Struct, frozen=True, kw_only=True):
    """What is raised, and the version that it is raised to."""

    name: str
    version: str

    def is_in(self, added: Iterable[str]) -> bool:
        """Whether one of the added lines has the new version, whole or as a beginning."""
        version = self.version.rstrip(".")
        ends_version = re.compile(rf"(?<![\d.]){re.escape(version)}(?!\d)").search
        return any(map(ends_version, added)) or self._is_joined_in(added)

    def _is_joined_in(self, added: Iterable[str]) -> bool:
        """Whether the version is there without its dots, as in `py38`."""
        joined = self.version.replace(".", "")
        if len(joined) > 3:
            return False
        return any(re.search(rf"(?<!\d){re.escape(joined)}(?!\d)", line) for line in added)

    def is_named_in(self, text: str) -> bool:
        """Whether a text has the dependency's name, or a word of it where it is written apart."""
        lowered = text.lower()
        name = self.name.lower()
        if name in lowered or name.rpartition("/")[2] in lowered:
            return True
        return any(word in lowered for word in _LETTERS.findall(name))


def parse_raise(subject: Subject) -> DependencyRaise | None:
    """Return which dependency the subject says is raised, and to what; None if it says no such."""
    _, colon, rest = subject.bare.partition(":")
    text = rest if colon and subject.type_name else subject.bare
    found = _RAISE.match(text.strip())
    if found is None or found["name"].lower() in _NO_NAMES:
        return None
    version = found["version"].rstrip(".-+")
    is_loose = found["verb"].lower() in _LOOSE
    if is_loose and ("." not in version or found["ends"] is None):
        return None
    return DependencyRaise(name=found["name"], version=version)
