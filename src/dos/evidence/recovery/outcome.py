"""The last record of an assistant in a transcript."""

from pathlib import Path

from dos.records.unknown import Unknown
from dos.sources import transcripts
from dos.verdicts.recovery.outcome import Evidence

LONGEST_TEXT = 400  # characters of what was said: the beginning of a notice says which it is


def gather(path: str | Path) -> Evidence:
    found = transcripts.read(path)
    if isinstance(found, Unknown):
        return Evidence(readable=False, why=found.why)
    last = found.last
    if last is None:
        return Evidence()
    return Evidence(
        found=True,
        model=last.model,
        stop_reason=last.stop_reason,
        is_api_error=last.is_api_error,
        api_status=last.api_status,
        text=last.text.strip()[:LONGEST_TEXT],
        has_content=last.has_content,
    )
