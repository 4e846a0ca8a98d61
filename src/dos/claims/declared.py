"""Extracts the units that an agent says are done.

Strongest first: what the caller names, a line that the agent wrote to be checked, and prose, which
is only a hint. In prose, what is denied, wished for, asked or made conditional is no claim. No
pattern nests one repetition in another, and each runs once over a piece, so the time grows with
the length of the text.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

LONGEST_LINE = 100_000  # characters of a line that are read
LONGEST_BARE = 30  # characters of a sentence like `All done.` about the one before it
_NAME = re.compile(
    r"(?<![\w/.#-])"
    r"(?:(?P<plan>[A-Za-z][\w-]{0,60})/"
    r"|(?P<word>[Uu]nit:?[ ]{1,4})?(?P<series>[A-Z][A-Z_]{1,60})[ ])?"
    r"(?P<unit>(?P<letters>[A-Z][A-Z_]{1,60})\d{1,9})(?![\w/-]|\.\w)"
)
_ID = re.compile(r"([A-Z][A-Z_]{1,60})\d{1,9}")
_DONE = re.compile(
    r"\b(?:shipped|landed|completed|finished|done|merged)\b|[✅✔☑]|\[x\]", re.IGNORECASE
)
# Only after a name; otherwise `complete` is an order.
_COMPLETE = re.compile(r"\bcomplete\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])[\s)*_\"']+")
_TURN = re.compile(
    r"(?<!\ball )(?<!\beverything )(?<!\banything )\bbut\b"
    r"|\b(?:however|although|though|while|whereas)\b",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,()|]|\s[—–-]{1,3}\s")
_AND = re.compile(r"\b(?:and|plus)\b|[&+]", re.IGNORECASE)
_IF = re.compile(
    r"\b(?:if|once|when|whenever|unless|until|till|assuming|provided|supposing"
    r"|as soon as|in case)\b",
    re.IGNORECASE,
)
_AROUND = re.compile(r"\b(?:after|before)\b", re.IGNORECASE)
# Each of these denies a claim when it comes before the word for done or before the name.
_DENIED = re.compile(
    r"n['’]t\b|['’]ll\b|\b(?:not|no|nor|neither|never|none|nothing|cannot|cant|without|except|"
    r"excluding|besides|but|instead|rather|unable|fail(?:s|ed|ing)?|almost|nearly|mostly|half|"
    r"partially|partly|barely|hardly|will|would|shall|should|could|may|might|must|going|gonna|"
    r"be|being|getting|to (?:get|have|see)|need(?:s|ed)?|wants?|planned|planning|plans? to|"
    r"next|todo|wip|draft|pending|remaining|remains|later|soon|tomorrow|blocked|unfinished|"
    r"incomplete|yet|left|open|in progress|started|starting|begun|try|trying|tried|"
    r"attempt(?:s|ed|ing)?|after|before)\b",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[\s:=*_`]*(?:\?|(?:no|not|nope|false|soon|later|next|partly|partially|tomorrow)\b)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")
# Names of standards that look like names of units.
_STANDARDS = frozenset({
    "AES", "BASE", "BLAKE", "CVE", "FLOAT", "GPT", "HTTP", "INT", "IPV", "ISO", "MD", "PEP",
    "PKCS", "RFC", "RSA", "SHA", "TLS", "UINT", "UTF", "UUID",
})  # fmt: skip


class UnitName(Struct, frozen=True):
    """A unit as prose names it."""

    plan: str
    unit: str


class _Mention(Struct, frozen=True):
    """Where a text names a unit."""

    name: UnitName
    start: int
    end: int


def units_claimed_in_prose(text: str) -> Iterator[tuple[UnitName, str]]:
    """Yield each unit that the text says is done, with the line that says so."""
    under_done = False  # a heading, or a line that ends in a colon, says it of the list below
    for raw in text.splitlines():
        line = raw[:LONGEST_LINE]
        if not line.strip():
            continue
        is_item = _BULLET.match(line) is not None
        claimed, only_named = _line(line)
        if under_done and is_item:
            claimed += only_named
        for name in claimed:
            yield name, raw.strip()
        if not is_item:
            under_done = _opens_list(line)


def _opens_list(line: str) -> bool:
    """Whether the line says of the list below it that its items are done."""
    is_opening = line.lstrip().startswith("#") or line.rstrip(" \t*_").endswith(":")
    return is_opening and _is_bare_done(line)


def _is_bare_done(text: str) -> bool:
    """Whether the text says that something is done, without a name, a denial or a condition."""
    if not _DONE.search(text):
        return False
    return not (_NAME.search(text) or _DENIED.search(text) or _IF.search(text))


def _line(line: str) -> tuple[list[UnitName], list[UnitName]]:
    """Return the units that a line says are done, and those that it only names."""
    claimed: list[UnitName] = []
    only_named: list[UnitName] = []
    before: list[UnitName] = []  # named, but not claimed, by the sentence before
    for sentence in _SENTENCE.split(line):
        if sentence.rstrip(" *_\"')").endswith("?"):
            before = []
            continue
        if len(sentence) <= LONGEST_BARE and before and _is_bare_done(sentence):
            claimed += before
            continue
        before = []
        for clause in _TURN.split(sentence):
            done, named = _clause(clause)
            claimed += done
            before += named
        only_named += before
    return claimed, only_named


class _ClauseReader:
    """Reads a clause piece by piece: named units wait for the word that decides about them.

    `A1 and A2 are done` claims both units, and in `A1 is done, A2 is not` only the first.
    """

    def __init__(self) -> None:
        self.claimed: list[UnitName] = []
        self.waiting: list[UnitName] = []
        self.doubted = False  # a piece denies and names nothing, as in `AUTH2, not yet`
        self.lists = False  # the deciding word came first, as in `Shipped AUTH1, AUTH2`

    def read(self, piece: str, *, is_conditional: bool) -> None:
        """Read the next piece; a conditional one claims nothing."""
        mentions = _mentions(piece)
        done = _done(piece, mentions, bool(self.waiting))
        denied = _DENIED.search(piece)
        if done is None:
            self._read_undecided(mentions, is_denied=denied is not None)
            return
        denied_at = denied.start() if denied else len(piece)
        if is_conditional or _DENIED_AFTER.match(piece, done.end()):
            denied_at = -1
        is_claimed = done.end() <= denied_at
        if is_claimed:
            self.claimed += self.waiting
        for mention in mentions:
            if max(done.end(), mention.end) <= denied_at:
                self.claimed.append(mention.name)
        self.lists = is_claimed and (not mentions or done.start() < mentions[0].start)
        self.waiting = []
        self.doubted = False

    def _read_undecided(self, mentions: list[_Mention], *, is_denied: bool) -> None:
        """Read a piece that has no word for done."""
        if not is_denied:
            self.waiting += [mention.name for mention in mentions]
        elif mentions:
            self.waiting = []
            self.doubted = False
            self.lists = False
        else:
            self.doubted = self.doubted or bool(self.waiting)

    def end(self) -> tuple[list[UnitName], list[UnitName]]:
        """Return the units that are claimed, and those that are only named."""
        if self.doubted:
            return self.claimed, []
        if self.lists:
            return self.claimed + self.waiting, []
        return self.claimed, self.waiting


def _clause(clause: str) -> tuple[list[UnitName], list[UnitName]]:
    """Return the units that a clause says are done, and those that it only names."""
    reader = _ClauseReader()
    has_condition = False
    for part in _COMMA.split(clause):
        is_relative = False  # after `after` or `before`
        for piece in _AND.split(part):
            has_condition = has_condition or _IF.search(piece) is not None
            reader.read(piece, is_conditional=has_condition or is_relative)
            is_relative = is_relative or _AROUND.search(piece) is not None
    return reader.end()


def _done(piece: str, mentions: list[_Mention], something_waits: bool) -> re.Match[str] | None:
    """Return the first word that says done; `complete` counts only after a name."""
    done = _DONE.search(piece)
    complete = _COMPLETE.search(piece)
    if complete is None:
        return done
    is_after_name = bool(mentions) and mentions[0].end <= complete.start()
    if not (something_waits or is_after_name):
        return done
    if done is None or complete.start() < done.start():
        return complete
    return done


def _mentions(piece: str) -> list[_Mention]:
    """Return the units that a piece names, in order."""
    found: list[_Mention] = []
    for match in _NAME.finditer(piece):
        plan = match["plan"]
        letters = match["letters"]
        other = _ID.fullmatch(plan) if plan else None
        if other:  # AUTH1/AUTH2 names two units
            found.append(_Mention(UnitName(other[1], plan), match.start(), match.end()))
            plan = None
        series = match["series"]
        if plan is None and series and (match["word"] or series == letters):
            plan = series
        if plan is None and letters in _STANDARDS:
            continue
        name = UnitName(plan or letters.rstrip("_"), match["unit"])
        found.append(_Mention(name, match.start(), match.end()))
    return found


LONGEST_TEXT = 1 << 20  # characters of prose from the end, where the last words are
LONGEST_RAW = 200
_MARKER = re.compile(r"[ \t>*-]*DOS-CLAIM:[ \t]*(\S+)[ \t]+(\S+)[ \t]*")


class Rung(StrEnum):
    """How a claim was made, strongest first."""

    FRONTMATTER = "frontmatter"  # the caller names plan and phase
    MARKER = "marker"  # a DOS-CLAIM line
    HEURISTIC = "heuristic"  # a sentence


class Claim(Struct, frozen=True, kw_only=True):
    """An agent says that a unit is done."""

    plan: str
    phase: str
    rung: Rung
    raw: str

    @property
    def confident(self) -> bool:
        """Whether the claim was made to be checked, and is not just prose."""
        return self.rung is not Rung.HEURISTIC

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and properties for JSON."""
        return {**to_builtins(self), "confident": self.confident}


