"""The grammar by which a subject says that its work is not done.

No word decides alone: `remove stale tokens` and `blocked users cannot log in` say what was done.
What counts is of what a word is said.

- A status stands alone, as a tag or as a whole clause: `WIP:`, `(todo)`, `AUTH1: blocked`.
- An opening says what kind of work it is: `first draft of`, `try to`, `revert login`, `half of it`.
- A predicate says of the work that it fails: `does not compile`, `tests are red`, `still failing`.
- A remainder says what is left: `except the hard part`, `needs work`, `will finish tomorrow`.
- A count says how much there is: `(1/3)`, `part 1`, `60 % done`.

An imperative with an object is none of these, nor is a condition: `give up after 3 retries` is
what a program does. All patterns are bounded, because agents write the subjects.
"""

from collections.abc import Iterator

from msgspec import Struct

from dos.lazy_pattern import LazyPattern
from dos.verify.doubt.phrase_list import Phrases
from dos.verify.doubt.phrases import (
    CAUSED,
    CONDITION,
    FAULT,
    OPENING,
    ORDER,
    PAST,
    PREDICATE,
    REMAINDER,
    STATUS,
    SUBORDINATE,
    TAG,
)

LONGEST = 4096  # characters that are read
_LONGEST_BESIDE = 80

# Before the name, as its folder: `wip/AUTH1`.
_FOLDER = LazyPattern(
    r"(?:wip|todo|draft|plan|revert|undo|blocked|partial|skip|broken|stub|spike)(?=/)"
)
# Directly before the name: `all but not AUTH1`, `everything except AUTH1`.
_BESIDE = Phrases(
    r"""
    \b(?:not|no|without|except|excluding|minus|unlike|instead of|wip|todo|draft|pending)<mark>
    \b(?:plan|start(?:ed)?|blocked|blocked by|partial|unfinished|towards?)<mark>
    \b(?:revert(?:ed|s)?|undo|skip(?:ped)?|remove[ds]?)<mark>
    \b(?:part of|parts of|half of|most of|follow-?ups? (?:to|for|of))<mark>
    \b(?:prepar(?:e|es|ing|ation)s?|groundwork|scaffolding|stubs?|skeleton) (?:for|of)<mark>
    """,
    {"mark": r"(?=[\s:\[\-]*$)"},
)
# A keyword of a tracker after the name: `AUTH-1 #in-progress`.
_SMART = LazyPattern(
    r"#(?:in-?progress|start(?:-progress)?|wip|todo|re-?open|blocked|in-?review)\b"
)
# How much there is.
_COUNTS = (
    LazyPattern(r"\b(?:part|step|stage|patch|commit|pt\.?) ?(\d{1,4}) ?(?:of|/) ?(\d{1,4})\b"),
    LazyPattern(r"[(\[](?:\w+ )?(\d{1,4}) ?(?:/|of) ?(\d{1,4})[)\]]"),
    LazyPattern(r"^[\s:]*(\d{1,4}) ?(?:/|of) ?(\d{1,4})(?=\s*(?:[:,\-–—]|$))"),
    LazyPattern(r"(?<![\w/.])(?<!\bby )(?<!\bto )(?<!\bat )(\d{1,4})/(\d{1,4})[\s.)\]]*$"),
    LazyPattern(
        r"(?<!show )(?<!shows )\b(\d{1,4})(?:/| of | out of )(\d{1,4}) (?:done|finished|complete)\b"
    ),
)
_PART = LazyPattern(
    r"(?:^|[,;:(\[\-–—] ?)(?:part|pt\.?) (?:\d{1,4}|one|two|three|i{1,3}|iv)\b(?! ?(?:of|/) ?\d)"
    r"(?!.{0,20}\b(?:final|last)\b)"
)
_PERCENT = Phrases(
    r"""
    [(\[] ?\d{1,2} ?%[ \w]{0,20}[)\]]
    (?<!show )(?<!shows )\b\d{1,2} ?(?:%|percent)(?= (?:done|completed?|finished|there|of the way))
    [,\-–—] \d{1,2} ?%$
    """
)
_QUOTED = LazyPattern(r"`[^`]{0,200}`|\"[^\"]{0,200}\"|(?<!\w)'[^']{0,200}'(?!\w)|“[^”]{0,200}”")
_PREFIX = LazyPattern(r"(?P<type>[\w.\-]{1,30})(?:\([^()]{0,60}\))?!?:\s+")
_SEPARATOR = LazyPattern(
    r"(?P<mark>[,;:!?()\[\]{}|—–]|\.(?=\s|$)|\s-{1,3}(?=\s)|^-{1,3}(?=\s)"
    r"|\s(?=(?:but|though|although|however|and)\b))"
)
_TAG_MARKS = frozenset({"(", "[", "-", "--", "—", "–"})
_CONCESSIONS = ("but ", "though ", "although ", "however ")
_ALL = ("everything ", "all ", "most ")
_ALL_BUT = LazyPattern(
    r"(?:everything|all|most) (?:but|except|save|minus)\b(?!.*\b(?:is|are|was|were)\b)"
)
# Nobody shouts a word of prose: `log in, TODO: tests`. At the end, the last word tells.
_DOTTED = LazyPattern(r"(?:^|[:,;(\[\-–—])[ \t]*(?P<wip>w\.i\.p\b)")
_MARKS = ("WIP", "TODO", "FIXME", "TBD")
_MARKER = LazyPattern(r"\b(?:WIP|TODO|FIXME|TBD)\b(?=\s*(?::|-\s|[.!)\]]*$))")
_LAST = ("wip", "todo", "fixme", "tbd")
_LAST_WORD = LazyPattern(r"(?:\w+ ){1,3}(?:wip|todo|fixme|tbd)")


