"""Reads files of commits as text and as significant lines."""

from collections.abc import Sequence

from dos.errors import GitFailed
from dos.git.objects import SUBMODULE, Objects
from dos.git.repository import Reader
from dos.text import printable_path
from dos.verify import content, survival

LARGEST_TEXT = 8_000_000  # bytes; a larger file counts by its hash, as a binary one does
LINK = 0o120000


class FileContents:
    """The contents of files by their blobs and modes."""

    def __init__(self, git: Reader, objects: Objects) -> None:
        self._git = git
        self._objects = objects

    def text(self, blob: str, mode: str) -> str | None:
        """The text of a blob; None if there is no file, or it is no text."""
        if not blob or mode in (f"{SUBMODULE:06o}", f"{LINK:06o}"):
            return None
        raw = self._objects.blob(blob)
        if raw is None or len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return None
        return content.decode(raw)

    def lines(self, path: str, blob: str, mode: str) -> tuple[Sequence[str] | None, bool]:
        """The significant lines of a blob, and whether it is text; None if there is no file.

        Raises GitFailed if the blob is missing.
        """
        if not blob:
            return None, True
        if mode == f"{SUBMODULE:06o}":
            return [survival.opaque_line("submodule", blob)], False
        raw = self._objects.blob(blob)
        if raw is None:
            raise GitFailed(
                f"blob {blob} of {printable_path(path)} is missing from this repository",
                hint=f"git -C {self._git.tree} fsck",
            )
        if mode == f"{LINK:06o}":
            return [survival.opaque_line("link", blob)], False
        if len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return [survival.opaque_line("content", blob)], False
        return content.significant_lines(path, content.decode(raw)), True
