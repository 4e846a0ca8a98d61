"""Shell commands that repair a `dos.toml`, its files and their permissions, for hints and findings."""

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
    """Opens the file at a key. Where its keys stand is looked up at the first use: most files need no editing."""

    def __init__(self, loaded: LoadedConfig, path: Path) -> None:
        self._loaded = loaded
        self._path = path
        self._lines: dict[Key, int] | None = None

    def for_key(self, *key: str) -> str:
        if self._lines is None:
            self._lines = self._loaded.origins
        return edit_command(self._path, line_of(self._lines, key))

    def for_problem(self, problem: Problem) -> str:
        if problem.line:
            return edit_command(self._path, problem.line)
        # What is not TOML has no keys to locate, and may not even be text; the place stands in the message alone.
        said = re.match(re.escape(str(self._path)) + r":(\d+):", problem.message)
        return _make_text_command(self._path) or edit_command(
            self._path, int(said[1]) if said else None
        )


def edit_command(path: Path, line: int | None = None) -> str:
    return f"${{EDITOR:-{_editor(os.environ.get('PATH'))}}}{f' +{line}' if line else ''} {shlex.quote(str(path))}"


@lru_cache(maxsize=1)
def _editor(path: str | None) -> str:
    import shutil  # most files need no editing

    return next((name for name in EDITORS if shutil.which(name, path=path)), EDITORS[0])


def set_command(key: Sequence[str], value: object) -> str:
    bare = isinstance(value, str) and _BARE.fullmatch(value)
    return f"dos config set {_shell_words(key_text(tuple(key)), str(value) if bare else value_text(value))}"


def unset_command(key: Sequence[str], entry: str = "") -> str:
    """Takes a key out, or one entry out of the list that it holds."""
    return f"dos config unset {_shell_words(key_text(tuple(key)), *([entry] if entry else []))}"


def move_aside_command(path: Path) -> str:
    """Moves what is in the way to a name beside it that nothing has."""
    names = (f"{path.name}.before{number or ''}" for number in range(1000))
    free = next(place for name in names if not os.path.lexists(place := path.with_name(name)))
    return f"mv {shlex.quote(str(path))} {shlex.quote(str(free))}"


def with_sudo(words: str) -> str:
    return words if os.geteuid() == 0 else f"sudo {words}"


def make_readable_command(path: str | Path) -> str:
    """Gives this user what it may not read, or the first folder on the way to it that it may not look into."""
    closed = (
        folder
        for folder in reversed(Path(path).parents)
        if not os.access(folder, os.R_OK | os.X_OK)
    )
    place = next(closed, Path(path))
    mine = os.access(place, os.F_OK) and place.stat().st_uid == os.geteuid()
    return (
        f"chmod -R u+rwX {shlex.quote(str(place))}"
        if mine
        else with_sudo(f'chown -R "$(id -un)" {shlex.quote(str(place))}')
    )


def _shell_words(*words: str) -> str:
    dashed = any(word.startswith("-") for word in words)
    return " ".join([*(["--"] if dashed else []), *map(shlex.quote, words)])


def _make_text_command(path: Path) -> str:
    """What makes a file of it that an editor can open; nothing where it is one."""
    if not os.path.lexists(path):
        return ""
    if not path.is_file():
        return move_aside_command(path)
    if not os.access(path, os.R_OK):
        return make_readable_command(path)
    with path.open("rb") as file:
        start = file.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        made = shlex.quote(f"{path}.new")
        return f"iconv -f UTF-16 -t UTF-8 {shlex.quote(str(path))} > {made} && mv {made} {shlex.quote(str(path))}"
    return ""
