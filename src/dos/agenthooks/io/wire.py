"""Install and remove the hooks of one program, and say what became of it."""

import os
import shutil
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.agenthooks import json_settings, toml_settings
from dos.agenthooks.io import codex_trust
from dos.agenthooks.io.install import State, Wiring, plugin_text
from dos.agenthooks.json_settings import NotPlain
from dos.agenthooks.wiring import Form, Host, commands
from dos.errors import BadInput
from dos.unknown import Unknown
from dos.workspace import Workspace

GEMINI_TRUST = "GEMINI_CLI_TRUST_WORKSPACE"


class HostReport(Struct, frozen=True, kw_only=True):
    """What was done for one program."""

    host: str
    file: str
    before: State
    state: State
    changed: bool = False
    text: str | None = None  # the file as it is or would be; None: there is none
    refused: str = ""  # why the file was not changed
    patch: str = ""  # what a person adds by hand, where dos does not edit the file
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "file": self.file,
            "before": self.before,
            "state": self.state,
            "changed": self.changed,
            "refused": self.refused,
            "notes": list(self.notes),
        }


def install(host: Host, workspace: Workspace, *, force: bool, dry_run: bool) -> HostReport:
    """Write our hooks into the settings of a program; with `dry_run` only say what would be.

    Raises BadInput where the file cannot be read or written, and for a link out of the repository.
    """
    wiring = Wiring(host, workspace)
    try:
        wiring.check_place(force=force)
        before = wiring.state()
        text = wiring.wanted(force=force)
        changed = wiring.content is None or text != wiring.text
        if changed and not dry_run:
            wiring.install(text)
        if not dry_run:
            wiring.mark_worktree()
        state = before if dry_run else wiring.state()
    except NotPlain as refusal:
        return _refused(wiring, workspace, refusal)
    except OSError as error:
        raise wiring.unwritable(error) from error
    notes: list[str] = []
    if not dry_run:
        state, notes = _trusted(wiring, state)
    return HostReport(
        host=host.name,
        file=str(wiring.path),
        before=before,
        state=state,
        changed=changed,
        text=text,
        notes=tuple(notes),
    )


def uninstall(host: Host, workspace: Workspace, *, force: bool, dry_run: bool) -> HostReport:
    """Take our hooks out of the settings of a program. Raises as `install` does."""
    wiring = Wiring(host, workspace)
    try:
        wiring.check_place(force=force)
        before = wiring.state()
        text: str | None = None
        changed = False
        if wiring.content is not None:
            text = wiring.uninstall()
            changed = text is None or text != wiring.text
        if changed and not dry_run:
            wiring.write_back(text)
        state = before if dry_run else wiring.state()
    except NotPlain as refusal:
        return _refused(wiring, workspace, refusal)
    except OSError as error:
        raise wiring.unwritable(error) from error
    return HostReport(
        host=host.name,
        file=str(wiring.path),
        before=before,
        state=state,
        changed=changed,
        text=text,
    )


class FoundHooks(Struct, frozen=True, kw_only=True):
    """What the settings of one program say of the hooks of dos."""

    state: State
    events: tuple[str, ...] = ()  # the program's own names of those that call dos
    path: str = ""  # of the file
    problem: str = ""  # why the file cannot be read
    names_dos: bool = False  # an unreadable file calls dos nonetheless


def look(host: Host, workspace: Workspace) -> FoundHooks:
    """Return what is wired for one program, without changing it."""
    wiring = Wiring(host, workspace)
    try:
        state = wiring.state()
        events = wiring.events() if wiring.content is not None else []
    except (BadInput, OSError) as error:
        return FoundHooks(
            state=State.UNREADABLE,
            path=str(wiring.path),
            problem=_problem(error),
            names_dos=_names_dos(wiring),
        )
    if state is State.WIRED and not _is_trusted(wiring):
        state = State.UNTRUSTED
    return FoundHooks(state=state, path=str(wiring.path), events=tuple(events))


