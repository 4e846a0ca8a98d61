"""Real repositories, written in one stream: a first commit, and others on top of it, each on a
branch of its own."""

import os
import subprocess
from pathlib import Path

from msgspec import Struct

Files = dict[str, str | bytes | None]  # None: the file is deleted


class Told(Struct):
    """A commit to be: what it says, and the files that it leaves."""

    subject: str
    files: Files = {}
    body: str = ""


def _quoted(path: str) -> bytes:
    escaped = (
        path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    )
    return f'"{escaped}"'.encode("utf-8", "surrogateescape")


def _stream(branch: str, told: Told, number: int, parent: str) -> bytes:
    message = (told.subject + (f"\n\n{told.body}" if told.body else "")).encode()
    lines = [
        f"commit refs/heads/{branch}\ncommitter T <t@example.com> {number + 1} +0000\n".encode()
    ]
    lines.append(b"data %d\n%s\n" % (len(message), message))
    lines.append(f"from {parent}\n".encode() if parent else b"")
    for path, content in told.files.items():
        if content is None:
            lines.append(b"D %s\n" % _quoted(path))
        else:
            raw = content.encode() if isinstance(content, str) else content
            lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(raw), raw))
    return b"".join(lines)


def write(root: Path, base: Files, branches: dict[str, list[Told]]) -> Path:
    """`base` is on main, and each branch goes on from there."""
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "-b", "main", "."], cwd=root, check=True)
    parts = [_stream("main", Told("Begin", base), 0, "")]
    for branch, commits in branches.items():
        for number, told in enumerate(commits):
            parts.append(_stream(branch, told, number + 1, "" if number else "refs/heads/main"))
    _import(root, b"".join(parts))
    return root


def add(root: Path, branch: str, told: Told) -> None:
    """One more commit on top of main, on a branch that is made anew."""
    _import(root, _stream(branch, told, 1, "refs/heads/main^0"))


def _import(root: Path, stream: bytes) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force"], cwd=root, input=stream, check=True, env=clean
    )
