"""What a note says of the repository that git and the files can contradict.

Three kinds of claims: a commit that fixed or shipped something, a file that is there or is gone,
and an import or a flag in a line of a file. What a clause plans, asks or denies claims nothing.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

NEARBY = 120  # characters between a token and the place that it is said to be in
LONGEST_LINK = 60  # characters of "was", "is now" and the like after a name
BEFORE_COMMIT = 40  # characters between a verb such as "fixed in" and the commit


class ClaimKind(StrEnum):
    """What a claim is about."""

    SHA = "sha"
    PATH = "path"
    TOKEN = "token"


class Polarity(StrEnum):
    """What is said of it."""

    PRESENT = "present"
    ABSENT = "absent"
    SHIPPED = "shipped"
    NEUTRAL = "neutral"


class Claim(Struct, frozen=True, kw_only=True):
    """One claim of a note."""

    raw: str
    kind: ClaimKind
    polarity: Polarity
    target_file: str = ""
    line_hint: int | None = None


_ABSENT = (
    r"(?:gone|removed|deleted|dropped|erased|purged|missing|eliminated|no longer(?: \w+)?"
    r"|taken out|(?:does|do|did)(?: not|n't) exist)"
)
_MADE = r"(?:created|added|written|wrote|introduced|shipped|landed|implemented|exists?|lives? in)"
_HELD = (
    r"(?:has|have|contains?|imports?|uses?|defines?|calls?|takes?|accepts?|passes|supports?"
    r"|added|adds|introduced)"
)
_CUES = {
    ClaimKind.PATH: re.compile(rf"\b(?:(?P<absent>{_ABSENT})|(?P<present>{_MADE}))\b", re.I),
    ClaimKind.TOKEN: re.compile(rf"\b(?:(?P<absent>{_ABSENT})|(?P<present>{_HELD}))\b", re.I),
}
_LINK = re.compile(
    r"[`'\")\s]*(?:was|were|is|are|has been|have been|had been|got)?\s*(?:now|all|also)?\s*$", re.I
)
# A clause with one of these before the claim says what should be, not what is.
_UNREAL = re.compile(
    r"\b(?:will|would|should|could|might|may|must|todo|to be|plan(?:s|ned)? to|wants? to|needs? to"
    r"|going to|if|unless|when|until|before|maybe|perhaps|not|never|without|\w+n't|cannot)\b",
    re.I,
)
_NEGATED_EXISTENCE = re.compile(rf"\b{_ABSENT}\b", re.I)
_CLAUSES = re.compile(r"(?<=[.;!?:])\s+|\s[—–]\s|\n\s*\n|\n\s*(?=[-*+#>|]|\d+[.)])")
_PATH = re.compile(
    r"(?<![\w./-])(?:src|tests|docs|scripts|examples|benchmarks?|spikes)/[\w./@+-]*\w(?![*?{])"
)
_PLACE = re.compile(r"(?<![\w./-])(?P<file>[\w][\w./-]*\.\w+):(?P<line>\d{1,7})\b")
_LINE_NUMBER = re.compile(r":\d")
_TICKED = re.compile(r"`([^`\n]+)`")
_IMPORT = re.compile(
    r"(?:import\s+\S|from\s+\S+\s+import\s|#include\s|use\s+[\w:]+|(?:const|let|var)\s.*require\()"
)
_FLAG = re.compile(r"--[a-z][\w-]*")
_SHA = re.compile(r"(?<![\w/.-])(?=[a-f]*\d)(?:[0-9a-f]{40}|[0-9a-f]{7})(?![\w-])")
# Names that may hold a cue: "src/removed.py" says nothing about itself.
_NAMES = re.compile(r"`[^`\n]*`|(?<![\w@+-])[\w@+-]*(?:[./][\w@+-]+)+")
_SHIP_VERB = re.compile(r"\b(?:fixed|shipped|landed|cut|committed|merged)\b", re.I)


class _Clause:
    """One clause, with what is looked for in it around each claim: each read once."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Names that may hold a cue are blanked; all places stay the same.
        self._blanked = _NAMES.sub(lambda name: "_" * len(name[0]), text)
        self._cues: dict[ClaimKind, list[re.Match[str]]] = {}
        self._ship_verbs = list(_SHIP_VERB.finditer(text))

    @cached_property
    def _first_unreal(self) -> int:
        """Where the first word ends that makes what follows a plan; the end where there is none."""
        # "does not exist" and "no longer" deny by themselves.
        said = _NEGATED_EXISTENCE.sub(lambda denied: " " * len(denied[0]), self._blanked)
        return _end_of_first(_UNREAL, said)

    @cached_property
    def _first_unreal_word(self) -> int:
        """The same, of the text as it is."""
        return _end_of_first(_UNREAL, self.text)

    def ships(self, end: int) -> bool:
        """Whether a verb shortly before a place says that what stands there shipped."""
        number = bisect_right(self._ship_verbs, end, key=re.Match.end)
        if not number:
            return False
        verb = self._ship_verbs[number - 1]
        return end - verb.end() <= BEFORE_COMMIT and self._first_unreal_word > verb.start()

    def polarity(self, start: int, end: int, kind: ClaimKind) -> Polarity:
        """Return what the clause says of the part between start and end.

        What follows directly ("x was removed") counts before what precedes ("removed x"), and that
        before what follows at all.
        """
        cues = self._cues_of(kind)
        number = bisect_left(cues, start, key=re.Match.start)
        before = cues[number - 1] if number else None
        number = bisect_left(cues, end, key=re.Match.start)
        after = cues[number] if number < len(cues) else None
        if after is not None and self._is_link(end, after.start()):
            cue = after
        elif before is not None:
            cue = before
        elif after is not None:
            cue = after
        else:
            return Polarity.NEUTRAL
        if self._first_unreal <= cue.start():
            return Polarity.NEUTRAL
        if cue["absent"]:
            return Polarity.ABSENT
        return Polarity.PRESENT

    def _is_link(self, start: int, end: int) -> bool:
        """Whether nothing but "was", "is now" and the like is between two places."""
        return end - start <= LONGEST_LINK and bool(_LINK.fullmatch(self._blanked, start, end))

    def _cues_of(self, kind: ClaimKind) -> list[re.Match[str]]:
        if kind not in self._cues:
            self._cues[kind] = list(_CUES[kind].finditer(self._blanked))
        return self._cues[kind]


