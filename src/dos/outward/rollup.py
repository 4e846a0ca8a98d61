"""Counts verdicts by what they are of."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from dos.outward.verdicts import VerdictRecord

DIMENSIONS = ("syscall", "verdict", "run_id", "lane", "source")
# These come first, in this order; all others follow in the order of the alphabet.
FIRST_SYSCALLS = [
    "verify",
    "liveness",
    "productivity",
    "efficiency",
    "arbitrate",
    "reward",
    "breaker",
    "hook_exit",
    "pretool",
    "posttool",
    "stop",
]


class Rollup(Struct, frozen=True, kw_only=True):
    """How often each verdict was given, by the values of one dimension."""

    by: str
    total: int
    corrupt: int
    dimensions: list[str]
    counts: dict[str, dict[str, int]]


def roll_up(records: Iterable[VerdictRecord], *, by: str, corrupt: int) -> Rollup:
    """Return the counts of verdicts by one of `DIMENSIONS`."""
    counters: dict[str, Counter[str]] = {}
    total = 0
    for record in records:
        total += 1
        counters.setdefault(getattr(record, by), Counter())[record.verdict] += 1
    names = sorted(counters)
    if by == "syscall":
        names.sort(key=_syscall_order)
    return Rollup(
        by=by,
        total=total,
        corrupt=corrupt,
        dimensions=names,
        counts={name: dict(sorted(counters[name].items())) for name in names},
    )


def _syscall_order(name: str) -> tuple[int, str]:
    if name in FIRST_SYSCALLS:
        return (FIRST_SYSCALLS.index(name), name)
    return (len(FIRST_SYSCALLS), name)
