"""Judges whether a call uses identifiers that the agent made up.

What a call points at must have been read before, in a tool result or in the task. A value counts as
read when it was there whole, or when every part of it that carries data was; a piece of a longer
number proves nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct, structs

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
    "price", "amount", "count", "total", "size", "limit", "number", "num", "age", "score", "rate",
    "year", "quantity", "qty", "weight", "height", "width", "length", "duration", "timeout",
    "seconds", "minutes", "hours", "days", "months", "offset", "page", "percent", "percentage",
    "ratio", "cost", "budget", "balance", "rank", "priority", "level", "max", "min", "sum",
    "port", "zip", "zipcode", "postal", "month", "day", "hour", "minute", "second", "index",
    "version", "latitude", "longitude",
})  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[@._:#/+-]+")
PREFIXED = re.compile(r"[^\W\d_]+(\d+)")  # a number with letters before it
_GENERIC = frozenset({
    "com", "org", "net", "edu", "gov", "mil", "info", "name", "mail", "email", "gmail", "test",
    "local", "localhost", "cloud", "online", "site",
})  # fmt: skip
SHORTEST_ID = 4
SHORTEST_WORD = 4
SHORT_TAIL = 3  # digits after a name in an address carry no data: anna92@example.com


def slot_name(name: str) -> str:
    """Return the name of an argument in snake case."""
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def is_id_slot(slot: str) -> bool:
    """Whether an argument of this name holds an identifier, such as `user_id`."""
    return _SLOT.search(slot) is not None


def is_id_shaped(value: str, slot: str) -> bool:
    """Whether a value points at something that exists, and is no quantity, time or word."""
    if not _CHARACTERS.fullmatch(value) or any(never.fullmatch(value) for never in _NEVER):
        return False
    in_id_slot = is_id_slot(slot)
    is_quantity = not _QUANTITIES.isdisjoint(slot.split("_"))
    if value.isdecimal():
        if in_id_slot:
            return len(value) >= 2
        return len(value) >= SHORTEST_ID and not is_quantity
    if len(value) < SHORTEST_ID:
        return False
    if _EMAIL.fullmatch(value) or is_uuid(value):
        return True
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value)) or not is_quantity
    return in_id_slot and value.isalnum()  # in any other slot it is a word


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID, with or without dashes."""
    return _UUID.fullmatch(value) is not None


def components(value: str, slot: str) -> list[str]:
    """Return the parts of an identifier that carry data: each has to have been read somewhere.

    Words and separators are left out: an agent may write them by itself.
    """
    if is_uuid(value):
        return [value.replace("-", "")]
    if _EMAIL.fullmatch(value):
        return _address_components(value)
    parts: list[str] = []
    for part in _SEPARATORS.split(value):
        prefixed = PREFIXED.fullmatch(part)
        if prefixed:
            parts.append(prefixed[1])  # in `usr42` only the number carries data
        elif any(map(str.isdigit, part)):
            parts.append(part)
    if not parts and is_id_slot(slot) and value.isalnum():
        return [value]
    return parts


def _address_components(value: str) -> list[str]:
    """Return the parts of an email address that nobody could guess."""
    local, _, domain = value.partition("@")
    parts: list[str] = []
    for part in _SEPARATORS.split(local):
        letters = part.rstrip("0123456789")
        tail = part[len(letters) :]
        if len(tail) > SHORT_TAIL:
            parts.append(tail)
        if len(letters) >= SHORTEST_WORD:
            parts.append(letters)
    for part in _SEPARATORS.split(domain):
        if len(part) >= SHORTEST_WORD and part.lower() not in _GENERIC:
            parts.append(part)
    return parts


LONGEST_REPR = 80
MOST_LEAVES = 10_000
_WRITES = (
    "add", "approve", "assign", "attach", "cancel", "close", "create", "delete", "edit", "grant",
    "insert", "link", "merge", "modify", "move", "patch", "post", "put", "reject", "remove",
    "rename", "resolve", "revoke", "schedule", "send", "set", "share", "submit", "transfer",
    "update", "upload",
)  # fmt: skip
_TOKEN = re.compile(r"[^\W_]+")


class Stance(StrEnum):
    """Whether an argument was read before."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"  # only the agent ever wrote it
    ABSTAIN = "ABSTAIN"  # it points at nothing, or is meant to be new


class Origin(StrEnum):
    """Where a value was read."""

    TOOL_RESULT = "TOOL_RESULT"
    TASK_TEXT = "TASK_TEXT"


class Evidence(Struct, frozen=True, kw_only=True):
    """A tool call, and what the agent could read before it.

    `new_keys` are arguments that name what the call creates; nobody can have read those.
    """

    tool: str
    arguments: Mapping[str, Any]
    results: Sequence[str] = ()  # what tools returned before the call
    task: str = ""
    new_keys: Collection[str] = ()  # arguments that name what the call creates
    reads_only: bool = False  # the caller says that the call changes nothing


class Policy(Struct, frozen=True, kw_only=True):
    """How values are compared."""

    case_blind: bool = True


class Argument(Struct, frozen=True, kw_only=True):
    """One argument of the call, and whether its value was read before."""

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
    """Whether the call can be believed, and its arguments one by one."""

    believe: bool
    args: list[Argument]
    unsupported: list[str]
    reason: str


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether every identifier of a call that changes something was read before.

    A call that only reads is believed: a made-up identifier finds nothing there. So is one without
    any earlier text to compare with.
    """
    if seen.reads_only or not is_mutating(seen.tool):
        return Verdict(believe=True, args=[], unsupported=[], reason=f"{seen.tool} changes nothing")
    corpora = []
    texts = {Origin.TOOL_RESULT: "\n".join(seen.results), Origin.TASK_TEXT: seen.task}
    for origin, text in texts.items():
        if text.strip():
            corpora.append(_Corpus(origin, text, policy))
    args = [
        _argument(name, value, seen.new_keys, corpora) for name, value in seen.arguments.items()
    ]
    unsupported = [arg.arg_name for arg in args if arg.stance is Stance.UNSUPPORTED]
    if not corpora:
        reason = "there is no text to look the arguments up in"
        return Verdict(believe=True, args=args, unsupported=[], reason=reason)
    if unsupported:
        reason = f"not read anywhere before the call: {', '.join(unsupported)}"
        return Verdict(believe=False, args=args, unsupported=unsupported, reason=reason)
    reason = "every identifier was read before"
    return Verdict(believe=True, args=args, unsupported=[], reason=reason)


