"""Is a file there, with a digest or a text in it? Most files are in reach of whoever claims something about them."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, json

from dos.text import quote
from dos.unknown import Unknown
from dos.witness import state_diff
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io import writable
from dos.world import World

FILE = "file"
DIGEST, TEXT = "sha256=", "contains="


def witness_file(world: World, subject: str) -> EvidenceFacts:
    """`PATH`, `PATH||sha256=HEX` or `PATH||contains=TEXT`."""
    name, _, wanted = subject.partition(SEPARATOR)
    if not name.strip():
        return no_signal(FILE, Accountability.AGENT_AUTHORED, subject, "no file is named")
    if wanted and not wanted.startswith((DIGEST, TEXT)):
        why = f"{quote(wanted)} is neither {DIGEST}HEX nor {TEXT}TEXT"
        return no_signal(FILE, Accountability.AGENT_AUTHORED, subject, why)
    path = world.workspace.root / name.strip()
    rung = writable.file_accountability(world, path)
    data = writable.read_bounded(path)
    if isinstance(data, Unknown):
        # pathlib raises for a name that no system can have.
        gone = os.path.isdir(path.parent) and not os.path.lexists(path)  # noqa: PTH112
        said = f"{quote(name)} is not there"
        return (
            refute(FILE, rung, subject, said) if gone else no_signal(FILE, rung, subject, data.why)
        )
    if (
        wanted.startswith(DIGEST)
        and sha256(data).hexdigest() != wanted.removeprefix(DIGEST).strip().lower()
    ):
        return refute(FILE, rung, subject, f"{quote(name)} has another digest")
    if wanted.startswith(TEXT) and wanted.removeprefix(TEXT).encode() not in data:
        return refute(
            FILE, rung, subject, f"{quote(name)} does not hold {quote(wanted.removeprefix(TEXT))}"
        )
    return attest(
        FILE, rung, subject, f"{quote(name)} is there{f' with {wanted}' if wanted else ''}"
    )


LOWEST = Accountability.AGENT_AUTHORED
SEPARATOR = "||"


def witness_snapshots(world: World, subject: str, claimed: str = "") -> EvidenceFacts:
    """`BEFORE||AFTER||KEY`, the key being what is claimed where it is left out; `-KEY` went away."""
    before, after, key, *_ = [*(part.strip() for part in subject.split(SEPARATOR, 2)), "", ""]
    key = key or claimed
    if not before or not after or not key.lstrip("-"):
        return no_signal(
            state_diff.NAME, LOWEST, subject, "two files and a key are wanted: BEFORE||AFTER||KEY"
        )
    files = [world.workspace.root / name for name in (before, after)]
    rung = min(
        (writable.file_accountability(world, file) for file in files), key=lambda each: each.rank
    )
    if rung.is_forgeable:
        why = "whoever claims it can write these files: no committed [evidence] places holds both of them"
        return no_signal(state_diff.NAME, LOWEST, subject, why)
    states = [parse_state(writable.read_bounded(file), file) for file in files]
    for found in states:
        if isinstance(found, Unknown):
            return no_signal(state_diff.NAME, rung, subject, found.why)
    one, other = [found for found in states if not isinstance(found, Unknown)]
    return state_diff.judge(one, other, key.removeprefix("-"), rung, deleted=key.startswith("-"))


def parse_state(data: bytes | Unknown, path: Path) -> dict[str, Any] | Unknown:
    """From the very bytes that were read."""
    if isinstance(data, Unknown):
        return data
    try:
        return json.decode(data, type=dict[str, Any])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{path.name} is not a JSON object: {error}")
