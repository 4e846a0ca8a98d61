"""Which units does an agent say are done?

Strongest first: what its caller names, a line that it wrote to be checked, and prose, which is only a hint.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

LONGEST_LINE = 100_000  # characters; what is further right is not read
LONGEST_BARE = 30  # a sentence that only says `All done.` speaks of the one before it
_NAME = re.compile(
    r"(?<![\w/.#-])(?:(?P<plan>[A-Za-z][\w-]{0,60})/|(?P<word>[Uu]nit:?[ ]{1,4})?(?P<series>[A-Z][A-Z_]{1,60})[ ])?"
    r"(?P<unit>(?P<letters>[A-Z][A-Z_]{1,60})\d{1,9})(?![\w/-]|\.\w)"
)
_ID = re.compile(r"([A-Z][A-Z_]{1,60})\d{1,9}")
_DONE = re.compile(
    r"\b(?:shipped|landed|completed|finished|done|merged)\b|[✅✔☑]|\[x\]", re.IGNORECASE
)
_COMPLETE = re.compile(
    r"\bcomplete\b", re.IGNORECASE
)  # of what was named before it; else it is an order
_SENTENCE = re.compile(r"(?<=[.!?;])[\s)*_\"']+")
_TURN = re.compile(
    r"(?<!\ball )(?<!\beverything )(?<!\banything )\bbut\b|\b(?:however|although|though|while|whereas)\b",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,()|]|\s[—–-]{1,3}\s")
_AND = re.compile(r"\b(?:and|plus)\b|[&+]", re.IGNORECASE)
_IF = re.compile(
    r"\b(?:if|once|when|whenever|unless|until|till|assuming|provided|supposing|as soon as|in case)\b",
    re.IGNORECASE,
)
_AROUND = re.compile(r"\b(?:after|before)\b", re.IGNORECASE)
# Before the word for done, or before the name, each of these takes the claim away.
_DENIED = re.compile(
    r"n['’]t\b|['’]ll\b|\b(?:not|no|nor|neither|never|none|nothing|cannot|cant|without|except|excluding|besides|but|"
    r"instead|rather|unable|fail(?:s|ed|ing)?|almost|nearly|mostly|half|partially|partly|barely|hardly|"
    r"will|would|shall|should|could|may|might|must|going|gonna|be|being|getting|to (?:get|have|see)|need(?:s|ed)?|"
    r"wants?|planned|planning|plans? to|next|todo|wip|draft|pending|remaining|remains|later|soon|tomorrow|blocked|"
    r"unfinished|incomplete|yet|left|open|in progress|started|starting|begun|try|trying|tried|attempt(?:s|ed|ing)?|"
    r"after|before)\b",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[\s:=*_`]*(?:\?|(?:no|not|nope|false|soon|later|next|partly|partially|tomorrow)\b)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")
# Names of standards look like those of units.
_STANDARDS = frozenset({
    "AES", "BASE", "BLAKE", "CVE", "FLOAT", "GPT", "HTTP", "INT", "IPV", "ISO", "MD", "PEP", "PKCS", "RFC", "RSA",
    "SHA", "TLS", "UINT", "UTF", "UUID",
})  # fmt: skip


class UnitName(Struct, frozen=True):
    plan: str
    unit: str


class _Mention(Struct, frozen=True):
    name: UnitName
    start: int
    end: int


def units_claimed_in_prose(text: str) -> Iterator[tuple[UnitName, str]]:
    """Each unit with the line that says so."""
    under_done = False  # a heading, or a line that ends in a colon, said it of the list below
    for raw in text.splitlines():
        line = raw[:LONGEST_LINE]
        if not line.strip():
            continue
        is_item = _BULLET.match(line) is not None
        claimed, left = _line(line)
        for name in claimed + (left if under_done and is_item else []):
            yield name, raw.strip()
        if not is_item:
            under_done = _opens_list(line)


def _opens_list(line: str) -> bool:
    is_opening = line.lstrip().startswith("#") or line.rstrip(" \t*_").endswith(":")
    return is_opening and _is_bare_done(line)


def _is_bare_done(text: str) -> bool:
    done = _DONE.search(text)
    return (
        done is not None
        and not _NAME.search(text)
        and not _DENIED.search(text)
        and not _IF.search(text)
    )


def _line(line: str) -> tuple[list[UnitName], list[UnitName]]:
    """The units that a line says are done, and those that it only names."""
    claimed: list[UnitName] = []
    left: list[UnitName] = []
    before: list[UnitName] = []
    for sentence in _SENTENCE.split(line):
        if sentence.rstrip(" *_\"')").endswith("?"):
            before = []
            continue
        if len(sentence) <= LONGEST_BARE and before and _is_bare_done(sentence):
            claimed += before
            continue
        before = []
        for clause in _TURN.split(sentence):
            found, named = _clause(clause)
            claimed += found
            before += named
        left += before
    return claimed, left


class _ClauseReader:
    """Goes through a clause piece by piece: what is named waits for the word that decides on it."""

    def __init__(self) -> None:
        self.claimed: list[UnitName] = []
        self.waiting: list[UnitName] = []
        self.doubted = False  # something denies, and names nothing: `AUTH2, not yet`
        self.lists = False  # the last word that decided came first: `Shipped AUTH1, AUTH2`

    def read(self, piece: str, *, depends: bool) -> None:
        places = _places(piece)
        done = _done(piece, places, bool(self.waiting))
        denied = _DENIED.search(piece)
        if done is None:
            if places and denied:
                self.waiting, self.doubted, self.lists = [], False, False
            elif denied:
                self.doubted = self.doubted or bool(self.waiting)
            else:
                self.waiting += [place.name for place in places]
            return
        denied_at = denied.start() if denied else len(piece)
        if depends or _DENIED_AFTER.match(piece, done.end()):
            denied_at = -1
        if done.end() <= denied_at:
            self.claimed += self.waiting
        self.claimed += [place.name for place in places if max(done.end(), place.end) <= denied_at]
        self.lists = done.end() <= denied_at and (not places or done.start() < places[0].start)
        self.waiting, self.doubted = [], False

    def end(self) -> tuple[list[UnitName], list[UnitName]]:
        if self.doubted:
            return self.claimed, []
        return (self.claimed + self.waiting, []) if self.lists else (self.claimed, self.waiting)


def _clause(clause: str) -> tuple[list[UnitName], list[UnitName]]:
    reading, depends = _ClauseReader(), False
    for part in _COMMA.split(clause):
        around = False
        for piece in _AND.split(part):
            depends = depends or _IF.search(piece) is not None
            reading.read(piece, depends=depends or around)
            around = around or _AROUND.search(piece) is not None
    return reading.end()


def _done(piece: str, places: list[_Mention], something_waits: bool) -> re.Match[str] | None:
    done, complete = _DONE.search(piece), _COMPLETE.search(piece)
    if complete and (something_waits or (places and places[0].end <= complete.start())):
        return complete if done is None or complete.start() < done.start() else done
    return done


def _places(piece: str) -> list[_Mention]:
    found: list[_Mention] = []
    for match in _NAME.finditer(piece):
        plan, letters, unit = match["plan"], match["letters"], match["unit"]
        if plan and (other := _ID.fullmatch(plan)):  # AUTH1/AUTH2 is two units
            found.append(_Mention(UnitName(other[1], plan), match.start(), match.end()))
            plan = None
        if plan is None and match["series"] and (match["word"] or match["series"] == letters):
            plan = match["series"]
        if plan is None and letters in _STANDARDS:
            continue
        found.append(
            _Mention(UnitName(plan or letters.rstrip("_"), unit), match.start(), match.end())
        )
    return found


LONGEST_TEXT = 1 << 20  # characters of prose, from the end: what was said last
LONGEST_RAW = 200
_MARKER = re.compile(r"[ \t>*-]*DOS-CLAIM:[ \t]*(\S+)[ \t]+(\S+)[ \t]*")


class Rung(StrEnum):
    FRONTMATTER = "frontmatter"  # the caller names plan and phase
    MARKER = "marker"  # a line of its own
    HEURISTIC = "heuristic"  # a sentence


class Claim(Struct, frozen=True, kw_only=True):
    plan: str
    phase: str
    rung: Rung
    raw: str

    @property
    def confident(self) -> bool:
        return self.rung is not Rung.HEURISTIC

    def to_dict(self) -> dict[str, Any]:
        return {**to_builtins(self), "confident": self.confident}


def extract(text: str, *, plan: str = "", phase: str = "") -> tuple[Claim, ...]:
    """Each unit once, by the strongest rung that names it."""
    found: dict[tuple[str, str], Claim] = {}
    for claim in _all(text, plan.strip(), phase.strip()):
        found.setdefault((claim.plan, claim.phase), claim)
    return tuple(found.values())


def _all(text: str, plan: str, phase: str) -> Iterator[Claim]:
    if plan and phase:
        yield Claim(plan=plan, phase=phase, rung=Rung.FRONTMATTER, raw=f"{plan} {phase}")
    for line in text.splitlines():
        if "DOS-CLAIM:" in line and (marked := _MARKER.fullmatch(line)):
            phase_named = marked[2].rstrip("*`")
            if phase_named:
                yield Claim(
                    plan=marked[1],
                    phase=phase_named,
                    rung=Rung.MARKER,
                    raw=line.strip()[:LONGEST_RAW],
                )
    for name, line in units_claimed_in_prose(text[-LONGEST_TEXT:]):
        yield Claim(plan=name.plan, phase=name.unit, rung=Rung.HEURISTIC, raw=line[:LONGEST_RAW])
