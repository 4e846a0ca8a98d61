"""Findings as people read them: of very many of one kind only the first ones, and how many more there are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

MOST_OF_A_KIND = 20


class OfAKind(Protocol):
    @property
    def kind(self) -> str: ...


Found = TypeVar("Found", bound=OfAKind)


def first_of_each_kind(findings: Sequence[Found]) -> Iterator[tuple[Found, str]]:
    """Those that are shown, each with what has to be said after it: nothing, or how many are left out."""
    all_of = Counter(finding.kind for finding in findings)
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.kind] += 1
        more = all_of[finding.kind] - MOST_OF_A_KIND
        if seen[finding.kind] <= MOST_OF_A_KIND:
            is_last = seen[finding.kind] == MOST_OF_A_KIND and more > 0
            yield finding, f"and {more:,} more of {finding.kind}; --json lists them all" if is_last else ""
