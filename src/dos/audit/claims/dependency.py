"""Claims to raise a dependency: `Bump serde from 1.0.92 to 1.0.94`."""

import re

from msgspec import Struct

from dos.audit.claims.subject import Subject
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
_NO_NAMES = words("version versions release to it the minimum requirement requirements")
_LONGEST_JOINED = 3  # digits of a version without its dots
# A word of a line that is not only `version = …` or the like.
_OWN_NAME = re.compile(r"(?!(?:version|versions|rev|ref|tag|specifier)\b)\b[A-Za-z][A-Za-z_\-]{2,}")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class DependencyRaise(Struct, frozen=True, kw_only=True):
    """What is raised, and the version that it is raised to."""

    name: str
    version: str

    def is_version(self, line: str) -> bool:
        """Whether a line has the new version, whole or as a beginning, or as in `py38`."""
        found = re.search(rf"(?<![\d.]){re.escape(self.version)}(?!\d)", line)
        joined = re.escape(self.version.replace(".", ""))
        if found or len(joined) > _LONGEST_JOINED:
            return found is not None
        return re.search(rf"(?<!\d){joined}(?!\d)", line) is not None

    def is_named(self, text: str) -> bool:
        """Whether a text has the dependency's name, and not one that only begins or ends so."""
        name = re.escape(self.name.rpartition("/")[2])
        whole = rf"(?<![\w\-])(?i:{name})(?![\-_a-z0-9])"
        return re.search(whole, text.replace("@", " ")) is not None

    def is_at(self, line: str, place: str) -> bool:
        """Whether the version in a line is that of the dependency.

        A line that names something speaks for itself; for others the place around it is asked.
        """
        if _OWN_NAME.search(line):
            return self.is_named(line)
        return self.is_named(place)

    def is_hinted(self, text: str) -> bool:
        """Whether a text has the name in any form, such as a word of it in a variable."""
        lowered = text.lower()
        if self.name.lower() in lowered:
            return True
        return any(word in lowered for word in _LETTERS.findall(self.name.lower()))


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
