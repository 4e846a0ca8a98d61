"""A user's repository, a lane with a repository of its own, and packs and objects made by hand."""

import hashlib
import os
import signal
import subprocess
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from dos.git.repository import Writer
from dos.handover.io.receive import Received, receive
from dos.handover.limits import Limits
from dos.handover.refusal import Refused

KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
OFFSET_DELTA, REF_DELTA = 6, 7
IDENTITY = {
    "GIT_AUTHOR_NAME": "Lane",
    "GIT_AUTHOR_EMAIL": "lane@example.invalid",
    "GIT_COMMITTER_NAME": "Lane",
    "GIT_COMMITTER_EMAIL": "lane@example.invalid",
}
# Small, so that what exceeds them costs little.
SMALL = Limits(
    pack_bytes=20_000_000,
    object_bytes=10_000_000,
    total_bytes=100_000_000,
    memory_bytes=400_000_000,
    seconds=20,
    cpu_seconds=10,
)


def run(folder: Path, *words: str, feed: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, input=feed, capture_output=True, env=os.environ | IDENTITY
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Repository:
    """A repository with a work tree."""

    def __init__(self, root: Path, *, object_format: str = "sha1", alternates: str = "") -> None:
        self.root = root
        run(root.parent, "init", "-q", "-b", "main", f"--object-format={object_format}", str(root))
        if alternates:
            (root / ".git/objects/info/alternates").write_text(f"{alternates}\n")

    def git(self, *words: str, feed: bytes = b"") -> str:
        return run(self.root, *words, feed=feed)

    def write(self, path: str, text: str | bytes = "x\n") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, subject: str = "Work", **files: str) -> str:
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def put(self, kind: str, content: bytes) -> str:
        """Write an object as it is, however wrong."""
        words = ("hash-object", "-w", "--literally", "-t", kind, "--stdin")
        return self.git(*words, feed=content)

    def tree(self, *entries: tuple[str, bytes, str]) -> str:
        """A folder of modes, names and objects."""
        return self.put("tree", tree_content(entries))

    def commit_tree(self, tree: str, *parents: str) -> str:
        return self.put("commit", commit_content(tree, parents))


class Lanes:
    """A user's repository and a lane that reads its objects."""

    def __init__(self, home: Path, *, object_format: str = "sha1") -> None:
        self.home = home
        self.user = Repository(home / "user", object_format=object_format)
        self.user.write("README", "read me\n")
        self.user.write("src/main.py", "print(1)\n")
        self.base = self.user.commit("Begin")
        self.lane = self.new_lane()

    def new_lane(self, name: str = "lane") -> Repository:
        kind = self.user.git("rev-parse", "--show-object-format")
        objects = str(self.user.root / ".git/objects")
        lane = Repository(self.home / name, object_format=kind, alternates=objects)
        lane.git("checkout", "-q", "--detach", self.base)
        return lane

    def rebase_lane(self) -> None:
        """Begin anew: the user's HEAD is the base."""
        self.base = self.user.head
        self.lane.git("checkout", "-q", "--detach", "-f", self.base)

    def hand_over(
        self,
        *,
        head: str | None = None,
        saved: Sequence[str] = (),
        limits: Limits = SMALL,
    ) -> Received | Refused:
        """Send what the lane's own git sends."""
        head = head or self.lane.head
        return self.send(pack_command([head, *saved], self.base), head, saved, limits)

    def send(
        self,
        command: Sequence[str],
        head: str | None,
        saved: Sequence[str] = (),
        limits: Limits = SMALL,
    ) -> Received | Refused:
        """Run a program in the lane and take what it prints for the pack."""
        with self.start(command) as program:
            return self.receive(program, head, saved, limits)

    def start(self, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            cwd=self.lane.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            process_group=0,
        )

    def receive(
        self,
        program: "subprocess.Popen[bytes]",
        head: str | None,
        saved: Sequence[str],
        limits: Limits,
    ) -> Received | Refused:
        try:
            return receive(
                Writer(self.user.root),
                program.stdout,
                head=head,
                saved=saved,
                base=self.base,
                limits=limits,
                exit_status=lambda: program.wait(10),
            )
        finally:
            end(program)

    def send_bytes(self, data: bytes, head: str | None, limits: Limits = SMALL):
        path = self.home / "sent"
        path.write_bytes(data)
        return self.send(["cat", str(path)], head, (), limits)

    def take(self, **more: object) -> str:
        """Hand over honest work, move it in, and return its head, which a ref keeps."""
        answer = self.hand_over(**more)
        assert isinstance(answer, Received), answer
        with answer:
            answer.move_in()
            if answer.head:
                self.user.git("update-ref", "refs/dos/work/lane", answer.head)
        self.assert_clean()
        self.user.git("fsck", "--strict", "--connectivity-only")
        return answer.head or ""

    def assert_clean(self) -> None:
        """Nothing is left of a hand-over but what was moved in."""
        folder = self.user.root / ".git/dos/handover"
        assert not folder.exists() or list(folder.iterdir()) == []
        assert list((self.user.root / ".git/objects/pack").glob("*.keep")) == []

    def refused(self, **more: object) -> Refused:
        """Hand over work that is refused: nothing of it is in the user's repository."""
        before = self.stored()
        answer = self.hand_over(**more)
        return self.assert_refused(answer, before)

    def assert_refused(self, answer: Received | Refused, before: set[str]) -> Refused:
        assert isinstance(answer, Refused), "it was taken"
        assert self.stored() == before
        self.assert_clean()
        return answer

    def stored(self) -> set[str]:
        objects = self.user.root / ".git/objects"
        return {str(path) for path in objects.rglob("*") if path.is_file()}