def extract(text: str, *, plan: str = "", phase: str = "") -> tuple[Claim, ...]:
    """Return the claims in a text, each unit once, by the strongest rung that names it.

    `plan` and `phase` are the unit that the caller names; that claim is the strongest.
    """
    found: dict[tuple[str, str], Claim] = {}
    for claim in _all(text, plan.strip(), phase.strip()):
        found.setdefault((claim.plan, claim.phase), claim)
    return tuple(found.values())


def _marked_claim(line: str) -> Claim | None:
    """Return the claim of a DOS-CLAIM line, or None for any other line."""
    if "DOS-CLAIM:" not in line:
        return None
    match = _MARKER.fullmatch(line)
    if match is None:
        return None
    phase = match[2].rstrip("*`")  # the end of emphasis in Markdown is not part of the name
    if not phase:
        return None
    raw = line.strip()[:LONGEST_RAW]
    return Claim(plan=match[1], phase=phase, rung=Rung.MARKER, raw=raw)


def _all(text: str, plan: str, phase: str) -> Iterator[Claim]:
    """Yield all claims, strongest first."""
    if plan and phase:
        yield Claim(plan=plan, phase=phase, rung=Rung.FRONTMATTER, raw=f"{plan} {phase}")
    for line in text.splitlines():
        marked = _marked_claim(line)
        if marked:
            yield marked
    for name, line in units_claimed_in_prose(text[-LONGEST_TEXT:]):
        yield Claim(plan=name.plan, phase=name.unit, rung=Rung.HEURISTIC, raw=line[:LONGEST_RAW])
