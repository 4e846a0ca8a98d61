"""Is an agent program of a version that the tests have run?"""

import re
from enum import StrEnum

_NUMBER = re.compile(r"(?<![\d.])(\d{1,6}(?:\.\d{1,6}){1,3})(?![\d.]*\d)")


class Verdict(StrEnum):
    TESTED = "tested"
    NEWER = "newer"
    OLDER = "older"
    UNREADABLE = "unreadable"


def judge(printed: str, tested: tuple[str, str]) -> Verdict:
    """By what `PROGRAM --version` printed. A bound counts as far as it is written: up to 2.1 holds every 2.1.x."""
    if tested == ("", ""):
        return Verdict.TESTED
    number = _NUMBER.search(printed)
    if not number:
        return Verdict.UNREADABLE
    told, oldest, newest = (_parts(each) for each in (number[1], *tested))
    if told[: len(oldest)] < oldest:
        return Verdict.OLDER
    return Verdict.NEWER if told[: len(newest)] > newest else Verdict.TESTED


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)
