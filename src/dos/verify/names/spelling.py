"""How people spell a unit's id, and patterns that find one as a whole word.

Case is folded for A to Z only: an id with a long s or a Kelvin sign in it is another id.
"""

import re

from dos.lazy_pattern import LazyPattern
from dos.text import ascii_lower

# What may not follow a name, nor stand before it: AUTH1 is not AUTH10, AUTH1.1 or AUTH1-port. An
# accent, or a character that nobody sees, makes it another name as well.
END = r"(?![^\W_]|[.\-\u0300-\u036f\u200b-\u200d\u2060\ufeff])"
BEGIN = r"(?<![^\W_])(?<![.\-])"
# Between the ids of a list.
JOINED = r"(?:[ \t]*[,/+&][ \t]*|[ \t]+(?ai:and)[ \t]+)"
_ORDINAL = LazyPattern(r"(?ai:phase)[ \t]+(?P<number>\d+(?:\.\d+)?)")
_NUMBER = LazyPattern(r"\d+(?:\.\d+)?")
_HEAD = LazyPattern(r"(.*\d)_.+")
_PRIME = LazyPattern(r"(?ai:prime)")
# PROJ-12, bpo-1234, PROJ_12, tdf#12: nobody writes a word of prose like this.
_KEY = LazyPattern(r"[^\W\d_]\w{0,60}?[\-_#]\d{1,9}[a-z]?(?:\.\d{1,9}){0,4}")
_ISSUE = LazyPattern(r"(?:(?ai:gh|github|issues?)-|#)?(?P<number>\d{1,9})")
# Plans whose units are the issues of the repository's host, which people write as #12.
_HOSTS = frozenset({"#", "gh", "github", "issue", "issues"})


def spellings(plan: str, phase: str) -> list[str]:
    """A unit's id in every way that people write it; as it was given first."""
    found = [phase]
    lowered = ascii_lower(phase)
    if "'" in phase:
        found.append(phase.replace("'", "prime"))
    if "prime" in lowered:
        found.append(_PRIME.sub("'", phase))
    if lowered.startswith("phase") and (ordinal := _ORDINAL.fullmatch(phase)):
        number = ordinal["number"]
        found += [f"{plan}{number}", f"{plan} {number}"]
    after = _after_plan(plan, phase)
    if _NUMBER.fullmatch(after):
        found += [f"Phase {after}", f"Phase{after}"]
    return list(dict.fromkeys(found))


def plan_heads(plan: str) -> list[str]:
    """The plan, and its head: `docs/42_wheel-builds` is also docs/42."""
    if "_" in plan and (head := _HEAD.match(plan)):
        return [plan, head[1]]
    return [plan]


def issue_number(plan: str, phase: str) -> str:
    """The number of the issue that the unit is: `12` of GH-12; "" if it is none."""
    if ascii_lower(plan) not in _HOSTS:
        return ""
    issue = _ISSUE.fullmatch(phase)
    return issue["number"] if issue else ""


def contains_plan(plan: str, spelling: str) -> bool:
    """Whether an id begins with the plan, as AUTH1 begins with AUTH."""
    if after := _after_plan(plan, spelling):
        return after[0].isdecimal() or not after[0].isalnum()
    return bool(plan) and ascii_lower(plan) == ascii_lower(spelling)


def _after_plan(plan: str, spelling: str) -> str:
    """What an id has behind its plan; "" if it does not begin with it, or is nothing else."""
    if plan and ascii_lower(spelling[: len(plan)]) == ascii_lower(plan):
        return spelling[len(plan) :]
    return ""


def is_key(spelling: str) -> bool:
    """Whether an id looks like a tracker's key, such as PROJ-12: it is no word of prose."""
    return _KEY.fullmatch(spelling) is not None


def literal(text: str) -> str:
    """A pattern for the text, in any case of A to Z; a run of spaces matches any spaces."""
    spaced = re.sub(r"(?:\\[ \t])+", r"[ \\t]+", re.escape(text))
    return f"(?ai:{spaced})"


def any_of(texts: list[str]) -> str:
    """A pattern for any of the texts, the longest first."""
    return f"(?:{'|'.join(map(literal, sorted(texts, key=len, reverse=True)))})"
