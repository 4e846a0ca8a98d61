"""The last record of an assistant in a transcript of JSON lines."""

from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.verdicts.recovery.outcome import Evidence

LONGEST_TEXT = 400  # characters of what was said: the beginning of a notice says which it is
LARGEST = 1 << 30
_CONTENT = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image"})


def gather(path: Path) -> Evidence:
    """A line that is not JSON is passed over; a file that cannot be read, or is none, is not readable."""
    last: dict[str, Any] | None = None
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return Evidence(readable=False)
        with path.open("rb") as file:
            for line in file:
                if b"assistant" in line and (found := _assistant(line)):
                    last = found
    except (OSError, ValueError):
        return Evidence(readable=False)
    return Evidence() if last is None else _seen(last)


def _assistant(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.decode(line)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    message = record.get("message") if isinstance(record, dict) else None
    return record if isinstance(message, dict) and message.get("role") == "assistant" else None


def _seen(record: dict[str, Any]) -> Evidence:
    message: dict[str, Any] = record["message"]
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [content] if isinstance(content, str) else [_said(block) for block in blocks]
    text = "".join(texts).strip()
    return Evidence(
        found=True,
        model=_text(message.get("model")),
        stop_reason=_text(message.get("stop_reason")),
        is_api_error=record.get("isApiErrorMessage") is True,
        api_status=_status(record.get("apiErrorStatus")),
        text=text[:LONGEST_TEXT],
        has_content=bool(text) or any(isinstance(block, dict) and block.get("type") in _CONTENT for block in blocks),
    )


def _said(block: Any) -> str:
    return _text(block.get("text")) if isinstance(block, dict) and block.get("type") == "text" else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _status(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
