"""Large files (Git LFS) of a lane: commits hold pointers, and the content is beside git's objects.

A pointer names the digest of its content, so content is taken over from a lane like an object: it
is what the pointer says, or it is refused.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import IO

from msgspec import Struct

from dos.git.files import object_folders
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.handover.limits import Limits
from dos.handover.refusal import Refused, Rule
from dos.landing.lane.inside import Answer, LaneFailed, LaneShell
from dos.machine import filesystem
from dos.text import printable_path, quote

SECONDS = 300.0  # for the content of one file
PIECE_BYTES = 1 << 20
FILTER = r"^filter\.lfs\.(smudge|process)$"
_ATTRIBUTES = ":(top,glob)**/.gitattributes"
_SIZES = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
# Git LFS takes larger files for content.
_LONGEST_POINTER = 1_024
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n"
)


class Pointer(Struct, frozen=True, kw_only=True):
    """What a commit has of a large file."""

    path: str
    digest: str
    size: int


def take_over(
    git: Reader, shell: LaneShell, common: Path, *, base: str, commits: list[str], limits: Limits
) -> Refused | None:
    """Take over the content of the large files that the commits have and the base has not.

    `git` is the user's repository and `common` its directory. Nothing is done where no filter
    would use the content.
    """
    if not commits or not are_tracked(git, commits[0]):
        return None
    if git.attempt("config --get-regexp", FILTER).returncode != 0:
        return None
    left_bytes = limits.total_bytes
    for pointer in _pointers(git, *commits, f"^{base}"):
        target = stored_path(common, pointer.digest)
        if target.exists():
            continue
        left_bytes -= pointer.size
        if pointer.size > limits.object_bytes or left_bytes < 0:
            what = f"the large file {printable_path(pointer.path)} has {pointer.size:,} bytes"
            return Refused(rule=Rule.LIMIT, reason=f"{what}, which is too many")
        if not _store(shell, pointer, target):
            what = f"{quote(pointer.path)} is a pointer of Git LFS"
            why = f"content with the digest {pointer.digest[:12]} was not in the lane"
            return Refused(rule=Rule.INCOMPLETE, reason=f"{what}, and {why}")
    return None


def stored_path(common: Path, digest: str) -> Path:
    """Return where Git LFS keeps the content of a large file."""
    return common / "lfs" / "objects" / digest[:2] / digest[2:4] / digest


def are_tracked(git: Reader, commit: str) -> bool:
    """Whether a commit has files that are meant for Git LFS."""
    found = git.attempt("grep", "--quiet", "filter=lfs", commit, "--", _ATTRIBUTES)
    return found.returncode == 0


def missing_files(git: Reader, common: Path | None, commit: str) -> list[str]:
    """Return the large files of a commit whose content is not in the repository."""
    if common is None:
        return []
    folders = [folder.parent for folder in object_folders(common)]
    missing = []
    for pointer in _pointers(git, "--no-walk", commit):
        if not any(stored_path(folder, pointer.digest).exists() for folder in folders):
            missing.append(pointer.path)
    return missing


def _pointers(git: Reader, *revisions: str) -> list[Pointer]:
    """Return the pointers among the files of commits; the words are those of `git rev-list`."""
    listing = git.run("rev-list", "--objects", "--missing=allow-any", *revisions, "--")
    paths = dict(line.split(" ", 1) for line in listing.splitlines() if " " in line)
    feed = "".join(f"{name}\n" for name in paths)
    # A partial clone answers `missing` for what it lacks.
    sizes = git.run("cat-file", _SIZES, feed=feed)
    small = []
    for line in sizes.splitlines():
        name, kind, *size = line.split(" ")
        if kind == "blob" and int(size[0]) < _LONGEST_POINTER:
            small.append(name)
    pointers = []
    with Objects(git) as objects:
        for name, content in zip(small, objects.blobs(small), strict=True):
            match = _POINTER.fullmatch(content or b"")
            if match:
                digest = match[1].decode()
                pointers.append(Pointer(path=paths[name], digest=digest, size=int(match[2])))
    return pointers


def _store(shell: LaneShell, pointer: Pointer, target: Path) -> bool:
    """Copy content out of the lane; False if it is not what the pointer says."""
    target.parent.mkdir(parents=True, exist_ok=True)
    order = {"digest": pointer.digest}
    try:
        with (
            filesystem.whole_file(target, follow_link=False) as file,
            shell.answer("large", order, SECONDS) as answer,
        ):
            _copy(answer, file, pointer)
    except (LaneFailed, _OtherContent):
        return False
    return True


class _OtherContent(Exception):
    """A lane gave other content than its pointer says."""


def _copy(answer: Answer, file: IO[bytes], pointer: Pointer) -> None:
    """Copy what a lane sends to a file. Raises _OtherContent if it is not what the pointer says."""
    digest = sha256()
    left = pointer.size
    # One byte more than promised shows that there is more.
    while piece := answer.read(min(PIECE_BYTES, left + 1)):
        if len(piece) > left:
            raise _OtherContent
        left -= len(piece)
        digest.update(piece)
        file.write(piece)
    if left or digest.hexdigest() != pointer.digest:
        raise _OtherContent
