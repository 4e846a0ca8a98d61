"""What a unit states about itself: fields such as `- lane: api`, table cells, a status.

A mistyped key, such as `- lnae: api`, is found as well: read as prose it would be lost without a
warning.

A status counts only in the unit's own heading, row or list item: not in its prose, not in its
children.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from dos.text import suggest
from dos.units.unit import TESTS_MAY_CHANGE, PlanClaim

# The keys that a list item may state, and the field that each of them means.
_NAMES = {
    "lane": "lane",
    "agent": "agent",
    "path": "paths",
    "paths": "paths",
    "acceptance": "acceptance",
    "depends": "depends",
    "depends on": "depends",
    "class": "class",
    "classification": "class",
    "gated": "gated",
    "soak until": "soak",
    "status": "status",
}
# `- tests: …` is common prose, so it is a field only with the one value that means something.
_TESTS = "tests"
# A table's header may use more words: it cannot be mistaken for prose.
_COLUMNS = {
    **_NAMES,
    **dict.fromkeys(
        ("title", "name", "what", "description", "summary", "deliverable", "goal"), "title"
    ),
    **dict.fromkeys(("files", "file"), "paths"),
    **dict.fromkeys(("accept", "acceptance command", "check"), "acceptance"),
    **dict.fromkeys(
        ("deps", "dependencies", "dependency", "after", "needs", "requires"), "depends"
    ),
    **dict.fromkeys(("state", "shipped", "done", "✅", "✓"), "status"),
    "gate": "gated",
    "soak": "soak",
}
UNIT_COLUMNS = frozenset(
    ("unit", "units", "id", "phase", "phases", "task", "step", "item", "pick", "ticket", "#")
)
# Only units have these fields; prose has list items that look like the others.
OF_UNITS_ALONE = frozenset(("lane", "agent", "paths", "acceptance", "depends"))
LISTS = frozenset(("paths", "depends"))  # their value may be a list below
_FIELD = re.compile(
    r"(?P<indent>[ \t]*)(?P<bullet>[-*+][ \t]+)?[*_]{0,2}"
    r"(?P<name>lane|agent|paths?|acceptance|depends(?:[ _-]on)?|class(?:ification)?|gated"
    r"|soak[ _-]until|status|tests)"
    r"[*_]{0,2}[ \t]*:[*_]{0,2}(?P<value>.*)",
    re.IGNORECASE,
)
_SPACES = str.maketrans("_-", "  ")  # `depends_on` and `depends-on` are `depends on`
_LABEL = re.compile(
    r"[ \t]*[-*+][ \t]+[*_]{0,2}(?P<name>[A-Za-z]{3,20}(?:[ _-][A-Za-z]{2,10})?)[*_]{0,2}"
    r"[ \t]*:(?!/)",
    re.ASCII,
)
LONGEST_SLIP = 2  # letters that a mistyped key may differ from the right one
# Ordinary labels of lists that differ by two letters from `lane`, `path` or `gated`.
_ORDINARY = frozenset(
    (
        "auth", "base", "both", "case", "cases", "close", "data", "date", "land", "lang", "late",
        "lead", "made", "name", "one", "page", "part", "parts", "pass", "past", "plan", "rate",
        "safe", "same", "state", "static", "with",
    )
)  # fmt: skip
_ONE_WORD = re.compile(r"[\w-]+")
# What people write into a field that does not apply.
_NOTHING = frozenset(("", "-", "–", "—", "none", "no", "nothing", "false", "n/a"))
_NAME = re.compile(r"[A-Za-z0-9][\w./'-]*")


def parse_field(line: str, *, bare: bool = False) -> tuple[str, str] | None:
    """The field and its value, if a line states one; with `bare` it needs no bullet."""
    found = _FIELD.match(line)
    if not found or not (found["bullet"] or bare):
        return None
    word = found["name"].lower().translate(_SPACES)
    value = clean_value(found["value"])
    if word == _TESTS:
        return (_TESTS, TESTS_MAY_CHANGE) if tests_may_change(value) else None
    name = _NAMES[word]
    if name in ("class", "agent") and not _ONE_WORD.fullmatch(value):
        return None  # a sentence about a class, or an agent, of the program
    return name, value


def tests_may_change(value: str) -> bool:
    """Whether a value says that tests may change: `may-change`, or the like of it."""
    return value.strip().lower().translate(_SPACES) == TESTS_MAY_CHANGE.translate(_SPACES)


def find_mistyped_key(line: str) -> tuple[str, str] | None:
    """The first word of a list item that is nearly a key, and that key; None if it is not."""
    found = _LABEL.match(line)
    if not found:
        return None
    word = found["name"].lower().translate(_SPACES)
    # A key with a value that was rejected as prose is no slip, and neither is a common word.
    if word in _NAMES or word in _ORDINARY or word == _TESTS:
        return None

    def closeness(key: str) -> tuple[int, int]:
        return _distance(word, key), abs(len(word) - len(key))

    nearest = min(_NAMES, key=closeness)
    if _distance(word, nearest) > LONGEST_SLIP:
        return None
    return found["name"], nearest


def describe_mistyped_key(word: str, key: str) -> str:
    """Say that a word is no key, and which key it may mean."""
    return f"`{word}:` is no key of a unit; {suggest(f'`{key}:`')}"


def _distance(one: str, other: str) -> int:
    """How many letters have to be added, removed or changed; any number above the limit is one."""
    if abs(len(one) - len(other)) > LONGEST_SLIP:
        return LONGEST_SLIP + 1
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, other_letter in enumerate(other, 1):
            changed = above[column - 1] + (letter != other_letter)
            here.append(min(above[column] + 1, here[column - 1] + 1, changed))
        above = here
    return above[-1]


def column_fields(header: Iterable[str]) -> list[str]:
    """The field that each column of a table holds; empty for a column of text."""
    return [_COLUMNS.get(clean_value(cell).strip("* ").lower(), "") for cell in header]


def clean_value(value: str) -> str:
    """A value without spaces and backticks around it."""
    return value.strip().strip("`").strip()


def split_list(value: str) -> tuple[str, ...]:
    """The parts of a list that is written with commas, without empty ones."""
    parts = [part.strip(" \t`") for part in value.split(",")]
    return tuple(part for part in parts if part)


def unit_names(value: str) -> tuple[str, ...]:
    """The units that a `depends:` names: `AUTH1, BILL/BILL2`, or the plan before the unit.

    Words between them, such as `and`, are dropped; each name counts once.
    """
    if not value or clean_value(value).lower() in _NOTHING:
        return ()
    names: list[str] = []
    for match in _NAME.findall(value):
        word = match.rstrip(".'-/")
        if word.lower() in ("and", "on", "plus") or word in names:
            continue
        has_number = any(map(str.isdigit, word))
        if names and names[-1].isalpha() and has_number and "/" not in word:
            word = f"{names.pop()}/{word}"
        names.append(word)
    return tuple(names)


def stated_text(fields: Mapping[str, str], name: str) -> str:
    """The value of a field; empty if it is not stated, or states `none` or the like."""
    value = fields.get(name, "")
    if value.lower() in _NOTHING:
        return ""
    return value


# The first name has no dot, so that neither an address nor a version is a path.
_PATH = re.compile(
    r"(?<![\w./:@+-])(?:\.\./)*"
    r"(?P<path>[\w-]+/(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9})(?![\w/])"
)
_NOT_WORKED_ON = frozenset(
    (
        "zip", "tar", "gz", "tgz", "whl", "jar", "exe", "dll", "so", "png", "jpg", "jpeg", "gif",
        "ico", "pdf", "svg", "mmd", "com", "io", "net",
    )
)  # fmt: skip
_PROSE = frozenset(("md", "rst", "txt", "adoc", "org"))
# Every commit touches these, so that one does proves nothing.
_HUBS = frozenset(
    (
        "__init__.py", "cli.py", "config.py", "conftest.py", "constants.py", "models.py",
        "settings.py", "utils.py",
    )
)  # fmt: skip


def mentioned_files(
    text: str, *, code_dirs: Collection[str] = (), hubs: Collection[str] = ()
) -> tuple[str, ...]:
    """The paths that a text mentions, each once; with `code_dirs` only those below one of these.

    Documents count only if no other file is mentioned: beside code they are what to read first.
    `hubs` are further names of files that every commit touches.
    """
    shared = _HUBS | {name.lower() for name in hubs}
    code: list[str] = []
    prose: list[str] = []
    for match in _PATH.finditer(text):
        path = match["path"]
        name = path.rpartition("/")[2].lower()
        suffix = name.rpartition(".")[2]
        if name in shared or suffix in _NOT_WORKED_ON:
            continue
        if code_dirs and path.partition("/")[0] not in code_dirs:
            continue
        (prose if suffix in _PROSE else code).append(path)
    return tuple(dict.fromkeys(code or prose))


MARKS = ("✅", "✓", "✔", "☑", "[x]", "[X]")
_SHIPPED = re.compile(r"\bshipped\b", re.IGNORECASE)
# `not yet shipped`; and `when it has shipped`, which is a title and no stamp.
_NEGATED = re.compile(r"\b(?:not|yet|never|no|un|isn't)[\s*_`-]{1,9}$", re.IGNORECASE)
_IN_A_SENTENCE = re.compile(
    r"\b(?:be|been|being|is|are|was|were|has|have|had|gets?|got|when|once|until|unless|after"
    r"|before|if|as)\s{1,9}$",
    re.IGNORECASE,
)
_BLOCKED = re.compile(r"\b(?:soak|soaking|blocked|awaiting|gated|deferred)\b", re.IGNORECASE)
_ANYTHING = re.compile(r"shipped|soak|blocked|awaiting|gated|deferred|[✅✓✔☑]|\[x\]", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;()|—–]|\s-+\s")
_WORD = re.compile(r"[A-Za-z0-9][\w./'-]*")
_NOT_DONE = re.compile(
    r"\b(?:todo|wip|pending|remaining|unfinished|incomplete|blocked|deferred|in[ -]progress"
    r"|still open)\b"
    r"|\bnot (?:yet )?(?:done|shipped)\b",
    re.IGNORECASE,
)
_STATUS_WORDS = {
    PlanClaim.SHIPPED: (
        "shipped", "done", "closed", "complete", "completed", "landed", "merged", "resolved",
        *MARKS,
    ),
    PlanClaim.BLOCKED: (
        "blocked", "gated", "deferred", "soak", "soaking", "awaiting", "waiting", "hold", "on hold",
    ),
    PlanClaim.OPEN: (
        "open", "todo", "active", "pending", "planned", "ready", "new", "in progress",
        "in_progress", "wip",
    ),
}  # fmt: skip
STATUSES = {word: claim for claim, words in _STATUS_WORDS.items() for word in words}


def claim_of_line(line: str, own: str, others: frozenset[str]) -> PlanClaim:
    """The claim of one line about the unit `own`.

    A clause that names another unit of the document is about that one.
    """
    claim = PlanClaim.OPEN
    if not _ANYTHING.search(line):
        return claim
    if len(others) <= 1:
        clauses = [line]
    else:
        clauses = _CLAUSE.split(line)
    for clause in clauses:
        if len(others) > 1 and _names_another(clause, own, others):
            continue
        if is_stamped(clause):
            return PlanClaim.SHIPPED
        if _BLOCKED.search(clause):
            claim = PlanClaim.BLOCKED
    return claim


def _names_another(clause: str, own: str, others: frozenset[str]) -> bool:
    """Whether a clause names a unit of the document other than this one."""
    words = {word.rstrip(".'-/") for word in _WORD.findall(clause)}
    return bool((words & others) - {own})


def is_stamped(text: str) -> bool:
    """Whether a text says `shipped` or has a mark that means it."""
    if any(mark in text for mark in MARKS):
        return True
    for match in _SHIPPED.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        if _NEGATED.search(before):
            continue
        if match[0].isupper() or not _IN_A_SENTENCE.search(before):
            return True
    return False


def claim_of_status(word: str) -> PlanClaim:
    """What a `status:` claims; no claim for an unknown word."""
    value = word.strip(" *_`.").lower()
    if value.startswith(("not ", "un")):
        return PlanClaim.OPEN
    if value:
        first = value.split(None, 1)[0].strip(",;:()")
    else:
        first = ""
    return STATUSES.get(value) or STATUSES.get(first) or PlanClaim.NONE


def says_not_done(text: str) -> bool:
    """Whether a text says somewhere that something is left to do."""
    return _NOT_DONE.search(text) is not None
