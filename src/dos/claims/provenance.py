"""Did an agent make up an identifier? What a call points at has to have been seen before, in a result or in the task.

A value is known whole, or by every part of it that carries data; a piece of a longer number proves nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct

_UUID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
)
_EMAIL = re.compile(r"[\w.+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,100}){1,8}")
_CHARACTERS = re.compile(r"[\w@.:#/+-]+")
_NEVER = (
    re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"),  # a date
    re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}[\d:.]{0,20}(?:Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE),
    re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:am|pm)?", re.IGNORECASE),  # a time
    re.compile(r"[+-]?\d{1,40}\.\d{1,40}(?:e[+-]?\d{1,9})?", re.IGNORECASE),  # a decimal
    re.compile(r"v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-+][\w.]{1,40})?", re.IGNORECASE),  # a version
    re.compile(r"\+\d[\d.-]{5,20}|\d{3}[-.]\d{3}[-.]\d{4}|\d{3}[-.]\d{4}"),  # a telephone number
    re.compile(r"1\d{12}"),  # milliseconds since 1970
    re.compile(r"true|false|null|none|nan|inf", re.IGNORECASE),
)
_SLOT = re.compile(r"(?:^|_)(?:id|sys_id|ref|key|email)s?$")
_QUANTITIES = frozenset({
    "price", "amount", "count", "total", "size", "limit", "number", "num", "age", "score", "rate", "year",
    "quantity", "qty", "weight", "height", "width", "length", "duration", "timeout", "seconds", "minutes", "hours",
    "days", "months", "offset", "page", "percent", "percentage", "ratio", "cost", "budget", "balance", "rank",
    "priority", "level", "max", "min", "sum", "port", "zip", "zipcode", "postal", "month", "day", "hour", "minute",
    "second", "index", "version", "latitude", "longitude",
})  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[@._:#/+-]+")
PREFIXED = re.compile(r"[^\W\d_]+(\d+)")  # a number with letters before it
_GENERIC = frozenset({
    "com", "org", "net", "edu", "gov", "mil", "info", "name", "mail", "email", "gmail", "test", "local",
    "localhost", "cloud", "online", "site",
})  # fmt: skip
SHORTEST_ID = 4
SHORTEST_WORD = 4
SHORT_TAIL = 3  # digits after a name in an address, as in anna92@example.com


def slot_name(name: str) -> str:
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def is_id_slot(slot: str) -> bool:
    return _SLOT.search(slot) is not None


def is_id_shaped(value: str, slot: str) -> bool:
    """Whether a value points at something that exists, instead of saying how much, when or what."""
    if not _CHARACTERS.fullmatch(value) or any(never.fullmatch(value) for never in _NEVER):
        return False
    named = is_id_slot(slot)
    if value.isdecimal():
        if named:
            return len(value) >= 2
        return len(value) >= SHORTEST_ID and not _QUANTITIES & set(slot.split("_"))
    if len(value) < SHORTEST_ID:
        return False
    if _EMAIL.fullmatch(value) or is_uuid(value):
        return True
    if any(character.isdigit() for character in value):
        return any(character.isalpha() for character in value) or not _QUANTITIES & set(
            slot.split("_")
        )
    return named and value.isalnum()  # elsewhere it is a word


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def components(value: str, slot: str) -> list[str]:
    """The parts of an identifier that carry data: each has to have been seen somewhere."""
    if is_uuid(value):
        return [value.replace("-", "")]
    if _EMAIL.fullmatch(value):
        return _of_address(value)
    found: list[str] = []
    for part in _SEPARATORS.split(value):
        if prefixed := PREFIXED.fullmatch(part):
            found.append(prefixed[1])
        elif any(character.isdigit() for character in part):
            found.append(part)
    return found or ([value] if is_id_slot(slot) and value.isalnum() else [])


def _of_address(value: str) -> list[str]:
    local, _, domain = value.partition("@")
    found: list[str] = []
    for part in _SEPARATORS.split(local):
        letters = part.rstrip("0123456789")
        tail = part[len(letters) :]
        found += [tail] if len(tail) > SHORT_TAIL else []
        found += [letters] if len(letters) >= SHORTEST_WORD else []
    found += [
        part
        for part in _SEPARATORS.split(domain)
        if len(part) >= SHORTEST_WORD and part.lower() not in _GENERIC
    ]
    return found


LONGEST_REPR = 80
MOST_LEAVES = 10_000
_WRITES = (
    "add", "approve", "assign", "attach", "cancel", "close", "create", "delete", "edit", "grant", "insert", "link",
    "merge", "modify", "move", "patch", "post", "put", "reject", "remove", "rename", "resolve", "revoke",
    "schedule", "send", "set", "share", "submit", "transfer", "update", "upload",
)  # fmt: skip
_TOKEN = re.compile(r"[^\W_]+")


class Stance(StrEnum):
    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"  # nobody but the agent ever wrote it
    ABSTAIN = "ABSTAIN"  # it points at nothing, or is to be new


class Origin(StrEnum):
    TOOL_RESULT = "TOOL_RESULT"
    TASK_TEXT = "TASK_TEXT"


class Evidence(Struct, frozen=True, kw_only=True):
    tool: str
    arguments: Mapping[str, Any]
    results: Sequence[str] = ()  # what tools returned before the call
    task: str = ""
    new_keys: Collection[str] = ()  # arguments that name what the call makes
    reads_only: bool = False  # the caller says so


class Policy(Struct, frozen=True, kw_only=True):
    case_blind: bool = True


class Argument(Struct, frozen=True, kw_only=True):
    arg_name: str
    value_repr: str
    stance: Stance
    id_shaped: bool = False
    is_reference: bool = False
    matched_in: list[Origin] = []
    components_checked: list[str] = []
    components_unmatched: list[str] = []
    reason: str = ""


class Verdict(Struct, frozen=True, kw_only=True):
    believe: bool
    args: list[Argument]
    unsupported: list[str]
    reason: str


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    if seen.reads_only or not is_mutating(seen.tool):
        return Verdict(believe=True, args=[], unsupported=[], reason=f"{seen.tool} changes nothing")
    read = {Origin.TOOL_RESULT: "\n".join(seen.results), Origin.TASK_TEXT: seen.task}
    corpora = [_Corpus(origin, text, policy) for origin, text in read.items() if text.strip()]
    args = [
        _argument(name, value, seen.new_keys, corpora) for name, value in seen.arguments.items()
    ]
    unsupported = [arg.arg_name for arg in args if arg.stance is Stance.UNSUPPORTED]
    if not corpora:
        return Verdict(
            believe=True,
            args=args,
            unsupported=[],
            reason="there is nothing to look the arguments up in",
        )
    if unsupported:
        reason = f"nothing that was read before holds {', '.join(unsupported)}"
        return Verdict(believe=False, args=args, unsupported=unsupported, reason=reason)
    return Verdict(
        believe=True, args=args, unsupported=[], reason="every identifier was seen before"
    )


def is_mutating(tool: str) -> bool:
    parts = set(_TOKEN.findall(slot_name(tool).replace("_", " ")))
    return any(verb in parts or tool.lower().startswith(verb) for verb in _WRITES)


class _Corpus:
    """What could be read before the call, as text and as words."""

    def __init__(self, origin: Origin, text: str, policy: Policy) -> None:
        self.origin = origin
        self._fold = str.casefold if policy.case_blind else str
        self.text = self._fold(text)
        self._tokens = set(_TOKEN.findall(self.text))
        self._tokens |= {found[1] for token in self._tokens if (found := PREFIXED.fullmatch(token))}
        self._numbers = {_number(token) for token in self._tokens if token.isdecimal()}

    def holds(self, value: str) -> bool:
        """The value whole: what only goes on to the left or the right is another."""
        folded = self._fold(value)
        if folded not in self.text:
            return False
        return re.search(rf"(?<![^\W_]){re.escape(folded)}(?![^\W_])", self.text) is not None

    def knows(self, part: str) -> bool:
        folded = self._fold(part)
        if folded in self._tokens or (folded.isdecimal() and _number(folded) in self._numbers):
            return True
        return is_uuid(part) and folded in self._undashed

    @cached_property
    def _undashed(self) -> str:
        return self.text.replace("-", "")


def _number(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _argument(
    name: str, value: Any, new_keys: Collection[str], corpora: Sequence[_Corpus]
) -> Argument:
    shown = repr(value)
    shown = shown if len(shown) <= LONGEST_REPR else shown[: LONGEST_REPR - 1] + "…"
    if name in new_keys:
        return Argument(
            arg_name=name, value_repr=shown, stance=Stance.ABSTAIN, reason="it is to be new"
        )
    leaves = [
        _leaf(slot, leaf, name, shown, corpora) for slot, leaf in _leaves(slot_name(name), value)
    ]
    # One leaf that was made up poisons the whole argument, and one that was seen says more than one that says nothing.
    order = [Stance.UNSUPPORTED, Stance.SUPPORTED, Stance.ABSTAIN]
    empty = Argument(
        arg_name=name, value_repr=shown, stance=Stance.ABSTAIN, reason="there is nothing in it"
    )
    return min(leaves, key=lambda leaf: order.index(leaf.stance), default=empty)


def _leaves(slot: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What is at the ends of a container, each with the nearest name above it."""
    waiting: list[tuple[str, Any]] = [(slot, value)]
    given = 0
    while waiting and given < MOST_LEAVES:
        slot, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(slot_name(str(key)), each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(slot, each) for each in value]
        else:
            given += 1
            yield slot, value


