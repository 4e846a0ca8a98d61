"""Does a commit's message name a unit as shipped?

A name is a claim. The ways to make one are tried from the plainest to the faintest; a faint one (a list, a scope, a
bullet of a squashed branch) counts only where the changed files speak for it too.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from dos.verify import unfinished
from dos.verify.policy import Stamp

# What may not follow a name, nor stand before it: AUTH1 is not AUTH10, AUTH1.1 or AUTH1-port.
_END = r"(?![^\W_]|[.\-])"
_BEGIN = r"(?<![^\W_])(?<![.\-])"
_FOLDER = r"(?:[\w.\-]+/)?"
_RELEASE = r"v\d+\.\d+\.\d+:"
_PULL = r"(?:[ \t]*\(#\d+\))?"
_JOINED = r"(?:[ \t]*[,/+&][ \t]*|[ \t]+and[ \t]+)"
_ORDINAL = re.compile(r"phase[ \t]+(?P<number>\d+(?:\.\d+)?)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_ARCHIVED = re.compile(
    r"(?:[^:]*:[ \t]*)?(?:archive|rollup)[ \t]+\d{8}(?:T\d+Z?)?(?:\s|$)", re.IGNORECASE
)
_SNAPSHOT = re.compile(r"[^:]*\bsnapshot[ \t]*:", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TRAILER_LINE = re.compile(r"[A-Za-z][A-Za-z0-9\-]*:[ \t]|\(cherry picked from commit |[ \t]|$")
_SHIPS = re.compile(r"(?:ships|units?):[ \t]*(?P<names>.+)", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*[*\-][ \t]+(?P<text>.*)")
LONGEST_SUBJECT = 4096  # characters that are looked at


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


FAINT = frozenset({Rung.CONVENTIONAL, Rung.LIST, Rung.SQUASH_BULLET, Rung.REGISTRY})


class Naming(Struct, frozen=True, kw_only=True):
    rung: Rung
    faint: bool = False  # it counts only if the files that were changed speak for it too
    negated: str = ""  # the words by which it says in the same breath that it is not done


class Message(Struct, frozen=True):
    subject: str
    body: str

    @classmethod
    def parse(cls, text: str) -> "Message":
        """Git's own notion: the first paragraph on one line is the subject."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
        head, body = (*_PARAGRAPHS.split(lines, maxsplit=1), "")[:2]
        return cls(
            " ".join(line.strip() for line in head.split("\n"))[:LONGEST_SUBJECT].strip(), body
        )


def words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


