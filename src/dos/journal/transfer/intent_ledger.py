"""The intent ledger of released versions: its records as facts of the run that they are about. Pure."""

from datetime import UTC, datetime
from typing import Any

from dos.errors import NameInvalid
from dos.journal.events.envelope import Fact
from dos.journal.events.runs import (
    IntentDeclared,
    ResumeProposed,
    RunSuspended,
    StepClaimed,
    StepVerified,
)
from dos.journal.transfer.lane_log import Record
from dos.run_ids import validated_run_id

FAMILY = "intent-ledger"
OPS = frozenset({"INTENT", "STEP_CLAIMED", "STEP_VERIFIED", "SUSPEND", "RESUME_PROPOSED"})
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def ledger_run_id(record: Record) -> str:
    """The run that a record of such a ledger says it is about; empty for any other record."""
    return (
        valid_run_id(_text(record, "run_id"))
        if _text(record, "op") in OPS and is_ledger_record(record)
        else ""
    )


def valid_run_id(text: str) -> str:
    try:
        return validated_run_id(text)
    except NameInvalid:
        return ""


def is_ledger_record(record: Record) -> bool:
    tag = record.get("schema")
    return not isinstance(tag, dict) or tag.get("family", FAMILY) == FAMILY


def fact_from_record(record: Record, run: str) -> Fact | None:
    """What a record says; None when it says nothing of a run. Fields of the wrong type were never written."""
    step, sha = _text(record, "step_id"), _text(record, "sha")
    match record.get("op"):
        case "INTENT":
            return IntentDeclared(
                run_id=run,
                goal=_text(record, "goal"),
                plan=_text(record, "plan"),
                phase=_text(record, "phase"),
                start_sha=_text(record, "start_sha"),
                steps=_texts(record.get("declared_steps")),
                regions=_regions(record.get("step_regions")),
                env=found if isinstance(found := record.get("env"), dict) else {},
            )
        case "STEP_CLAIMED" if step:
            return StepClaimed(run_id=run, step=step, sha=sha)
        case "STEP_VERIFIED" if step:
            verdicts = _texts(record.get("verdicts"))
            return StepVerified(
                run_id=run, step=step, sha=sha, via=_text(record, "via"), verdicts=verdicts
            )
        case "SUSPEND":
            return RunSuspended(
                run_id=run,
                reason=_text(record, "reason"),
                resume_sha=_text(record, "resume_sha") or sha,
                residual=_texts(record.get("residual")),
                checkpoint_turn=_turn(record.get("checkpoint_turn")),
                transcript_digest=_text(record, "transcript_digest"),
            )
        case "RESUME_PROPOSED":
            return ResumeProposed(
                run_id=run,
                predecessor=_text(record, "predecessor_run_id"),
                resume_sha=_text(record, "resume_sha"),
                residual=_texts(record.get("residual")),
            )
    return None


def written_ms(record: Record) -> int | None:
    """When it was written, by its own stamp; None when that is no time."""
    try:
        at = datetime.fromisoformat(_text(record, "ts")).replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(at.timestamp() * 1000) if datetime(1970, 1, 1, tzinfo=UTC) <= at < _LATEST else None


def _text(record: Record, name: str) -> str:
    found = record.get(name)
    return found if isinstance(found, str) else ""


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _regions(value: object) -> dict[str, list[str]]:
    found: dict[Any, Any] = value if isinstance(value, dict) else {}
    return {step: _texts(globs) for step, globs in found.items() if isinstance(globs, list)}


def _turn(value: object) -> int:
    is_turn = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
    return value if isinstance(value, int) and is_turn else -1
