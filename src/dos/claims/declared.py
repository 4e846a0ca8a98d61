"""Which units does an agent say are done?

Strongest first: what its caller names, a line that it wrote to be checked, and prose, which is only a hint.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

from dos.claims import prose

LONGEST_TEXT = 1 << 20  # characters of prose, from the end: what was said last
LONGEST_RAW = 200
_MARKER = re.compile(r"[ \t>*-]*DOS-CLAIM:[ \t]*(\S+)[ \t]+(\S+)[ \t]*")


class Rung(StrEnum):
    FRONTMATTER = "frontmatter"  # the caller names plan and phase
    MARKER = "marker"  # a line of its own
    HEURISTIC = "heuristic"  # a sentence


class Claim(Struct, frozen=True, kw_only=True):
    plan: str
    phase: str
    rung: Rung
    raw: str

    @property
    def confident(self) -> bool:
        return self.rung is not Rung.HEURISTIC

    def to_dict(self) -> dict[str, Any]:
        return {**to_builtins(self), "confident": self.confident}


def extract(text: str, *, plan: str = "", phase: str = "") -> tuple[Claim, ...]:
    """Each unit once, by the strongest rung that names it."""
    found: dict[tuple[str, str], Claim] = {}
    for claim in _all(text, plan.strip(), phase.strip()):
        found.setdefault((claim.plan, claim.phase), claim)
    return tuple(found.values())


def _all(text: str, plan: str, phase: str) -> Iterator[Claim]:
    if plan and phase:
        yield Claim(plan=plan, phase=phase, rung=Rung.FRONTMATTER, raw=f"{plan} {phase}")
    for line in text.splitlines():
        if "DOS-CLAIM:" in line and (marked := _MARKER.fullmatch(line)):
            phase_named = marked[2].rstrip("*`")
            if phase_named:
                yield Claim(
                    plan=marked[1],
                    phase=phase_named,
                    rung=Rung.MARKER,
                    raw=line.strip()[:LONGEST_RAW],
                )
    for name, line in prose.units_said_done(text[-LONGEST_TEXT:]):
        yield Claim(plan=name.plan, phase=name.unit, rung=Rung.HEURISTIC, raw=line[:LONGEST_RAW])