class UnitName:
    """One unit as it may be spelled, ready to be looked for."""

    def __init__(self, plan: str, phase: str, stamp: Stamp = Stamp()) -> None:
        self.plan, self.phase, self.stamp = plan.strip(), phase.strip(), stamp

    def is_declared_as(self, plan: str, phase: str) -> bool:
        """Whether what a plan document declares is this unit."""
        return phase.casefold() in {spelling.casefold() for spelling in self.spellings} and (
            plan.casefold() == self.plan.casefold() or self.contains_plan(phase)
        )

    def needles(self) -> list[frozenset[str]]:
        """Sets of words: a message that names the unit holds all the words of one of them."""
        own = words(self.plan)
        found = []
        for spelling in self.spellings:
            found.append(words(spelling) | (frozenset() if self.contains_plan(spelling) else own))
            found.append(words(self.plan + spelling))
        found += [
            words(head) | words(spelling)
            for head in self._plan_heads
            for spelling in self.spellings
        ]
        if self._is_bundle:
            found.append(own)
        if self._parent:
            found.append(
                words(self._parent) | (frozenset() if self.contains_plan(self._parent) else own)
            )
        return [each for each in dict.fromkeys(found) if not any(other < each for other in found)]

    def find_in(self, message: Message) -> Naming | None:
        """The plainest way in which a message names the unit."""
        if not self.plan or not self.phase or is_bookkeeping(message.subject, self.stamp):
            return None
        for naming in self._namings(message):
            return naming
        return None

    def _namings(self, message: Message) -> Iterator[Naming]:
        subject = message.subject
        if found := self._direct.match(subject):
            if self._goes_on(subject[found.end() :]):
                return
            yield _naming(Rung.DIRECT, subject, found.start("unit"), found.end())
        yield from self._trailers(message)
        is_release = self.is_release(subject)
        if not is_release and (found := self._paren.search(subject)):
            yield _naming(
                Rung.TRAILER,
                subject,
                found.start(),
                len(subject),
                faint=not self.stamp.trailer_stamp,
            )
        if is_release:
            yield from self._mentioned(message)
        yield from self._by_slug(subject)
        yield from self._faintly(message)

    def _trailers(self, message: Message) -> Iterator[Naming]:
        """Lines such as `Unit: AUTH/AUTH1` in the paragraphs of such lines that end a message."""
        for listed, faint in trailers(message):
            if any(self.matches_trailer(each) for each in listed):
                yield Naming(
                    rung=Rung.GIT_TRAILER,
                    faint=faint,
                    negated=unfinished.unfinished_words(message.subject),
                )

    def matches_trailer(self, name: str) -> bool:
        """Whether a name in a trailer is this unit's."""
        return self._listed.fullmatch(name) is not None

    def _mentioned(self, message: Message) -> Iterator[Naming]:
        """A release names what it brings, after its version or in a line of its own."""
        start = self._after_prefix(message.subject)
        for found in self._mention.finditer(message.subject, start):
            if not self._goes_on(message.subject[found.end() :]):
                yield _naming(Rung.RELEASE_PREFIX, message.subject, found.start(), found.end())
        for line in message.body.split("\n"):
            if mention := self._mention.search(line[:LONGEST_SUBJECT]):
                yield _naming(
                    Rung.BODY_MENTION, line[:LONGEST_SUBJECT], mention.start(), mention.end()
                )

    def _by_slug(self, subject: str) -> Iterator[Naming]:
        if self._is_bundle and (found := self._series_first.match(subject)):
            rest = subject[found.end() :]
            if _slug(self.phase) in _slug(rest):
                yield _naming(Rung.BUNDLE_SLUG, subject, 0, found.end())
        if self._parent and (found := self._parent_first.match(subject)):
            suffix = _slug(self.phase.partition("-")[2])
            if suffix and suffix in _slug(subject):
                yield _naming(Rung.SUB_PHASE_PARENT, subject, found.start("unit"), found.end())

    def _faintly(self, message: Message) -> Iterator[Naming]:
        if found := self._scope.match(message.subject):
            yield _naming(
                Rung.CONVENTIONAL, message.subject, found.start("unit"), found.end(), faint=True
            )
        if (found := self._list_first.match(message.subject)) and self._is_in(found):
            yield _naming(Rung.LIST, message.subject, found.start("list"), found.end(), faint=True)
        for line in message.body.split("\n"):
            if (bullet := _BULLET.match(line[:LONGEST_SUBJECT])) and (
                found := self._direct.match(bullet["text"])
            ):
                yield _naming(
                    Rung.SQUASH_BULLET, bullet["text"], found.start("unit"), found.end(), faint=True
                )

    def _is_in(self, found: re.Match[str]) -> bool:
        """Beside its plan any id is meant as one of it; without, it has to hold the plan itself."""
        own = {
            spelling.lower()
            for spelling in self.spellings
            if found["beside"] or self.contains_plan(spelling)
        }
        is_named = any(
            item.strip().lower() in own
            for item in re.split(_JOINED, found["list"], flags=re.IGNORECASE)
        )
        return is_named and bool(found["beside"] or found["colon"])

    def is_release(self, subject: str) -> bool:
        return self._after_prefix(subject) > 0

    def _after_prefix(self, subject: str) -> int:
        found = self._release.match(subject)
        return found.end() if found else 0

    def _goes_on(self, rest: str) -> bool:
        """The next word says that this is a step on the way."""
        word = re.match(r"\s+([\w'\-]+)", rest)
        return word is not None and word[1].lower() in {
            marker.lower() for marker in self.stamp.progress_markers
        }

    @cached_property
    def spellings(self) -> list[str]:
        """The unit's id in every way that it is written."""
        found = [self.phase]
        if "'" in self.phase:
            found.append(self.phase.replace("'", "prime"))
        if "prime" in self.phase.lower():
            found.append(re.sub("prime", "'", self.phase, flags=re.IGNORECASE))
        if ordinal := _ORDINAL.fullmatch(self.phase):
            found += [f"{self.plan}{ordinal['number']}", f"{self.plan} {ordinal['number']}"]
        own = re.fullmatch(re.escape(self.plan) + r"(\d+(?:\.\d+)?)", self.phase, re.IGNORECASE)
        if own and self.plan:
            found += [f"Phase {own[1]}", f"Phase{own[1]}"]
        return list(dict.fromkeys(found))

    @cached_property
    def _plan_heads(self) -> list[str]:
        """`docs/42_wheel-builds` is also docs/42."""
        head = re.match(r"(.*\d)_.+", self.plan)
        return [self.plan, *([head[1]] if head else [])]

    def contains_plan(self, spelling: str) -> bool:
        """The plan stands in the id itself, as AUTH does in AUTH1."""
        return (
            bool(self.plan)
            and re.match(re.escape(self.plan) + r"(?![^\W\d_])", spelling, re.IGNORECASE)
            is not None
        )

    @cached_property
    def _any_spelling(self) -> str:
        return _any_of(self.spellings)

    @cached_property
    def _qualified(self) -> str:
        """The id with its plan: in it, glued to it or beside it."""
        bare = [spelling for spelling in self.spellings if self.contains_plan(spelling)]
        series = re.escape(self.plan)
        forms = [_any_of(bare)] if bare else []
        forms += [f"{series}:?[ \\t]+{self._any_spelling}"]
        return f"(?:{'|'.join(forms)})"

    @cached_property
    def _direct(self) -> re.Pattern[str]:
        series = re.escape(self.plan)
        spaced = f"{series}:?[ \\t]+{self._any_spelling}{_END}"
        if self.stamp.subject_dirs:
            return _compiled(f"{self._folders}(?P<unit>{spaced})")
        bare = [spelling for spelling in self.spellings if self.contains_plan(spelling)]
        glued = "|".join(
            [f"{series}{self._any_spelling}:", *([f"{_any_of(bare)}:"] if bare else [])]
        )
        return _compiled(f"{self._folders}(?P<unit>{spaced}|{glued})")

    @cached_property
    def _paren(self) -> re.Pattern[str]:
        named = f"{_any_of(self._plan_heads)}:?[ \\t]+{self._any_spelling}"
        return _compiled(f"\\((?:refs )?(?:{self._folders})?{named}\\){_PULL}[ \\t]*$")

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        return _compiled(f"{_BEGIN}{self._qualified}{_END}")

    @cached_property
    def _release(self) -> re.Pattern[str]:
        return _compiled("|".join([_RELEASE, *map(re.escape, self.stamp.summary_bundle_prefixes)]))

    @cached_property
    def _scope(self) -> re.Pattern[str]:
        return _compiled(
            f"\\w+\\({re.escape(self.plan)}\\)!?:[ \\t]*(?P<unit>{self._any_spelling}){_END}"
        )

    @cached_property
    def _list_first(self) -> re.Pattern[str]:
        """Two ids or more, which begin the subject."""
        one = r"(?=[\w.'\-]*\d)[^\W_][\w'\-]*(?:\.[\w'\-]+)*"
        beside = f"(?P<beside>{re.escape(self.plan)}:?[ \\t]+)?"
        return _compiled(
            f"{self._folders}{beside}(?P<list>{one}(?:{_JOINED}{one})+){_END}(?P<colon>:)?"
        )

    @cached_property
    def _folders(self) -> str:
        """What stands before the plan: one of the declared folders, or any one."""
        return f"{_any_of(list(self.stamp.subject_dirs))}/" if self.stamp.subject_dirs else _FOLDER

    @cached_property
    def _listed(self) -> re.Pattern[str]:
        return _compiled(
            f"{_any_of(self._plan_heads)}(?:/|:?[ \\t]+){self._any_spelling}"
            + "".join(f"|{re.escape(each)}" for each in self.spellings if self.contains_plan(each))
        )

    @cached_property
    def _is_bundle(self) -> bool:
        """The plan is what a declared bundle is of: `docs/OPS:` is of OPS."""
        parts = (
            prefix.rstrip(": ").rpartition("/")[2] for prefix in self.stamp.summary_bundle_prefixes
        )
        return bool(self.plan) and self.plan.lower() in {part.lower() for part in parts}

    @cached_property
    def _series_first(self) -> re.Pattern[str]:
        return _compiled(f"{_FOLDER}{re.escape(self.plan)}{_END}:?")

    @cached_property
    def _parent(self) -> str:
        return (
            self.phase.partition("-")[0]
            if self.stamp.sub_phase_parent_fallback and "-" in self.phase
            else ""
        )

    @cached_property
    def _parent_first(self) -> re.Pattern[str]:
        return _compiled(
            f"{self._folders}(?P<unit>{re.escape(self.plan)}:?[ \\t]+{re.escape(self._parent)}){_END}"
        )


