"""Git's objects by name, through one `git cat-file --batch`: a read costs a round trip instead of a process.

Files are reached through their trees, so a name with a newline in it is as good as any other.
"""

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha1, sha256
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from dos.errors import BadInput, GitFailed, GitUnanswered
from dos.git.repository import (
    PAUSES,
    SAFE_READING,
    TRIES,
    Reader,
    reading_environment,
    start_failure,
)
from dos.text import quote

if TYPE_CHECKING:
    from hashlib import _Hash

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMITTED = re.compile(rb"\ncommitter [^\n]*> (\d{1,18}) ")
_ENCODING = re.compile(rb"\nencoding ([^\n]+)")
_TREE = 0o040000
_SHA1 = 40  # characters of a name
SUBMODULE = 0o160000
MOST_ENTRIES = (
    200_000  # of trees that are kept: each commit of a large folder has a tree of its own
)
_AT_ONCE = 500  # names that a pipe holds, so that neither side waits for the other


class Commit(Struct, frozen=True, kw_only=True):
    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    committed_seconds: int = 0  # seconds, by the clock of whoever committed it


class TreeEntry(Struct, frozen=True):
    """What a tree holds under one name."""

    mode: int
    sha: str

    @property
    def is_tree(self) -> bool:
        return self.mode == _TREE


