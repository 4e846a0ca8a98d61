"""Put the hooks of dos into the settings of an agent program, and take them out again.

A file is replaced whole and keeps its mode. What was there before is kept in the state directory:
while nobody else changes the file, uninstalling brings back the very same bytes.
"""

import os
import re
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, json

from dos.agenthooks import json_edit, json_settings, toml_settings
from dos.agenthooks.io.own_command import dos_command, leads_here, local_caller, own_shim_caller
from dos.agenthooks.io.settings_file import SettingsFile
from dos.agenthooks.json_settings import NotPlain
from dos.agenthooks.wiring import Form, Host, shim_caller, verb_caller
from dos.git.repository import Reader
from dos.machine import filesystem
from dos.workspace import Workspace

USED_COMMAND = re.compile(rb"""(?<=")((?:/[^"' ]{1,4000}/)?dos)(?= hook |"\])""")
USED_SHIM = re.compile(rb"""(?<=")(/[^"' ]{1,4000}) -I -S (/[^"' ]{1,4000}/shim\.py)(?= )""")
PLUGIN_COMMAND = 'const COMMAND = ["dos"]'


class State(StrEnum):
    """What a program would do with the hooks of dos in this repository."""

    WIRED = "WIRED"
    DRIFTED = "DRIFTED"  # some are there, but not all of them as this version writes them
    NOT_WIRED = "NOT_WIRED"
    UNTRUSTED = "UNTRUSTED"  # they are there, and the program skips them
    UNREADABLE = "UNREADABLE"  # the file is in no form that dos reads without losing something


class Before(Struct, frozen=True, kw_only=True):
    """A settings file as it was before dos wrote into it, and the digest of what was written."""

    written: str
    content: bytes | None = None  # None: there was no file
    made_folders: tuple[str, ...] = ()


