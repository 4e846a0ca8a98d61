"""Witnesses that read files: one file, or two snapshots of a state.

The claimant can write most files; only committed `[evidence] places` are out of its reach.
"""

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
DIGEST = "sha256="
TEXT = "contains="
SEPARATOR = "||"
LOWEST = Accountability.AGENT_AUTHORED


def witness_file(world: World, subject: str) -> EvidenceFacts:
    """Say whether a file exists: `PATH`, `PATH||sha256=HEX` or `PATH||contains=TEXT`."""
    name, _, expected = subject.partition(SEPARATOR)
    shown = quote(name)
    if not name.strip():
        return no_signal(FILE, LOWEST, subject, "no file is named")
    if expected and not expected.startswith((DIGEST, TEXT)):
        why = f"{quote(expected)} is neither {DIGEST}HEX nor {TEXT}TEXT"
        return no_signal(FILE, LOWEST, subject, why)
    path = world.workspace.root / name.strip()
    rung = writable.file_accountability(world, path)
    data = writable.read_bounded(path)
    if isinstance(data, Unknown):
        # pathlib raises for a name that no system can have.
        is_gone = os.path.isdir(path.parent) and not os.path.lexists(path)  # noqa: PTH112
        if is_gone:
            return refute(FILE, rung, subject, f"{shown} is not there")
        return no_signal(FILE, rung, subject, data.why)
    problem = _content_problem(data, expected)
    if problem:
        return refute(FILE, rung, subject, f"{shown} {problem}")
    detail = f"{shown} is there"
    if expected:
        detail += f" with {expected}"
    return attest(FILE, rung, subject, detail)


def _content_problem(data: bytes, expected: str) -> str:
    """Return how the content differs from what is expected, or an empty text."""
    if expected.startswith(DIGEST):
        digest = expected.removeprefix(DIGEST).strip().lower()
        return "" if sha256(data).hexdigest() == digest else "has another digest"
    text = expected.removeprefix(TEXT)
    if text.encode() not in data:
        return f"does not hold {quote(text)}"
    return ""


def witness_snapshots(world: World, subject: str, claimed: str = "") -> EvidenceFacts:
    """Say whether a key changed between two JSON files: `BEFORE||AFTER||KEY`.

    The default key is the claim; `-KEY` means that the key was removed.
    """
    name = state_diff.NAME
    parts = [part.strip() for part in subject.split(SEPARATOR, 2)]
    before, after, key, *_ = [*parts, "", ""]
    key = key or claimed
    if not before or not after or not key.lstrip("-"):
        why = "two files and a key are wanted: BEFORE||AFTER||KEY"
        return no_signal(name, LOWEST, subject, why)
    paths = [world.workspace.root / before, world.workspace.root / after]
    rungs = [writable.file_accountability(world, path) for path in paths]
    rung = min(rungs, key=_rank)
    if rung.is_forgeable:
        why = (
            "whoever claims it can write these files: "
            "no committed [evidence] places holds both of them"
        )
        return no_signal(name, LOWEST, subject, why)
    states = []
    for path in paths:
        state = parse_state(writable.read_bounded(path), path)
        if isinstance(state, Unknown):
            return no_signal(name, rung, subject, state.why)
        states.append(state)
    old, new = states
    is_deletion = key.startswith("-")
    return state_diff.judge(old, new, key.removeprefix("-"), rung, deleted=is_deletion)


def _rank(rung: Accountability) -> int:
    return rung.rank


def parse_state(data: bytes | Unknown, path: Path) -> dict[str, Any] | Unknown:
    """Return the JSON object in the bytes that were read from a path, or why there is none."""
    if isinstance(data, Unknown):
        return data
    try:
        return json.decode(data, type=dict[str, Any])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{path.name} is not a JSON object: {error}")