def find_claims(body: str) -> list[Claim]:
    """Return the claims of a note in their order, each once, in a time that grows with its size."""
    found: dict[Claim, None] = {}
    for text in _clauses(body):
        clause = _Clause(text)
        for claim in (*_commits(clause), *_tokens(clause), *_paths(clause)):
            found[claim] = None
    return list(found)


def _clauses(body: str) -> Iterator[str]:
    """Yield the clauses of a text. A line break inside of a paragraph is a space."""
    for clause in _CLAUSES.split(body):
        if clause and clause.strip():
            yield " ".join(clause.split())


def _commits(clause: _Clause) -> Iterator[Claim]:
    """Yield the commits that are said to have done something; not those named in passing."""
    text = clause.text
    for match in _SHA.finditer(text):
        start = match.start()
        while start and text[start - 1] in "` ":
            start -= 1
        end = match.end()
        while end < len(text) and text[end] in "` ":
            end += 1
        if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            continue
        if clause.ships(start):
            yield Claim(raw=match[0], kind=ClaimKind.SHA, polarity=Polarity.SHIPPED)


def _paths(clause: _Clause) -> Iterator[Claim]:
    """Yield the files that are named; one with a line number is a place and no claim."""
    for match in _PATH.finditer(clause.text):
        raw = match[0]
        if ".." in raw.split("/") or _LINE_NUMBER.match(clause.text, match.end()):
            continue
        polarity = clause.polarity(match.start(), match.end(), ClaimKind.PATH)
        yield Claim(raw=raw, kind=ClaimKind.PATH, polarity=polarity, target_file=raw)


def _tokens(clause: _Clause) -> Iterator[Claim]:
    """Yield the imports and flags in backticks that are said to be in a line of a file."""
    places = [
        place for place in _PLACE.finditer(clause.text) if ".." not in place["file"].split("/")
    ]
    for match in _TICKED.finditer(clause.text):
        raw = match[1].strip()
        if not (_IMPORT.match(raw) or _FLAG.fullmatch(raw)):
            continue
        place = _nearest(match, places)
        if place is None or _distance(match, place) > NEARBY:
            continue
        yield Claim(
            raw=raw,
            kind=ClaimKind.TOKEN,
            polarity=clause.polarity(match.start(), match.end(), ClaimKind.TOKEN),
            target_file=place["file"],
            line_hint=int(place["line"]),
        )


def _nearest(token: re.Match[str], places: list[re.Match[str]]) -> re.Match[str] | None:
    """Return the place that is nearest to a token, of two the earlier one; None: there is none."""
    number = bisect_left(places, token.start(), key=re.Match.start)
    around = places[max(0, number - 1) : number + 1]
    return min(around, key=lambda place: _distance(token, place), default=None)


def _distance(one: re.Match[str], other: re.Match[str]) -> int:
    """Return how many characters are between two matches."""
    return max(one.start() - other.end(), other.start() - one.end(), 0)


def _end_of_first(pattern: re.Pattern[str], text: str) -> int:
    """Return where the first match of a pattern ends; beyond the text where there is none."""
    match = pattern.search(text)
    return match.end() if match else len(text) + 1
