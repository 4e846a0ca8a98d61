"""What a note says of the repository that git and the files can contradict.

Three kinds of claims: a commit that fixed or shipped something, a file that is there or is gone,
and an import or a flag in a line of a file. What a clause plans, asks or denies claims nothing.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

NEARBY = 120  # characters between a token and the place that it is said to be in
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
_NAMES = re.compile(r"`[^`\n]*`|[\w@+-]*(?:[./][\w@+-]+)+")
_SHIP_VERB = re.compile(r"\b(?:fixed|shipped|landed|cut|committed|merged)\b", re.I)


def find_claims(body: str) -> list[Claim]:
    """Return the claims of a note in their order, each once."""
    found: dict[Claim, None] = {}
    for clause in _clauses(body):
        for claim in (*_commits(clause), *_tokens(clause), *_paths(clause)):
            found[claim] = None
    return list(found)


def _clauses(body: str) -> Iterator[str]:
    """Yield the clauses of a text. A line break inside of a paragraph is a space."""
    for clause in _CLAUSES.split(body):
        if clause and clause.strip():
            yield " ".join(clause.split())


def _commits(clause: str) -> Iterator[Claim]:
    """Yield the commits that are said to have done something; not those named in passing."""
    for match in _SHA.finditer(clause):
        before = clause[: match.start()].rstrip("` ")
        after = clause[match.end() :].lstrip("` ")
        if before.endswith("(") and after.startswith(")"):
            continue
        verbs = list(_SHIP_VERB.finditer(before))
        if not verbs or len(before) - verbs[-1].end() > BEFORE_COMMIT:
            continue
        if _UNREAL.search(before[: verbs[-1].start()]):
            continue
        yield Claim(raw=match[0], kind=ClaimKind.SHA, polarity=Polarity.SHIPPED)


def _paths(clause: str) -> Iterator[Claim]:
    """Yield the files that are named; one with a line number is a place and no claim."""
    for match in _PATH.finditer(clause):
        raw = match[0]
        if ".." in raw.split("/") or _LINE_NUMBER.match(clause, match.end()):
            continue
        polarity = _polarity(clause, match.start(), match.end(), ClaimKind.PATH)
        yield Claim(raw=raw, kind=ClaimKind.PATH, polarity=polarity, target_file=raw)


def _tokens(clause: str) -> Iterator[Claim]:
    """Yield the imports and flags in backticks that are said to be in a line of a file."""
    places = [place for place in _PLACE.finditer(clause) if ".." not in place["file"].split("/")]
    for match in _TICKED.finditer(clause):
        raw = match[1].strip()
        if not (_IMPORT.match(raw) or _FLAG.fullmatch(raw)):
            continue
        near = [place for place in places if _distance(match, place) <= NEARBY]
        if not near:
            continue
        place = min(near, key=lambda each: _distance(match, each))
        yield Claim(
            raw=raw,
            kind=ClaimKind.TOKEN,
            polarity=_polarity(clause, match.start(), match.end(), ClaimKind.TOKEN),
            target_file=place["file"],
            line_hint=int(place["line"]),
        )


def _distance(one: re.Match[str], other: re.Match[str]) -> int:
    """Return how many characters are between two matches."""
    return max(one.start() - other.end(), other.start() - one.end(), 0)


def _polarity(clause: str, start: int, end: int, kind: ClaimKind) -> Polarity:
    """Return what a clause says of the part between start and end.

    What follows directly ("x was removed") counts before what precedes ("removed x"), and that
    before what follows at all.
    """
    clause = _NAMES.sub(lambda name: "_" * len(name[0]), clause)
    before = list(_CUES[kind].finditer(clause, 0, start))
    after = _CUES[kind].search(clause, end)
    if after is not None and _LINK.fullmatch(clause, end, after.start()):
        cue = after
    elif before:
        cue = before[-1]
    elif after is not None:
        cue = after
    else:
        return Polarity.NEUTRAL
    # "does not exist" and "no longer" deny by themselves.
    said_before = _NEGATED_EXISTENCE.sub(" ", clause[: cue.start()])
    if _UNREAL.search(said_before):
        return Polarity.NEUTRAL
    if cue["absent"]:
        return Polarity.ABSENT
    return Polarity.PRESENT
