"""The documents of a checkout, on disk and on the target branch."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from dos.git.repository import Reader
from dos.machine import process
from dos.unknown import Unknown


class Documents(Protocol):
    """Documents of one kind: all that the approval of texts needs to know of them."""

    where: str  # the checkout, as approval events name it

    def stamps(self) -> list[object]:
        """Values that change when a document is written, added or removed."""
        ...

    def names(self) -> list[str]:
        """The names of the documents on disk; one may be gone a moment later."""
        ...

    def read(self, name: str) -> str | Unknown | None:
        """The text on disk; None: it is gone."""
        ...

    def tip(self) -> str:
        """The commit of the target branch; empty: it has none."""
        ...

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        """The documents on the target branch, each with the id of its content."""
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
    """The documents of a commit, each with the id of its content. Links do not count."""
    wanted = list(names)
    if not wanted or not commit:
        return {}
    blobs = {}
    for row in git.run("ls-tree", "-z", commit, "--", *wanted).split("\0"):
        head, _, name = row.partition("\t")
        if head.startswith("100"):  # a regular file
            blobs[name] = head.split()[2]
    return blobs


def committed_text(git: Reader, blob: str) -> str:
    """The content of a blob as text, without a byte order mark."""
    content = git.run("cat-file", "blob", blob).encode("utf-8", "surrogateescape")
    return content.decode("utf-8", "replace").removeprefix("\ufeff")


def checkout_name(root: Path) -> str:
    """The name of a checkout: each checkout of a shared journal is approved separately."""
    return f"{process.host()}:{root}"


def _stamp(path: Path) -> tuple[object, ...]:
    try:
        stat = path.stat()
    except OSError:
        return (path,)  # it is gone, or is being replaced
    return path, stat.st_mtime_ns, stat.st_size, stat.st_ino
