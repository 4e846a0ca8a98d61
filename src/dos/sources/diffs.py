"""Commits with what each of them changed, in one pass over a range, as git hands them out.

Only the raw records of git are read, each ended by a NUL: which blob was where. No setting, attribute or driver of the
user has a part in them, and a name with a newline in it is as good as any other.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from dos.records.changes import CommitFacts, FileChange
from dos.sources.commits import named
from dos.sources.git import Reader
from dos.sources.history import log
from dos.verdicts.commits.naming import Message

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
        parents, message, _ = (next(fields, b"") for _ in range(3))  # the format ends with an empty field
        files, following = _files(fields)
        said = Message.of(message.decode("utf-8", "replace"))
        yield CommitFacts(
            sha=sha.decode(), parents=tuple(parents.decode().split()), subject=said.subject, body=said.body, files=files
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
