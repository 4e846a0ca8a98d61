"""A settings file of an agent program in a repository: read whole, and replaced whole."""

import os
from functools import cached_property
from pathlib import Path

from dos.agenthooks.json_settings import NotPlain
from dos.errors import BadInput
from dos.machine import filesystem
from dos.text import LONGEST_PATH, quote


class SettingsFile:
    """One file below the top of a repository. It keeps its mode when it is written."""

    def __init__(self, top: Path, parts: tuple[str, ...]) -> None:
        self.path = Path(top, *parts)
        self._top = top
        self._name = "/".join(parts)

    @cached_property
    def content(self) -> bytes | None:
        """What the file holds now; None: there is none. Raises BadInput for what is no file."""
        if not os.path.lexists(self.path):
            return None
        if not self.path.is_file():
            raise BadInput(f"{self.path} is not a file", hint="Move it away first.")
        return self.path.read_bytes()

    @property
    def text(self) -> str:
        """The content as text. Raises NotPlain for other bytes."""
        try:
            return (self.content or b"").decode()
        except UnicodeDecodeError as error:
            raise NotPlain(f"{self._name} is not UTF-8 text, and was not changed") from error

    def check_place(self, *, force: bool) -> None:
        """Raise BadInput for what is no file, and for a link that leads out of the repository."""
        if os.path.lexists(self.path) and not self.path.is_file():
            raise BadInput(f"{self.path} is not a file", hint="Move it away first.")
        real = os.path.realpath(self.path)
        if not force and not real.startswith(f"{os.path.realpath(self._top)}{os.sep}"):
            raise BadInput(
                f"{self.path} is a link to {quote(real, LONGEST_PATH)}, outside of this"
                " repository, and was not changed",
                hint="--force writes there; other repositories may share that file.",
            )

    def write(self, text: str) -> None:
        """Replace the file; its folders are made where they are missing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        filesystem.write_whole(self.path, text.encode())
        self.forget()

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self.path.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Read the file again at next use."""
        self.__dict__.pop("content", None)

    def unwritable(self, error: OSError) -> BadInput:
        """Return what to say of a file that cannot be read or written."""
        return BadInput(
            f"{self.path}: {error.strerror or error}", hint="Check its owner and mode: ls -ld"
        )