def is_mutating(tool: str) -> bool:
    """Whether the name of a tool says that it changes something."""
    parts = set(_TOKEN.findall(slot_name(tool).replace("_", " ")))
    return any(verb in parts or tool.lower().startswith(verb) for verb in _WRITES)


class _Corpus:
    """What could be read before the call, as text and as words."""

    def __init__(self, origin: Origin, text: str, policy: Policy) -> None:
        self.origin = origin
        self._fold = str.casefold if policy.case_blind else str
        self.text = self._fold(text)
        self._tokens = set(_TOKEN.findall(self.text))
        prefixed = [PREFIXED.fullmatch(token) for token in self._tokens]
        self._tokens |= {match[1] for match in prefixed if match}
        self._numbers = {_number(token) for token in self._tokens if token.isdecimal()}

    def holds(self, value: str) -> bool:
        """Whether the value was there whole, and not as a piece of a longer word."""
        folded = self._fold(value)
        if folded not in self.text:
            return False
        return re.search(rf"(?<![^\W_]){re.escape(folded)}(?![^\W_])", self.text) is not None

    def knows(self, part: str) -> bool:
        """Whether a part of an identifier was there as a word or a number."""
        folded = self._fold(part)
        if folded in self._tokens or (folded.isdecimal() and _number(folded) in self._numbers):
            return True
        return is_uuid(part) and folded in self._undashed

    @cached_property
    def _undashed(self) -> str:
        """The text without dashes, in which a UUID is found however it was written."""
        return self.text.replace("-", "")


def _number(digits: str) -> str:
    """Return the digits without leading zeros."""
    return digits.lstrip("0") or "0"


# A made-up leaf decides for the whole argument, and one that was read says more than an abstention.
_STANCE_ORDER = [Stance.UNSUPPORTED, Stance.SUPPORTED, Stance.ABSTAIN]


def _rank(argument: Argument) -> int:
    """The sort key of an argument: the stance that decides comes first."""
    return _STANCE_ORDER.index(argument.stance)


def _argument(
    name: str, value: Any, new_keys: Collection[str], corpora: Sequence[_Corpus]
) -> Argument:
    """Judge one argument by the worst of its leaves."""
    shown = repr(value)
    if len(shown) > LONGEST_REPR:
        shown = shown[: LONGEST_REPR - 1] + "…"
    abstaining = Argument(arg_name=name, value_repr=shown, stance=Stance.ABSTAIN)
    if name in new_keys:
        return structs.replace(abstaining, reason="it names what the call creates")
    leaves = [
        _leaf(slot, leaf, abstaining, corpora) for slot, leaf in _leaves(slot_name(name), value)
    ]
    empty = structs.replace(abstaining, reason="it is empty")
    return min(leaves, key=_rank, default=empty)


def _leaves(slot: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the scalars of a container, each with the nearest name above it."""
    waiting: list[tuple[str, Any]] = [(slot, value)]
    given = 0
    while waiting and given < MOST_LEAVES:
        slot, value = waiting.pop()
        if isinstance(value, Mapping):
            for key, item in value.items():
                waiting.append((slot_name(str(key)), item))
        elif isinstance(value, list | tuple):
            for item in value:
                waiting.append((slot, item))
        else:
            given += 1
            yield slot, value


def _is_known(part: str, corpora: Sequence[_Corpus]) -> bool:
    """Whether a part of an identifier is in one of the texts."""
    return any(corpus.knows(part) for corpus in corpora)


def _leaf(slot: str, value: Any, blank: Argument, corpora: Sequence[_Corpus]) -> Argument:
    """Judge one scalar: read whole, read in all its parts, made up, or not an identifier."""
    text = ""
    if isinstance(value, str | int) and not isinstance(value, bool):
        text = str(value).strip()
    if not text or not is_id_shaped(text, slot):
        return structs.replace(blank, reason="it is not an identifier")
    reference = structs.replace(blank, id_shaped=True, is_reference=True)
    if not corpora:
        return structs.replace(reference, reason="there is no text to look it up in")
    whole_in = [corpus.origin for corpus in corpora if corpus.holds(text)]
    if whole_in:
        return structs.replace(
            reference, stance=Stance.SUPPORTED, reason="it was read before", matched_in=whole_in
        )
    parts = components(text, slot)
    if not parts:
        return structs.replace(reference, reason="no part of it carries data")
    reference = structs.replace(reference, components_checked=parts)
    unmatched = [part for part in parts if not _is_known(part, corpora)]
    if unmatched:
        return structs.replace(
            reference,
            stance=Stance.UNSUPPORTED,
            reason=f"{', '.join(unmatched)} was not read before",
            components_unmatched=unmatched,
        )
    origins = []
    for corpus in corpora:
        if any(corpus.knows(part) for part in parts):
            origins.append(corpus.origin)
    return structs.replace(
        reference,
        stance=Stance.SUPPORTED,
        reason="every part of it was read before",
        matched_in=origins,
    )
