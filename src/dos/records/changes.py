"""What a commit is made of: its message, and each file as it was and as it is."""

from msgspec import Struct


class FileChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob is a file that is not there."""

    path: str
    old_path: str = ""  # where it was, when it moved; else empty
    status: str = "M"  # git's letter: A added, D deleted, M changed, R moved, C copied, T became another type
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
