"""The history of a ref: which commits it holds, and what their messages say."""

import subprocess
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dos.errors import GitFailed
from dos.sources.git import SAFE_READING, Git, reading_environment

_PIECE = 1 << 20


class Record(Struct, frozen=True):
    sha: str
    message: str


def records(git: Git, *ranges: str) -> Iterator[Record]:
    """The commits of a range with their messages, newest first, as git hands them out."""
    fields = _fields(git, "log", "-z", "--format=%H%x00%B", *ranges, "--")
    for sha in fields:
        yield Record(sha, next(fields, ""))


def names(git: Git, *words: str, path: str = "") -> Iterator[str]:
    """The commits of a range, and with a path those that touched it; a folder of that name is not meant by a glob."""
    place = [f":(top,literal){path}"] if path else []
    yield from _fields(git, "log", "-z", "--format=%H", *words, "--", *place)


def difference(git: Git, old: str, new: str) -> tuple[set[str], set[str]]:
    """The commits that only the old one holds, and those that only the new one does."""
    said = _read(git, "rev-list", "--left-right", f"{old}...{new}", "--").split("\n")
    gone = {line[1:] for line in said if line.startswith("<")}
    return gone, {line[1:] for line in said if line.startswith(">")}


def holds(git: Git, ref: str, commits: list[str]) -> set[str]:
    """Those of the commits that a ref holds, in one question."""
    if not commits:
        return set()
    said = _read(git, "rev-list", "--stdin", f"^{ref}", feed="".join(f"{sha}\n" for sha in commits))
    return set(commits) - set(said.split())


def abbreviated(git: Git, commits: Iterable[str]) -> dict[str, str]:
    """Each commit as short as git makes it."""
    wanted = "".join(f"{sha}\n" for sha in commits)
    said = _read(git, "log", "--no-walk=unsorted", "--format=%H %h", "--stdin", feed=wanted) if wanted else ""
    return dict(pair.split(" ") for pair in said.splitlines())


def _read(git: Git, *words: str, feed: str = "") -> str:
    """One read for a verdict: what git printed, or GitFailed."""
    try:
        done = subprocess.run(
            ["git", *SAFE_READING, *words],
            cwd=git.tree,
            input=feed.encode("utf-8", "surrogateescape"),
            capture_output=True,
            env=reading_environment(),
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run in {git.tree}: {error.strerror}", hint="Install git.") from error
    if done.returncode != 0:
        raise _failed(git, words, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape")


def _fields(git: Git, *words: str) -> Iterator[str]:
    """What git prints, field by field: a long history is not held in memory."""
    with subprocess.Popen(
        ["git", *SAFE_READING, *words],
        cwd=git.tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=reading_environment(),
    ) as process:
        assert process.stdout and process.stderr
        rest = b""
        while piece := process.stdout.read(_PIECE):
            *whole, rest = (rest + piece).split(b"\0")
            for field in whole:
                yield field.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")
        said = process.stderr.read()
        if process.wait() != 0:
            raise _failed(git, words, said)


def _failed(git: Git, words: tuple[str, ...], said: bytes) -> GitFailed:
    last = (said.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
    return GitFailed(f"git {words[0]} in {git.tree}: {last}", hint=f"git -C {git.tree} fsck")
