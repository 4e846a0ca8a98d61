"""The documents of a checkout: as they lie on disk, and as the target branch holds them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from dos.git.repository import Reader
from dos.machine import process
from dos.unknown import Unknown


class Documents(Protocol):
    """Of one kind. What is decided about them asks for no more than this."""

    where: str  # the checkout, as approvals name it

    def stamps(self) -> list[object]:
        """Other values once a document was written, added or removed."""
        ...

    def names(self) -> list[str]:
        """The documents that are on disk, or were a moment ago."""
        ...

    def read(self, name: str) -> str | Unknown | None:
        """The text on disk; None: it is gone."""
        ...

    def tip(self) -> str:
        """The commit that the target branch is at; empty: it has none."""
        ...

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        """The documents that the target branch holds, each with the id of its content."""
        ...

    def text(self, blob: str) -> str:
        """The content of that id."""
        ...


class Checkout:
    """Documents in a real work tree."""

    def __init__(
        self,
        root: Path,
        git: Reader,
        target: Callable[[], str],
        *,
        paths: Callable[[], list[Path]],
        read: Callable[[Path], str | Unknown | None],
    ) -> None:
        self.where = checkout_name(root)
        self.tip = target
        self._root = root
        self._git = git
        self._paths = paths
        self._read = read

    def stamps(self) -> list[object]:
        return [_stamp(path) for path in self._paths()]

    def names(self) -> list[str]:
        return [str(path.relative_to(self._root)) for path in self._paths()]

    def read(self, name: str) -> str | Unknown | None:
        return self._read(self._root / name)

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        return committed_blobs(self._git, self.tip(), names)

    def text(self, blob: str) -> str:
        return committed_text(self._git, blob)


def committed_blobs(git: Reader, commit: str, names: Iterable[str]) -> dict[str, str]:
    """The documents that a commit holds, each with the id of its content."""
    asked = list(names)
    if not asked or not commit:
        return {}
    said = git.run("ls-tree", "-z", commit, "--", *asked)
    rows = [row.partition("\t") for row in said.split("\0") if row]
    return {
        name: head.split()[2] for head, _, name in rows if head.startswith("100")
    }  # a file, and no link


def committed_text(git: Reader, blob: str) -> str:
    said = git.run("cat-file", "blob", blob)
    return said.encode("utf-8", "surrogateescape").decode("utf-8", "replace").removeprefix("\ufeff")


def checkout_name(root: Path) -> str:
    """Each checkout of a shared journal is approved for itself."""
    return f"{process.host()}:{root}"


def _stamp(path: Path) -> tuple[object, ...]:
    try:
        at = path.stat()
    except OSError:
        return (path,)  # it is gone, or is being replaced
    return path, at.st_mtime_ns, at.st_size, at.st_ino
