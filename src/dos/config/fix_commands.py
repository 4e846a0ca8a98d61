"""Shell commands that repair a `dos.toml`, its files and permissions, for hints and findings."""

import os
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from dos.config.load import LoadedConfig, Problem
from dos.config.toml_text import key_text, line_of, value_text
from dos.fields import Key

EDITORS = ("vi", "vim", "nano", "emacs")
_BARE = re.compile(r"[A-Za-z0-9_.:/@*-]+")


class EditCommands:
    """Commands that open a dos.toml at a key.

    The lines of the keys are looked up at the first use, because most files need no editing.
    """

    def __init__(self, loaded: LoadedConfig, path: Path) -> None:
        self._loaded = loaded
        self._path = path
        self._lines: dict[Key, int] | None = None

    def for_key(self, *key: str) -> str:
        """Return a command that opens the file at the key, or at the table around it."""
        if self._lines is None:
            self._lines = self._loaded.origins
        return edit_command(self._path, line_of(self._lines, key))

    def for_problem(self, problem: Problem) -> str:
        """Return a command that opens the file at the problem, or that makes it a text file."""
        if problem.line:
            return edit_command(self._path, problem.line)
        conversion = _make_text_command(self._path)
        if conversion:
            return conversion
        # A file that is not TOML has no keys to locate; only the message has the line.
        found = re.match(re.escape(str(self._path)) + r":(\d+):", problem.message)
        return edit_command(self._path, int(found[1]) if found else None)


def edit_command(path: Path, line: int | None = None) -> str:
    """Return a command that opens a file in the user's editor, at a line."""
    editor = f"${{EDITOR:-{_editor(os.environ.get('PATH'))}}}"
    file = shlex.quote(str(path))
    if line:
        return f"{editor} +{line} {file}"
    return f"{editor} {file}"


@lru_cache(maxsize=1)
def _editor(path: str | None) -> str:
    """The first of the well-known editors that is installed."""
    import shutil  # most files need no editing

    for name in EDITORS:
        if shutil.which(name, path=path):
            return name
    return EDITORS[0]


def set_command(key: Sequence[str], value: object) -> str:
    """Return a command that sets a key of dos.toml."""
    if isinstance(value, str) and _BARE.fullmatch(value):
        text = value
    else:
        text = value_text(value)
    return f"dos config set {_shell_words(key_text(tuple(key)), text)}"


def unset_command(key: Sequence[str], entry: str = "") -> str:
    """Return a command that removes a key, or one entry of the list that it holds."""
    words = [key_text(tuple(key))]
    if entry:
        words.append(entry)
    return f"dos config unset {_shell_words(*words)}"


def move_aside_command(path: Path) -> str:
    """Return a command that moves a file or folder to an unused name beside it."""
    number = 0
    free = path.with_name(f"{path.name}.before")
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.before{number}")
    return f"mv {shlex.quote(str(path))} {shlex.quote(str(free))}"


def with_sudo(words: str) -> str:
    """Return the command for root: with sudo, unless this user is root."""
    if os.geteuid() == 0:
        return words
    return f"sudo {words}"


def make_readable_command(path: str | Path) -> str:
    """Return a command that lets this user read and write a path.

    Where a folder above it cannot be entered, the command is about that folder.
    """
    place = Path(path)
    for folder in reversed(Path(path).parents):
        if not os.access(folder, os.R_OK | os.X_OK):
            place = folder
            break
    is_mine = os.access(place, os.F_OK) and place.stat().st_uid == os.geteuid()
    if is_mine:
        return f"chmod -R u+rwX {shlex.quote(str(place))}"
    return with_sudo(f'chown -R "$(id -un)" {shlex.quote(str(place))}')


def _shell_words(*words: str) -> str:
    """The words quoted for a shell, after `--` where one looks like an option."""
    quoted = " ".join(map(shlex.quote, words))
    if any(word.startswith("-") for word in words):
        return f"-- {quoted}"
    return quoted


def _make_text_command(path: Path) -> str:
    """A command that makes a file that an editor can open; empty where it is one."""
    if not os.path.lexists(path):
        return ""
    if not path.is_file():
        return move_aside_command(path)
    if not os.access(path, os.R_OK):
        return make_readable_command(path)
    with path.open("rb") as file:
        start = file.read(2)
    if start not in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    old = shlex.quote(str(path))
    new = shlex.quote(f"{path}.new")
    return f"iconv -f UTF-16 -t UTF-8 {old} > {new} && mv {new} {old}"
