"""Files of released versions that a person or a script keeps by hand: the run registry and the index of soaks.

They are read as pointers. What they say of a unit that is not in git is a claim.
"""

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from dos.unknown import Unknown

_NOISE = re.compile(r"[\W_]+")


class Row(Struct, frozen=True, kw_only=True):
    plan: str
    phase: str
    commit: str = ""


def done_rows(text: str) -> list[Row]:
    """The rows that call a unit done, newest first; none of a text that is no registry."""
    rows = _rows(text, "recently_completed")
    return [
        Row(
            plan=_text(row.get("plan")),
            phase=_text(row.get("phase")),
            commit=_text(row.get("commit_sha")),
        )
        for row in (() if isinstance(rows, Unknown) else rows)
        if _text(row.get("status")).lower() == "done"
        and _text(row.get("claim_status")).lower() in ("", "done")
    ]


def is_soaking(text: str, plan: str, phase: str) -> bool | Unknown:
    """Whether an entry that is in progress stands for the unit: by its id, or by how that begins."""
    wanted, rows = _plain(phase), _rows(text, "soaks")
    if isinstance(rows, Unknown):
        return rows
    for row in rows:
        if (
            _text(row.get("status")).lower() == "in_progress"
            and _text(row.get("plan")).lower() == plan.lower()
        ):
            name = _text(row.get("id"))
            begin = name.partition("-")[0]
            if wanted in {_plain(begin), _plain(begin.partition("_")[0]), _plain(name)}:
                return True
    return False


@lru_cache(maxsize=4)  # every unit of a workspace asks for the same
def _rows(text: str, key: str) -> list[dict[str, Any]] | Unknown:
    """The rows of a list in a file; Unknown for what is no such file."""
    if key not in text:
        return []  # the reader alone takes as long as the rest of a verb
    import yaml

    try:
        found = (
            None
            if _is_hostile(text)
            else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        )
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError):
        found = None
    if not isinstance(found, dict):
        return Unknown(f"what should hold {key} is no YAML")
    rows = found.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _is_hostile(text: str) -> bool:
    """A registry is flat and says everything once."""
    import yaml

    depth = 0
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > 20 or isinstance(event, yaml.AliasEvent):
            return True
    return False


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _plain(text: str) -> str:
    return _NOISE.sub("", text).lower()
