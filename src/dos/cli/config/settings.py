"""The keys of the configuration that somebody asks for."""

import shlex
from difflib import get_close_matches
from pathlib import Path

from dos.approval.io import approve
from dos.config.edit import parse_key
from dos.config.load import LoadedConfig
from dos.config.show import Setting, list_settings
from dos.config.toml_text import key_text
from dos.errors import BadInput, DosError
from dos.verbs.context import Context, actor


def find_rows(context: Context, key: str) -> list[Setting]:
    """The key itself, or every key of the table; every key at all when none is named."""
    known = list_settings(context.world.loaded_config)
    wanted = normal_key(key)
    found = [
        row for row in known if not wanted or row.key == wanted or row.key.startswith(f"{wanted}.")
    ]
    if not found:
        tables = {row.key.rpartition(".")[0] for row in known}
        near = get_close_matches(wanted, [*(row.key for row in known), *sorted(tables)], 1)
        raise BadInput(
            f"there is no key {key!r}" + (f"; did you mean {near[0]}?" if near else ""),
            hint="`dos config show` lists every key.",
        )
    return found


def editable_path(context: Context) -> Path:
    """The dos.toml to change. From a linked worktree the main checkout's counts, and is not changed by the way."""
    found = context.world.workspace
    if found.uses_main_checkout:
        again = shlex.join(["dos", "--workspace", str(found.root), "config", "set", "KEY", "VALUE"])
        raise BadInput(
            f"{found.tree} is a linked worktree, and the dos.toml that counts here is {found.config}",
            hint=f"Change it in the main checkout: {again}",
        )
    return found.config


def bare_value(row: Setting) -> str:
    """The value for a script: a string without its quotes, everything else as the file would have it."""
    return row.value if isinstance(row.value, str) else row.text


def normal_key(key: str) -> str:
    """The key as it is shown, however it was quoted."""
    try:
        return key_text(parse_key(key))
    except BadInput:  # no key at all: it will not be found
        return key.strip()


def approve_change(context: Context, edited: LoadedConfig) -> list[str]:
    """Warnings: why the change is in the file, and not in effect for a fleet that runs."""
    try:
        warning = approve.approve_edit(context.world.workspace, edited, by=actor())
    except DosError as error:
        warning = f"the change is saved, but not approved ({error.message}); the next `dos up` approves it"
    return [warning] if warning else []
