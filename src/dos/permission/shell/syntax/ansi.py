"""The escapes of `$'…'`, which stand for characters."""

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.)|\Z)",
    re.DOTALL,
)
_NAMED = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_LAST_CERTAIN = 0x7F  # above it the locale of the shell decides, and a NUL ends the word


def unescape(body: str) -> str | None:
    """Return what stands between the quotes of `$'…'`; None where that is not certain."""
    parts: list[str] = []
    end = 0
    for found in _ESCAPE.finditer(body):
        letter = _character(found)
        if letter is None:
            return None
        parts += (body[end : found.start()], letter)
        end = found.end()
    return "".join((*parts, body[end:]))


def _character(found: re.Match[str]) -> str | None:
    by_number = found[1] or found[2] or found[3]
    if by_number:
        code = int(by_number, 16)
    elif found[4]:
        code = int(found[4], 8)
    else:
        return _NAMED.get(found[5] or "")
    return chr(code) if 0 < code <= _LAST_CERTAIN else None
