"""Every reason for a refusal, a hold, a block or a stop, once: what it means, what clears it, whether to try again.

`dos man wedge` shows this table, together with the [reasons] that a workspace declares.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from dos.reasons.rows import (
    CAUSE_KEYS,
    CAUSES,
    HOLDS,
    REFUSALS,
    RESULTS,
    UNSPECIFIC,
    Category,
    ClearsBy,
    Kind,
    Needs,
    Reason,
)
from dos.reasons.stops import STOPS

__all__ = [
    "BUILT_IN",
    "TABLE",
    "BlockedCause",
    "Category",
    "ClearsBy",
    "Kind",
    "Needs",
    "Reason",
    "Registry",
    "blocked_cause",
    "category_by_words",
    "envelope_is_refusal",
    "find",
    "recurring_self_heal_for",
]


class Registry:
    """Reasons by their tokens, in any case."""

    __slots__ = ("_by_token", "rows")

    def __init__(self, rows: Iterable[Reason]) -> None:
        self.rows = tuple(rows)
        self._by_token: dict[str, Reason] = {}
        for row in self.rows:
            if _key(row.token) in self._by_token:
                raise ValueError(f"the reason {row.token} is declared twice")
            self._by_token[_key(row.token)] = row

    def find(self, token: str) -> Reason | None:
        return self._by_token.get(_key(token))

    def category_for(self, token: str) -> Category:
        found = self.find(token)
        return found.category if found else Category.UNCLASSIFIED

    def is_refusal(self, token: str) -> bool:
        """What nobody has heard of refuses."""
        found = self.find(token)
        return found is None or found.refusal

    def extend(self, more: Iterable[Reason]) -> "Registry":
        return Registry((*self.rows, *more))


def _key(token: str) -> str:
    return token.strip().upper()


TABLE = (*REFUSALS, *HOLDS, *CAUSES, *RESULTS, *STOPS)
BUILT_IN = Registry(TABLE)


def find(token: str) -> Reason | None:
    """A built-in reason by its token, in any case."""
    return BUILT_IN.find(token)


# Blocked causes

_REMEDIES = {ClearsBy.REPLAN: "/replan", ClearsBy.CODE_FIX: "/unstick"}


class BlockedCause(Struct, frozen=True, kw_only=True):
    """A reason as the catalogue of blocked causes has it."""

    key: str
    label: str
    operator_action_required: bool
    fix_sketch: str
    self_heals_via: str  # /replan, /unstick; empty: a person has to act


def blocked_cause(key: str) -> BlockedCause | None:
    key = key.strip()
    row = find(key) if key in CAUSE_KEYS else None
    if row is None:
        return None
    return BlockedCause(
        key=key,
        label=row.message,
        operator_action_required=row.clears_by is ClearsBy.OPERATOR,
        fix_sketch=row.fix,
        self_heals_via=_REMEDIES.get(row.clears_by, ""),
    )


def recurring_self_heal_for(key: str, runs: int) -> str:
    """The remedy for a cause that so many runs met; empty for one that nobody knows."""
    found = blocked_cause(key)
    if found is None:
        return ""
    return "/unstick" if found.key in UNSPECIFIC and runs >= 2 else found.self_heals_via


# What others say


def category_by_words(token: str, rules: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The category of a token that nobody declared, by the words in its name, and the words that gave it away.

    Whole words, so that GATE is in SOAK_GATE and not in PROPAGATE. The first rule that fits wins.
    """
    inside = _words(token)
    for text, category in rules:
        wanted = _words(text)
        if wanted and any(
            inside[at : at + len(wanted)] == wanted for at in range(len(inside) - len(wanted) + 1)
        ):
            return category, text.upper()
    return None


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[_\W]+", text.upper()) if word]


def envelope_is_refusal(
    envelope: Mapping[str, Any] | None, known: Registry = BUILT_IN
) -> tuple[bool, str | None]:
    """Does the verdict that came with a packet say not to launch it, and by which of its words?"""
    if not envelope:
        return False, None
    if envelope.get("do_not_render"):
        return True, "verdict_envelope:do_not_render"
    if envelope.get("blocked") and not envelope.get("all_clear"):
        return True, "verdict_envelope:blocked"
    verdict = str(envelope.get("verdict") or "").strip().upper()
    if verdict not in ("", "LIVE", "ACCEPT"):
        return True, f"verdict_envelope:verdict={verdict}"
    reason = envelope.get("reason_class")
    if reason is not None and known.is_refusal(str(reason)):
        return True, f"verdict_envelope:reason_class={reason}"
    return False, None