def trailers(message: Message) -> Iterator[tuple[list[str], bool]]:
    """The names in each line such as `Unit: A, B`, from the last paragraph upwards; and whether it is no real trailer,
    because other text stands beside it. Above such text nothing is one."""
    faint = False
    for paragraph in reversed(_PARAGRAPHS.split(message.body.strip())):
        lines = paragraph.split("\n")
        faint = faint or not all(_TRAILER_LINE.match(line) for line in lines)
        for line in lines:
            if said := _SHIPS.match(line):
                yield [each.strip() for each in said["names"].split(",")], faint
        if faint:
            return


def is_bookkeeping(subject: str, stamp: Stamp) -> bool:
    """Subjects that never ship anything: snapshots, dated archives, and what the workspace declares."""
    lowered = subject.lower()
    return (
        any(lowered.startswith(prefix.lower()) for prefix in stamp.bookkeeping_prefixes)
        or _SNAPSHOT.match(subject) is not None
        or _ARCHIVED.match(subject) is not None
    )


def _naming(rung: Rung, text: str, begin: int, end: int, *, faint: bool = False) -> Naming:
    return Naming(rung=rung, faint=faint, negated=unfinished.unfinished_words(text, begin, end))


def _any_of(texts: list[str]) -> str:
    spaced = (re.sub(r"(?:\\[ \t])+", r"[ \\t]+", re.escape(text)) for text in texts)
    return f"(?:{'|'.join(sorted(spaced, key=len, reverse=True))})"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _slug(text: str) -> str:
    return re.sub(r"[\s\-_]+", "_", text.strip().lower())