def _leaf(slot: str, value: Any, name: str, shown: str, corpora: Sequence[_Corpus]) -> Argument:
    text = (
        str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    )
    if not text or not is_id_shaped(text, slot):
        return Argument(
            arg_name=name, value_repr=shown, stance=Stance.ABSTAIN, reason="it is not an identifier"
        )

    def found(
        stance: Stance, reason: str, origins: Sequence[Origin] = (), unmatched: Sequence[str] = ()
    ) -> Argument:
        return Argument(
            arg_name=name, value_repr=shown, stance=stance, id_shaped=True, is_reference=True, reason=reason,
            matched_in=list(origins), components_checked=parts, components_unmatched=list(unmatched),
        )  # fmt: skip

    parts: list[str] = []
    if not corpora:
        return found(Stance.ABSTAIN, "there is nothing to look it up in")
    if whole := [corpus.origin for corpus in corpora if corpus.holds(text)]:
        return found(Stance.SUPPORTED, "it was read before", whole)
    parts = components(text, slot)
    if not parts:
        return found(Stance.ABSTAIN, "no part of it carries data")
    unmatched = [part for part in parts if not any(corpus.knows(part) for corpus in corpora)]
    if unmatched:
        return found(
            Stance.UNSUPPORTED, f"{', '.join(unmatched)} was never read before", (), unmatched
        )
    origins = [corpus.origin for corpus in corpora if any(corpus.knows(part) for part in parts)]
    return found(Stance.SUPPORTED, "each part of it was read before", origins)
