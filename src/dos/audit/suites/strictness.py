"""Decides whether one check asks for less than another that was in its place."""

import re
from collections import Counter
from functools import lru_cache

from dos.audit.suites import matchers
from dos.audit.suites.checks import Check, Strictness
from dos.audit.suites.statements import STRING
from dos.verify import file_kinds

_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`[^`]*+`")
_WORD = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE]-?\d+)?")
_NUMERAL = re.compile(r"(?<![\w.])-?\d[\w.]*+")
_ANY_WORD = re.compile(r"\w+")
_LIMIT = re.compile(
    r"(?<![-=<>])([<>])=?(?![<>=])|(?i:(greater|atleast|at_least|more|above)|(less|atmost|at_most|below))"
)
_TOLERANCE = re.compile(
    r"(?i:near|close|delta|within|approx|margin|accuracy|tolerance|epsilon|almost|abs_?tol|rel_?tol)"
)
_TOLERANCE_HERE = re.compile(
    r"(?i:within|margin|delta|tolerance|epsilon|accuracy|tol|abs|rel|places|digits|precision)"
    r"[=:( ]{1,3}$"
)
_PLACES = re.compile(r"(?i:toBeCloseTo|almost|places|digits|precision)")
_TIME = re.compile(r"(?i:timeout|wait|eventually|poll|atmost\(|seconds|millis|receive)")
_ALTERNATIVES = re.compile(
    r"\bor\b|\|\||\b[aA]ny_?[oO]f\b|\b[oO]ne_?[oO]f\b|\bis(?:In|OneOf)\b|\bBeOneOf\b|\bbe_in\b"
)
_PATTERN = re.compile(r"(?i:match|regex|like\b|=~|\bgrep\b|search|\bqr\b)")
_PART_OF_VALUE = re.compile(
    r"\[-?\d+\]|\.(?:get|at|elementAt|nth)\(\d+\)|\.(?:first|last|size|length|count|Length|Count|len)\b"
    r"|\b(?:len|count|length|size)\("
)
_LISTS = re.compile(
    r"[=(,] ?(?:vec!|\w*\[\]\w*|new\b[\w<>\[\] ]*)?[\[{]|\[\]"
    r"|(?i:exactly|elementsare|match_array|equivalent|listof|list\.of)"
)
_OF_ELEMENT = file_kinds.words("get at elementAt nth first last Length Count u U l L f")
_OR = re.compile(r"(?<!\|)\|(?!\|)")
_CONJUNCTION = re.compile(r"\band\b|&&")
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


def has_values(check: Check) -> bool:
    """Whether a check names a string or a number."""
    return any(word[0] in _VALUE for word in words(check.text))


def shape(check: Check) -> str:
    """Return a check without its values."""
    return _NUMERAL.sub("0", check.masked)


def is_of_part(check: Check) -> bool:
    """Whether a check compares the size of a value, or an element of it."""
    return _PART_OF_VALUE.search(check.masked) is not None


def is_whole_of(whole: Check, part: Check) -> bool:
    """Whether a check compares a list with all that a check of its size or an element asks for.

    An index, and a size, are not written down there.
    """
    if not _LISTS.search(whole.masked) or is_of_part(whole):
        return False
    asked = {word for word in words(part.text) if not word.isdigit() and word not in _OF_ELEMENT}
    return asked <= words(whole.text)


def _is_about_no_more(old: Check, new: Check) -> bool:
    """Whether the new check names nothing that the old one does not, but for values."""
    more = names(new.text) - names(old.text)
    return all(map(matchers.is_matcher, more))


def _accepts_more(old: Check, new: Check) -> bool:
    """Whether there are more alternatives now, or fewer conditions that all have to hold."""
    more, fewer = _ALTERNATIVES, _CONJUNCTION
    if old.is_condition and new.is_condition:
        more, fewer = fewer, more
    gained = len(more.findall(new.masked)) - len(more.findall(old.masked))
    lost = len(fewer.findall(old.masked)) - len(fewer.findall(new.masked))
    if lost > 0 and words(new.text) < words(old.text):
        return True
    if gained > 0 and words(old.text) <= words(new.text):
        return True
    return _has_longer_pattern(old, new)


def _has_longer_pattern(old: Check, new: Check) -> bool:
    """Whether a pattern has one more alternative, and all of before."""
    if not _PATTERN.search(new.masked):
        return False
    if len(_OR.findall(new.text)) <= len(_OR.findall(old.text)):
        return False
    lost = set(_ANY_WORD.findall(old.text)).difference(_ANY_WORD.findall(new.text))
    return all(map(matchers.is_matcher, lost))


def _names_no_error(old: Check, new: Check) -> bool:
    """Whether any error is accepted where one kind was, or any message where one was asked for."""
    if not matchers.asks_for_error(old.masked) or not matchers.asks_for_error(new.masked):
        return False
    ours, theirs = words(old.text), words(new.text)
    more = {word for word in theirs - ours if not matchers.is_matcher(word)}
    if more & _GENERIC or (theirs - ours) & _GENERIC:
        return True
    if matchers.takes_any_error(new.masked) and not matchers.takes_any_error(old.masked):
        return all(map(matchers.is_error, more))
    return not more and any(map(_tells_error, ours - theirs))


def _tells_error(word: str) -> bool:
    """Whether a word of a check tells one error from others: its kind, or its message."""
    return word[0] in "\"'`" or word == "match" or matchers.is_error(word)


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
    if _TIME.search(old.masked) or _NUMBER.sub("0", old.text) != _NUMBER.sub("0", new.text):
        return False
    before, after = list(_NUMBER.finditer(old.text)), list(_NUMBER.finditer(new.text))
    changed = [pair for pair in zip(before, after, strict=False) if pair[0][0] != pair[1][0]]
    if len(changed) != 1:
        return False
    was, became = changed[0]
    rises = float(became[0]) > float(was[0])
    if _is_tolerance(old, was, is_last=was is before[-1] and len(before) > 1):
        return rises != _counts_places(old, was[0])
    limit = _LIMIT.search(old.masked)
    if not limit or old.strictness != Strictness.LOOSE:
        return False
    is_lower = limit[1] == ">" or limit[2] is not None
    if old.is_condition:
        is_lower = not is_lower
    return not rises if is_lower else rises


def _is_tolerance(check: Check, number: re.Match[str], *, is_last: bool) -> bool:
    """Whether a number of a check says how far from the expected value another may be.

    That is the one after a word for it, the last one beside such a word, and the third argument of
    an equality: `assertEquals(14.2, total(), 0.01)`.
    """
    if _TOLERANCE_HERE.search(check.text, max(0, number.start() - 24), number.start()):
        return True
    if not is_last or check.text[number.end() :].strip(")}; "):
        return False
    if _TOLERANCE.search(check.masked):
        return True
    is_small = 0 <= float(number[0]) < 1 or _has_places(check, number[0])
    return check.strictness == Strictness.EXACT and is_small and _arguments(check.masked) == 3


def _counts_places(check: Check, number: str) -> bool:
    """Whether a tolerance is a count of decimal places: fewer are wider."""
    if _PLACES.search(check.masked):
        return number.isdigit() and "delta=" not in check.masked
    return not _TOLERANCE.search(check.masked) and _has_places(check, number)


def _has_places(check: Check, number: str) -> bool:
    return number.isdigit() and any("." in each for each in _NUMBER.findall(check.text))


def _arguments(masked: str) -> int:
    """Return how many arguments the first call of a check has."""
    depth = 0
    count = 1
    for mark in masked:
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if not depth:
                break
        elif mark == "," and depth == 1:
            count += 1
    return count
