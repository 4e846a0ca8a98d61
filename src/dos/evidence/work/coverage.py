"""How each worker of a fan-out ended, from its transcript."""

from collections.abc import Iterable, Sequence
from glob import iglob
from itertools import islice

from dos.evidence.recovery import outcome as ends
from dos.verdicts.recovery import outcome
from dos.verdicts.work.coverage import Returned

MOST = 10_000


def gather(paths: Iterable[str]) -> list[Returned]:
    verdicts = [outcome.judge(ends.gather(path)) for path in paths]
    return [Returned(state=verdict.answer, cause=verdict.cause) for verdict in verdicts]


def matching(pattern: str) -> Sequence[str]:
    """The files that a pattern names, in order; `**` goes down."""
    return sorted(islice(iglob(pattern, recursive=True), MOST + 1))  # noqa: PTH207 - the pattern may be anywhere
