"""What a unit's own heading, row or list item says about it. Nothing else counts: not its prose, not its children."""

import re

from dos.units.unit import Claim

MARKS = ("✅", "✓", "✔", "☑", "[x]", "[X]")
_SHIPPED = re.compile(r"\bshipped\b", re.IGNORECASE)
# `not yet shipped`; and `when it has shipped`, which is a title and no stamp.
_NEGATED = re.compile(r"\b(?:not|yet|never|no|un|isn't)[\s*_`-]{1,9}$", re.IGNORECASE)
_IN_A_SENTENCE = re.compile(
    r"\b(?:be|been|being|is|are|was|were|has|have|had|gets?|got|when|once|until|unless|after|before|if|as)\s{1,9}$",
    re.IGNORECASE,
)
_BLOCKED = re.compile(r"\b(?:soak|soaking|blocked|awaiting|gated|deferred)\b", re.IGNORECASE)
_ANYTHING = re.compile(r"shipped|soak|blocked|awaiting|gated|deferred|[✅✓✔☑]|\[x\]", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;()|—–]|\s-+\s")
_WORD = re.compile(r"[A-Za-z0-9][\w./'-]*")
_NOT_DONE = re.compile(
    r"\b(?:todo|wip|pending|remaining|unfinished|incomplete|blocked|deferred|in[ -]progress|still open)\b"
    r"|\bnot (?:yet )?(?:done|shipped)\b",
    re.IGNORECASE,
)
_STATUS = {
    Claim.SHIPPED: (
        "shipped",
        "done",
        "closed",
        "complete",
        "completed",
        "landed",
        "merged",
        "resolved",
        *MARKS,
    ),
    Claim.BLOCKED: (
        "blocked",
        "gated",
        "deferred",
        "soak",
        "soaking",
        "awaiting",
        "waiting",
        "hold",
        "on hold",
    ),
    Claim.OPEN: (
        "open",
        "todo",
        "active",
        "pending",
        "planned",
        "ready",
        "new",
        "in progress",
        "in_progress",
        "wip",
    ),
}
STATUSES = {word: claim for claim, words in _STATUS.items() for word in words}


def claim(line: str, own: str, others: frozenset[str]) -> Claim:
    """The claim of one line. A clause that names another unit speaks about that one."""
    found = Claim.OPEN
    if not _ANYTHING.search(line):
        return found
    for clause in _CLAUSE.split(line) if len(others) > 1 else (line,):
        words = (
            {word.rstrip(".'-/") for word in _WORD.findall(clause)} if len(others) > 1 else set()
        )
        if (words & others) - {own}:
            continue
        if is_stamped(clause):
            return Claim.SHIPPED
        if _BLOCKED.search(clause):
            found = Claim.BLOCKED
    return found


def is_stamped(text: str) -> bool:
    if any(mark in text for mark in MARKS):
        return True
    return any(
        _stamps(found[0], text[max(0, found.start() - 40) : found.start()])
        for found in _SHIPPED.finditer(text)
    )


def _stamps(word: str, before: str) -> bool:
    return not _NEGATED.search(before) and (word.isupper() or not _IN_A_SENTENCE.search(before))


def status(word: str) -> Claim:
    """What a `status:` says; no claim when nobody knows the word."""
    value = word.strip(" *_`.").lower()
    if value.startswith(("not ", "un")):
        return Claim.OPEN
    first = value.split(None, 1)[0].strip(",;:()") if value else ""
    return STATUSES.get(value) or STATUSES.get(first) or Claim.NONE


def says_not_done(text: str) -> bool:
    return _NOT_DONE.search(text) is not None
