"""May an agent stop on what it said, or does the repository not show what it claims?

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
    Contradiction.OUT_OF_SCOPE: "none of its files were touched",
    Contradiction.REVERTED: "it was reverted",
    Contradiction.REMOVED: "what it added was removed",
    Contradiction.OVERWRITTEN: "what it added was overwritten",
    Contradiction.NOT_MERGED: "it is not on the branch that counts",
    Contradiction.REGISTRY_UNBACKED: "it stands in a list, and no work backs that",
    Contradiction.NEGATED_SUBJECT: "it is called unfinished where it is named",
    Contradiction.CI_RED: "its checks failed",
    Contradiction.CONFIG_DIRTY: "the rules it is judged by were edited",
    Contradiction.REPLACED_OBJECT: "a part of the history was replaced",
}


class CheckedClaim(Struct, frozen=True, kw_only=True):
    """A claim, and what the repository says of it."""

    claim: Claim
    shipped: bool | None  # None: it could not be told
    source: str = "none"
    tier: Tier = Tier.ABSENT
    contradictions: tuple[Contradiction, ...] = ()
    expected: tuple[str, ...] = ()  # the files that the unit declares
    why: str = ""  # it could not be told

    def to_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            **self.claim.to_dict(),
            "shipped": self.shipped,
            "source": self.source,
        }
        row |= {
            "tier": f"T{self.tier:d}",
            "contradictions": [str(each) for each in self.contradictions],
        }
        return row if self.shipped else {**row, "reason": self.missing}

    @property
    def missing(self) -> str:
        """What keeps it from being done."""
        if self.shipped is None:
            return f"cannot be told: {self.why}"
        parts = [
            f"T{self.tier:d} {_REACHED[self.tier]}",
            *(_AGAINST[each] for each in self.contradictions),
        ]
        if self.expected:
            more = " …" if len(self.expected) > MOST_PATHS else ""
            parts.append(
                f"expected in {', '.join(escape_invisible(path) for path in self.expected[:MOST_PATHS])}{more}"
            )
        return "; ".join(parts)

    @property
    def name(self) -> str:
        return escape_invisible(f"{self.claim.plan}/{self.claim.phase}"[:LONGEST_NAME])


class Evidence(Struct, frozen=True, kw_only=True):
    results: tuple[CheckedClaim, ...] = ()
    unread: str = ""  # why what was said could not be read


class Verdict(Struct, frozen=True, kw_only=True):
    ok: bool | None  # None: it may stop, and nobody knows whether what it said is true
    reason: str = ""
    results: tuple[CheckedClaim, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        return self.ok is False

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"ok": self.ok, "results": [row.to_dict() for row in self.results]}
        if self.results:
            found["checked"] = sum(row.shipped is not None for row in self.results)
        if self.reason:
            found["reason"] = self.reason
        if self.warnings:
            found["warnings"] = list(self.warnings)
        return found


def check_claim(claim: Claim, truth: shipped.Verdict) -> CheckedClaim:
    """A name alone is not the work, whatever the workspace takes for shipped elsewhere."""
    untold = truth.answer is shipped.Answer.CANNOT_TELL
    return CheckedClaim(
        claim=claim,
        shipped=None if untold else truth.shipped and truth.tier > Tier.NAMED,
        source=truth.source,
        tier=truth.tier,
        contradictions=truth.contradictions,
        expected=truth.expected,
        why=truth.reason if untold else "",
    )


def judge(seen: Evidence, *, strict: bool = False) -> Verdict:
    """Prose alone is reported, and refuses only where the caller is strict."""
    binding = [row for row in seen.results if row.claim.confident or strict]
    lies = [row for row in binding if row.shipped is False]
    warnings = [f"what was said could not be read: {seen.unread}"] if seen.unread else []
    for row in seen.results:
        if row.shipped is None:
            warnings.append(f"whether {row.name} is done {row.missing}")
        elif not row.shipped and row not in lies:
            warnings.append(f"{row.name} is said to be done: {row.missing}")

    def verdict(ok: bool | None, reason: str = "") -> Verdict:
        return Verdict(ok=ok, reason=reason, results=seen.results, warnings=tuple(warnings))

    if lies:
        return verdict(False, _refusal(lies))
    if seen.unread or any(row.shipped is None for row in binding):
        return verdict(None, "what was said could not be checked")
    return verdict(True)


def _refusal(lies: Sequence[CheckedClaim]) -> str:
    rows = [f"{row.name}: {row.missing}." for row in lies[:MOST_SHOWN]]
    more = [f"And {len(lies) - MOST_SHOWN} more."] if len(lies) > MOST_SHOWN else []
    opening = "You say that this is done, and the repository does not show it."
    closing = "Finish what is missing, or say plainly what is not done."
    return "\n".join([opening, *rows, *more, closing])
