"""Tell an agent program of the MCP server of dos, in its settings file of this repository."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.agenthooks.io.own_command import dos_command, works_outside_of
from dos.agenthooks.io.settings_file import SettingsFile
from dos.agenthooks.json_settings import NotPlain
from dos.mcp import hosts
from dos.mcp.hosts import Host


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
    file = SettingsFile(root, host.path)
    try:
        return _write(host, root, file, force=force, dry_run=dry_run)
    except OSError as error:
        raise file.unwritable(error) from error


def _write(
    host: Host, root: Path, file: SettingsFile, *, force: bool, dry_run: bool
) -> ServerReport:
    file.check_place(force=force)
    is_new = file.content is None
    dos = dos_command()
    try:
        if host.rival and file.path.with_name(host.rival).exists():
            raise NotPlain(f"{host.rival} is there, which dos does not edit")
        before = file.text
        used = hosts.used_command(before, host)
        if used and works_outside_of(root, used):  # the file stays as it is
            dos = used
        text = hosts.with_server(before, host, dos, force=force)
    except NotPlain as refusal:
        return ServerReport(
            host=host.name,
            file=str(file.path),
            refused=refusal.message,
            patch=hosts.patch(host, dos),
        )
    changed = is_new or text != before
    if changed and not dry_run:
        file.write(text)
    return ServerReport(
        host=host.name,
        file=str(file.path),
        changed=changed,
        is_new=is_new,
        text=text,
        undo=f"rm {host.file}" if is_new else hosts.how_to_undo(host),
        note=host.note,
    )
