"""Knows the words by which test frameworks say how something is compared, and not what."""

import re
from functools import lru_cache

from dos.verify.file_kinds import words

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_COMPARING = words(
    "a above actual all almost an and any anything approx are as assert at be been below between "
    "by can catch check ck close cmp compare contain containing contains count deep delta dies "
    "does elements empty ends ensure ends eq eql equal equality equals error errors even exactly "
    "exception exist exists expect expected fail fails false falsy falsey fatal ge greater gt gte "
    "has have in include includes instance int is isnt item items kind le least len length less "
    "like lt lte match matcher matchers matches matching more most must n ne near negative neq nil "
    "no none not null of ok one only operator or order output partial pattern positive present "
    "raise raised raises refute regex regexp reject rejects require same satisfies should size "
    "some start starts str strict string success test than that the then there throw thrown throws "
    "to true truthy type unexpected verify which with within wont xct zero"
)
_ERROR = re.compile(r"\w*(?:Error|Exception|Failure|Fault|_error|_exception)|Err[A-Z]\w*")
_ASKS_FOR_ERROR = re.compile(
    r"(?i:raises?|throws?|throwable|rejects|should_panic|catch|warns|thrown|dies_ok|intercept)\w*"
    r"|(?i:fails)(?:With)?\w*|expect\w*Exception|ExpectedException|\bexpected ?="
    r"|has_error|expect_error|is_err\b|\bErr\("
    r"|\berrors\.(?:Is|As)\(|\b(?:require|assert|is)\.(?:Equal)?Error\w*\("
    r"|\berr(?: ?== ?nil| ?!= ?(?!nil)\w)"
)
_TAKES_ANY_ERROR = re.compile(
    r"_ANY_THROW\(|_THROWS\(|[tT]hrow(?:s|n)?Any|\bassertFails[({]|\bAssert\.Catch(?:Async)?\("
    r"|\bdies_ok\b|\bthrowsException\b|\bthrowsA\((?:anything|isA<(?:Exception|Object)>)"
    r"|\bThrows\.Exception\b|\bErr\(_\)|\.is_err\(\)|\b(?:require|assert)\.Error\("
    r"|\berr ?== ?nil\b"
)


@lru_cache(maxsize=1 << 12)
def is_matcher(name: str) -> bool:
    """Whether a name is made of words of comparison alone: `isGreaterThan`, `EXPECT_GE`."""
    parts = _PART.findall(name)
    return bool(parts or name == "_") and all(part.lower() in _COMPARING for part in parts)


@lru_cache(maxsize=1 << 12)
def is_error(name: str) -> bool:
    """Whether a name is that of a kind of error."""
    return _ERROR.fullmatch(name) is not None


def asks_for_error(masked: str) -> bool:
    """Whether a check asks that something fails."""
    return _ASKS_FOR_ERROR.search(masked) is not None


def takes_any_error(masked: str) -> bool:
    """Whether a check that asks for an error does not say for which."""
    return _TAKES_ANY_ERROR.search(masked) is not None
