"""Git's objects by name, read through one `git cat-file --batch` process.

A read costs a round trip instead of a process. Files are reached through their trees, so that a
name with a newline in it works like any other.
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
from dos.git.process import PAUSES, SAFE_READING, TRIES, reading_environment, start_failure
from dos.git.repository import Reader
from dos.text import quote

if TYPE_CHECKING:
    from hashlib import _Hash

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMITTED = re.compile(rb"\ncommitter [^\n]*> (\d{1,18}) ")
_ENCODING = re.compile(rb"\nencoding ([^\n]+)")
_TREE = 0o040000
_SHA1 = 40  # characters of a name
SUBMODULE = 0o160000
# Of the trees that are kept in memory: each commit of a large folder has a tree of its own.
MOST_ENTRIES = 200_000
_AT_ONCE = 500  # names that fit in a pipe, so that neither side waits for the other


class Commit(Struct, frozen=True, kw_only=True):
    """A commit as its raw object has it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    committed_seconds: int = 0  # by the committer's clock


class TreeEntry(Struct, frozen=True):
    """What a tree holds under one name: a file, a folder, a link or a submodule."""

    mode: int
    sha: str

    @property
    def is_tree(self) -> bool:
        return self.mode == _TREE


class _Object(Struct, frozen=True):
    """An object as `cat-file --batch` prints it."""

    sha: str
    kind: str  # commit, tree, blob or tag
    content: bytes


