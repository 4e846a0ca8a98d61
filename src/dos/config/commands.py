"""Commands that change `dos.toml`, as they can be pasted into a shell."""

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote

from dos.config.load import Loaded
from dos.config.notation import key_text, line_of, value_text
from dos.config.problems import Problem
from dos.fields import Key

EDITORS = ("vi", "vim", "nano", "emacs")
_BARE = re.compile(r"[A-Za-z0-9_.:/@*-]+")


class Editing:
    """Opens the file at a key. Where its keys stand is looked up at the first use: most files need no editing."""

    def __init__(self, loaded: Loaded, path: Path) -> None:
        self._loaded = loaded
        self._path = path
        self._lines: dict[Key, int] | None = None

    def at(self, *key: str) -> str:
        if self._lines is None:
            self._lines = self._loaded.origins
        return edit(self._path, line_of(self._lines, key))

    def mend(self, problem: Problem) -> str:
        if problem.line:
            return edit(self._path, problem.line)
        # What is not TOML has no keys to locate, and may not even be text; the place stands in the message alone.
        said = re.match(re.escape(str(self._path)) + r":(\d+):", problem.message)
        return _as_text(self._path) or edit(self._path, int(said[1]) if said else None)


def edit(path: Path, line: int | None = None) -> str:
    return f"${{EDITOR:-{_editor(os.environ.get('PATH'))}}}{f' +{line}' if line else ''} {quote(str(path))}"


@lru_cache(maxsize=1)
def _editor(path: str | None) -> str:
    import shutil  # most files need no editing

    return next((name for name in EDITORS if shutil.which(name, path=path)), EDITORS[0])


def put(key: Sequence[str], value: object) -> str:
    bare = isinstance(value, str) and _BARE.fullmatch(value)
    return f"dos config set {_words(key_text(tuple(key)), str(value) if bare else value_text(value))}"


def drop(key: Sequence[str], entry: str = "") -> str:
    """Takes a key out, or one entry out of the list that it holds."""
    return f"dos config unset {_words(key_text(tuple(key)), *([entry] if entry else []))}"


def aside(path: Path) -> str:
    """Moves what is in the way to a name beside it that nothing has."""
    names = (f"{path.name}.before{number or ''}" for number in range(1000))
    free = next(place for name in names if not os.path.lexists(place := path.with_name(name)))
    return f"mv {quote(str(path))} {quote(str(free))}"


def as_root(words: str) -> str:
    return words if os.geteuid() == 0 else f"sudo {words}"


def readable(path: str | Path) -> str:
    """Gives this user what it may not read, or the first folder on the way to it that it may not look into."""
    closed = (folder for folder in reversed(Path(path).parents) if not os.access(folder, os.R_OK | os.X_OK))
    place = next(closed, Path(path))
    mine = os.access(place, os.F_OK) and place.stat().st_uid == os.geteuid()
    return f"chmod -R u+rwX {quote(str(place))}" if mine else as_root(f'chown -R "$(id -un)" {quote(str(place))}')


def _words(*words: str) -> str:
    dashed = any(word.startswith("-") for word in words)
    return " ".join([*(["--"] if dashed else []), *map(quote, words)])


def _as_text(path: Path) -> str:
    """What makes a file of it that an editor can open; nothing where it is one."""
    if not os.path.lexists(path):
        return ""
    if not path.is_file():
        return aside(path)
    if not os.access(path, os.R_OK):
        return readable(path)
    with path.open("rb") as file:
        start = file.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        made = quote(f"{path}.new")
        return f"iconv -f UTF-16 -t UTF-8 {quote(str(path))} > {made} && mv {made} {quote(str(path))}"
    return ""
