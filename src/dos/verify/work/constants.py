"""Constants of code: a name in capitals that is set to one number or one text.

A constant that was set once more is still set, as long as it did not go back to where it was.
"""

import re
from collections.abc import Iterable

_NAME = r"[A-Z][A-Z0-9_]*[A-Z0-9]"
_TYPED = r"""(?:\s?:\s?[^=\s"']{1,60}+)?"""
_CONSTANT = re.compile(
    rf"(\#\s?define\s{_NAME}\s|(?:[\w:&*\[\]']{{1,40}}+\s){{0,6}}{_NAME}{_TYPED}\s?:?=)"
    r"""\s?(-?\.?\d[\w.]*+|"[^"\\]*+"|'[^'\\]*+'|True|False|true|false);?"""
)
_LONGEST = 400  # characters of a line
_NUMBER = re.compile(r"-?(?:\d[\d_]*+)?(?:\.\d[\d_]*+)?(?:[eE]\d++)?")
_TYPE = re.compile(r"(?<=\d)(?:[a-zA-Z]{1,2}|[iuf]\d{1,3}|_[iuf]\d{1,3})$")


def parse(line: str) -> tuple[str, str] | None:
    """What a line sets, and to which value; None if it sets no constant."""
    constant = _CONSTANT.fullmatch(line) if len(line) <= _LONGEST else None
    if constant is None:
        return None
    return constant[1], constant[2]


def has_gone_on(old: Iterable[str], set_to: str, now: str) -> bool:
    """Whether a value that a commit changed from `old` is still changed in the same direction."""
    target, current = _number(set_to), _number(now)
    for before in old:
        start = _number(before)
        if now == before:
            return False
        if start is None or target is None or current is None:
            continue
        if (current - start) * (target - start) <= 0:
            return False
    return True


def _number(value: str) -> float | None:
    """The number that a literal stands for; None if it is none, or not a plain one."""
    plain = _TYPE.sub("", value)
    if not _NUMBER.fullmatch(plain):
        return None
    try:
        return float(plain)
    except ValueError:
        return None
