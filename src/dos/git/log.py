"""The history of a ref: which commits it holds, and what their messages say."""

import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count, groupby
from pathlib import Path

from msgspec import Struct

from dos.errors import GitUnanswered
from dos.git.repository import (
    PAUSES,
    SAFE_READING,
    TRIES,
    Reader,
    reading_environment,
    start_failure,
)
from dos.run_ids import is_run_id

_PIECE = 1 << 20
_RECORDS = ("log", "-z", "--format=%H%x00%B")
_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class LogRecord(Struct, frozen=True):
    sha: str
    message: str


def records(git: Reader, *ranges: str) -> Iterator[LogRecord]:
    """The commits of a range with their messages, newest first, as git hands them out."""
    return _records(git, stream_fields(git, *_RECORDS, *ranges, "--"))


def records_at_once(git: Reader, *ranges: str) -> list[LogRecord]:
    """The same for a range that is not long: all of them, or none."""
    return list(_records(git, _all_fields(git, *_RECORDS, *ranges, "--")))


def _records(git: Reader, found: Iterator[bytes]) -> Iterator[LogRecord]:
    for sha in found:
        if not _HASH.fullmatch(sha):
            raise _failed(git, ("log",), b"it did not print the names of commits")
        yield LogRecord(sha.decode(), next(found, b"").decode("utf-8", "replace"))


def commit_names(git: Reader, *words: str, path: str = "") -> Iterator[str]:
    """The commits of a range, and with a path those that touched it; a folder of that name is not meant by a glob."""
    place = [f":(top,literal){path}"] if path else []
    for sha in _all_fields(git, "log", "-z", "--format=%H", *words, "--", *place):
        yield sha.decode()


def difference(git: Reader, old: str, new: str) -> tuple[set[str], set[str]]:
    """The commits that only the old one holds, and those that only the new one does."""
    said = _read(git, "rev-list", "--left-right", f"{old}...{new}", "--").split("\n")
    gone = {line[1:] for line in said if line.startswith("<")}
    return gone, {line[1:] for line in said if line.startswith(">")}


def touched_paths(git: Reader, commits: Iterable[str]) -> set[str]:
    """Every path that one of the commits changed; a merge is left out."""
    words = (
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--root",
        "--no-renames",
        "--ignore-submodules=none",
    )
    said = _read(
        git, *words, "--name-only", "--no-commit-id", feed="".join(f"{sha}\n" for sha in commits)
    )
    return {path for path in said.split("\0") if path}


def contained_commits(git: Reader, ref: str, commits: Collection[str]) -> set[str]:
    """Those of the commits that another one, named by its hash, holds."""
    if not commits:
        return set()
    # Not `commit ^ref`: where dates lie, git stops before it has seen that the ref holds the commit.
    held = set(_read(git, "rev-list", ref, "--").split())
    if ref not in held:
        raise _failed(git, ("rev-list",), b"it did not print the names of commits")
    return held.intersection(commits)


def newest_first(git: Reader, commits: Mapping[str, int]) -> list[str]:
    """Commits by their times; of those of one second a later one of the same line comes first."""
    ordered: list[str] = []
    for second, group in groupby(
        sorted(commits, key=lambda sha: (-commits[sha], sha)), key=lambda sha: commits[sha]
    ):
        same = list(group)
        if len(same) > 1:
            found = list(commit_names(git, "--topo-order", f"--max-age={second}", *same))
            same.sort(key=lambda sha: found.index(sha) if sha in found else len(found))
        ordered += same
    return ordered


def short_names(git: Reader, commits: Iterable[str]) -> dict[str, str]:
    """Each commit as short as git makes it."""
    wanted = "".join(f"{sha}\n" for sha in commits)
    said = (
        _read(git, "log", "--no-walk=unsorted", "--format=%H %h", "--stdin", feed=wanted)
        if wanted
        else ""
    )
    return dict(pair.split(" ") for pair in said.splitlines())


def _read(git: Reader, *words: str, feed: str = "") -> str:
    """One read for a verdict: what git printed, or GitUnanswered after several tries."""
    return _bytes(git, *words, feed=feed).decode("utf-8", "surrogateescape")


def _all_fields(git: Reader, *words: str) -> Iterator[bytes]:
    """What git prints for a verdict, field by field, when all of it has come."""
    *whole, rest = _bytes(git, *words).split(b"\0")
    return iter([*whole, rest] if rest else whole)


