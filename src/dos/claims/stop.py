"""Judges whether an agent may stop, by whether the repository shows the units it claims.

A refusal says what is missing and where it was expected. It never says how to be believed.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dos.claims.declared import Claim
from dos.text import escape_invisible
from dos.verify import shipped
from dos.verify.candidate import Contradiction, Tier

MOST_SHOWN = 5
MOST_PATHS = 8
LONGEST_NAME = 80

_REACHED = {
    Tier.ABSENT: "absent: nothing in the history is its work",
    Tier.NAMED: "named only: it is mentioned, and no work stands behind it",
    Tier.SUBSTANTIVE: "substantive: there is work, and it does not hold here",
    Tier.IN_SCOPE: "in scope: there is work in its files, and it does not hold here",
    Tier.LIVE: "live: its work is there, and more than that is asked for",
    Tier.WITNESSED: "witnessed: its work was seen to run, and more than that is asked for",
    Tier.ATTESTED: "attested: others vouch for it, and more than that is asked for",
}
_AGAINST = {
    Contradiction.EMPTY: "nothing was changed",
    Contradiction.BOOKKEEPING_ONLY: "only bookkeeping was changed",
    Contradiction.DOCS_ONLY: "only documents were changed",
    Contradiction.COSMETIC_ONLY: "only white space or comments were changed",
    Contradiction.STUBS_ONLY: "only stubs were added",
    Contradiction.DEAD_CODE_ONLY: "only code that cannot run was added",
    Contradiction.OUT_OF_SCOPE: "none of its files were touched",
    Contradiction.REVERTED: "it was reverted",
    Contradiction.REMOVED: "what it added was removed",
    Contradiction.OVERWRITTEN: "what it added was overwritten",
    Contradiction.NOT_MERGED: "it is not on the branch that counts",
    Contradiction.REGISTRY_UNBACKED: "it stands in a list, and no work backs that",
    Contradiction.NEGATED_SUBJECT: "it is called unfinished where it is named",
    Contradiction.CI_RED: "its checks failed",
    Contradiction.CONFIG_DIRTY: "the rules it is judged by were edited",
    Contradiction.CONFIG_INVALID: "dos.toml on disk has errors",
    Contradiction.REPLACED_OBJECT: "a part of the history was replaced",
}


class CheckedClaim(Struct, frozen=True, kw_only=True):
    """A claim, and what the repository shows of it."""

    claim: Claim
    shipped: bool | None  # None: unknown
    source: str = "none"
    tier: Tier = Tier.ABSENT
    contradictions: tuple[Contradiction, ...] = ()
    expected: tuple[str, ...] = ()  # the files that the unit declares
    why: str = ""  # it is unknown

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with a reason where the unit is not shown to be done."""
        row: dict[str, Any] = {
            **self.claim.to_dict(),
            "shipped": self.shipped,
            "source": self.source,
            "tier": f"T{self.tier:d}",
            "contradictions": list(map(str, self.contradictions)),
        }
        if not self.shipped:
            row["reason"] = self.missing
        return row

    @property
    def missing(self) -> str:
        """What keeps the unit from being done."""
        if self.shipped is None:
            return f"cannot be told: {self.why}"
        parts = [f"T{self.tier:d} {_REACHED[self.tier]}"]
        parts += [_AGAINST[contradiction] for contradiction in self.contradictions]
        if self.expected:
            paths = ", ".join(escape_invisible(path) for path in self.expected[:MOST_PATHS])
            more = " …" if len(self.expected) > MOST_PATHS else ""
            parts.append(f"expected in {paths}{more}")
        return "; ".join(parts)

    @property
    def name(self) -> str:
        """The unit's name, shortened and safe to print."""
        return escape_invisible(f"{self.claim.plan}/{self.claim.phase}"[:LONGEST_NAME])


class Evidence(Struct, frozen=True, kw_only=True):
    """The checked claims of an agent that wants to stop.

    `unread` says why its words are unknown; the verdict is then undecided and warns.
    """

    results: tuple[CheckedClaim, ...] = ()
    unread: str = ""  # why its last words could not be read


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the agent may stop."""

    ok: bool | None  # None: it may stop, but its claims could not be checked
    reason: str = ""
    results: tuple[CheckedClaim, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the agent has to continue."""
        return self.ok is False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON; empty ones are left out."""
        found: dict[str, Any] = {"ok": self.ok, "results": [row.to_dict() for row in self.results]}
        if self.results:
            found["checked"] = sum(row.shipped is not None for row in self.results)
        if self.reason:
            found["reason"] = self.reason
        if self.warnings:
            found["warnings"] = list(self.warnings)
        return found


def check_claim(claim: Claim, truth: shipped.Verdict) -> CheckedClaim:
    """Return the claim with the oracle's verdict on its unit.

    A name alone is not the work, whatever tier the workspace requires elsewhere.
    """
    is_shipped: bool | None = truth.shipped and truth.tier > Tier.NAMED
    why = ""
    if truth.answer is shipped.Answer.CANNOT_TELL:
        is_shipped = None
        why = truth.reason
    return CheckedClaim(
        claim=claim,
        shipped=is_shipped,
        source=truth.source,
        tier=truth.tier,
        contradictions=truth.contradictions,
        expected=truth.expected,
        why=why,
    )


def judge(seen: Evidence, *, strict: bool = False) -> Verdict:
    """Refuse the stop for claims that the repository does not show.

    Prose alone only warns, unless the caller is strict.
    """
    binding = [row for row in seen.results if row.claim.confident or strict]
    untrue = [row for row in binding if row.shipped is False]
    warnings = []
    if seen.unread:
        warnings.append(f"what was said could not be read: {seen.unread}")
    for row in seen.results:
        if row.shipped is None:
            warnings.append(f"whether {row.name} is done {row.missing}")
        elif not row.shipped and row not in untrue:
            warnings.append(f"{row.name} is said to be done: {row.missing}")

    def verdict(ok: bool | None, reason: str = "") -> Verdict:
        return Verdict(ok=ok, reason=reason, results=seen.results, warnings=tuple(warnings))

    if untrue:
        return verdict(False, _refusal(untrue))
    if seen.unread or any(row.shipped is None for row in binding):
        return verdict(None, "the claims could not be checked")
    return verdict(True)


def _refusal(untrue: Sequence[CheckedClaim]) -> str:
    """Return the message to the agent: what is missing of each claim."""
    lines = ["You say that this is done, but the repository does not show it."]
    lines += [f"{row.name}: {row.missing}." for row in untrue[:MOST_SHOWN]]
    if len(untrue) > MOST_SHOWN:
        lines.append(f"And {len(untrue) - MOST_SHOWN} more.")
    lines.append("Finish what is missing, or say plainly what is not done.")
    return "\n".join(lines)