# Objects and packs by hand


def tree_content(entries: Iterable[tuple[str, bytes, str]]) -> bytes:
    return b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries
    )


def commit_content(tree: str, parents: Iterable[str], message: str = "Work") -> bytes:
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    who = "Lane <lane@example.invalid> 1700000000 +0000"
    return "\n".join([*lines, f"author {who}", f"committer {who}", "", message, ""]).encode()


def object_id(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


def pack_header(kind: int, size: int) -> bytes:
    """The kind and the size of an entry, as a pack has them."""
    first = kind << 4 | size & 15
    size >>= 4
    header = bytearray()
    while size:
        header.append(first | 128)
        first = size & 127
        size >>= 7
    header.append(first)
    return bytes(header)


def entry(kind: str, content: bytes) -> bytes:
    return pack_header(KINDS[kind], len(content)) + zlib.compress(content)


def pack(entries: Sequence[bytes], *, count: int | None = None) -> bytes:
    """A whole pack of entries, with its checksum."""
    number = len(entries) if count is None else count
    body = b"PACK" + (2).to_bytes(4, "big") + number.to_bytes(4, "big") + b"".join(entries)
    return body + hashlib.sha1(body).digest()


def number_of_delta(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def offset_of_delta(value: int) -> bytes:
    """How far back the base of a delta is."""
    parts = [value & 127]
    value >>= 7
    while value:
        value -= 1
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes(reversed(parts))


def copying_delta(base_size: int, size: int) -> bytes:
    """A delta that repeats its base until the result has a size."""
    delta = number_of_delta(base_size) + number_of_delta(size)
    piece = min(base_size, 0xFFFFFF)
    copy = bytes([0b11110000]) + piece.to_bytes(3, "little")
    return delta + copy * (size // piece)


def pack_command(wanted: Sequence[str], base: str) -> list[str]:
    """The command that prints a pack of everything that the base does not have."""
    pack = "git pack-objects --revs --stdout --quiet --delta-base-offset"
    return ["sh", "-c", f'printf "%s\\n" "$@" | exec {pack}', "sh", *wanted, f"^{base}"]


def end(program: "subprocess.Popen[bytes]") -> None:
    """Kill a program of the lane, and the git that a shell of it has started."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
