"""What a unit says about itself in fields: `- lane: api`, or the cells of a table with a header."""

import re
from collections.abc import Collection, Iterable, Mapping

from dos.units.unit import PlanClaim

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
# A table's header may use more words: nobody mistakes it for prose.
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
OF_UNITS_ALONE = frozenset(
    ("lane", "agent", "paths", "acceptance", "depends")
)  # prose has lists of the others too
LISTS = frozenset(("paths", "depends"))  # they may go on as a list below
_FIELD = re.compile(
    r"(?P<indent>[ \t]*)(?P<bullet>[-*+][ \t]+)?[*_]{0,2}"
    r"(?P<name>lane|agent|paths?|acceptance|depends(?:[ _-]on)?|class(?:ification)?|gated|soak[ _-]until|status)"
    r"[*_]{0,2}[ \t]*:[*_]{0,2}(?P<value>.*)",
    re.IGNORECASE,
)
_SPACES = str.maketrans("_-", "  ")
_LABEL = re.compile(
    r"[ \t]*[-*+][ \t]+[*_]{0,2}(?P<name>[A-Za-z]{3,20}(?:[ _-][A-Za-z]{2,10})?)[*_]{0,2}[ \t]*:(?!/)",
    re.ASCII,
)
LONGEST_SLIP = 2  # letters that a mistyped key may be away from the one that is meant
# Labels of their own, which people write in lists, two letters away from `lane`, `path` or `gated`.
_ORDINARY = frozenset(
    (
        *(
            "auth",
            "base",
            "both",
            "case",
            "cases",
            "close",
            "data",
            "date",
            "land",
            "lang",
            "late",
            "lead",
            "made",
        ),
        *(
            "name",
            "one",
            "page",
            "part",
            "parts",
            "pass",
            "past",
            "plan",
            "rate",
            "safe",
            "same",
            "state",
            "static",
        ),
        *("with",),
    )
)
_ONE_WORD = re.compile(r"[\w-]+")
_NOTHING = frozenset(("", "-", "–", "—", "none", "no", "nothing", "false", "n/a"))
_NAME = re.compile(r"[A-Za-z0-9][\w./'-]*")


def parse_field(line: str, *, bare: bool = False) -> tuple[str, str] | None:
    """The field and its value, when a line states one; `bare` lines need no bullet."""
    found = _FIELD.match(line)
    if not found or not (found["bullet"] or bare):
        return None
    name = _NAMES[found["name"].lower().translate(_SPACES)]
    value = clean_value(found["value"])
    if name in ("class", "agent") and not _ONE_WORD.fullmatch(value):
        return None  # a sentence about a class, or an agent, of the program
    return name, value


def find_mistyped_key(line: str) -> tuple[str, str] | None:
    """The word of a list item that is nearly a key, and the key that is meant."""
    found = _LABEL.match(line)
    if not found:
        return None
    word = found["name"].lower().translate(_SPACES)
    if word in _NAMES or word in _ORDINARY:
        return None
    near = min(_NAMES, key=lambda known: (_distance(word, known), abs(len(word) - len(known))))
    return (found["name"], near) if _distance(word, near) <= LONGEST_SLIP else None


def _distance(one: str, other: str) -> int:
    """How many letters have to be added, taken out or changed."""
    if abs(len(one) - len(other)) > LONGEST_SLIP:
        return LONGEST_SLIP + 1
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, wanted in enumerate(other, 1):
            changed = above[column - 1] + (letter != wanted)
            here.append(min(above[column] + 1, here[column - 1] + 1, changed))
        above = here
    return above[-1]


def column_fields(header: Iterable[str]) -> list[str]:
    """What each column of a table holds; empty for one that is only text."""
    return [_COLUMNS.get(clean_value(cell).strip("* ").lower(), "") for cell in header]


def clean_value(value: str) -> str:
    return value.strip().strip("`").strip()


def split_list(value: str) -> tuple[str, ...]:
    return tuple(part for each in value.split(",") if (part := each.strip(" \t`")))


def unit_names(value: str) -> tuple[str, ...]:
    """The units that a `depends:` names: `AUTH1, BILL/BILL2`, or the plan before the unit."""
    if not value or clean_value(value).lower() in _NOTHING:
        return ()
    found: list[str] = []
    for word in (each.rstrip(".'-/") for each in _NAME.findall(value)):
        if word.lower() in ("and", "on", "plus") or word in found:
            continue
        if found and found[-1].isalpha() and any(map(str.isdigit, word)) and "/" not in word:
            word = f"{found.pop()}/{word}"
        found.append(word)
    return tuple(found)


def stated_text(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name, "")
    return "" if not value or value.lower() in _NOTHING else value


# The first name has no dot, so that neither an address nor a version is a path.
_PATH = re.compile(
    r"(?<![\w./:@+-])(?:\.\./)*(?P<path>[\w-]+/(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9})(?![\w/])"
)
_NOT_WORKED_ON = frozenset(
    (
        "zip", "tar", "gz", "tgz", "whl", "jar", "exe", "dll", "so", "png", "jpg", "jpeg", "gif", "ico", "pdf", "svg",
        "mmd", "com", "io", "net",
    )
)  # fmt: skip
_PROSE = frozenset(("md", "rst", "txt", "adoc", "org"))
# Everything touches them, so that a commit does says nothing.
_HUBS = frozenset(
    (
        "__init__.py", "cli.py", "config.py", "conftest.py", "constants.py", "models.py", "settings.py", "utils.py",
    )
)  # fmt: skip


def mentioned_files(
    text: str, *, code_dirs: Collection[str] = (), hubs: Collection[str] = ()
) -> tuple[str, ...]:
    """Paths as they are written, each once; with `code_dirs` only those under one of these.

    Documents count where nothing else is named: beside code they are what to read first.
    """
    shared = _HUBS | {name.lower() for name in hubs}
    code: list[str] = []
    prose: list[str] = []
    for match in _PATH.finditer(text):
        path = match["path"]
        top, name = path.partition("/")[0], path.rpartition("/")[2].lower()
        suffix = name.rpartition(".")[2]
        if name in shared or suffix in _NOT_WORKED_ON or (code_dirs and top not in code_dirs):
            continue
        (prose if suffix in _PROSE else code).append(path)
    return tuple(dict.fromkeys(code or prose))


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
    PlanClaim.SHIPPED: (
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
    PlanClaim.BLOCKED: (
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
    PlanClaim.OPEN: (
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


def claim_of_line(line: str, own: str, others: frozenset[str]) -> PlanClaim:
    """The claim of one line. A clause that names another unit speaks about that one."""
    found = PlanClaim.OPEN
    if not _ANYTHING.search(line):
        return found
    for clause in _CLAUSE.split(line) if len(others) > 1 else (line,):
        words = (
            {word.rstrip(".'-/") for word in _WORD.findall(clause)} if len(others) > 1 else set()
        )
        if (words & others) - {own}:
            continue
        if is_stamped(clause):
            return PlanClaim.SHIPPED
        if _BLOCKED.search(clause):
            found = PlanClaim.BLOCKED
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


def claim_of_status(word: str) -> PlanClaim:
    """What a `status:` says; no claim when nobody knows the word."""
    value = word.strip(" *_`.").lower()
    if value.startswith(("not ", "un")):
        return PlanClaim.OPEN
    first = value.split(None, 1)[0].strip(",;:()") if value else ""
    return STATUSES.get(value) or STATUSES.get(first) or PlanClaim.NONE


def says_not_done(text: str) -> bool:
    return _NOT_DONE.search(text) is not None
