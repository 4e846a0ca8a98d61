"""Reads what an agent said last from a transcript in JSON lines.

It knows the transcripts of Claude Code, Codex, Gemini and opencode. Lines that are not JSON are
skipped, also a last line that is torn. The end of a long file is read first.
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
TAIL = 4 << 20  # bytes at the end, which nearly always hold the last turns
LONGEST_LINE = 64 << 20  # a longer line is skipped
MOST_TURNS = 1000
_DELTA = " delta "  # stands for the id of a message that comes in pieces without one
_CONTENT = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image"})
_RESULTS = frozenset(
    {"tool_result", "tool_use", "command_execution", "mcp_tool_call", "file_change"}
)


class Message(Struct, frozen=True, kw_only=True):
    """One message of an assistant; a program may write it on many lines, under one id."""

    id: str = ""
    text: str = ""
    model: str = ""
    stop_reason: str = ""
    is_api_error: bool = False
    api_status: int | None = None
    has_content: bool = False


class Transcript(Struct, frozen=True, kw_only=True):
    """The end of a conversation: its last messages, and the tool results after them."""

    last: Message | None = None  # may be empty
    messages: tuple[Message, ...] = ()  # the last few that are not empty, oldest first
    results_after: int = 0  # tool results after the last message with text

    @property
    def text(self) -> str:
        """The messages, one below the other."""
        return "\n".join(message.text for message in self.messages)


def read(path: str | Path, *, last_turns: int = 1) -> Transcript | Unknown:
    """Return the last turns of a conversation, or why they are unknown; a missing file is.

    Of a large file only the end is read, unless the turns begin before it.
    """
    turns = min(last_turns, MOST_TURNS)
    try:
        file = Path(path)
        if not file.exists():
            return Unknown("it does not exist")
        if not file.is_file():
            return Unknown("it is not a file")
        size = file.stat().st_size
        if size > LARGEST:
            return Unknown(f"it is larger than {LARGEST >> 30} GiB")
        if size > TAIL:
            found = _scan(file, size - TAIL, turns + 1)
            # The first message may have begun before the part that was read.
            if len(found.messages) > turns:
                return replace(found, messages=found.messages[-turns:])
        return _scan(file, 0, turns)
    except OSError as error:
        return Unknown(error.strerror or type(error).__name__)


class _Scanner:
    """Joins the lines of a transcript to messages, and keeps the last few."""

    def __init__(self, turns: int) -> None:
        self._messages: deque[Message] = deque(maxlen=turns)
        self._last: Message | None = None
        self._pieces: list[str] = []  # of the message that is being read
        self._results = 0

    def read(self, record: dict[str, Any]) -> None:
        """Read one line of the transcript."""
        message = _message(record)
        if message is None:
            self._read_other(record)
            return
        if self._last is None or not message.id or message.id != self._last.id:
            self._end_message()
            self._pieces = []
        self._pieces.append(message.text)
        self._last = message
        if message.text.strip():
            self._results = 0

    def _read_other(self, record: dict[str, Any]) -> None:
        """Count a tool result; whatever comes between pieces without an id ends their message."""
        self._results += _is_result(record)
        if self._last and self._last.id == _DELTA:
            self._end_message()
            self._last = replace(self._last, id="")
            self._pieces = []

    def _end_message(self) -> None:
        """Keep the message that was being read, if it has any text."""
        if self._last is None:
            return
        separator = "" if self._last.id == _DELTA else "\n"
        text = separator.join(piece for piece in self._pieces if piece)
        if text.strip():
            self._last = replace(self._last, text=text)
            self._messages.append(self._last)

    def end(self) -> Transcript:
        """Return what was read."""
        self._end_message()
        return Transcript(
            last=self._last, messages=tuple(self._messages), results_after=self._results
        )


def _scan(path: Path, start: int, turns: int) -> Transcript:
    """Read a transcript from an offset to its end."""
    scanner = _Scanner(turns)
    for record in _records(path, start):
        scanner.read(record)
    return scanner.end()


def _records(path: Path, start: int) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of the lines that begin after an offset."""
    with path.open("rb") as file:
        file.seek(start)
        begins_line = start == 0  # in the middle of a file, the rest of a line comes first
        while line := file.readline(LONGEST_LINE):
            ends_line = line.endswith(b"\n")
            is_complete = ends_line or len(line) < LONGEST_LINE
            if begins_line and is_complete:
                record = _record(line)
                if record is not None:
                    yield record
            begins_line = ends_line


def _record(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None for a line that holds none."""
    try:
        found = json.decode(line)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(found, dict):
        return found
    return None


def _message(record: dict[str, Any]) -> Message | None:
    """Return the assistant's message on a line, in the words of each program; None for others.

    The order is Claude Code, Codex, Gemini, opencode.
    """
    message = record.get("message")
    if isinstance(message, dict) and message.get("role") == "assistant":
        return _block_message(record, message)
    kind = record.get("type")
    item = record.get("item")
    if kind == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
        return _plain(_text(item.get("text")), _text(item.get("id")))
    if kind == "message" and record.get("role") == "assistant":
        message_id = _DELTA if record.get("delta") is True else ""
        return _plain(_text(record.get("content")), message_id)
    part = record.get("part")
    if isinstance(part, dict) and part.get("type") == "text":
        return _plain(_text(part.get("text")), _text(part.get("messageID")))
    return None


def _block_message(record: dict[str, Any], message: dict[str, Any]) -> Message:
    """Return a message whose content is a text or a list of blocks."""
    content = message.get("content")
    blocks: list[dict[str, Any]] = []
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
    if isinstance(content, str):
        text = content
    else:
        texts = [_text(block.get("text")) for block in blocks if block.get("type") == "text"]
        text = "\n".join(filter(None, texts))
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
    """Return a message of which only the text is known."""
    return Message(id=message_id, text=text, has_content=bool(text.strip()))


def _is_result(record: dict[str, Any]) -> bool:
    """Whether a line holds the result of a tool."""
    kind = record.get("type")
    if kind in _RESULTS:
        return True
    item = record.get("item")
    if isinstance(item, dict):
        return kind == "item.completed" and item.get("type") in _RESULTS
    message = record.get("message")
    if not isinstance(message, dict):
        return False
    blocks = message.get("content")
    if not isinstance(blocks, list):
        return False
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def _text(value: Any) -> str:
    """Return a text, or an empty one for a value of another type."""
    if isinstance(value, str):
        return value
    return ""


def _status(value: Any) -> int | None:
    """Return an HTTP status that was written as a number or as digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return None


# How conversations ended

LONGEST_TEXT = 400  # characters of the last message: its beginning tells which notice it is
MOST = 10_000  # files that a pattern may name


def read_outcome(path: str | Path) -> Evidence:
    """Return how the conversation in a transcript ended.

    A transcript without a message of the assistant is evidence too: the agent died before it
    answered.
    """
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


def read_outcomes(paths: Iterable[str]) -> list[WorkerResult]:
    """Return how the workers of these transcripts ended, in the same order."""
    outcomes = []
    for path in paths:
        verdict = result.judge(read_outcome(path))
        outcomes.append(WorkerResult(state=verdict.answer, cause=verdict.cause))
    return outcomes


def matching_files(pattern: str) -> Sequence[str]:
    """Return the files that a glob names, sorted; more than `MOST` of them are cut off."""
    paths = iglob(pattern, recursive=True)  # noqa: PTH207 - the pattern may be anywhere
    return sorted(islice(paths, MOST + 1))
