"""Reads YAML that other people wrote: every scalar as text, and nothing of it twice."""

import re
from collections.abc import Iterator
from typing import Any

LONGEST_TEXT = 200_000  # characters; a longer file is not read
MOST_NODES = 20_000  # of a document: what is named by an alias counts each time
DEEPEST = 40
WIDEST_INDENT = 400


def load(text: str) -> Any:
    """Return a document as dicts, lists and text; None if it cannot be read.

    Tags have no effect, and `true` is the text "true".
    """
    import yaml  # heavy, and few commits change such files

    if len(text) > LONGEST_TEXT or _is_deep(text):
        return None
    try:
        return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        return None


def _is_deep(text: str) -> bool:
    """Whether a document may be nested deeper than anybody writes it.

    The fast loader ends the whole process on one that is deep enough.
    """
    if " " * WIDEST_INDENT in text or "- " * DEEPEST in text or "? " * DEEPEST in text:
        return True
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > DEEPEST:
            return True
    return False


def settings(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each scalar of a document with the keys that lead to it."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), load(text))]
    for _ in range(MOST_NODES):
        if not waiting:
            return
        where, node = waiting.pop()
        if isinstance(node, dict) and len(where) < DEEPEST:
            waiting += [((*where, str(key)), value) for key, value in node.items()]
        elif isinstance(node, list) and len(where) < DEEPEST:
            waiting += [(where, value) for value in node]
        elif isinstance(node, str) and where:
            yield where, node
