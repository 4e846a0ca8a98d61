"""Did an agent make up an identifier? What a call points at has to have been seen before, in a result or in the task.

A value is known whole, or by every part of it that carries data; a piece of a longer number proves nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct

from dos.claims import identifiers

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
    parts = set(_TOKEN.findall(identifiers.slot_name(tool).replace("_", " ")))
    return any(verb in parts or tool.lower().startswith(verb) for verb in _WRITES)


class _Corpus:
    """What could be read before the call, as text and as words."""

    def __init__(self, origin: Origin, text: str, policy: Policy) -> None:
        self.origin = origin
        self._fold = str.casefold if policy.case_blind else str
        self.text = self._fold(text)
        self._tokens = set(_TOKEN.findall(self.text))
        self._tokens |= {
            found[1] for token in self._tokens if (found := identifiers.PREFIXED.fullmatch(token))
        }
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
        return identifiers.is_uuid(part) and folded in self._undashed

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
        _leaf(slot, leaf, name, shown, corpora)
        for slot, leaf in _leaves(identifiers.slot_name(name), value)
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
            waiting += [(identifiers.slot_name(str(key)), each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(slot, each) for each in value]
        else:
            given += 1
            yield slot, value


def _leaf(slot: str, value: Any, name: str, shown: str, corpora: Sequence[_Corpus]) -> Argument:
    text = (
        str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    )
    if not text or not identifiers.is_id_shaped(text, slot):
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
    parts = identifiers.components(text, slot)
    if not parts:
        return found(Stance.ABSTAIN, "no part of it carries data")
    unmatched = [part for part in parts if not any(corpus.knows(part) for corpus in corpora)]
    if unmatched:
        return found(
            Stance.UNSUPPORTED, f"{', '.join(unmatched)} was never read before", (), unmatched
        )
    origins = [corpus.origin for corpus in corpora if any(corpus.knows(part) for part in parts)]
    return found(Stance.SUPPORTED, "each part of it was read before", origins)
