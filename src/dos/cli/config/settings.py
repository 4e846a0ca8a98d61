"""Helpers of the `dos config` verbs: find settings, find the file to edit, approve an edit."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from dos.config.edit import parse_key
from dos.config.load import LoadedConfig
from dos.config.show import Setting, list_settings
from dos.config.toml_text import key_text
from dos.errors import BadInput, DosError
from dos.text import suggest_nearest
from dos.verbs.context import Context, actor


def find_settings(context: Context, key: str) -> list[Setting]:
    """Return the setting of a key, all settings of a table, or all settings for an empty key.

    Raises BadInput with the nearest key where there is no such key.
    """
    settings = list_settings(context.world.loaded_config)
    wanted = normal_key(key)
    if not wanted:
        return settings
    matches = []
    for setting in settings:
        if setting.key == wanted or setting.key.startswith(f"{wanted}."):
            matches.append(setting)
    if not matches:
        raise _unknown_key(key, wanted, settings)
    return matches


def _unknown_key(key: str, wanted: str, settings: list[Setting]) -> BadInput:
    keys = []
    tables = set()
    for setting in settings:
        keys.append(setting.key)
        tables.add(setting.key.rpartition(".")[0])
    message = f"unknown key {key!r}"
    suggestion = suggest_nearest(wanted, [*keys, *sorted(tables)], form="{}")
    if suggestion:
        message += f"; {suggestion}"
    return BadInput(message, hint="`dos config show` lists every key.")


def find_value(loaded: LoadedConfig, key: str) -> str:
    """Return the value of a key as TOML; "" where it has none."""
    for setting in list_settings(loaded):
        if setting.key == key:
            return setting.text
    return ""


def editable_path(context: Context) -> Path:
    """Return the dos.toml to edit.

    Raises BadInput in a linked worktree: the file of the main checkout is in force there.
    """
    workspace = context.world.workspace
    if workspace.uses_main_checkout:
        root = str(workspace.root)
        command = shlex.join(["dos", "--workspace", root, "config", "set", "KEY", "VALUE"])
        raise BadInput(
            f"{workspace.tree} is a linked worktree; the dos.toml in force is {workspace.config}",
            hint=f"Change it in the main checkout: {command}",
        )
    return workspace.config


def bare_value(setting: Setting) -> str:
    """Return the value for a script: a string without quotes, any other value as TOML."""
    if isinstance(setting.value, str):
        return setting.value
    return setting.text


def normal_key(key: str) -> str:
    """Return the key as it is shown, however it was quoted."""
    try:
        return key_text(parse_key(key))
    except BadInput:  # not a key: it will not be found
        return key.strip()


def warning_lines(warnings: Iterable[str]) -> str:
    """Return warnings as they are printed to stderr."""
    return "\n".join(f"warning: {text}" for text in warnings)


def approve_change(context: Context, edited: LoadedConfig) -> list[str]:
    """Approve an edit that a person made by a verb, so that a running fleet uses it.

    Returns a warning where the edit is in the file but not in force for a running fleet.
    """
    from dos.approval.io import approve  # only the verbs that edit load it

    try:
        warning = approve.approve_edit(context.world.workspace, edited, by=actor())
    except DosError as error:
        warning = (
            f"the change is saved, but not approved ({error.message});"
            " the next `dos up` approves it"
        )
    if warning:
        return [warning]
    return []
