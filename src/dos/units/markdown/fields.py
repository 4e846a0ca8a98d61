"""What a unit says about itself in fields: `- lane: api`, or the cells of a table with a header."""

import re
from collections.abc import Collection, Iterable, Mapping

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


def field(line: str, *, bare: bool = False) -> tuple[str, str] | None:
    """The field and its value, when a line states one; `bare` lines need no bullet."""
    found = _FIELD.match(line)
    if not found or not (found["bullet"] or bare):
        return None
    name = _NAMES[found["name"].lower().translate(_SPACES)]
    value = clean(found["value"])
    if name in ("class", "agent") and not _ONE_WORD.fullmatch(value):
        return None  # a sentence about a class, or an agent, of the program
    return name, value


def mistyped(line: str) -> tuple[str, str] | None:
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


def columns(header: Iterable[str]) -> list[str]:
    """What each column of a table holds; empty for one that is only text."""
    return [_COLUMNS.get(clean(cell).strip("* ").lower(), "") for cell in header]


def clean(value: str) -> str:
    return value.strip().strip("`").strip()


def parts(value: str) -> tuple[str, ...]:
    return tuple(part for each in value.split(",") if (part := each.strip(" \t`")))


def names(value: str) -> tuple[str, ...]:
    """The units that a `depends:` names: `AUTH1, BILL/BILL2`, or the plan before the unit."""
    if not value or clean(value).lower() in _NOTHING:
        return ()
    found: list[str] = []
    for word in (each.rstrip(".'-/") for each in _NAME.findall(value)):
        if word.lower() in ("and", "on", "plus") or word in found:
            continue
        if found and found[-1].isalpha() and any(map(str.isdigit, word)) and "/" not in word:
            word = f"{found.pop()}/{word}"
        found.append(word)
    return tuple(found)


def text(fields: Mapping[str, str], name: str) -> str:
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


def files(
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
