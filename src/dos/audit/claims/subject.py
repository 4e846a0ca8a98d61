"""Take a commit's subject apart: `[tag] type(scope): rest`, its words, and the names in it."""

import re
import unicodedata

from msgspec import Struct

from dos.verify.message import LONGEST_SUBJECT

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
# What teams put in front of a subject: `[api]`, `:bug:`, `ABC-12`.
_TAG = re.compile(
    r"(?:\[[^\]]{0,40}\]\s*+|:[a-z0-9_+\-]{1,40}:\s*+"
    r"|(?!(?:UTF|SHA|ISO|RFC|CVE)-)[A-Z][A-Z0-9]{1,20}+-\d++(?:\s*+[:.]\s++|\s++(?:- )?))++"
)
_CONVENTIONAL = re.compile(r"(?P<type>\w+)(?:\((?P<scope>[^()]*)\))?!?$")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# In characters, of the word before the colon; a longer one is no type.
LONGEST_HEAD = 30
LONGEST_SCOPE = 40


class Subject(Struct, frozen=True, kw_only=True):
    """A subject taken apart."""

    text: str
    bare: str  # without tags such as `[api]` or `ABC-12`
    leads: tuple[str, ...]  # the first word of the type and of the rest
    type_name: str
    scope: str
    rest: list[str]  # the words after the type
    words: frozenset[str]  # all of them
    parts: frozenset[str]  # the same, with names in camel case taken apart

    @property
    def names(self) -> tuple[str, str]:
        """The conventional type and its scope, either of which may be empty."""
        return self.type_name, self.scope


def parse(subject: str) -> Subject:
    """Take a subject apart. A very long one is cut, and odd forms of letters become plain ones."""
    text = subject[:LONGEST_SUBJECT]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = text.strip()
    tag = _TAG.match(text)
    bare = text[tag.end() :] if tag else text
    head, rest = split_head(bare, LONGEST_HEAD)
    type_name = scope = ""
    conventional = _CONVENTIONAL.fullmatch(head)
    if conventional:
        type_name = conventional["type"].lower()
        scope = (conventional["scope"] or "").strip().lower()
    told = words(rest)
    leads = (*words(head)[:1], *told[:1])
    return Subject(
        text=text,
        bare=bare,
        leads=leads,
        type_name=type_name,
        scope=scope,
        rest=told,
        words=frozenset(words(bare)),
        parts=frozenset(words(split_humps(bare))),
    )


def split_head(subject: str, longest: int) -> tuple[str, str]:
    """Split at the first colon, if one short word is before it; else the head is empty."""
    head, colon, rest = subject.partition(":")
    if colon and " " not in head and len(head) < longest:
        return head, rest
    return "", subject


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without digits and punctuation."""
    return _WORD.findall(text.lower())


def split_humps(text: str) -> str:
    """Return a text with a space before each hump of a name in camel case."""
    return _HUMP.sub(" ", text)
