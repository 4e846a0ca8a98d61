"""Does a line that names a unit say in the same breath that it is not done?"""

import re

_FOLDER = re.compile(r"(?:wip|todo|draft|plan|revert|undo|blocked|partial|skip|broken)/", re.IGNORECASE)
_NEXT = re.compile(
    r"[\s:—–,;.(\[\-]*(?:not|no|never|wip|todo|fixme|plan(?:ned|ning)?|start(?:ed|ing)?|begin|began|draft|blocked"
    r"|revert(?:ed|ing|s)?|undo(?:ne)?|partial(?:ly)?|skip(?:ped|s)?|remov(?:e[ds]?|ing)|half|stub(?:bed)?|placeholder"
    r"|unfinished|incomplete)\b(?![\-'])",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:not|no|without|except|wip|todo|plan|start(?:ed)?|draft|blocked|revert(?:ed)?|undo|partial|skip|remove|pending"
    r"|unfinished)[\s:(\[\-]*$",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r"\b(?:wip|todo|fixme|unfinished|incomplete|half[ -]done|work in progress)\b"
    r"|\b(?:not|isn't|never|no) (?:yet |fully |doing |done )?(?:\w+ )?"
    r"(?:done|finished|working|works?|complete|completed|implemented|started|shipped|ready|yet)\b",
    re.IGNORECASE,
)


def is_said(line: str, begin: int = 0, end: int = 0) -> bool:
    """The unit stands from `begin` to `end`."""
    before, after = line[:begin], line[end:] if end else ""
    found = _FOLDER.match(before) or _BEFORE.search(before) or _NEXT.match(after) or _ANYWHERE.search(line)
    return found is not None
