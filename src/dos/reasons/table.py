"""The table of all reasons for refusals, holds, blocked gates, stops and refused tool calls.

Every reason is in it once: what it means, what clears it, and whether a retry helps. `dos man
wedge` shows it, together with the [reasons] that a workspace declares. Building the table takes
time, so `policy`, which comes with the settings, imports it only where it is needed.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from dos.reasons.calls import CALLS
from dos.reasons.reason import Category, ClearsBy, Kind, Needs, Reason
from dos.reasons.rows import CAUSE_KEYS, CAUSES, HOLDS, REFUSALS, RESULTS, UNSPECIFIC
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
    """Reasons by their tokens. Case does not matter.

    Raises ValueError for a token that is declared twice: a reason has one meaning.
    """

    __slots__ = ("_by_token", "rows")

    def __init__(self, rows: Iterable[Reason]) -> None:
        self.rows = tuple(rows)
        self._by_token: dict[str, Reason] = {}
        for row in self.rows:
            if _key(row.token) in self._by_token:
                raise ValueError(f"the reason {row.token} is declared twice")
            self._by_token[_key(row.token)] = row

    def find(self, token: str) -> Reason | None:
        """Return the reason of a token. None: it is not declared."""
        return self._by_token.get(_key(token))

    def category_for(self, token: str) -> Category:
        """Return the category of a token; UNCLASSIFIED if it is not declared."""
        reason = self.find(token)
        return reason.category if reason else Category.UNCLASSIFIED

    def is_refusal(self, token: str) -> bool:
        """Whether the reason refuses a launch. An undeclared one does, to be safe."""
        reason = self.find(token)
        return reason is None or reason.refusal

    def extend(self, more: Iterable[Reason]) -> "Registry":
        """Return a registry with more reasons. Raises ValueError for a token that is taken."""
        return Registry((*self.rows, *more))


def _key(token: str) -> str:
    """The form in which tokens are compared."""
    return token.strip().upper()


TABLE = (*REFUSALS, *HOLDS, *CAUSES, *RESULTS, *STOPS, *CALLS)
BUILT_IN = Registry(TABLE)


def find(token: str) -> Reason | None:
    """Return the built-in reason of a token, in any case. None: there is none."""
    return BUILT_IN.find(token)


# Blocked causes

_REMEDIES = {ClearsBy.REPLAN: "/replan", ClearsBy.CODE_FIX: "/unstick"}


class BlockedCause(Struct, frozen=True, kw_only=True):
    """A reason as the catalogue of blocked causes of dos-kernel has it.

    The field names are keys of its JSON, and the remedies are commands of its agents.
    """

    key: str
    label: str
    operator_action_required: bool
    fix_sketch: str
    self_heals_via: str  # /replan, /unstick; empty: a person has to act


def blocked_cause(key: str) -> BlockedCause | None:
    """Return the entry of the catalogue of blocked causes. None: there is none of that key."""
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
    """Return the remedy for a cause that so many runs met; empty for an unknown cause.

    An unspecific cause that comes back needs a correction, not one more replan.
    """
    cause = blocked_cause(key)
    if cause is None:
        return ""
    if cause.key in UNSPECIFIC and runs >= 2:
        return "/unstick"
    return cause.self_heals_via


# Tokens and verdicts of other programs


def category_by_words(token: str, rules: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the category of an undeclared token by the words in it, and the words that matched.

    Whole words are compared, so that GATE is in SOAK_GATE but not in PROPAGATE. The first rule that
    matches wins.
    """
    words = _words(token)
    for text, category in rules:
        if _has_sequence(words, _words(text)):
            return category, text.upper()
    return None


def _has_sequence(words: list[str], sequence: list[str]) -> bool:
    """Whether the words contain the sequence, one word right after the other."""
    if not sequence:
        return False
    starts = range(len(words) - len(sequence) + 1)
    return any(words[start : start + len(sequence)] == sequence for start in starts)


def _words(text: str) -> list[str]:
    """Return the words of a token in capitals."""
    return [word for word in re.split(r"[_\W]+", text.upper()) if word]


def envelope_is_refusal(
    envelope: Mapping[str, Any] | None, known: Registry = BUILT_IN
) -> tuple[bool, str | None]:
    """Return whether the verdict of a packet refuses its launch, and which key says so.

    A packet without a verdict is not refused. An unknown verdict or reason refuses, to be safe.
    """
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
