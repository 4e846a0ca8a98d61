"""The intent ledger of dos-kernel ≤ 0.30: its records as events of the run that they are about.

Every run had a folder with such a file. A record becomes an event in the run's own stream, so that
a run of that version can be shown, verified and resumed like any other.
"""

from datetime import UTC, datetime

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
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def ledger_run_id(record: Record) -> str:
    """Return the run that a record of an intent ledger is about; "" for any other record."""
    if _text(record, "op") not in OPS or not is_ledger_record(record):
        return ""
    return valid_run_id(_text(record, "run_id"))


def valid_run_id(text: str) -> str:
    """Return the text if it is a run id, else ""."""
    try:
        return validated_run_id(text)
    except NameInvalid:
        return ""


def is_ledger_record(record: Record) -> bool:
    """Whether a record's schema tag allows that it belongs to an intent ledger."""
    tag = record.get("schema")
    return not isinstance(tag, dict) or tag.get("family", FAMILY) == FAMILY


def fact_from_record(record: Record, run: str) -> Fact | None:
    """Return the event that a record stands for; None when it says nothing about a run.

    Fields of a wrong type are treated as missing.
    """
    step, sha = _text(record, "step_id"), _text(record, "sha")
    match record.get("op"):
        case "INTENT":
            return _intent(record, run)
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


def _intent(record: Record, run: str) -> IntentDeclared:
    """Return the declaration of a run's goal and steps."""
    env = record.get("env")
    return IntentDeclared(
        run_id=run,
        goal=_text(record, "goal"),
        plan=_text(record, "plan"),
        phase=_text(record, "phase"),
        start_sha=_text(record, "start_sha"),
        steps=_texts(record.get("declared_steps")),
        regions=_regions(record.get("step_regions")),
        env=env if isinstance(env, dict) else {},
    )


def written_ms(record: Record) -> int | None:
    """Return when a record was written, by its own timestamp; None when that is no time."""
    try:
        written = datetime.fromisoformat(_text(record, "ts")).replace(tzinfo=UTC)
    except ValueError:
        return None
    if not _EARLIEST <= written < _LATEST:
        return None
    return int(written.timestamp() * 1000)


def _text(record: Record, name: str) -> str:
    """Return a field of a record that is a text; "" for anything else."""
    value = record.get(name)
    if isinstance(value, str):
        return value
    return ""


def _texts(value: object) -> list[str]:
    """Return the texts of a list, without entries of other types; nothing for what is no list."""
    if not isinstance(value, list):
        return []
    return [text for text in value if isinstance(text, str)]


def _regions(value: object) -> dict[str, list[str]]:
    """Return the globs of each step; entries that are not lists are left out."""
    if not isinstance(value, dict):
        return {}
    return {step: _texts(globs) for step, globs in value.items() if isinstance(globs, list)}


def _turn(value: object) -> int:
    """Return a turn number; -1 for anything else. A bool is an int to Python, but no turn."""
    if isinstance(value, bool) or not isinstance(value, int):
        return -1
    if not 0 <= value < 1 << 31:
        return -1
    return value
