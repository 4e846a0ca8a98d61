"""What an agent said last, from a conversation in JSON lines: of Claude Code, Codex, Gemini or opencode.

A line that is not JSON is passed over, and so is a last one that is torn. The end of a long file is read first.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from dos.claims import result
from dos.claims.coverage import WorkerResult
from dos.claims.result import Evidence
from dos.unknown import Unknown

LARGEST = 1 << 30
TAIL = 4 << 20  # bytes at the end that nearly always hold what is asked for
LONGEST_LINE = 64 << 20  # a longer one is passed over
MOST_TURNS = 1000
_DELTA = " delta "  # the id of what comes in pieces and has none; whatever comes between ends it
_CONTENT = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image"})
_RESULTS = frozenset(
    {"tool_result", "tool_use", "command_execution", "mcp_tool_call", "file_change"}
)


class Message(Struct, frozen=True, kw_only=True):
    """One message of an assistant. A program may write it on many lines, under one id."""

    id: str = ""
    text: str = ""
    model: str = ""
    stop_reason: str = ""
    is_api_error: bool = False
    api_status: int | None = None
    has_content: bool = False


class Transcript(Struct, frozen=True, kw_only=True):
    last: Message | None = None  # also one that says nothing
    messages: tuple[Message, ...] = ()  # the last few that say something, oldest first
    results_after: int = 0  # tool results that came after the last thing said

    @property
    def text(self) -> str:
        return "\n".join(message.text for message in self.messages)


def read(path: str | Path, *, last_turns: int = 1) -> Transcript | Unknown:
    """The last turns of a conversation. A missing file is not an empty one."""
    turns = min(last_turns, MOST_TURNS)
    try:
        file = Path(path)
        if not file.is_file():
            return Unknown("it is not a file" if file.exists() else "it is not there")
        size = file.stat().st_size
        if size > LARGEST:
            return Unknown(f"it is larger than {LARGEST >> 30} GiB")
        if size > TAIL:
            found = _scan(file, size - TAIL, turns + 1)
            if (
                len(found.messages) > turns
            ):  # the first may have begun before the part that was read
                return replace(found, messages=found.messages[-turns:])
        return _scan(file, 0, turns)
    except OSError as error:
        return Unknown(error.strerror or type(error).__name__)


def _scan(path: Path, start: int, turns: int) -> Transcript:
    said: deque[Message] = deque(maxlen=turns)
    last: Message | None = None
    pieces: list[str] = []  # of the message that is being said
    results = 0

    def end() -> None:
        nonlocal last
        if (
            last
            and (
                text := ("" if last.id == _DELTA else "\n").join(piece for piece in pieces if piece)
            ).strip()
        ):
            last = replace(last, text=text)
            said.append(last)

    for record in _records(path, start):
        message = _message(record)
        if message is None:
            results += _is_result(record)
            if last and last.id == _DELTA:
                end()
                last, pieces = replace(last, id=""), []
            continue
        if last is None or not message.id or message.id != last.id:
            end()
            pieces = []
        pieces.append(message.text)
        last = message
        results = 0 if message.text.strip() else results
    end()
    return Transcript(last=last, messages=tuple(said), results_after=results)


def _records(path: Path, start: int) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        file.seek(start)
        whole = start == 0  # what comes first in the middle of a file is the rest of a line
        while line := file.readline(LONGEST_LINE):
            ends = line.endswith(b"\n")
            if (
                whole
                and (ends or len(line) < LONGEST_LINE)
                and (record := _record(line)) is not None
            ):
                yield record
            whole = ends


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.decode(line)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _message(record: dict[str, Any]) -> Message | None:
    """By who speaks, in each program's own words."""
    message, item, part = record.get("message"), record.get("item"), record.get("part")
    if isinstance(message, dict) and message.get("role") == "assistant":
        return _of_blocks(record, message)
    if (
        isinstance(item, dict)
        and item.get("type") == "agent_message"
        and record.get("type") == "item.completed"
    ):
        return _plain(_text(item.get("text")), _text(item.get("id")))
    if record.get("type") == "message" and record.get("role") == "assistant":
        return _plain(_text(record.get("content")), _DELTA if record.get("delta") is True else "")
    if isinstance(part, dict) and part.get("type") == "text":
        return _plain(_text(part.get("text")), _text(part.get("messageID")))
    return None


def _of_blocks(record: dict[str, Any], message: dict[str, Any]) -> Message:
    content = message.get("content")
    blocks = (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )
    said = [_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = content if isinstance(content, str) else "\n".join(filter(None, said))
    return Message(
        id=_text(message.get("id")),
        text=text,
        model=_text(message.get("model")),
        stop_reason=_text(message.get("stop_reason")),
        is_api_error=record.get("isApiErrorMessage") is True,
        api_status=_status(record.get("apiErrorStatus")),
        has_content=bool(text.strip()) or any(block.get("type") in _CONTENT for block in blocks),
    )


def _plain(text: str, message_id: str) -> Message:
    return Message(id=message_id, text=text, has_content=bool(text.strip()))


def _is_result(record: dict[str, Any]) -> bool:
    message, item = record.get("message"), record.get("item")
    if record.get("type") in _RESULTS:
        return True
    if isinstance(item, dict):
        return record.get("type") == "item.completed" and item.get("type") in _RESULTS
    blocks = message.get("content") if isinstance(message, dict) else None
    return isinstance(blocks, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _status(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


LONGEST_TEXT = 400  # characters of what was said: the beginning of a notice says which it is


def read_outcome(path: str | Path) -> Evidence:
    found = read(path)
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


MOST = 10_000


def read_outcomes(paths: Iterable[str]) -> list[WorkerResult]:
    verdicts = [result.judge(read_outcome(path)) for path in paths]
    return [WorkerResult(state=verdict.answer, cause=verdict.cause) for verdict in verdicts]


def matching_files(pattern: str) -> Sequence[str]:
    """The files that a pattern names, in order; `**` goes down."""
    return sorted(islice(iglob(pattern, recursive=True), MOST + 1))  # noqa: PTH207 - the pattern may be anywhere
