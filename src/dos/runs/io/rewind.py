"""The turns of a conversation, and what in its run was claimed and not borne out."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import json

from dos.journal.run_state import RunState
from dos.runs.declared import is_done
from dos.runs.io import declared as declared_evidence
from dos.runs.rewind import Checkpoint, Evidence, Finding, Fire
from dos.unknown import Unknown
from dos.world import World

LARGEST = 1 << 30


def gather(world: World, run_id: str, run: RunState, *, fire: str, transcript: str) -> Evidence:
    stamped = run.checkpoint
    path = transcript or (stamped.transcript if stamped else "")
    found = turns(Path(path)) if path else ()
    return Evidence(
        run_id=run_id,
        fire=fire,
        checkpoint=Checkpoint(turn=stamped.turn, digest=stamped.digest) if stamped else None,
        turns=() if isinstance(found, Unknown) else found,
        findings=_findings(world, run_id, run, fire) if fire else (),
    )


def turns(path: Path) -> tuple[str, ...] | Unknown:
    """The digest of each line of a transcript that is not blank, in order."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return Unknown(f"{path} is not a transcript")
        with path.open("rb") as file:
            return tuple(digest(line) for raw in file if (line := raw.strip()))
    except (OSError, ValueError) as error:
        return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")


def digest(turn: bytes | Mapping[str, Any]) -> str:
    """Of a line as it stands; of a record, in the one order that all writers agree on."""
    return sha256(
        turn if isinstance(turn, bytes) else json.encode(turn, order="sorted")
    ).hexdigest()


def _findings(world: World, run_id: str, run: RunState, fire: str) -> tuple[Finding, ...]:
    found = [Finding(kind=Fire.DIVERGED)] if fire == Fire.DIVERGED else []
    for step in declared_evidence.gather(world, run_id, run).steps:
        if (sha := step.verified or step.claimed) and not is_done(step):
            found.append(Finding(kind="VERIFY_NOT_SHIPPED", payload={"sha": sha}))
    return tuple(found)
