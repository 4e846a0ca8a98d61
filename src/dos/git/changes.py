"""What a commit is made of: its message, and each file as it was and as it is."""

import re
from collections.abc import Iterator

from msgspec import Struct

from dos.git import log
from dos.git.commits import named
from dos.git.repository import Reader
from dos.verify.naming import Message


class FileChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob is a file that is not there."""

    path: str
    old_path: str = ""  # where it was, when it moved; else empty
    status: str = (
        "M"  # git's letter: A added, D deleted, M changed, R moved, C copied, T became another type
    )
    old_blob: str = ""
    new_blob: str = ""
    old_mode: str = ""
    new_mode: str = ""


class CommitFacts(Struct, frozen=True, kw_only=True):
    """A commit and what it changed against its first parent; a first commit made all that is in it."""

    sha: str
    parents: tuple[str, ...]
    subject: str
    body: str
    files: tuple[FileChange, ...]


_FORMAT = "--format=%H%x00%P%x00%B%x00"
_RAW = (
    "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--diff-merges=first-parent", "--no-relative",
    "--ignore-submodules=none", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-show-signature",
    "--no-mailmap", "--encoding=UTF-8",
)  # fmt: skip
_ABSENT = re.compile(r"0+")
_RANGE = re.compile(r"(?P<old>.*?)(?P<dots>\.{2,3})(?P<new>.*)", re.DOTALL)


class Asked(Struct, frozen=True, kw_only=True):
    """Which commits are meant, by their whole names."""

    words: tuple[str, ...]
    is_range: bool
    short: int  # how long git's short names are here


def asked(git: Reader, text: str) -> Asked:
    """One commit, or a range `A..B` or `A...B`; a side that is left out is HEAD."""
    found = _RANGE.fullmatch(text)
    if found is None:
        one = named(git, text)
        return Asked(words=("--no-walk", one), is_range=False, short=_short(git, one))
    old, new = (named(git, found[side] or "HEAD") for side in ("old", "new"))
    return Asked(words=(f"{old}{found['dots']}{new}",), is_range=True, short=_short(git, new))


def commits(git: Reader, wanted: Asked) -> Iterator[CommitFacts]:
    """Newest first. What they changed is against the first parent; a first commit made all that is in it."""
    fields = log.fields(git, "log", _FORMAT, *_RAW, *wanted.words, "--")
    sha = next(fields, b"")
    while sha:
        parents, message, _ = (
            next(fields, b"") for _ in range(3)
        )  # the format ends with an empty field
        files, following = _files(fields)
        said = Message.of(message.decode("utf-8", "replace"))
        yield CommitFacts(
            sha=sha.decode(),
            parents=tuple(parents.decode().split()),
            subject=said.subject,
            body=said.body,
            files=files,
        )
        sha = following


def _files(fields: Iterator[bytes]) -> tuple[tuple[FileChange, ...], bytes]:
    """`:modes blobs status`, then the path, again and again; and the field after them, which begins a commit."""
    found: list[FileChange] = []
    for head in fields:
        if not head.startswith((b":", b"\n:")):
            return tuple(found), head
        old_mode, new_mode, old, new, status = head.lstrip(b"\n:").decode().split(" ")
        found.append(
            FileChange(
                path=next(fields).decode("utf-8", "surrogateescape"),
                status=status,
                old_blob=_blob(old),
                new_blob=_blob(new),
                old_mode=old_mode,
                new_mode=new_mode,
            )
        )
    return tuple(found), b""


def _blob(name: str) -> str:
    return "" if _ABSENT.fullmatch(name) else name


def _short(git: Reader, sha: str) -> int:
    return len(log.abbreviated(git, [sha])[sha])
