"""The run registry and the index of soaks: files that a person or a script keeps by hand.

They are files of dos-kernel ≤ 0.30 and are read as pointers. What they say of a unit that git
does not show is a claim.
"""

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from dos.text import ascii_lower
from dos.unknown import Unknown

DEEPEST = 20  # levels of YAML; a registry is flat
_NOISE = re.compile(r"[\W_]+")


class RegistryRow(Struct, frozen=True, kw_only=True):
    """A row of the run registry that calls a unit done."""

    plan: str
    phase: str
    commit: str = ""


def done_rows(text: str) -> list[RegistryRow]:
    """The rows that call a unit done, newest first; none if the text is no registry.

    A row that is done and whose claim is still open does not count.
    """
    rows = _rows(text, "recently_completed")
    if isinstance(rows, Unknown):
        return []
    done = []
    for row in rows:
        is_done = _text(row.get("status")).lower() == "done"
        if is_done and _text(row.get("claim_status")).lower() in ("", "done"):
            plan = _text(row.get("plan"))
            phase = _text(row.get("phase"))
            commit = _text(row.get("commit_sha"))
            done.append(RegistryRow(plan=plan, phase=phase, commit=commit))
    return done


def is_soaking(text: str, plan: str, phase: str) -> bool | Unknown:
    """Whether the index has an entry in progress for the unit: by its id, or by its beginning."""
    unit = _plain(phase)
    rows = _rows(text, "soaks")
    if isinstance(rows, Unknown):
        return rows
    for row in rows:
        if _text(row.get("status")).lower() != "in_progress":
            continue
        if ascii_lower(_text(row.get("plan"))) != ascii_lower(plan):
            continue
        name = _text(row.get("id"))
        begin = name.partition("-")[0]
        if unit in {_plain(begin), _plain(begin.partition("_")[0]), _plain(name)}:
            return True
    return False


@lru_cache(maxsize=4)  # every unit of a workspace asks for the same file
def _rows(text: str, key: str) -> list[dict[str, Any]] | Unknown:
    """The rows of a list in a file; Unknown if the file is not readable as YAML."""
    if key not in text:
        return []  # importing the YAML reader takes as long as the rest of a verb
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = None
        if not _is_hostile(text):
            document = yaml.load(text, loader)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError):
        document = None
    if not isinstance(document, dict):
        return Unknown(f"the file with {key} is not YAML")
    rows = document.get(key)
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, dict)]


def _is_hostile(text: str) -> bool:
    """Whether it nests deeply or has aliases, which can expand without limit."""
    import yaml

    depth = 0
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST or isinstance(event, yaml.AliasEvent):
            return True
    return False


def _text(value: Any) -> str:
    """A YAML value as text; null is empty."""
    if value is None:
        return ""
    return str(value).strip()


def _plain(text: str) -> str:
    """Letters and digits alone, in lower case, so that spellings compare equal."""
    return ascii_lower(_NOISE.sub("", text))
