"""What Codex asks for, by all that its requests say of it."""

import shlex
from typing import Any

from msgspec import structs

from dos.agents.conversation import Asks
from dos.agents.stream import as_list, as_mapping, as_text, nested

_SHELLS = ("bash", "sh", "zsh", "dash")
Record = dict[str, Any]


def command_asked(identity: str, params: Record) -> Asks:
    """The request for a command, without the shell that Codex wraps around it.

    Beside it Codex lists the parts that it reads the command as; text that is not in the command is
    judged too.
    """
    tool = "Bash"
    if params.get("kind") == "writeStdin":
        tool = "write_stdin"
    command = _inner_command(as_text(params.get("command")))
    parts = [as_mapping(part).get("command") for part in as_list(params.get("commandActions"))]
    # A part of the same text is the same command, without the folder that it may have gone to.
    others = [text for part in parts if (text := as_text(part)) and text not in command]
    if not command and others:
        command = others.pop(0)
    asked = [
        Asks(
            id=identity,
            tool=tool,
            arguments={"command": each},
            command=each,
            cwd=as_text(params.get("cwd")),
        )
        for each in (command, *dict.fromkeys(others))
    ]
    return structs.replace(asked[0], also=tuple(asked[1:]))


def _inner_command(command: str) -> str:
    """What `bash -lc '…'` runs; any other command as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS
    if is_shell and words[1] in ("-c", "-lc"):
        return words[2]
    return command


def changed_paths(changes: list[Any]) -> list[str]:
    """The paths of changes, with those that files are moved to."""
    paths: list[str] = []
    for change in map(as_mapping, changes):
        moved = as_text(nested(change, "kind", "move_path"))
        paths += filter(None, (as_text(change.get("path")), moved))
    return paths
