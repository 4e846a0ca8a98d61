"""Does a line that names a unit say in the same breath that it is not done?"""

import re
from unicodedata import category, normalize

_FOLDER = re.compile(r"(?:wip|todo|draft|plan|revert|undo|blocked|partial|skip|broken)(?=/)")
_NEXT = re.compile(
    r"[\s:—–,;.(\[\-]*(?P<word>(?:not|no|never|wip|w\.i\.p|todo|fixme|tbd|plan(?:ned|ning)?|start(?:ed|ing)?|begin|began"
    r"|draft|blocked|revert(?:ed|ing|s)?|undo(?:ne)?|partial(?:ly)?|skip(?:ped|s)?|remov(?:e[ds]?|ing)|half|stub(?:bed|s)?"
    r"|placeholder|scaffold(?:ing)?|skeleton|unfinished|unimplemented|incomplete|back(?:ed|ing)? out"
    r"|roll(?:ed|ing)? back)\b)(?!')"
)
_BEFORE = re.compile(
    r"\b(?P<word>not|no|without|except|wip|todo|plan|start(?:ed)?|draft|blocked|revert(?:ed)?|undo|partial|skip|remove"
    r"|pending|unfinished)[\s:(\[\-]*$"
)
# Elsewhere in the line these are words like any other, unless they end it or stand by themselves.
_ASIDE = re.compile(
    r"[(\[](?:wip|todo|fixme|tbd|draft|unfinished|incomplete|partial|half[ -]done)[)\]]"
    r"|\b(?:wip|unfinished|incomplete|half[ -]done|work in progress|unimplemented|w\.i\.p\.?|not[ -]done)\b"
    r"|\b(?:todo|fixme|tbd)[\s.!]*$"
    r"|\b(?:not|isn't|never|no) (?:\w+ ){0,2}"
    r"(?:done|finished|working|works?|compiles?|complete|completed|implemented|started|shipped|ready|yet)[\s.!)\]]*$"
)
_PART = re.compile(r"\bpart (\d+) (?:of|/) (\d+)\b")
_SHOUTED = re.compile(r"\b(?:WIP|TODO|FIXME|TBD)\b")


def unfinished_words(line: str, begin: int = 0, end: int = 0) -> str:
    """The words that say so, in small letters; the unit stands from `begin` to `end`."""
    before, after = (_plain(each) for each in (line[:begin], line[end:] if end else line[begin:]))
    whole = f"{before} {after}"
    match = _FOLDER.match(before.casefold())
    if match:
        return match[0]
    for pattern, text in ((_BEFORE, before), (_NEXT, after)):
        match = (
            pattern.search(text.casefold())
            if pattern is _BEFORE
            else pattern.match(text.casefold())
        )
        if match:
            return match["word"]
    match = _ASIDE.search(whole.casefold()) or _SHOUTED.search(whole)
    if match:
        return match[0].casefold()
    part = _PART.search(whole.casefold())
    return part[0] if part and part[1] != part[2] else ""


def _plain(text: str) -> str:
    """As it is read: without what cannot be seen, and with one form for what looks alike."""
    if text.isascii():
        return text
    return "".join(each for each in normalize("NFKC", text) if category(each) != "Cf").replace(
        "’", "'"
    )