class Objects:
    """Reads objects of one repository. Close it, or use it in a `with`, to end its process."""

    def __init__(self, git: Reader) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._trees: dict[str, dict[str, TreeEntry]] = {}
        self._entries = 0  # in all kept trees

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next read starts another."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def commit(self, name: str) -> Commit | None:
        """Return the commit that a hash or a ref names; None when there is none here.

        Raises BadInput for a name that git would take for something else.
        """
        query = name if is_hash(name) else f"{_checked_name(name)}^{{commit}}"
        found = self._read(query)
        if found is None or found.kind != "commit":
            return None
        return _parse_commit(found)

    def is_unborn(self) -> bool:
        """Whether the branch that is checked out has no commit yet."""
        branch = self._git.branch()
        if branch is None:
            return False
        return self._git.object_of(f"refs/heads/{branch}") is None

    def blob(self, sha: str) -> bytes | None:
        """Return the content of a file; None when it is not here."""
        return _blob_content(self._read(sha))

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the contents of many files: git reads the next while the last is taken."""
        contents: list[bytes | None] = []
        for begin in range(0, len(names), _AT_ONCE):
            answers = self._read_all(names[begin : begin + _AT_ONCE])
            contents += map(_blob_content, answers)
        return contents

    def tree(self, sha: str) -> dict[str, TreeEntry]:
        """Return what a tree holds, by name. Raises GitFailed when it is missing or damaged."""
        known = self._trees.get(sha)
        if known is not None:
            return known
        found = self._read(sha)
        if found is None or found.kind != "tree":
            raise self._damaged(f"tree {sha} is not here")
        try:
            entries = _parse_tree(found.content, len(sha) // 2)
        except ValueError as error:
            raise self._damaged(f"tree {sha} is not written as one") from error
        self._keep_tree(sha, entries)
        return entries

    def _keep_tree(self, sha: str, entries: dict[str, TreeEntry]) -> None:
        self._entries += len(entries)
        if self._entries > MOST_ENTRIES:
            self._trees.clear()
            self._entries = len(entries)
        self._trees[sha] = entries

    def entry_at(self, tree: str, path: str) -> TreeEntry | None:
        """Return what a tree has at a path; None when there is nothing."""
        entry = TreeEntry(_TREE, tree)
        for part in path.split("/"):
            if not entry.is_tree:
                return None
            child = self.tree(entry.sha).get(part)
            if child is None:
                return None
            entry = child
        return entry

    def files(self, tree: str, folder: str = "") -> Iterator[tuple[str, TreeEntry]]:
        """Yield every file under a folder of a tree, with its whole path, in the tree's order."""
        start = self.entry_at(tree, folder) if folder else TreeEntry(_TREE, tree)
        if start is None:
            return
        waiting = [(folder, start)]
        while waiting:
            path, entry = waiting.pop()
            if not entry.is_tree:
                yield path, entry
                continue
            prefix = f"{path}/" if path else ""
            children = self.tree(entry.sha)
            for name in reversed(children):
                waiting.append((prefix + name, children[name]))

    def _damaged(self, what: str) -> GitFailed:
        return GitFailed(f"{what}, in {self._git.tree}", hint=f"git -C {self._git.tree} fsck")

    def _read(self, name: str) -> _Object | None:
        return self._read_all([name])[0]

    def _read_all(self, names: Sequence[str]) -> list[_Object | None]:
        """Return what git has under each name.

        A git that died is started again: objects never change, so its answer is the same.
        """
        failures = 0
        while True:
            try:
                self._send("".join(f"{name}\n" for name in names))
                return [self._receive(name) for name in names]
            except GitUnanswered:
                failures += 1
                if failures == TRIES:
                    raise
                self.close()
                time.sleep(PAUSES.delay(failures))

    def _send(self, lines: str) -> None:
        process = self._process or self._start()
        assert process.stdin
        try:
            process.stdin.write(lines.encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except OSError as error:
            raise self._process_ended() from error

    def _receive(self, name: str) -> _Object | None:
        assert self._process and self._process.stdout
        head = self._process.stdout.readline().split(b" ")
        if len(head) != 3 or not head[2].strip().isdigit():
            if head == [b""]:
                raise self._process_ended()
            return None  # missing, or more than one object has that beginning
        size = int(head[2])
        content = self._process.stdout.read(size + 1)
        if len(content) != size + 1:
            raise GitUnanswered(
                f"git cat-file in {self._git.tree} ended while it printed {name}",
                hint=f"Check the repository and its disk: git -C {self._git.tree} fsck",
            )
        sha = head[0].decode()
        content = content[:-1]
        # Git does not check that an object is what its name says, and a file can be overwritten.
        if _hash_function(sha)(b"%s %d\0" % (head[1], size) + content).hexdigest() != sha:
            raise self._damaged(f"object {sha} is not what its name says")
        return _Object(sha, head[1].decode(), content)

    def _process_ended(self) -> GitUnanswered:
        # A command that fails in the same place may print why.
        lines = self._git.run_once("rev-parse", "--git-dir").stderr.strip().splitlines()
        why = f": {lines[-1]}" if lines else ""
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
    """Whether a text is the whole name of an object."""
    return _HASH.fullmatch(text) is not None


def _blob_content(found: _Object | None) -> bytes | None:
    if found is None or found.kind != "blob":
        return None
    return found.content


def _hash_function(sha: str) -> Callable[[bytes], "_Hash"]:
    if len(sha) == _SHA1:
        return partial(sha1, usedforsecurity=False)
    return sha256


def _checked_name(name: str) -> str:
    if not name or name.startswith("-") or not name.isprintable():
        raise BadInput(
            f"{quote(name)} is not the name of a commit", hint="Give a branch, a tag or a hash."
        )
    return name


def _parse_commit(found: _Object) -> Commit:
    head, _, message = found.content.partition(b"\n\n")
    tree = ""
    parents: list[str] = []
    for line in head.split(b"\n"):
        if line.startswith(b"tree "):
            tree = line[5:].decode()
        elif line.startswith(b"parent "):
            parents.append(line[7:].decode())
        else:
            break
    committer = _COMMITTED.search(head)
    return Commit(
        sha=found.sha,
        tree=tree,
        parents=tuple(parents),
        message=_decode_message(message, head),
        committed_seconds=int(committer[1]) if committer else 0,
    )


def _decode_message(message: bytes, head: bytes) -> str:
    """Decode a message by the encoding that its commit names, else as UTF-8."""
    named = _ENCODING.search(head)
    encoding = named[1].decode("ascii", "replace") if named else "utf-8"
    try:
        return message.decode(encoding)
    except (LookupError, ValueError):
        return message.decode("utf-8", "replace")


def _parse_tree(raw: bytes, hash_bytes: int) -> dict[str, TreeEntry]:
    """Parse entries of the form `mode name NUL hash`. Raises ValueError for a damaged tree."""
    entries = {}
    begin = 0
    while begin < len(raw):
        space = raw.index(b" ", begin)
        end = raw.index(b"\0", begin)
        following = end + 1 + hash_bytes
        name = raw[space + 1 : end].decode("utf-8", "surrogateescape")
        entries[name] = TreeEntry(int(raw[begin:space], 8), raw[end + 1 : following].hex())
        begin = following
    return entries
