"""Our hooks in the TOML settings of Codex: a block between two marks, and nothing else changes."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from dos.agenthooks.json_settings import NotPlain, check_hooks, our_entries
from dos.agenthooks.wiring import Host, entry


class Marks(Struct, frozen=True, kw_only=True):
    """The comments around a block of ours."""

    begin: str
    end: str
    begins_with: str  # other versions write another end of that line


MARKS = Marks(
    begin="# >>> dos hooks (managed by `dos hooks install`) >>>",
    end="# <<< dos hooks <<<",
    begins_with="# >>> dos hooks",
)


def install(text: str, host: Host, caller: str, name: str) -> str:
    """Return a file with our block, in place of an older one or at the end.

    Raises NotPlain where the file would not be TOML, or has entries of ours outside of the block.
    """
    if our_entries(parse(uninstall(text, name), name)):
        raise NotPlain(f"{name} calls `dos hook` outside of the block of dos, and was not changed")
    return with_block(text, block(host, caller), name)


def with_block(text: str, block: str, name: str, marks: Marks = MARKS) -> str:
    """Return a file with a block between marks, in place of an older one or at the end.

    Raises NotPlain where the file would not be TOML.
    """
    before, after = split(text, name, marks)
    if before and not before.endswith("\n"):
        before += "\n"
    made = before + block + after
    parse(made, name)
    return made


def uninstall(text: str, name: str) -> str:
    """Return a file without our block."""
    before, after = split(text, name)
    return before + after


def block(host: Host, caller: str) -> str:
    """Return the block: each event once, with its timeout in seconds."""
    lines: list[str] = []
    for number, event in enumerate(host.events):
        if number:
            lines.append("")
        lines += [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]"]
        lines += pairs(entry(host, event, caller))
    return marked(lines)


def pairs(values: Mapping[str, Any]) -> list[str]:
    """Return the lines of plain values. What JSON writes of them is TOML, too."""
    return [f"{key} = {json.dumps(value)}" for key, value in values.items()]


def marked(lines: Iterable[str], marks: Marks = MARKS) -> str:
    """Return lines between marks."""
    return "\n".join([marks.begin, *lines, marks.end]) + "\n"


def split(text: str, name: str, marks: Marks = MARKS) -> tuple[str, str]:
    """Return what stands before and after our block. Raises NotPlain for half a block."""
    lines = text.splitlines(keepends=True)
    begins = [at for at, line in enumerate(lines) if line.strip().startswith(marks.begins_with)]
    ends = [at for at, line in enumerate(lines) if line.strip() == marks.end]
    if not begins and not ends:
        return text, ""
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise NotPlain(f"{name} does not have both marks of the block of dos once")
    return "".join(lines[: begins[0]]), "".join(lines[ends[0] + 1 :])


def parse(text: str, name: str) -> dict[str, Any]:
    """Return the settings of a file. Raises NotPlain for what is no TOML."""
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotPlain(f"{name} with the hooks of dos is no TOML ({error})") from error
    check_hooks(settings, name)
    return settings
