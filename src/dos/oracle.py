"""Did units of work ship? The oracle for callers of their own; `dos verify` asks the same."""

from collections.abc import Iterable
from pathlib import Path

from dos.verify.candidate import Candidate, Contradiction, Tier
from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.verify.shipped import Answer, Verdict
from dos.world import World

__all__ = [
    "Answer",
    "Ask",
    "Candidate",
    "Contradiction",
    "Tier",
    "Verdict",
    "batch_is_shipped",
    "is_shipped",
]


def is_shipped(plan: str, phase: str, *, workspace: str | Path = ".", ask: Ask = Ask()) -> Verdict:
    return batch_is_shipped([(plan, phase)], workspace=workspace, ask=ask)[plan, phase]


def batch_is_shipped(
    pairs: Iterable[tuple[str, str]], *, workspace: str | Path = ".", ask: Ask = Ask()
) -> dict[tuple[str, str], Verdict]:
    """The verdict on each pair, from one read of history."""
    wanted = list(dict.fromkeys(pairs))
    with World(Path(workspace).absolute(), lenient=True) as world:
        return dict(zip(wanted, verifier.verify(world, wanted, ask), strict=True))
