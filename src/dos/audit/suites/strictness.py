"""Decides whether one check asks for less than another that was in its place."""

import re
from collections import Counter
from functools import lru_cache

from dos.audit.suites.checks import Check, Strictness
from dos.audit.suites.statements import STRING
from dos.verify import file_kinds

_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`[^`]*+`")
_WORD = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_LIMIT = re.compile(
    r"(?<![-=<>])([<>])=?(?![<>=])|(?i:(greater|atleast|at_least|more|above)|(less|atmost|at_most|below))"
)
_TOLERANCE = re.compile(
    r"(?:abs|rel|delta|tolerance|epsilon|within|timeout)(?:=|\()(\d+(?:\.\d+)?(?:e-?\d+)?)"
)
_ALTERNATIVES = re.compile(r"\bor\b|\|\||\banyOf\b|\bany_of\b|\boneOf\b")
_CONJUNCTION = re.compile(r"\band\b|&&")
_RAISES = re.compile(r"(?i:raises?|throws?|rejects|should_panic|catch|warns|raise_error)\w*")
_VALUE = "\"'`0123456789"  # what a value begins with
_GENERIC = file_kinds.words(
    "Exception BaseException Throwable Error StandardError RuntimeException object Object"
)
# Names that say how something is compared, and not what.
_MATCHER = re.compile(
    r"\b(?:(?:assert|refute|expect|require|EXPECT|ASSERT|CHECK|REQUIRE|CPPUNIT|XCTAssert|Assert)"
    r"(?:_?[A-Z_]\w*|\b|_\w+)|to(?:Be|Equal|Match|Have|Throw|Contain|StrictEqual)\w*"
    r"|(?:is|Is)(?:Equal|Not|Null|Nil|True|False|Same|Instance|In|Empty|Greater|Less|Close)\w*"
    r"|(?:Not)?(?:Nil|Null|Equal|Empty|True|False|Same|Zero|Contains|NoError|Error|Len)"
    r"|be_\w+|must_\w+|self|t|to|be|eql?|is|not|true|false|None|null|nil|in|and|or|if|err|await"
    r"|async|(?:Error|Fatal)f?|equals?|deepEqual|truthy|falsy|with|as|new|this|return|const|let|var"
    r"|fail|after|Should|should|Be|NotBeNull|And|anything|regex|like|contains|includes|is_some|is_ok|is_err|is_none|is_not|len|length|size|count"
    r"|mock|ANY|approx|all|any|startswith|endswith|startsWith|endsWith|starts_with|ends_with|match"
    r"|matches|search|re|str|keys|NaN|typeof|undefined|instanceof|isinstance|type|strings|Contains"
    r"|HasPrefix|include|start_with|end|do|then|done|fi|def|func|function|fn|void|public|for|while"
    r"|else|try|catch|except|finally|throws|throw|raise)\b"
)


@lru_cache(maxsize=1 << 13)
def words(text: str) -> frozenset[str]:
    """Return what a statement is about: its names, numbers and strings."""
    strings = _STRINGS.findall(text)
    names = _WORD.findall(_MATCHER.sub(" ", _STRINGS.sub(" ", text)))
    return frozenset([*strings, *names])


def names(text: str) -> frozenset[str]:
    """Return the names in a statement, without its values."""
    return frozenset(word for word in words(text) if word[0] not in _VALUE)


def parts_of_name(name: str) -> list[str]:
    """Return the words that a name is made of: `test_an_order`, `testAnOrder`, `an order`."""
    return _NAME_PART.findall(name)


def similarity(one: Check, other: Check) -> float:
    """Return how much of what two checks are about they share, from 0 to 1."""
    ours, theirs = words(one.text), words(other.text)
    if not ours or not theirs:
        return 0.0
    shared = len(ours & theirs)
    return shared / (len(ours) + len(theirs) - shared)


def is_laxer(old: Check, new: Check, *, is_only_change: bool) -> bool:
    """Whether the new check asks for less than the old one about the same thing.

    `is_only_change` tells that nothing else of the test changed: another limit is then no
    consequence of another input.
    """
    if new.strictness == Strictness.VACUOUS:
        return old.strictness > Strictness.VACUOUS
    if old.strictness > new.strictness and new.is_plain and _is_about_no_more(old, new):
        if new.strictness == Strictness.PRESENCE:
            return True
        if old.is_plain and old.strictness == Strictness.EXACT:
            return True
    if _accepts_more(old, new) or _names_no_error(old, new):
        return True
    if new.strictness == old.strictness == Strictness.LOOSE and _is_shorter(old, new):
        return True
    return is_only_change and _has_wider_limit(old, new)


def _is_about_no_more(old: Check, new: Check) -> bool:
    """Whether the new check names nothing that the old one does not, but for values."""
    return names(new.text) <= names(old.text)


def _accepts_more(old: Check, new: Check) -> bool:
    """Whether there are more alternatives now, or fewer conditions that all have to hold."""
    more, fewer = _ALTERNATIVES, _CONJUNCTION
    if old.is_condition and new.is_condition:
        more, fewer = fewer, more
    gained = len(more.findall(new.masked)) - len(more.findall(old.masked))
    lost = len(fewer.findall(old.masked)) - len(fewer.findall(new.masked))
    if lost > 0 and words(new.text) < words(old.text):
        return True
    return gained > 0 and words(old.text) <= words(new.text)


def _names_no_error(old: Check, new: Check) -> bool:
    """Whether any error is accepted where one kind was, or any message where one was asked for."""
    if not _RAISES.search(old.masked) or not _RAISES.search(new.masked):
        return False
    ours, theirs = words(old.text), words(new.text)
    if (theirs - ours) & _GENERIC:
        return True
    lost = ours - theirs
    return (
        bool(lost) and theirs < ours and any(word[0] in "\"'`" or word == "match" for word in lost)
    )


def _is_shorter(old: Check, new: Check) -> bool:
    """Whether a part of a string is looked for where more of it was."""
    before = Counter(_STRINGS.findall(old.text))
    after = Counter(_STRINGS.findall(new.text))
    if _masked_names(old) != _masked_names(new):
        return False
    lost, gained = list((before - after).elements()), list((after - before).elements())
    if len(lost) != 1 or len(gained) != 1:
        return False
    return len(gained[0]) > 2 and gained[0][1:-1] in lost[0] and gained[0] != lost[0]


def _masked_names(check: Check) -> list[str]:
    return _WORD.findall(check.masked.replace(STRING, " "))


def _has_wider_limit(old: Check, new: Check) -> bool:
    """Whether only a number changed, and more values are within it."""
    if _NUMBER.sub("0", old.text) != _NUMBER.sub("0", new.text):
        return False
    before = [float(number) for number in _NUMBER.findall(old.text)]
    after = [float(number) for number in _NUMBER.findall(new.text)]
    changed = [(one, two) for one, two in zip(before, after, strict=False) if one != two]
    if len(changed) != 1:
        return False
    rises = changed[0][1] > changed[0][0]
    if _TOLERANCE.search(old.masked):
        return rises and _TOLERANCE.findall(old.masked) != _TOLERANCE.findall(new.masked)
    limit = _LIMIT.search(old.masked)
    if not limit or old.strictness != Strictness.LOOSE:
        return False
    is_lower = limit[1] == ">" or limit[2] is not None
    if old.is_condition:
        is_lower = not is_lower
    return not rises if is_lower else rises