def _problem(error: BadInput | OSError) -> str:
    """Why a file cannot be read, as the end of a sentence about it."""
    if isinstance(error, BadInput):
        return error.message.removesuffix(", and was not changed")
    return f"{error.filename}: {error.strerror}"


def _names_dos(wiring: Wiring) -> bool:
    try:
        return wiring.names_dos
    except (BadInput, OSError):
        return False


def _refused(wiring: Wiring, workspace: Workspace, refusal: NotPlain) -> HostReport:
    """The report of a file that dos leaves to its owner."""
    host = wiring.host
    state = look(host, workspace).state
    patch = ""
    if host.form is Form.TOML:
        patch = toml_settings.block(host, wiring.new_caller)
    elif host.form is not Form.PLUGIN:
        patch = json_settings.patch(host, wiring.new_caller)
    else:
        patch = plugin_text(wiring.dos)
    return HostReport(
        host=host.name,
        file=str(wiring.path),
        before=state,
        state=state,
        refused=refusal.message,
        patch=patch,
    )


def _trusted(wiring: Wiring, state: State) -> tuple[State, list[str]]:
    """Have the program trust our hooks where dos can, and say what is left for its user."""
    if state is not State.WIRED:
        return state, []
    if wiring.host.name == "codex":
        return _trust_codex(wiring)
    if not _is_trusted(wiring):
        return State.UNTRUSTED, [
            (
                "Gemini CLI runs hooks only in folders that you trust: start `gemini` here once"
                f" and trust the folder, or set {GEMINI_TRUST}=true. With --skip-trust it skips"
                " all hooks."
            )
        ]
    return state, []


def _trust_codex(wiring: Wiring) -> tuple[State, list[str]]:
    program = shutil.which("codex")
    if program is None:
        return State.UNTRUSTED, [
            (
                "Codex was not found on the PATH. It skips hooks that it does not trust: run"
                " `dos hooks install codex` again where Codex is installed."
            )
        ]
    written = commands(wiring.host, wiring.new_caller)
    keys = codex_trust.trust(program, wiring.tree, os.environ, written)
    if isinstance(keys, Unknown):
        return State.UNTRUSTED, [f"Codex could not be told to trust the hooks: {keys.why}"]
    if len(keys) < len(wiring.host.events):
        return State.UNTRUSTED, [
            (
                "Codex does not trust this folder, so it ignores its settings: start `codex` here"
                " once and trust the folder, then run `dos hooks install codex` again."
            )
        ]
    return State.WIRED, [f"Codex trusts these hooks now ({len(keys)} of them)"]


def _is_trusted(wiring: Wiring) -> bool:
    """Whether the program would run the hooks, as far as its settings tell."""
    home = Path(os.environ.get("HOME") or "/")
    if wiring.host.name == "codex":
        codex_home = Path(os.environ.get("CODEX_HOME") or home / ".codex")
        return codex_trust.is_trusted(codex_home, Path(os.path.realpath(wiring.path)))
    if wiring.host.name == "gemini":
        return _gemini_trusts(home, wiring.tree)
    return True


def _gemini_trusts(home: Path, tree: Path) -> bool:
    """Whether Gemini CLI trusts a folder: by its variable, its list, or because it never asks."""
    if os.environ.get(GEMINI_TRUST, "").lower() == "true":
        return True
    folder = home / ".gemini"
    settings = _json_object(folder / "settings.json")
    security = settings.get("security")
    folder_trust = security.get("folderTrust") if isinstance(security, dict) else None
    if isinstance(folder_trust, dict) and folder_trust.get("enabled") is False:
        return True
    trusted = _json_object(folder / "trustedFolders.json")
    places = [str(tree), *map(str, tree.parents)]
    return any(trusted.get(place) in ("TRUST_FOLDER", "TRUST_PARENT") for place in places)


def _json_object(path: Path) -> dict[str, Any]:
    """Return the object in a file of the user; an empty one where it cannot be read."""
    import json

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