class Wiring(SettingsFile):
    """The settings of one program in one work tree."""

    def __init__(self, host: Host, workspace: Workspace) -> None:
        self.host = host
        self.tree = workspace.tree
        super().__init__(workspace.main_tree if host.reads_main_tree else workspace.tree, host.path)
        # Without this folder in a linked worktree the program runs no hooks there.
        self._marker = Path(workspace.tree, host.path[0])
        self._record = workspace.state / "agenthooks" / f"{host.name}.json"

    @cached_property
    def dos(self) -> str:
        """How the hooks call dos: as those that are there do, if that leads to this dos."""
        for used in USED_COMMAND.findall(self.content or b""):
            word: str = os.fsdecode(used)
            if leads_here(word):
                return word
        return dos_command()

    @cached_property
    def caller(self) -> str:
        """How the hooks that are there call dos, if that leads to this dos; else as new ones."""
        for python, shim in USED_SHIM.findall(self.content or b""):
            used = shim_caller(os.fsdecode(python), os.fsdecode(shim))
            if used == own_shim_caller():
                return used
        if USED_COMMAND.search(self.content or b""):
            return verb_caller(self.dos)
        return self.new_caller

    @cached_property
    def new_caller(self) -> str:
        """How new hooks call dos: by the fast command, but not in a file that others share.

        Its paths are those of this machine, so in a file that is committed dos goes by its name.
        """
        if self._is_committed():
            return verb_caller(self.dos)
        return local_caller(self.dos)

    def _is_committed(self) -> bool:
        """Whether the file is in the last commit."""
        if not os.path.lexists(self.path) or not self.path.is_relative_to(self.tree):
            return False
        name = self.path.relative_to(self.tree).as_posix()
        return Reader(self.tree).object_of(f"HEAD:{name}") is not None

    def wanted(self, *, force: bool = False) -> str:
        """Return the file with the hooks. Raises NotPlain where dos cannot edit it."""
        host = self.host
        if host.form is Form.PLUGIN:
            if self.content is not None and not self._is_our_plugin() and not force:
                raise NotPlain(f"{host.file} is not the plugin of dos, and was not changed")
            return plugin_text(self.dos)
        if host.form is Form.TOML:
            return toml_settings.install(self.text, host, self.new_caller, host.file)
        settings = json_settings.parse(self.text, host.file)
        changed = json_settings.install(settings, host, self.new_caller, force=force)
        if changed == settings:
            return self.text
        return json_edit.rewrite(self.text, settings, changed)

    def state(self) -> State:
        """Return what the file says. Raises NotPlain for one that cannot be read."""
        host = self.host
        if self.content is None or not self._marker.exists():
            return State.NOT_WIRED
        if host.form is Form.PLUGIN:
            if self.text == plugin_text(self.dos):
                return State.WIRED
            return State.DRIFTED if self._is_our_plugin() else State.NOT_WIRED
        if host.form is Form.TOML:
            settings = toml_settings.parse(self.text, host.file)
        else:
            settings = json_settings.parse(self.text, host.file)
        wired = json_settings.is_wired(settings, host, self.caller)
        if wired is None:
            return State.NOT_WIRED
        return State.WIRED if wired else State.DRIFTED

    @property
    def names_dos(self) -> bool:
        """Whether the file calls dos as far as its bare text tells, in whatever form it is."""
        content = self.content or b""
        return any(pattern.search(content) for pattern in (USED_COMMAND, USED_SHIM))

    def events(self) -> list[str]:
        """Return the events of the program that call dos."""
        if self.host.form is Form.PLUGIN:
            return list(self.host.events) if self._is_our_plugin() else []
        if self.host.form is Form.TOML:
            return list(json_settings.our_entries(toml_settings.parse(self.text, self.host.file)))
        return list(json_settings.our_entries(json_settings.parse(self.text, self.host.file)))

    def install(self, text: str) -> None:
        """Write the file, and keep what was there before."""
        made = self._make_folders()
        before = Before(
            written=_digest(text.encode()), content=self.content, made_folders=tuple(made)
        )
        earlier = self._earlier()
        if earlier is not None:
            before = Before(
                written=before.written,
                content=earlier.content,
                made_folders=earlier.made_folders,
            )
        elif json_or_toml_has_ours(self):
            # Entries of dos-kernel: there is no earlier file without any.
            before = Before(written="", content=None)
        self.write(text)
        self._record.parent.mkdir(parents=True, exist_ok=True)
        if before.written:
            filesystem.write_whole(self._record, json.encode(before), mode=0o600)

    def mark_worktree(self) -> None:
        """Make the folder by which the program looks for hooks in a linked worktree."""
        if self.host.reads_main_tree:
            self._marker.mkdir(exist_ok=True)

    def uninstall(self) -> str | None:
        """Return the file without the hooks; None: there is no file without them."""
        earlier = self._earlier()
        if earlier is not None:
            if earlier.content is None:
                return None
            return earlier.content.decode()
        if self.host.form is Form.PLUGIN:
            return None if self._is_our_plugin() else self.text
        if self.host.form is Form.TOML:
            left = toml_settings.uninstall(self.text, self.host.file)
            return left if left.strip() else None
        settings = json_settings.parse(self.text, self.host.file)
        kept = json_settings.uninstall(settings, self.host)
        if kept == settings:
            return self.text
        return json_edit.rewrite(self.text, settings, kept) if kept else None

    def write_back(self, text: str | None) -> None:
        """Write what `uninstall` returned, and remove the folders that `install` made."""
        earlier = self._earlier()
        if text is None:
            self.remove()
        else:
            self.write(text)
        for folder in reversed(earlier.made_folders if earlier else ()):
            try:
                Path(folder).rmdir()
            except OSError:
                break  # something else is in it
        if self.host.reads_main_tree:
            with suppress(OSError):  # something else is in it, or it is gone
                self._marker.rmdir()
        self._record.unlink(missing_ok=True)

    def forget(self) -> None:
        super().forget()
        self.__dict__.pop("caller", None)

    def _earlier(self) -> Before | None:
        """What was kept, if the file is still as dos wrote it."""
        try:
            before = json.decode(self._record.read_bytes(), type=Before)
        except (OSError, DecodeError, ValidationError):
            return None
        if self.content is None or before.written != _digest(self.content):
            return None
        return before

    def _is_our_plugin(self) -> bool:
        return self.content is not None and b"`dos hooks install opencode`" in self.content[:200]

    def _make_folders(self) -> list[str]:
        """Make the folders of the file; return those that were missing, the outermost first."""
        missing = []
        folder = self.path.parent
        while not folder.exists():
            missing.append(str(folder))
            folder = folder.parent
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return missing[::-1]


def json_or_toml_has_ours(wiring: Wiring) -> bool:
    """Whether the file had entries of ours that this dos did not write."""
    return wiring.content is not None and bool(wiring.events())


def plugin_text(dos: str) -> str:
    """Return the plugin of opencode with the command that it starts."""
    text = files("dos.agenthooks").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    return text.replace(PLUGIN_COMMAND, f"const COMMAND = {json.encode([dos]).decode()}", 1)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
