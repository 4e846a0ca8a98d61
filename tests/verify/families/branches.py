"""All variants as branches of one repository, which one `git fast-import` writes.

The branches share no commit, so that none of them says anything about another.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from families.variant import BASE, Change, File, Files, Link, Program, Submodule, Variant

_FAST = ("-c", "core.fsync=none", "-c", "fastimport.unpackLimit=0")


def write(root: Path, variants: Sequence[Variant]) -> list[str]:
    """Make the repository; the branch of each variant, in order."""
    root.mkdir(parents=True, exist_ok=True)
    _git(root, "init", "--quiet", "--template=", "--initial-branch=main")
    names = [f"refs/heads/variant-{number}" for number in range(len(variants))]
    feed = bytearray(b"".join(_commit("refs/heads/main", 1, Change("begin", BASE))))
    for name, variant in zip(names, variants, strict=True):
        begin = Change("begin", {**BASE, **variant.before})
        for number, change in enumerate((begin, *variant.changes), start=1):
            feed += b"".join(_commit(name, number, change))
    _git(root, *_FAST, "fast-import", "--quiet", feed=bytes(feed))
    _git(root, "reset", "--quiet", "--hard")
    return names


def _commit(branch: str, number: int, change: Change) -> Iterator[bytes]:
    yield f"commit {branch}\n".encode()
    yield f"committer A <a@example.org> {1_700_000_000 + 60 * number} +0000\n".encode()
    yield _data(change.message.encode())
    yield from _files(change.files)
    yield b"\n"


def _files(files: Files) -> Iterator[bytes]:
    for path, file in files.items():
        yield f"D {path}\n".encode() if file is None else _file(path, file)


def _file(path: str, file: File) -> bytes:
    match file:
        case Submodule(sha):
            return f"M 160000 {sha} {path}\n".encode()
        case Link(target):
            return f"M 120000 inline {path}\n".encode() + _data(target.encode())
        case Program(text):
            return f"M 100755 inline {path}\n".encode() + _data(text.encode())
        case bytes():
            return f"M 100644 inline {path}\n".encode() + _data(file)
        case _:
            return f"M 100644 inline {path}\n".encode() + _data(str(file).encode())


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _git(root: Path, *words: str, feed: bytes = b"") -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(
        ["git", *words], cwd=root, input=feed, capture_output=True, env=kept | own
    )
    assert done.returncode == 0, (words, done.stderr)
