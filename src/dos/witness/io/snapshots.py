"""Two snapshots of a state as JSON objects, and what differs between them."""

from pathlib import Path
from typing import Any

from msgspec import MsgspecError, json

from dos.unknown import Unknown
from dos.witness import state_diff
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, no_signal
from dos.witness.io import writable
from dos.world import World

NAME, SEPARATOR = state_diff.NAME, "||"
LOWEST = Accountability.AGENT_AUTHORED


def witness(world: World, subject: str, claimed: str = "") -> EvidenceFacts:
    """`BEFORE||AFTER||KEY`, the key being what is claimed where it is left out; `-KEY` went away."""
    before, after, key, *_ = [*(part.strip() for part in subject.split(SEPARATOR, 2)), "", ""]
    key = key or claimed
    if not before or not after or not key.lstrip("-"):
        return no_signal(
            NAME, LOWEST, subject, "two files and a key are wanted: BEFORE||AFTER||KEY"
        )
    files = [world.workspace.root / name for name in (before, after)]
    rung = min((writable.rung(world, file) for file in files), key=lambda each: each.rank)
    if rung.is_forgeable:
        why = "whoever claims it can write these files: no committed [evidence] places holds both of them"
        return no_signal(NAME, LOWEST, subject, why)
    states = [state(writable.contents(file), file) for file in files]
    for found in states:
        if isinstance(found, Unknown):
            return no_signal(NAME, rung, subject, found.why)
    one, other = [found for found in states if not isinstance(found, Unknown)]
    return state_diff.judge(one, other, key.removeprefix("-"), rung, deleted=key.startswith("-"))


def state(data: bytes | Unknown, path: Path) -> dict[str, Any] | Unknown:
    """From the very bytes that were read."""
    if isinstance(data, Unknown):
        return data
    try:
        return json.decode(data, type=dict[str, Any])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{path.name} is not a JSON object: {error}")
