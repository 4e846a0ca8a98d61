"""Takes an assertion of Python apart into what it asserts at once."""

import re
from functools import lru_cache

from dos.audit.suites.statements import STRING

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'")
_TOKEN = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[\[({]|[\])}]|,|\b(?:and|or|if|lambda)\b"
)
_SEVERAL = re.compile(r"assert(?:\(|\b.*?\band\b)")
_LONGEST = 4000  # characters of an assertion that is taken apart


def may_split(masked: str) -> bool:
    """Whether a statement is an assertion of several things, or one in brackets."""
    return _SEVERAL.match(masked) is not None


@lru_cache(maxsize=1 << 12)
def split(text: str) -> tuple[str, ...]:
    """Return an assertion for each part that has to hold, without the message.

    One that cannot be taken apart is returned as it is.
    """
    if len(text) > _LONGEST:
        return (text,)
    condition = text.removeprefix("assert").lstrip()
    while condition.startswith("(") and _closes_at(condition) == len(condition) - 1:
        inner = condition[1:-1].strip()
        if _parts(inner, ",") != [inner]:
            return (text,)  # a tuple
        condition = inner
    condition = _parts(condition, ",")[0]
    parts = _parts(condition, "and")
    if condition in parts and condition == text.removeprefix("assert").lstrip():
        return (text,)
    return tuple(f"assert {part}" for part in parts)


def mask(text: str) -> str:
    """Return a text with STRING for each string."""
    return _STRING.sub(STRING, text)


def _closes_at(text: str) -> int:
    """Return where the bracket that a text begins with is closed; -1 if it is not."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
            if not depth:
                return token.start()
    return -1


def _parts(text: str, divider: str) -> list[str]:
    """Return the parts of a text between dividers outside of brackets; all of it if some word
    beside them binds otherwise."""
    parts: list[str] = []
    depth = began = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        elif depth == 0 and token[0] == divider:
            parts.append(text[began : token.start()].strip())
            began = token.end()
        elif depth == 0 and divider == "and" and token[0] in ("or", "if", "lambda"):
            return [text]
    return [*parts, text[began:].strip()]
