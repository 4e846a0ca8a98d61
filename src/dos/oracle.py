"""The Python API of `dos verify`: whether units of work have shipped, by git's history."""

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
    """Return the verdict on one phase of a plan."""
    return batch_is_shipped([(plan, phase)], workspace=workspace, ask=ask)[plan, phase]


def batch_is_shipped(
    pairs: Iterable[tuple[str, str]], *, workspace: str | Path = ".", ask: Ask = Ask()
) -> dict[tuple[str, str], Verdict]:
    """Return the verdict on each pair of plan and phase, reading history once.

    dos.toml is read leniently. Raises DosError when the repository cannot be read.
    """
    units = list(dict.fromkeys(pairs))
    with World(Path(workspace).absolute(), lenient=True) as world:
        return dict(zip(units, verifier.verify(world, units, ask), strict=True))
