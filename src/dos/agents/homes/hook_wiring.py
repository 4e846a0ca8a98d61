"""What a private home has so that its program asks the worker by hooks before it uses a tool.

The hooks are in the home and not in the work tree, and the settings of the repository are not
read: a repository could switch them off, or have programs of its own asked instead.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import DecodeError, Struct, json

from dos.agenthooks.events import Moment
from dos.agenthooks.socket_protocol import SOCKET_VARIABLE
from dos.permission.refusals import NO_ANSWER
from dos.permission.tools import READERS

_GEMINI_SETTINGS = ".gemini/settings.json"
_GEMINI_EXTENSION = ".gemini/extensions/dos"
_OPENCODE_SETTINGS = ".config/opencode/opencode.json"
_OPENCODE_PLUGIN = ".config/opencode/plugins/dos.js"
_HELD_OPEN_MS = 2_000_000_000  # 23 days: a hook that its program gives up on counts as a yes
LONGEST_WAIT_SECONDS = 20 * 86_400.0  # of a hook for a person: well before that
# What a repository can have in a `.env` that its program loads: other code in the hook's process.
_OTHER_CODE = ("BASH_ENV", "ENV", "LD_AUDIT", "LD_PRELOAD")


class Worker(Struct, frozen=True, kw_only=True):
    """What the hooks of an agent need to know of their worker."""

    socket: str
    shim: tuple[str, ...]  # the words that ask it, before the moment and the dialect
    plugin: str  # the text of the plugin for opencode
    instructions: tuple[str, ...] = ()  # files in the work tree that the model is to be told


class Wiring(Struct, frozen=True, kw_only=True):
    """Files of the home by their path in it, and variables that nothing replaces."""

    files: dict[str, str]
    variables: dict[str, str]


def wire(program: str, worker: Worker, read: Callable[[str], str]) -> Wiring:
    """Return what to write for a program of PROGRAMS; `read` returns a file of the home, or ""."""
    return _WIRINGS[program](worker, read)


def _gemini(worker: Worker, read: Callable[[str], str]) -> Wiring:
    """An extension: its hooks run although the folder is not trusted.

    `--skip-trust` alone trusts it, and that after the settings were read: those of the repository
    and its `.env` are left out, so no variable may say that the folder is trusted.
    """
    settings = _object(read(_GEMINI_SETTINGS))
    security = settings.get("security")
    settings["security"] = {
        **(security if isinstance(security, dict) else {}),
        "folderTrust": {"enabled": True},
    }
    settings["hooksConfig"] = {"enabled": True}
    hooks = {
        "BeforeTool": [_gemini_group(worker, Moment.PRETOOL, _not_reading())],
        "AfterTool": [_gemini_group(worker, Moment.POSTTOOL)],
    }
    return Wiring(
        files={
            _GEMINI_SETTINGS: _text(settings),
            f"{_GEMINI_EXTENSION}/gemini-extension.json": _text(
                {"name": "dos", "version": "1.0.0"}
            ),
            f"{_GEMINI_EXTENSION}/hooks/hooks.json": _text({"hooks": hooks}),
        },
        variables={SOCKET_VARIABLE: worker.socket, "GEMINI_CLI_TRUST_WORKSPACE": ""},
    )


def _gemini_group(worker: Worker, moment: Moment, matcher: str = "*") -> dict[str, Any]:
    """One hook. Where its command cannot run, exit code 2 refuses what was asked for."""
    command = shlex.join([*worker.shim, moment, "gemini"])
    if moment is Moment.PRETOOL:
        command += f" || {{ echo {shlex.quote(NO_ANSWER)} >&2; exit 2; }}"
    else:
        command += " 2>/dev/null || true"
    hook = {
        "type": "command",
        "name": "dos",
        "command": command,
        "timeout": _HELD_OPEN_MS,
        "env": {SOCKET_VARIABLE: worker.socket, **dict.fromkeys(_OTHER_CODE, "")},
    }
    return {"matcher": matcher, "hooks": [hook]}


def _not_reading() -> str:
    """The pattern of all tools but those that only read: they go on when nobody answers."""
    return f"^(?!(?:{'|'.join(sorted(READERS))})$)"


def _opencode(worker: Worker, read: Callable[[str], str]) -> Wiring:
    """A plugin of the home. Without the repository's settings its instructions are named here."""
    settings = _object(read(_OPENCODE_SETTINGS))
    settings["instructions"] = list(worker.instructions)
    return Wiring(
        files={_OPENCODE_SETTINGS: _text(settings), _OPENCODE_PLUGIN: worker.plugin},
        variables={
            SOCKET_VARIABLE: worker.socket,
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_PURE": "0",  # "1" would leave plugins out
        },
    )


_WIRINGS: Mapping[str, Callable[[Worker, Callable[[str], str]], Wiring]] = {
    "gemini": _gemini,
    "opencode": _opencode,
}
PROGRAMS: Sequence[str] = tuple(_WIRINGS)  # the adapters whose program asks by hooks


def _object(text: str) -> dict[str, Any]:
    """The object in a file that the home got from a filter; an empty one where there is none."""
    try:
        found = json.decode(text)
    except DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: dict[str, Any]) -> str:
    return json.encode(value).decode()
