"""Ticks of the supervisor, written short."""

import re
from typing import Any

from dos.population import (
    LaneLiveness,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
    supervise,
)

STATES = {
    "A": "ADVANCING",
    "SP": "SPINNING",
    "ST": "STALLED",
    "?": "UNKNOWN",
    "-": None,
    "pending": None,
}
TREES = {"ALL": ("**/*",), "()": ()}


def roster(text: str) -> SuperviseEvidence:
    """`a A s/** E, b SP`: a lane, its state, its tree (of its own name when not given), E
    exclusive, R repeatable.
    """
    return SuperviseEvidence(
        lanes=tuple(lane(*words.split()) for words in filter(str.strip, text.split(",")))
    )


def lane(name: str, state: str = "-", *words: str) -> LaneLiveness:
    flags = {word for word in words if word in ("E", "R")}
    tree = next(
        (TREES.get(word, (word,)) for word in words if word not in flags and not word.isdecimal()),
        None,
    )
    age = next((int(word) for word in words if word.isdecimal()), None)
    stalled_too = state == "pending+ST"
    return LaneLiveness(
        lane=name,
        liveness="STALLED" if stalled_too else STATES[state],
        tree=(f"{name}/**",) if tree is None else tree,
        is_exclusive="E" in flags,
        repeatable="R" in flags,
        pending=state.startswith("pending"),
        spinning_age_ms=age,
    )


def tick(text: str, target: int, **policy: Any) -> SuperviseVerdict:
    seen = roster(text)
    return supervise(SuperviseEvidence(lanes=seen.lanes, target=target), SupervisePolicy(**policy))


def names(rows: Any) -> str:
    """`a b auto*3`"""
    listed = " ".join(row.lane for row in rows)
    return re.sub(
        r"\b(\S+)(?: \1)+(?=\s|$)", lambda found: f"{found[1]}*{len(found[0].split())}", listed
    )
