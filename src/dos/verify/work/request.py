"""What a unit asks for, by the words of its title.

Some changes are no work by themselves: the mode of a file, a link, a new place, a lock file. They
are work for a unit that asks for exactly that.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

# Patterns as text: most commits need none, and `re` compiles and keeps those that are used.
_RUNNABLE = (
    r"(?i)"
    r"\bchmod\b|\bexecutab\w+|\bexec(?:ut\w+)?[- ](?:bits?|flags?|permissions?|rights?)\b"
    r"|\+x\b|\b0?(?:755|775|711|644)\b|\brunnable\b|\bfile (?:modes?|permissions?)\b|\bmode bits?\b"
    r"|\brun(?:s|ning)? (?:\S{1,40} ){0,3}(?:directly|as a (?:program|script|command))\b"
)
_MODE = r"(?i)\b(?:permissions?|modes?|rights?)\b"
_LINK = r"(?i)\bsym(?:bolic(?:al)?)?[- ]?links?\w*|\bsoft[- ]?links?\b"
_LINK_TO = r"(?i)\b(?:links?|alias(?:es)?|points?)\b"
_SUBMODULE = r"(?i)\bsub-?modules?\b"
_MOVE = (
    r"(?i)"
    r"\b(?:mov|renam|relocat|splitt?|extract|reorgani[sz]|restructur|rearrang|separat|consolidat"
    r"|regroup|hoist|flatten)(?:e|es|ed|ing|s|ion)?\b"
    r"|\bput\b.{1,60}\b(?:in|into|under|below)\b"
)
# A change of nothing but places may be all that these ask for. They are many, because work that is
# done must not be denied for the words of its title.
_ABOUT_PLACES = (
    r"(?i)"
    r"\b(?:re-?factor|factor|tidy|tidi|clean|merg|combin|inlin|pull|push|lift|modular|packag"
    r"|layout|lay out|folder|director|import|cycl|circular|coupl|decoupl|isolat|divid|break|group"
    r"|convert|vendor|unvendor|public|privat|export|expos|shar|common|simplif|dedup|duplicat"
    r"|collaps|join|unif|plac|migrat|transfer|promot|demot|nest|order|sort|struct|organi|arrang"
    r"|archiv|clear|shrink|layer|boundar|out of|into|from|between)\w*"
    r"|\bre-?(?:home|locate|shape|shuffle|work|write)\w*"
)
_RESTORE = (
    r"(?i)"
    r"\b(?:restor|re-?land|re-?add|re-?instat|re-?introduc|re-?appl|revert|un-?revert|recover|undo"
    r"|re-?enabl|resurrect|reviv|un-?delet|fix|repair|regress|missing|lost|broke|crash|error|fail)"
    r"\w*|\b(?:bring|put|get)\b.{0,60}\bback\b|\bagain\b"
)
_PACKAGE = r"(?i)\b(?:sub-?)?packages?\b|\bimportable\b"
_PACKAGE_FILES = frozenset(("__init__.py", "__init__.pyi"))
# A new file may say the same as one that was there: these ask for that, or may.
_COPY = (
    r"(?i)"
    r"\b(?:cop(?:y|ies|ied|ying)|duplicat|clon|fork|mirror|templat|scaffold|boilerplate|skeleton"
    r"|vendor|back-?port|snapshot|fixture|example|sample|starter|locali[sz]|locale|translat"
    r"|migrat|version|reus|backup|bundl)\w*"
    r"|\bport(?:s|ed|ing)?\b|\bv\d++\b|\b(?:same|too|also|as well|another|second|both)\b"
)
_RELEASE = (
    r"(?i)"
    r"\b(?:bump|raise|set|update|increase)(?:s|ed|ing)? (?:the |our |project'?s? |package'?s? "
    r"|crate'?s? ){0,2}version\b|\brelease v?\d"
)
_DEPENDENCY = (
    r"(?i)"
    r"\b(?:bump|upgrad|updat|pin|unpin|lock|depend|downgrad|refresh|rais|requir|security|vulnerab"
    r"|patch|cve|deps)\w*"
)
_ALL_DEPENDENCIES = (
    r"(?i)"
    r"\b(?:lock[- ]?files?|(?:transitive |locked |all )?(?:dependencies|deps|packages|crates|gems"
    r"|modules|requirements))\b|\b[\w-]{1,60}\.lock\b|\bpackage-lock\.json\b|\bgo\.sum\b"
)
_WORD = r"@?[A-Za-z0-9][\w./@-]*\w|\w"
_ORDINARY = frozenset(
    (
        "a", "all", "an", "and", "bump", "checksum", "dependencies", "dependency", "deps", "dev",
        "file", "files", "fix", "for", "from", "git", "hash", "http", "https", "in", "integrity",
        "is", "license", "lock", "locked", "name", "new", "newer", "of", "on", "optional", "our",
        "package", "packages", "patch", "pin", "raise", "refresh", "registry", "require",
        "resolved", "security", "size", "source", "the", "to", "true", "update", "upgrade", "url",
        "version", "wheels", "with",
    )
)  # fmt: skip
_ABOVE = 3  # lines above a changed one in which a lock file names the package


class Request(Struct, frozen=True):
    """The title of a unit, or the subject of a commit whose unit no plan declares."""

    title: str = ""

    def is_for_mode(self, path: str) -> bool:
        """Whether it asks for another mode of a file, such as to make it executable."""
        if re.search(_RUNNABLE, self.title) or f"./{_basename(path)}" in self.title:
            return True
        return re.search(_MODE, self.title) is not None and self._names(path)

    def is_for_link(self, path: str) -> bool:
        """Whether it asks for a symbolic link."""
        if re.search(_LINK, self.title):
            return True
        return re.search(_LINK_TO, self.title) is not None and self._names(path)

    @property
    def is_for_submodule(self) -> bool:
        """Whether it asks for a submodule, or for another commit of one."""
        return re.search(_SUBMODULE, self.title) is not None

    @property
    def is_for_move(self) -> bool:
        """Whether it asks for files or code in another place."""
        return re.search(_MOVE, self.title) is not None

    @property
    def may_be_about_places(self) -> bool:
        """Whether moved lines may be all that it asks for; True in doubt."""
        return self.is_for_move or re.search(_ABOUT_PLACES, self.title) is not None

    @property
    def may_be_about_copies(self) -> bool:
        """Whether copies of files may be all that it asks for; True in doubt."""
        return self.is_for_move or re.search(_COPY, self.title) is not None

    def is_for_empty_file(self, path: str, *, is_declared: bool) -> bool:
        """Whether it asks for a file that may be empty: the one of a package, or one by name."""
        name = _basename(path)
        if name in self.title:
            return True
        if name not in _PACKAGE_FILES or re.search(_PACKAGE, self.title) is None:
            return False
        folder = path.rpartition("/")[0]
        return is_declared or self._names(folder)

    @property
    def is_for_restoring(self) -> bool:
        """Whether it asks for something that was there before; True in doubt."""
        return re.search(_RESTORE, self.title) is not None

    @property
    def is_for_release(self) -> bool:
        """Whether it asks for another version of the project itself."""
        return re.search(_RELEASE, self.title) is not None

    def is_for_locked(self, changed: Iterable[str], lines: Sequence[str]) -> bool:
        """Whether it is about dependencies, and a package that it names is among the changed lines.

        `lines` is the whole lock file; some formats name a package above what changed.
        """
        if not re.search(_DEPENDENCY, self.title):
            return False
        if re.search(_ALL_DEPENDENCIES, self.title):
            return True
        names = {word.lower() for word in re.findall(_WORD, self.title)} - _ORDINARY
        return not names.isdisjoint(_words_around(frozenset(changed), lines))

    def _names(self, path: str) -> bool:
        """Whether the title has the whole name of a file, or its path."""
        words = {word.lower() for word in re.findall(_WORD, self.title)}
        return not words.isdisjoint((_basename(path).lower(), path.lower()))


def _basename(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def _words_around(changed: frozenset[str], lines: Sequence[str]) -> set[str]:
    """The words of changed lines and of those just above them, whole and in their parts."""
    found: set[str] = set()
    for place, line in enumerate(lines):
        if line not in changed:
            continue
        for near in lines[max(0, place - _ABOVE) : place + 1]:
            for word in re.findall(_WORD, near.lower()):
                found.add(word)
                found.update(re.split(r"[/@]|-\d", word))
    return found
