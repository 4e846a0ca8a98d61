"""Tell Codex to trust the hooks that dos wrote: it skips all others without a word."""

import subprocess
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, convert, json

from dos.unknown import Unknown
from dos.version import VERSION

SECONDS = 60


class Hook(Struct, frozen=True, rename="camel"):
    """One hook that Codex found, as far as it is read here."""

    key: str
    current_hash: str
    command: str | None = None  # other kinds of hooks have none
    trust_status: str = ""


class FolderHooks(Struct, frozen=True):
    """The hooks that count in one folder."""

    hooks: tuple[Hook, ...] = ()


class HookList(Struct, frozen=True):
    """The answer to `hooks/list`."""

    data: tuple[FolderHooks, ...] = ()


def trust(
    program: str, tree: Path, environment: Mapping[str, str], commands: Collection[str]
) -> list[str] | Unknown:
    """Trust the hooks of a work tree whose command is one of these, byte for byte.

    Returns their keys, or why that failed. None is listed where Codex does not trust the folder
    itself: only its user can do that. Every other hook, however much it looks like one of ours, was
    written by somebody else, who could have landed it.
    """
    requests: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"clientInfo": {"name": "dos", "version": VERSION}}),
        ("hooks/list", {"cwds": [str(tree)]}),
    ]
    answers = _converse(program, tree, environment, requests)
    if isinstance(answers, Unknown):
        return answers
    try:
        listed = convert(answers[1], type=HookList)
    except ValidationError as error:
        return Unknown(f"codex app-server lists its hooks in a form of its own: {error}")
    ours = [hook for each in listed.data for hook in each.hooks if hook.command in commands]
    untrusted = [hook for hook in ours if hook.trust_status != "trusted"]
    if untrusted:
        value = {hook.key: {"trusted_hash": hook.current_hash} for hook in untrusted}
        edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
        written = _converse(
            program, tree, environment, [requests[0], ("config/batchWrite", {"edits": [edit]})]
        )
        if isinstance(written, Unknown):
            return written
    return [hook.key for hook in ours]


def is_trusted(home: Path, file: Path) -> bool:
    """Whether the user's settings of Codex trust the hooks of a file, as far as they tell."""
    try:
        settings = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
        state = settings["hooks"]["state"]
        return any(str(key).startswith(f"{file}:") for key in state)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _converse(
    program: str,
    tree: Path,
    environment: Mapping[str, str],
    requests: list[tuple[str, dict[str, Any]]],
) -> list[dict[str, Any]] | Unknown:
    """Send requests to `codex app-server`, each after the answer to the one before."""
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            cwd=tree,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        return Unknown(f"{program} does not start: {error.strerror}")
    assert process.stdin is not None and process.stdout is not None
    from threading import Timer

    timer = Timer(SECONDS, process.kill)
    timer.start()
    answers: list[dict[str, Any]] = []
    try:
        for number, (method, parameters) in enumerate(requests):
            request = {"id": number, "method": method, "params": parameters}
            process.stdin.write(json.encode(request) + b"\n")
            process.stdin.flush()
            answer = _answer(process.stdout, number)
            if isinstance(answer, Unknown):
                return answer
            answers.append(answer)
            if number == 0:
                process.stdin.write(b'{"method":"initialized"}\n')
    except OSError as error:
        return Unknown(f"codex app-server ended: {error.strerror}")
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
    return answers


def _answer(lines: Any, number: int) -> dict[str, Any] | Unknown:
    """Read up to the answer to one request; other messages are not for us."""
    for line in lines:
        try:
            message = json.decode(line)
        except DecodeError:
            continue
        if not isinstance(message, dict) or message.get("id") != number:
            continue
        if "error" in message:
            error = message["error"]
            words = error.get("message") if isinstance(error, dict) else error
            return Unknown(f"codex app-server: {words or 'an error'}")
        result = message.get("result")
        return result if isinstance(result, dict) else {}
    return Unknown("codex app-server ended without an answer")