def _bytes(git: Reader, *words: str, feed: str = "") -> bytes:
    for pause in PAUSES.delays_before_attempts(TRIES):
        time.sleep(pause)
        try:
            done = subprocess.run(
                ["git", *SAFE_READING, *words],
                cwd=git.tree,
                input=feed.encode("utf-8", "surrogateescape"),
                capture_output=True,
                env=reading_environment(),
            )
        except OSError as error:
            raise start_failure(git.tree, error) from error
        if done.returncode == 0:
            return done.stdout
    raise _failed(git, words, done.stderr)


def stream_fields(git: Reader, *words: str) -> Iterator[bytes]:
    """What git prints for a verdict, field by field: a long history is not held in memory.

    One that dies before its first field is started again; after that, whoever asked has to ask again.
    """
    for failures in count(1):
        some = _fields(git, *words)
        try:
            first = next(some, None)
        except GitUnanswered:
            if failures == TRIES:
                raise
            time.sleep(PAUSES.delay(failures))
            continue
        if first is not None:
            yield first
            yield from some
        return


def _fields(git: Reader, *words: str) -> Iterator[bytes]:
    with (
        tempfile.TemporaryFile() as complaints,  # a pipe that nobody empties would stop it
        subprocess.Popen(
            ["git", *SAFE_READING, *words],
            cwd=git.tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=reading_environment(),
        ) as process,
    ):
        assert process.stdout
        rest = b""
        while piece := process.stdout.read1(_PIECE):  # type: ignore[attr-defined]
            *whole, rest = (rest + piece).split(b"\0")
            yield from whole
        if rest:
            yield rest
        if process.wait() != 0:
            complaints.seek(0)
            raise _failed(git, words, complaints.read())


def _failed(git: Reader, words: tuple[str, ...], said: bytes) -> GitUnanswered:
    last = (said.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
    return GitUnanswered(f"git {words[0]} in {git.tree}: {last}", hint=f"git -C {git.tree} fsck")


MOST_ENTRIES = 1_000  # of a reflog, the newest: whoever looks does so while the agents run
AGENT_ACTION = "dos agent "  # before the run, in the entries of what an agent does with git


class RefMove(Struct, frozen=True, kw_only=True):
    """One entry: where an agent moved a ref."""

    ref: str
    run_id: str  # empty: what stands there is no run, for an agent can write any word
    old: str  # empty: it is the oldest entry that there is
    new: str


class Reflogs:
    """Of a branch and of the checkout of the user. They are read again only when one of them has changed."""

    def __init__(self, git: Reader, branch: str) -> None:
        self._git = git
        self._refs = (f"refs/heads/{branch}", "HEAD")
        self._paths = [
            git.tree / git.run("rev-parse", "--git-path", f"logs/{ref}").strip()
            for ref in self._refs
        ]
        self._seen: object = None
        self._moves: list[RefMove] = []

    def agent_moves(self) -> list[RefMove]:
        """What agents did to them, oldest first."""
        seen = [_stamp(path) for path in self._paths]
        if None in seen:  # kept otherwise (reftable), or not yet: where the refs are has to do
            seen += [self._git.commit_of(ref) for ref in self._refs]
        if seen != self._seen:
            self._moves = [move for ref in self._refs for move in self._read(ref)]
            self._seen = seen
        return self._moves

    def _read(self, ref: str) -> list[RefMove]:
        if self._git.commit_of(ref) is None:
            return []  # a branch that is only on a remote, or has no commit yet
        words = (
            "-g",
            "--no-show-signature",
            f"--max-count={MOST_ENTRIES}",
            "--format=%H%x00%gs",
            ref,
            "--",
        )
        entries = [line.partition("\0") for line in self._git.run("log", *words).splitlines()]
        older = [new for new, _, _ in entries[1:]] + [""]
        found = []
        for (new, _, action), old in zip(entries, older, strict=True):
            if action.startswith(AGENT_ACTION):
                named = action.removeprefix(AGENT_ACTION).partition(":")[0].strip()
                found.append(
                    RefMove(ref=ref, run_id=named if is_run_id(named) else "", old=old, new=new)
                )
        return found[::-1]


def _stamp(path: Path) -> object:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_mtime_ns, known.st_size