class Clause(Struct, frozen=True):
    """A piece of a line between marks, in lower case, and the mark before it."""

    text: str
    mark: str
    is_last: bool


def words_of_doubt(before: str, after: str) -> str:
    """The words, in lower case, by which a line says that its unit is not done; "" for none.

    `before` and `after` are the line on both sides of the unit's name.
    """
    before = _unquoted(before[:LONGEST])
    after = _unquoted(after[:LONGEST])
    if marker := _marker(before) or _marker(after):
        return marker
    before = before.lower()
    after = after.lower()
    if before and (match := _FOLDER.match(before) or _BESIDE.search(before[-_LONGEST_BESIDE:])):
        return match[0]
    if "#" in after and (match := _SMART.search(after)):
        return match[0]
    return _in_statement(before, TAG) or _in_statement(after, STATUS)


def _marker(text: str) -> str:
    """A marker such as TODO that the text shouts, or `w.i.p.` in any case."""
    if "i.p" in text.lower() and (match := _DOTTED.search(text.lower())):
        return match["wip"]
    if not any(mark in text for mark in _MARKS):
        return ""
    match = _MARKER.search(text)
    return match[0].lower() if match else ""


def _in_statement(text: str, statuses: Phrases) -> str:
    """The words of doubt on one side of the name.

    `statuses` are those that may stand before a colon: `plan: …` before a name is a component.
    """
    if counted := _count(text):
        return counted
    text = text.lstrip(" \t:—–-|.,;/")
    if ":" in text and (prefix := _PREFIX.match(text)):
        if statuses.fullmatch(prefix["type"]):
            return prefix["type"]
        text = text[prefix.end() :]
    if text.startswith(_ALL) and (match := _ALL_BUT.match(text)):
        return match[0]
    clauses = list(_clauses(text))
    for place, clause in enumerate(clauses):
        found = _status(clause, is_first=place == 0, is_pair=len(clauses) < 3)
        if not found and (place == 0 or clause.text.startswith(_CONCESSIONS)):
            found = _opening(clause)
        if found or (found := predicate(clause.text)):
            return found
    if not clauses or ORDER.match(clauses[0].text):
        return ""
    faults = filter(None, (FAULT.match(clause.text) for clause in clauses[1:]))
    return next((match[0] for match in faults), "")


def _clauses(text: str) -> Iterator[Clause]:
    """The clauses of a line that have a word in them."""
    pieces = _SEPARATOR.split(text)
    marks = ["", *pieces[1::2]]
    texts = [" ".join(piece.strip(" \t\"'./#").split()) for piece in pieces[::2]]
    found = [(text, mark) for text, mark in zip(texts, marks, strict=True) if text]
    for place, (text, mark) in enumerate(found, 1):
        yield Clause(text, mark, place == len(found))


def _unquoted(text: str) -> str:
    """The text without quotations, unless there is nothing else."""
    if not any(quote in text for quote in "`\"'“"):
        return text
    plain = _QUOTED.sub(" quotation ", text)
    if plain.strip(" :.-") == "quotation":
        return text
    return plain


def _status(clause: Clause, *, is_first: bool, is_pair: bool) -> str:
    """A clause that is a status and nothing else."""
    if clause.is_last and _ends_in_marker(clause.text):
        return clause.text
    if is_first:
        if STATUS.fullmatch(clause.text) or CAUSED.match(clause.text):
            return clause.text
        return ""
    text = _conceded(clause.text)
    is_tag = clause.mark.strip() in _TAG_MARKS or text != clause.text
    if (is_tag or (clause.is_last and is_pair)) and TAG.fullmatch(text):
        return text
    return ""


def _ends_in_marker(text: str) -> bool:
    """Whether a few words end in a word such as `todo`, and are no order about it."""
    return (
        text.endswith(_LAST)
        and _LAST_WORD.fullmatch(text) is not None
        and ORDER.match(text) is None
    )


def _conceded(text: str) -> str:
    """A clause without a word such as `but` before it."""
    if text.startswith(_CONCESSIONS):
        return text.partition(" ")[2]
    return text


def _opening(clause: Clause) -> str:
    """The words by which a clause opens that say what kind of work it is."""
    text = _conceded(clause.text)
    match = OPENING.match(text)
    if match is None:
        return ""
    if CONDITION.search(text, match.end()) and not PAST.match(text):
        return ""
    if text.startswith(("without", "except")) and not clause.is_last:
        return ""  # `without a token, answer 401`
    return match[0].strip()


def predicate(clause: str) -> str:
    """The words by which a clause says of the work that it fails, or that something is left."""
    match = None
    if not ORDER.match(clause):
        match = PREDICATE.search(clause)
    match = match or REMAINDER.search(clause)
    if match is None or SUBORDINATE.search(clause, 0, match.start()):
        return ""
    return match[0].strip()


def _count(text: str) -> str:
    """A count that has not reached its end, such as `(1/3)` or `part 1`."""
    has_number = any(map(str.isdigit, text))
    for pattern in _COUNTS if has_number else ():
        match = pattern.search(text)
        if match and int(match[1]) < int(match[2]):
            return match[0].strip(" :()[]")
    match = None
    if "part" in text or "pt" in text:
        match = _PART.search(text.strip())
    if has_number and ("%" in text or "percent" in text):
        match = match or _PERCENT.search(text)
    return match[0].strip(" ,:()[]-–—") if match else ""
