"""Versions as texts have them: found in a line, taken out of it, and compared."""

import re

# A version with its operators, or several: `==1.2`, `^1.2 || ^2`, `>=1,<2`, `v3`, `16-alpine`.
_ONE = r"(?:[<>=~^!]{1,3}\s?)?(?<![A-Za-z0-9_.])[vV]?\d[\w.+!*-]*+"
_VERSIONS = re.compile(rf"{_ONE}(?:\s?[,|]{{0,2}}\s?{_ONE})*+")
# The hash of a commit, a blob or an image.
_HASH = re.compile(
    r"(?<![\w.-])(?:sha(?:1|256|512)[:-])?(?=[a-f]*+\d)(?=\d*+[a-f])[0-9a-f]{7,128}(?!\w)"
)
_RELEASE = re.compile(r"[vV]?(\d++(?:[._-]\d++)*+)(.*)", re.DOTALL)
_FIRST_DIGIT = re.compile(r"[vV]?\d")
_BEFORE_RELEASE = re.compile(
    r"[-._+]?(?:a|b|c|rc|alpha|beta|pre|preview|dev|snapshot|canary|nightly|next|m)"
    r"(?:[-._]?\d|[^a-z]|$)",
    re.IGNORECASE,
)
_MOST_DIGITS = 18
MASK = "\0"  # stands for what was taken out of a line
Order = tuple[tuple[int, ...], int]


def mask(line: str) -> tuple[str, tuple[str, ...]]:
    """A line with its versions and hashes taken out, and what was taken out."""
    values: list[str] = []

    def take(match: re.Match[str]) -> str:
        values.append(match[0])
        return MASK

    return _VERSIONS.sub(take, _HASH.sub(take, line)), tuple(values)


def order(value: str) -> Order | None:
    """A key to sort versions by; None if the value is no version that can be compared."""
    begin = _FIRST_DIGIT.search(value)
    if begin is None or _HASH.fullmatch(value):
        return None
    release = _RELEASE.match(value, begin.start())
    if release is None:
        return None
    parts = re.split(r"[._-]", release[1])
    if any(len(part) > _MOST_DIGITS for part in parts):
        return None
    numbers = [int(part) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    is_final = not _BEFORE_RELEASE.match(release[2])
    return tuple(numbers), int(is_final)
