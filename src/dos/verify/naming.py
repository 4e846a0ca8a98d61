"""Find out whether a commit message names a given unit as shipped.

A name is a claim. The ways to make one are tried from the plainest to the faintest. A faint one
(a list, a scope, a bullet of a squashed branch) counts only if the changed files support it.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct, structs

from dos.lazy_pattern import LazyPattern
from dos.text import ascii_lower
from dos.verify.doubt.body import admission
from dos.verify.message import (
    LONGEST_SUBJECT,
    Message,
    is_bookkeeping,
    issue_trailers,
    trailers,
    unfinished_words,
    words,
)
from dos.verify.names import spelling
from dos.verify.names.closing import closing_lines, find_closing, find_closing_in_line
from dos.verify.names.direct import ANY_FOLDER, DirectName
from dos.verify.names.forms import FoundForm, at_beginning, at_end
from dos.verify.names.pattern import NamePattern
from dos.verify.names.spelling import BEGIN, END, JOINED, any_of, literal
from dos.verify.policy import Stamp

_RELEASE = r"(?ai:v)\d+\.\d+\.\d+:"
_PULL_REQUEST = r"(?:[ \t]*\(#\d+\))?"
# The subject of another commit follows.
_QUOTES = LazyPattern(r"(?ai:revert|reapply)[ \t]+[\"'“]|(?:fixup|squash|amend)!")
_BULLET = LazyPattern(r"[ \t]*[*\-][ \t]+(?P<text>.*)")


class Rung(StrEnum):
    """How a commit names the unit; the plainest first."""

    DIRECT = "direct"
    GIT_TRAILER = "git-trailer"
    TRAILER = "trailer"
    RELEASE_PREFIX = "release-prefix"
    BUNDLE_SLUG = "hyg-slug"
    SUB_PHASE_PARENT = "sub-phase-parent"
    BODY_MENTION = "body-mention"
    BRACKETED = "bracketed"
    PUNCTUATED = "punctuated"
    LEADING = "leading"
    SCOPE = "scope"
    TYPED = "typed"
    ENDING = "ending"
    CLOSING = "closing-keyword"
    CONVENTIONAL = "conventional"
    LIST = "list"
    SQUASH_BULLET = "squash-bullet"
    REGISTRY = "registry"


# In such a commit the body speaks of several units, and what it admits may be about another one.
_ABOUT_MANY = frozenset(
    {Rung.RELEASE_PREFIX, Rung.BODY_MENTION, Rung.BUNDLE_SLUG, Rung.LIST, Rung.SQUASH_BULLET}
)


class Naming(Struct, frozen=True, kw_only=True):
    """One way in which a message names a unit."""

    rung: Rung
    faint: bool = False  # it counts only if the changed files support it
    negated: str = ""  # the words that say it is not done
    needs_plan: bool = False  # it counts only if a plan declares the unit


class UnitName:
    """The spellings of one unit, compiled for searching commit messages."""

    def __init__(self, plan: str, phase: str, stamp: Stamp = Stamp()) -> None:
        self.plan = plan.strip()
        self.phase = phase.strip()
        self.stamp = stamp

    def is_declared_as(self, plan: str, phase: str) -> bool:
        """Whether a unit that a plan document declares is this one."""
        if ascii_lower(phase) not in map(ascii_lower, self.spellings):
            return False
        return ascii_lower(plan) == ascii_lower(self.plan) or self.contains_plan(phase)

    def needles(self) -> list[frozenset[str]]:
        """Sets of words; a message that names the unit contains all the words of one set."""
        needles = []
        for name in self.spellings:
            needles.append(self._needle(name))
            needles.append(words(self.plan + name))
        for head in spelling.plan_heads(self.plan):
            needles += [words(head) | words(name) for name in self.spellings]
        if number := spelling.issue_number(self.plan, self.phase):
            needles.append(words(number))
        if self._is_bundle:
            needles.append(words(self.plan))
        if self._parent:
            needles.append(self._needle(self._parent))
        unique = dict.fromkeys(needles)
        return [needle for needle in unique if not any(other < needle for other in needles)]

    def _needle(self, name: str) -> frozenset[str]:
        """The words of one spelling; with the plan's, if the id does not contain it."""
        if self.contains_plan(name):
            return words(name)
        return words(name) | words(self.plan)

    def find_in(self, message: Message, *, is_declared: bool = False) -> Naming | None:
        """The plainest way in which a message names the unit; None if it does not.

        With `is_declared` a plan declares the unit, so that an id such as AUTH1 is no word of
        prose where it stands without a mark.
        """
        if not self.plan or not self.phase or is_bookkeeping(message.subject, self.stamp):
            return None
        for naming in self._namings(message):
            if is_declared or not naming.needs_plan:
                return _with_admission(naming, message)
        return None

    def _namings(self, message: Message) -> Iterator[Naming]:
        """Yield each way in which the message names the unit, the plainest first."""
        subject = message.subject
        if direct := self._direct.find(subject):
            begin, end = direct
            if self._is_step_on_the_way(subject[end:]):
                return
            yield _naming(Rung.DIRECT, subject, begin, end)
        yield from self._trailer_namings(message)
        written = list(self._written_namings(message))
        yield from (naming for naming in written if not naming.faint)
        if self.is_release(subject):
            yield from self._release_namings(message)
        elif match := self._paren.search(subject):
            faint = not self.stamp.trailer_stamp
            yield _naming(Rung.TRAILER, subject, match.start(), len(subject), faint=faint)
        yield from self._slug_namings(subject)
        yield from self._faint_namings(message)
        yield from (naming for naming in written if naming.faint)
        yield from self._issue_namings(message)

    def _written_namings(self, message: Message) -> Iterator[Naming]:
        """The forms of trackers in the subject, and keywords that close the unit."""
        subject = message.subject
        if not self.is_release(subject) and not _QUOTES.match(subject):
            if closing := find_closing(subject, self._name):
                begin, end = closing.begin, closing.end
                yield _naming(Rung.CLOSING, subject, begin, end, faint=closing.faint)
            yield from self._subject_namings(subject)
        for text, is_bullet in closing_lines(message.body):
            line = text[:LONGEST_SUBJECT]
            if closing := find_closing_in_line(line, self._name):
                naming = _naming(Rung.CLOSING, line, closing.begin, closing.end)
                negated = unfinished_words(subject) or naming.negated
                faint = closing.faint or is_bullet
                yield structs.replace(naming, faint=faint, negated=negated)

    def _subject_namings(self, subject: str) -> Iterator[Naming]:
        """`[ID] x`, `ID x`, `x (ID)` and the like, unless [stamp] asks for a folder."""
        if self.stamp.subject_dirs:
            return
        for found in at_beginning(subject, self._name):
            if not self._is_step_on_the_way(subject[found.end :]):
                yield _form_naming(found, subject)
        for found in at_end(subject, self._name):
            yield _form_naming(found, subject)

    def _trailer_namings(self, message: Message) -> Iterator[Naming]:
        """Trailers such as `Unit: AUTH/AUTH1` at the end of the message."""
        for names, faint in trailers(message):
            if any(self.matches_trailer(name) for name in names):
                negated = unfinished_words(message.subject)
                yield Naming(rung=Rung.GIT_TRAILER, faint=faint, negated=negated)

    def _issue_namings(self, message: Message) -> Iterator[Naming]:
        """Trailers such as `Issue: PROJ-12`: several commits may belong to one issue."""
        if _QUOTES.match(message.subject):
            return
        for names in issue_trailers(message):
            if any(map(self._name.fullmatch, names)):
                negated = unfinished_words(message.subject)
                yield Naming(rung=Rung.GIT_TRAILER, faint=True, negated=negated, needs_plan=True)

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
            if direct := self._direct.find(text):
                yield _naming(Rung.SQUASH_BULLET, text, *direct, faint=True)
            elif found := next(at_beginning(text, self._name), None):
                yield _form_naming(found, text, Rung.SQUASH_BULLET)

    def _is_listed(self, match: re.Match[str]) -> bool:
        """Whether the unit is one of a list. Without the plan beside it, the id must contain it."""
        if not match["beside"] and not match["colon"]:
            return False
        own = set()
        for name in self.spellings:
            if match["beside"] or self.contains_plan(name):
                own.add(ascii_lower(name))
        items = re.split(JOINED, match["list"])
        return any(ascii_lower(item.strip()) in own for item in items)

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
        markers = set(map(ascii_lower, self.stamp.progress_markers))
        if not markers:
            return False
        word = re.match(r"\s+([\w'\-]+)", rest)
        return word is not None and ascii_lower(word[1]) in markers

    @cached_property
    def spellings(self) -> list[str]:
        """The unit's id in every way that people write it."""
        return spelling.spellings(self.plan, self.phase)

    @cached_property
    def _name(self) -> NamePattern:
        return NamePattern(self.plan, self.phase, self.spellings)

    def contains_plan(self, name: str) -> bool:
        """Whether an id begins with the plan, as AUTH1 begins with AUTH."""
        return spelling.contains_plan(self.plan, name)

    @cached_property
    def _bare_spellings(self) -> list[str]:
        """The spellings that say of which plan they are without naming it apart."""
        return [name for name in self.spellings if self.contains_plan(name)]

    @cached_property
    def _any_spelling(self) -> str:
        return any_of(self.spellings)

    @cached_property
    def _qualified(self) -> str:
        """The id with its plan: in it, glued to it or beside it."""
        forms = [f"{literal(self.plan)}:?[ \\t]+{self._any_spelling}"]
        if self._bare_spellings:
            forms.insert(0, any_of(self._bare_spellings))
        return f"(?:{'|'.join(forms)})"

    @cached_property
    def _direct(self) -> DirectName:
        """`docs/AUTH AUTH1: …`: the unit begins the subject."""
        return DirectName(self.plan, self.spellings, self._folders)

    @cached_property
    def _paren(self) -> re.Pattern[str]:
        """`… (AUTH AUTH1) (#12)`: the unit ends the subject."""
        named = f"{any_of(spelling.plan_heads(self.plan))}:?[ \\t]+{self._any_spelling}"
        return re.compile(
            f"\\((?:(?ai:refs) )?(?:{self._folders})?{named}\\){_PULL_REQUEST}[ \\t]*$"
        )

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        """The unit with its plan anywhere, as a whole word."""
        return re.compile(f"{BEGIN}{self._qualified}{END}")

    @cached_property
    def _release(self) -> re.Pattern[str]:
        """`v1.2.3:`, or a declared bundle prefix."""
        return re.compile("|".join([_RELEASE, *map(literal, self.stamp.summary_bundle_prefixes)]))

    @cached_property
    def _scope(self) -> re.Pattern[str]:
        """`feat(AUTH): AUTH1 …`: a conventional commit."""
        plan = literal(self.plan)
        return re.compile(f"\\w+\\({plan}\\)!?:[ \\t]*(?P<unit>{self._any_spelling}){END}")

    @cached_property
    def _list_first(self) -> re.Pattern[str]:
        """Two ids or more, which begin the subject."""
        one = r"(?=[\w.'\-]*\d)[^\W_][\w'\-]*(?:\.[\w'\-]+)*"
        beside = f"(?P<beside>{literal(self.plan)}:?[ \\t]+)?"
        ids = f"(?P<list>{one}(?:{JOINED}{one})+)"
        return re.compile(f"{self._folders}{beside}{ids}{END}(?P<colon>:)?")

    @cached_property
    def _folders(self) -> str:
        """What may stand before the plan: one of the declared folders, or any folder."""
        if self.stamp.subject_dirs:
            return f"{any_of(list(self.stamp.subject_dirs))}/"
        return ANY_FOLDER

    @cached_property
    def _listed(self) -> re.Pattern[str]:
        """The unit's names as they may stand in a trailer."""
        forms = [f"{any_of(spelling.plan_heads(self.plan))}(?:/|:?[ \\t]+){self._any_spelling}"]
        forms += map(literal, self._bare_spellings)
        return re.compile("|".join(forms))

    @cached_property
    def _is_bundle(self) -> bool:
        """Whether a declared bundle is of this plan: `docs/OPS:` is of OPS."""
        bundles = set()
        for prefix in self.stamp.summary_bundle_prefixes:
            bundles.add(ascii_lower(prefix.rstrip(": ").rpartition("/")[2]))
        return bool(self.plan) and ascii_lower(self.plan) in bundles

    @cached_property
    def _series_first(self) -> re.Pattern[str]:
        """`docs/OPS: …`: the plan begins the subject."""
        return re.compile(f"{ANY_FOLDER}{literal(self.plan)}{END}:?")

    @cached_property
    def _parent(self) -> str:
        """The phase that a sub-phase such as 3-retry belongs to, if [stamp] falls back to it."""
        if self.stamp.sub_phase_parent_fallback and "-" in self.phase:
            return self.phase.partition("-")[0]
        return ""

    @cached_property
    def _parent_first(self) -> re.Pattern[str]:
        """The parent phase begins the subject."""
        unit = f"{literal(self.plan)}:?[ \\t]+{literal(self._parent)}"
        return re.compile(f"{self._folders}(?P<unit>{unit}){END}")


def _naming(rung: Rung, text: str, begin: int, end: int, *, faint: bool = False) -> Naming:
    """A naming, with the words around it that say it is not done."""
    return Naming(rung=rung, faint=faint, negated=unfinished_words(text, begin, end))


def _form_naming(found: FoundForm, text: str, rung: Rung | None = None) -> Naming:
    """A naming by a form of trackers; one in another rung than its own is faint."""
    return Naming(
        rung=rung or Rung(found.form),
        faint=found.faint or rung is not None,
        negated=unfinished_words(text, found.begin, found.end),
        needs_plan=found.needs_plan,
    )


def _with_admission(naming: Naming, message: Message) -> Naming:
    """The naming, with what the body admits about the work, if the commit is about one unit."""
    if naming.negated or naming.rung in _ABOUT_MANY:
        return naming
    return structs.replace(naming, negated=admission(message.body))


def _slug(text: str) -> str:
    """Words joined by underscores, so that spaces and dashes compare equal."""
    return re.sub(r"[\s\-_]+", "_", ascii_lower(text.strip()))
