"""Tell an agent program of the MCP server of dos, in its settings file of this repository."""

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.agenthooks.io.own_command import dos_command, works_outside_of
from dos.agenthooks.json_settings import NotPlain
from dos.errors import BadInput
from dos.machine import filesystem
from dos.mcp import hosts
from dos.mcp.hosts import Host
from dos.text import LONGEST_PATH, quote


class ServerReport(Struct, frozen=True, kw_only=True):
    """What was done for one program."""

    host: str
    file: str
    changed: bool = False
    is_new: bool = False  # there was no such file
    text: str = ""  # the file as it is or would be
    refused: str = ""  # why it was not changed
    patch: str = ""  # what a person adds by hand, where it was refused
    undo: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "file": self.file,
            "changed": self.changed,
            "refused": self.refused,
            "undo": self.undo,
            "note": self.note,
        }

    def lines(self, *, dry_run: bool) -> list[str]:
        """Return what a person reads about it."""
        if self.refused:
            return [f"{self.host}: {self.refused}", "Add this by hand:", self.patch.rstrip("\n")]
        if not self.changed:
            return [f"{self.host}: {self.file} starts `dos mcp` already"]
        if dry_run:
            return [f"{self.host}: {self.file} would be", self.text.rstrip("\n")]
        lines = [f"{self.host}: {self.file} starts `dos mcp` now"]
        if self.note:
            lines.append(f"  {self.note}")
        return [*lines, f"  undo: {self.undo}"]


def write_server(host: Host, root: Path, *, force: bool, dry_run: bool) -> ServerReport:
    """Write our server into the settings of a program; with `dry_run` only say what would be.

    Raises BadInput where the file cannot be read or written, and for a link out of the repository.
    """
    path = Path(root, *host.path)
    try:
        return _write(host, root, path, force=force, dry_run=dry_run)
    except OSError as error:
        raise BadInput(
            f"{path}: {error.strerror or error}", hint="Check its owner and mode: ls -ld"
        ) from error


def _write(host: Host, root: Path, path: Path, *, force: bool, dry_run: bool) -> ServerReport:
    _check_place(path, root, force=force)
    content = path.read_bytes() if os.path.lexists(path) else None
    dos = dos_command()
    try:
        if host.rival and path.with_name(host.rival).exists():
            raise NotPlain(f"{host.rival} is there, which dos does not edit")
        before = _text(content, host)
        used = hosts.used_command(before, host)
        if used and works_outside_of(root, used):  # the file stays as it is
            dos = used
        text = hosts.with_server(before, host, dos, force=force)
    except NotPlain as refusal:
        return ServerReport(
            host=host.name,
            file=str(path),
            refused=refusal.message,
            patch=hosts.patch(host, dos),
        )
    changed = content is None or text != before
    if changed and not dry_run:
        path.parent.mkdir(parents=True, exist_ok=True)
        filesystem.write_whole(path, text.encode())
    return ServerReport(
        host=host.name,
        file=str(path),
        changed=changed,
        is_new=content is None,
        text=text,
        undo=f"rm {host.file}" if content is None else hosts.how_to_undo(host),
        note=host.note,
    )


def _check_place(path: Path, root: Path, *, force: bool) -> None:
    """Raise BadInput for what is no file, and for a link that leads out of the repository."""
    if os.path.lexists(path) and not path.is_file():
        raise BadInput(f"{path} is not a file", hint="Move it away first.")
    real = os.path.realpath(path)
    if not force and not real.startswith(f"{os.path.realpath(root)}{os.sep}"):
        raise BadInput(
            f"{path} is a link to {quote(real, LONGEST_PATH)}, outside of this repository, and was"
            " not changed",
            hint="--force writes there; other repositories may share that file.",
        )


def _text(content: bytes | None, host: Host) -> str:
    """Return the content as text. Raises NotPlain for other bytes."""
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise NotPlain(f"{host.file} is not UTF-8 text, and was not changed") from error
