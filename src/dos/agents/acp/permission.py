"""Requests for permission: what the program wants to do, and which of its options answers it.

An option is chosen by its kind: the ids differ from program to program.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dos.agents.adapter import StreamState
from dos.agents.conversation import Asks
from dos.agents.stream import as_list, as_mapping, as_text, nested
from dos.permission.ask import Allow, Answer

# Where programs put the path of a tool call, beside `locations`.
_PATH_KEYS = (
    "path", "file_path", "filePath", "filepath", "fileName", "file", "notebook_path",
    "old_path", "new_path", "source", "destination", "paths", "files",
)  # fmt: skip
_COMMAND_KEYS = ("command", "cmd", "fullCommandText")


class Request(StreamState, frozen=True, kw_only=True):
    """A request for permission that has not been answered."""

    id: Any  # as the program gave it: a number or a text
    options: tuple[dict[str, Any], ...] = ()


def read_request(request_id: object, parameters: dict[str, Any], known: Mapping[str, Any]) -> Asks:
    """What the program wants to do.

    `known` is what it has told of the same tool call before: a request may repeat only a part.
    """
    call = as_mapping(parameters.get("toolCall"))
    raw = {**as_mapping(known.get("rawInput")), **as_mapping(call.get("rawInput"))}
    kind = as_text(call.get("kind")) or as_text(known.get("kind"))
    title = as_text(call.get("title")) or as_text(known.get("title"))
    return Asks(
        id=str(request_id),
        tool=_tool(call, known) or kind or title,
        arguments=raw,
        paths=tuple(dict.fromkeys([*_paths(call), *_paths(known), *_raw_paths(raw)])),
        command=_command(raw) or (title if kind == "execute" else ""),
    )


def _tool(call: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """The program's own name of the tool, where it tells that."""
    for told in (known, call):
        name = as_text(nested(as_mapping(told.get("_meta")), "claudeCode", "toolName"))
        if name:
            return name
    return ""


def _paths(call: Mapping[str, Any]) -> list[str]:
    """The paths of a tool call: where it is at work, and what it shows as changed."""
    places = [*as_list(call.get("locations")), *as_list(call.get("content"))]
    return [path for place in places if (path := as_text(as_mapping(place).get("path")))]


def _raw_paths(raw: Mapping[str, Any]) -> list[str]:
    """The paths in the arguments of a tool."""
    found: list[str] = []
    for key in _PATH_KEYS:
        value = raw.get(key)
        found += [path for path in [value, *as_list(value)] if isinstance(path, str) and path]
    return found


def _command(raw: Mapping[str, Any]) -> str:
    """The command of a shell tool; a list of words is joined as a shell would read it."""
    for key in _COMMAND_KEYS:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        words = [word for word in as_list(value) if isinstance(word, str)]
        if words:
            return _joined(words)
    return ""


def _joined(words: Sequence[str]) -> str:
    import shlex

    if len(words) == 3 and words[1] in ("-c", "-lc") and words[0].endswith("sh"):
        return words[2]
    return shlex.join(words)


def outcome(options: Sequence[Mapping[str, Any]], answer: Answer) -> dict[str, Any]:
    """The outcome to send: allowed once, refused once, else cancelled.

    A program that offers to allow only for good is refused: it would not ask again.
    """
    kinds: tuple[str, ...] = ("reject_once", "reject_always")
    if isinstance(answer, Allow):
        kinds = ("allow_once", *kinds)
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return CANCELLED


CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
