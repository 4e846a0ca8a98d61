"""Find out whether a commit message names a given unit as shipped.

A name is a claim. The ways to make one are tried from the plainest to the faintest. A faint one
(a list, a scope, a bullet of a squashed branch) counts only if the changed files support it.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from dos.verify.message import (
    LONGEST_SUBJECT,
    Message,
    is_bookkeeping,
    trailers,
    unfinished_words,
    words,
)
from dos.verify.policy import Stamp

# What may not follow a name, nor stand before it: AUTH1 is not AUTH10, AUTH1.1 or AUTH1-port.
_END = r"(?![^\W_]|[.\-])"
_BEGIN = r"(?<![^\W_])(?<![.\-])"
_FOLDER = r"(?:[\w.\-]+/)?"
_RELEASE = r"v\d+\.\d+\.\d+:"
_PULL_REQUEST = r"(?:[ \t]*\(#\d+\))?"
_JOINED = r"(?:[ \t]*[,/+&][ \t]*|[ \t]+and[ \t]+)"
_ORDINAL = re.compile(r"phase[ \t]+(?P<number>\d+(?:\.\d+)?)", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*[*\-][ \t]+(?P<text>.*)")


class Rung(StrEnum):
    """How a commit names the unit; the plainest first."""

    DIRECT = "direct"
    GIT_TRAILER = "git-trailer"
    TRAILER = "trailer"
    RELEASE_PREFIX = "release-prefix"
    BUNDLE_SLUG = "hyg-slug"
    SUB_PHASE_PARENT = "sub-phase-parent"
    BODY_MENTION = "body-mention"
    CONVENTIONAL = "conventional"
    LIST = "list"
    SQUASH_BULLET = "squash-bullet"
    REGISTRY = "registry"


class Naming(Struct, frozen=True, kw_only=True):
    """One way in which a message names a unit."""

    rung: Rung
    faint: bool = False  # it counts only if the changed files support it
    negated: str = ""  # the words beside the name that say it is not done


class UnitName:
    """The spellings of one unit, compiled for searching commit messages."""

    def __init__(self, plan: str, phase: str, stamp: Stamp = Stamp()) -> None:
        self.plan = plan.strip()
        self.phase = phase.strip()
        self.stamp = stamp

    def is_declared_as(self, plan: str, phase: str) -> bool:
        """Whether a unit that a plan document declares is this one."""
        folded = {spelling.casefold() for spelling in self.spellings}
        if phase.casefold() not in folded:
            return False
        return plan.casefold() == self.plan.casefold() or self.contains_plan(phase)

    def needles(self) -> list[frozenset[str]]:
        """Sets of words; a message that names the unit contains all the words of one set."""
        needles = []
        for spelling in self.spellings:
            needles.append(self._needle(spelling))
            needles.append(words(self.plan + spelling))
        for head in self._plan_heads:
            needles += [words(head) | words(spelling) for spelling in self.spellings]
        if self._is_bundle:
            needles.append(words(self.plan))
        if self._parent:
            needles.append(self._needle(self._parent))
        unique = dict.fromkeys(needles)
        return [needle for needle in unique if not any(other < needle for other in needles)]

    def _needle(self, spelling: str) -> frozenset[str]:
        """The words of one spelling; with the plan's, if the id does not contain it."""
        if self.contains_plan(spelling):
            return words(spelling)
        return words(spelling) | words(self.plan)

    def find_in(self, message: Message) -> Naming | None:
        """The plainest way in which a message names the unit; None if it does not."""
        if not self.plan or not self.phase or is_bookkeeping(message.subject, self.stamp):
            return None
        return next(self._namings(message), None)

    def _namings(self, message: Message) -> Iterator[Naming]:
        """Yield each way in which the message names the unit, the plainest first."""
        subject = message.subject
        if match := self._direct.match(subject):
            if self._is_step_on_the_way(subject[match.end() :]):
                return
            yield _naming(Rung.DIRECT, subject, match.start("unit"), match.end())
        yield from self._trailer_namings(message)
        if self.is_release(subject):
            yield from self._release_namings(message)
        elif match := self._paren.search(subject):
            faint = not self.stamp.trailer_stamp
            yield _naming(Rung.TRAILER, subject, match.start(), len(subject), faint=faint)
        yield from self._slug_namings(subject)
        yield from self._faint_namings(message)

    def _trailer_namings(self, message: Message) -> Iterator[Naming]:
        """Trailers such as `Unit: AUTH/AUTH1` at the end of the message."""
        for names, faint in trailers(message):
            if any(self.matches_trailer(name) for name in names):
                negated = unfinished_words(message.subject)
                yield Naming(rung=Rung.GIT_TRAILER, faint=faint, negated=negated)

    def matches_trailer(self, name: str) -> bool:
        """Whether a name in a trailer is this unit's."""
        return self._listed.fullmatch(name) is not None

    def _release_namings(self, message: Message) -> Iterator[Naming]:
        """A release names its units after the version, or in a line of the body."""
        subject = message.subject
        for match in self._mention.finditer(subject, self._after_prefix(subject)):
            if not self._is_step_on_the_way(subject[match.end() :]):
                yield _naming(Rung.RELEASE_PREFIX, subject, match.start(), match.end())
        for whole_line in message.body.split("\n"):
            line = whole_line[:LONGEST_SUBJECT]
            if mention := self._mention.search(line):
                yield _naming(Rung.BODY_MENTION, line, mention.start(), mention.end())

    def _slug_namings(self, subject: str) -> Iterator[Naming]:
        """Subjects of a bundle or of a parent phase that contain the unit's words."""
        if self._is_bundle and (match := self._series_first.match(subject)):
            rest = subject[match.end() :]
            if _slug(self.phase) in _slug(rest):
                yield _naming(Rung.BUNDLE_SLUG, subject, 0, match.end())
        if self._parent and (match := self._parent_first.match(subject)):
            suffix = _slug(self.phase.partition("-")[2])
            if suffix and suffix in _slug(subject):
                yield _naming(Rung.SUB_PHASE_PARENT, subject, match.start("unit"), match.end())

    def _faint_namings(self, message: Message) -> Iterator[Naming]:
        """Names that count only if the changed files support them."""
        subject = message.subject
        if match := self._scope.match(subject):
            begin = match.start("unit")
            yield _naming(Rung.CONVENTIONAL, subject, begin, match.end(), faint=True)
        match = self._list_first.match(subject)
        if match and self._is_listed(match):
            yield _naming(Rung.LIST, subject, match.start("list"), match.end(), faint=True)
        for line in message.body.split("\n"):
            bullet = _BULLET.match(line[:LONGEST_SUBJECT])
            if bullet is None:
                continue
            text = bullet["text"]
            if match := self._direct.match(text):
                begin = match.start("unit")
                yield _naming(Rung.SQUASH_BULLET, text, begin, match.end(), faint=True)

    def _is_listed(self, match: re.Match[str]) -> bool:
        """Whether the unit is one of a list. Without the plan beside it, the id must contain it."""
        if not match["beside"] and not match["colon"]:
            return False
        own = set()
        for spelling in self.spellings:
            if match["beside"] or self.contains_plan(spelling):
                own.add(spelling.lower())
        items = re.split(_JOINED, match["list"], flags=re.IGNORECASE)
        return any(item.strip().lower() in own for item in items)

    def is_release(self, subject: str) -> bool:
        """Whether the subject begins with a version or a declared bundle prefix."""
        return self._after_prefix(subject) > 0

    def _after_prefix(self, subject: str) -> int:
        """Where the text after a release prefix begins; 0 if there is none."""
        match = self._release.match(subject)
        if match:
            return match.end()
        return 0

    def _is_step_on_the_way(self, rest: str) -> bool:
        """Whether the word after the name is a progress marker, such as `continued`."""
        word = re.match(r"\s+([\w'\-]+)", rest)
        markers = {marker.lower() for marker in self.stamp.progress_markers}
        return word is not None and word[1].lower() in markers

    @cached_property
    def spellings(self) -> list[str]:
        """The unit's id in every way that people write it."""
        spellings = [self.phase]
        if "'" in self.phase:
            spellings.append(self.phase.replace("'", "prime"))
        if "prime" in self.phase.lower():
            spellings.append(re.sub("prime", "'", self.phase, flags=re.IGNORECASE))
        if ordinal := _ORDINAL.fullmatch(self.phase):
            number = ordinal["number"]
            spellings += [f"{self.plan}{number}", f"{self.plan} {number}"]
        own = re.fullmatch(re.escape(self.plan) + r"(\d+(?:\.\d+)?)", self.phase, re.IGNORECASE)
        if own and self.plan:
            spellings += [f"Phase {own[1]}", f"Phase{own[1]}"]
        return list(dict.fromkeys(spellings))

    @cached_property
    def _plan_heads(self) -> list[str]:
        """The plan, and its head: `docs/42_wheel-builds` is also docs/42."""
        head = re.match(r"(.*\d)_.+", self.plan)
        if head:
            return [self.plan, head[1]]
        return [self.plan]

    def contains_plan(self, spelling: str) -> bool:
        """Whether an id begins with the plan, as AUTH1 begins with AUTH."""
        if not self.plan:
            return False
        pattern = re.escape(self.plan) + r"(?![^\W\d_])"
        return re.match(pattern, spelling, re.IGNORECASE) is not None

    @cached_property
    def _bare_spellings(self) -> list[str]:
        """The spellings that say of which plan they are without naming it apart."""
        return [spelling for spelling in self.spellings if self.contains_plan(spelling)]

    @cached_property
    def _any_spelling(self) -> str:
        return _any_of(self.spellings)

    @cached_property
    def _qualified(self) -> str:
        """The id with its plan: in it, glued to it or beside it."""
        forms = [f"{re.escape(self.plan)}:?[ \\t]+{self._any_spelling}"]
        if self._bare_spellings:
            forms.insert(0, _any_of(self._bare_spellings))
        return f"(?:{'|'.join(forms)})"

    @cached_property
    def _direct(self) -> re.Pattern[str]:
        """`docs/AUTH AUTH1: …`: the unit begins the subject."""
        series = re.escape(self.plan)
        spaced = f"{series}:?[ \\t]+{self._any_spelling}{_END}"
        if self.stamp.subject_dirs:
            return _compiled(f"{self._folders}(?P<unit>{spaced})")
        glued = f"{series}{self._any_spelling}:"
        if self._bare_spellings:
            glued += f"|{_any_of(self._bare_spellings)}:"
        return _compiled(f"{self._folders}(?P<unit>{spaced}|{glued})")

    @cached_property
    def _paren(self) -> re.Pattern[str]:
        """`… (AUTH AUTH1) (#12)`: the unit ends the subject."""
        named = f"{_any_of(self._plan_heads)}:?[ \\t]+{self._any_spelling}"
        return _compiled(f"\\((?:refs )?(?:{self._folders})?{named}\\){_PULL_REQUEST}[ \\t]*$")

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        """The unit with its plan anywhere, as a whole word."""
        return _compiled(f"{_BEGIN}{self._qualified}{_END}")

    @cached_property
    def _release(self) -> re.Pattern[str]:
        """`v1.2.3:`, or a declared bundle prefix."""
        return _compiled("|".join([_RELEASE, *map(re.escape, self.stamp.summary_bundle_prefixes)]))

    @cached_property
    def _scope(self) -> re.Pattern[str]:
        """`feat(AUTH): AUTH1 …`: a conventional commit."""
        plan = re.escape(self.plan)
        return _compiled(f"\\w+\\({plan}\\)!?:[ \\t]*(?P<unit>{self._any_spelling}){_END}")

    @cached_property
    def _list_first(self) -> re.Pattern[str]:
        """Two ids or more, which begin the subject."""
        one = r"(?=[\w.'\-]*\d)[^\W_][\w'\-]*(?:\.[\w'\-]+)*"
        beside = f"(?P<beside>{re.escape(self.plan)}:?[ \\t]+)?"
        ids = f"(?P<list>{one}(?:{_JOINED}{one})+)"
        return _compiled(f"{self._folders}{beside}{ids}{_END}(?P<colon>:)?")

    @cached_property
    def _folders(self) -> str:
        """What may stand before the plan: one of the declared folders, or any folder."""
        if self.stamp.subject_dirs:
            return f"{_any_of(list(self.stamp.subject_dirs))}/"
        return _FOLDER

    @cached_property
    def _listed(self) -> re.Pattern[str]:
        """The unit's names as they may stand in a trailer."""
        forms = [f"{_any_of(self._plan_heads)}(?:/|:?[ \\t]+){self._any_spelling}"]
        forms += map(re.escape, self._bare_spellings)
        return _compiled("|".join(forms))

    @cached_property
    def _is_bundle(self) -> bool:
        """Whether a declared bundle is of this plan: `docs/OPS:` is of OPS."""
        bundles = set()
        for prefix in self.stamp.summary_bundle_prefixes:
            bundles.add(prefix.rstrip(": ").rpartition("/")[2].lower())
        return bool(self.plan) and self.plan.lower() in bundles

    @cached_property
    def _series_first(self) -> re.Pattern[str]:
        """`docs/OPS: …`: the plan begins the subject."""
        return _compiled(f"{_FOLDER}{re.escape(self.plan)}{_END}:?")

    @cached_property
    def _parent(self) -> str:
        """The phase that a sub-phase such as 3-retry belongs to, if [stamp] falls back to it."""
        if self.stamp.sub_phase_parent_fallback and "-" in self.phase:
            return self.phase.partition("-")[0]
        return ""

    @cached_property
    def _parent_first(self) -> re.Pattern[str]:
        """The parent phase begins the subject."""
        unit = f"{re.escape(self.plan)}:?[ \\t]+{re.escape(self._parent)}"
        return _compiled(f"{self._folders}(?P<unit>{unit}){_END}")


def _naming(rung: Rung, text: str, begin: int, end: int, *, faint: bool = False) -> Naming:
    """A naming, with the words beside it that say it is not done."""
    return Naming(rung=rung, faint=faint, negated=unfinished_words(text, begin, end))


def _any_of(texts: list[str]) -> str:
    """A pattern for any of the texts, the longest first; a run of spaces matches any spaces."""
    spaced = (re.sub(r"(?:\\[ \t])+", r"[ \\t]+", re.escape(text)) for text in texts)
    return f"(?:{'|'.join(sorted(spaced, key=len, reverse=True))})"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _slug(text: str) -> str:
    """Words joined by underscores, so that spaces and dashes compare equal."""
    return re.sub(r"[\s\-_]+", "_", text.strip().lower())