class Objects:
    def __init__(self, git: Reader) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._trees: dict[str, dict[str, TreeEntry]] = {}
        self._entries = 0  # in all of them

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def commit(self, name: str) -> Commit | None:
        """The commit that a hash or a ref names; None when there is none here."""
        found = self._read(name if is_hash(name) else f"{_askable(name)}^{{commit}}")
        return _commit(found[0], found[2]) if found and found[1] == "commit" else None

    def is_unborn(self) -> bool:
        """Whether there is no commit on the branch that is checked out."""
        branch = self._git.branch()
        if branch is None:
            return False
        return self._git.object_of(f"refs/heads/{branch}") is None

    def blob(self, sha: str) -> bytes | None:
        found = self._read(sha)
        return found[2] if found and found[1] == "blob" else None

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """Many at once: git reads the next while we take the last."""
        found: list[bytes | None] = []
        for begin in range(0, len(names), _AT_ONCE):
            answers = self._asked(names[begin : begin + _AT_ONCE])
            found += [answer[2] if answer and answer[1] == "blob" else None for answer in answers]
        return found

    def tree(self, sha: str) -> dict[str, TreeEntry]:
        """What a tree holds, by name; nothing when it is not here."""
        known = self._trees.get(sha)
        if known is None:
            found = self._read(sha)
            if found is None or found[1] != "tree":
                raise self._damaged(f"tree {sha} is not here")
            try:
                known = _entries(found[2], len(sha) // 2)
            except ValueError as error:
                raise self._damaged(f"tree {sha} is not written as one") from error
            self._entries += len(known)
            if self._entries > MOST_ENTRIES:
                self._trees.clear()
                self._entries = len(known)
            self._trees[sha] = known
        return known

    def entry_at(self, tree: str, path: str) -> TreeEntry | None:
        """What a tree has at a path; None when there is nothing."""
        entry = TreeEntry(_TREE, tree)
        for part in path.split("/"):
            found = self.tree(entry.sha).get(part) if entry.is_tree else None
            if found is None:
                return None
            entry = found
        return entry

    def files(self, tree: str, folder: str = "") -> Iterator[tuple[str, TreeEntry]]:
        """Every file under a folder of a tree, with its whole path, in the tree's order."""
        start = self.entry_at(tree, folder) if folder else TreeEntry(_TREE, tree)
        waiting = [(folder, start)] if start is not None else []
        while waiting:
            path, entry = waiting.pop()
            if not entry.is_tree:
                yield path, entry
                continue
            held = self.tree(entry.sha)
            waiting += [(f"{path}/{name}" if path else name, held[name]) for name in reversed(held)]

    def _damaged(self, what: str) -> GitFailed:
        return GitFailed(f"{what}, in {self._git.tree}", hint=f"git -C {self._git.tree} fsck")

    def _read(self, name: str) -> tuple[str, str, bytes] | None:
        return self._asked([name])[0]

    def _asked(self, names: Sequence[str]) -> list[tuple[str, str, bytes] | None]:
        """What git has under each name. One that died is started again: what it reads never changes."""
        failures = 0
        while True:
            try:
                return self._asked_once(names)
            except GitUnanswered:
                failures += 1
                if failures == TRIES:
                    raise
                self.close()
                time.sleep(PAUSES.delay(failures))

    def _asked_once(self, names: Sequence[str]) -> list[tuple[str, str, bytes] | None]:
        self._ask("".join(f"{name}\n" for name in names))
        return [self._answer(name) for name in names]

    def _ask(self, lines: str) -> None:
        process = self._process or self._start()
        assert process.stdin
        try:
            process.stdin.write(lines.encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def _answer(self, name: str) -> tuple[str, str, bytes] | None:
        assert self._process and self._process.stdout
        head = self._process.stdout.readline().split(b" ")
        if len(head) != 3 or not head[2].strip().isdigit():
            if head == [b""]:
                raise self._ended()
            return None  # missing, or more than one object has that beginning
        size = int(head[2])
        content = self._process.stdout.read(size + 1)
        if len(content) != size + 1:
            raise GitUnanswered(
                f"git cat-file in {self._git.tree} broke off at {name}", hint="Check the disk."
            )
        named = head[0].decode()
        # Git does not look whether an object is what its name says, and a file can be written over.
        if _hash(len(named))(b"%s %d\0" % (head[1], size) + content[:-1]).hexdigest() != named:
            raise self._damaged(f"object {named} is not what its name says")
        return named, head[1].decode(), content[:-1]

    def _ended(self) -> GitUnanswered:
        said = (
            self._git.run_once("rev-parse", "--git-dir").stderr.strip().splitlines()
        )  # it may say why
        why = f": {said[-1]}" if said else ""
        return GitUnanswered(
            f"git cat-file in {self._git.tree} ended{why}", hint=f"git -C {self._git.tree} fsck"
        )

    def _start(self) -> "subprocess.Popen[bytes]":
        try:
            self._process = subprocess.Popen(
                ["git", *SAFE_READING, "cat-file", "--batch"],
                cwd=self._git.tree,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=reading_environment(),
            )
        except OSError as error:
            raise start_failure(self._git.tree, error) from error
        return self._process


def is_hash(text: str) -> bool:
    """Whether it is the whole name of an object."""
    return _HASH.fullmatch(text) is not None


def _hash(length: int) -> Callable[[bytes], "_Hash"]:
    return partial(sha1, usedforsecurity=False) if length == _SHA1 else sha256


def _askable(name: str) -> str:
    if not name or name.startswith("-") or not name.isprintable():
        raise BadInput(
            f"{quote(name)} is no name of a commit", hint="Give a branch, a tag or a hash."
        )
    return name


def _commit(sha: str, raw: bytes) -> Commit:
    head, _, message = raw.partition(b"\n\n")
    tree, parents, written = "", [], _COMMITTED.search(head)
    for line in head.split(b"\n"):
        if line.startswith(b"tree "):
            tree = line[5:].decode()
        elif line.startswith(b"parent "):
            parents.append(line[7:].decode())
        else:
            break
    committed = int(written[1]) if written else 0
    return Commit(
        sha=sha,
        tree=tree,
        parents=tuple(parents),
        message=_decoded(message, head),
        committed_seconds=committed,
    )


def _decoded(message: bytes, head: bytes) -> str:
    written = _ENCODING.search(head)
    try:
        return message.decode(written[1].decode("ascii", "replace") if written else "utf-8")
    except (LookupError, ValueError):
        return message.decode("utf-8", "replace")


def _entries(raw: bytes, hash_bytes: int) -> dict[str, TreeEntry]:
    """`mode name NUL hash`, one after the other."""
    found, at = {}, 0
    while at < len(raw):
        space, end = raw.index(b" ", at), raw.index(b"\0", at)
        following = end + 1 + hash_bytes
        name = raw[space + 1 : end].decode("utf-8", "surrogateescape")
        found[name] = TreeEntry(int(raw[at:space], 8), raw[end + 1 : following].hex())
        at = following
    return found
