"""The history of a ref: its commits, their messages, and the entries of reflogs.

Every read here decides a verdict, so configuration cannot change it, and a git that dies is
started again.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count, groupby
from pathlib import Path

from msgspec import Struct

from dos.errors import GitUnanswered
from dos.git.process import PAUSES, SAFE_READING, TRIES, reading_environment, start_failure
from dos.git.repository import Reader
from dos.run_ids import is_run_id

_CHUNK_BYTES = 1 << 20
_RECORDS = ("log", "-z", "--format=%H%x00%B")
_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NOT_COMMITS = b"it did not print the names of commits"
MOST_ENTRIES = 1_000  # of a reflog, the newest: it is read again while the agents run
AGENT_ACTION = (
    "dos agent "  # begins the reflog entries of an agent's git commands; a run id follows
)


class LogRecord(Struct, frozen=True):
    """A commit and its whole message."""

    sha: str
    message: str


def records(git: Reader, *ranges: str) -> Iterator[LogRecord]:
    """Yield the commits of a range with their messages, newest first, as git prints them.

    Raises GitUnanswered, possibly after some were yielded.
    """
    return _parse_records(git, stream_fields(git, *_RECORDS, *ranges, "--"))


def records_at_once(git: Reader, *ranges: str) -> list[LogRecord]:
    """Return the commits of a short range with their messages: all of them, or GitUnanswered."""
    return list(_parse_records(git, _all_fields(git, *_RECORDS, *ranges, "--")))


def _parse_records(git: Reader, fields: Iterator[bytes]) -> Iterator[LogRecord]:
    for sha in fields:
        if not _HASH.fullmatch(sha):
            raise _unanswered(git, ("log",), _NOT_COMMITS)
        yield LogRecord(sha.decode(), next(fields, b"").decode("utf-8", "replace"))


def commit_names(git: Reader, *words: str, path: str = "") -> Iterator[str]:
    """Yield the commits of a range; with a path, those that touched it. The path is no glob."""
    pathspec = [f":(top,literal){path}"] if path else []
    for sha in _all_fields(git, "log", "-z", "--format=%H", *words, "--", *pathspec):
        yield sha.decode()


def difference(git: Reader, old: str, new: str) -> tuple[set[str], set[str]]:
    """Return the commits that only the old commit has, and those that only the new one has."""
    lines = _read(git, "rev-list", "--left-right", f"{old}...{new}", "--").split("\n")
    only_old = {line[1:] for line in lines if line.startswith("<")}
    only_new = {line[1:] for line in lines if line.startswith(">")}
    return only_old, only_new


def touched_paths(git: Reader, commits: Iterable[str]) -> set[str]:
    """Return every path that one of the commits changed. Merges are left out."""
    words = ("-r", "-z", "--root", "--no-renames", "--ignore-submodules=none", "--name-only")
    feed = "".join(f"{sha}\n" for sha in commits)
    output = _read(git, "diff-tree", "--stdin", *words, "--no-commit-id", feed=feed)
    return {path for path in output.split("\0") if path}


def contained_commits(git: Reader, ref: str, commits: Collection[str]) -> set[str]:
    """Return those of the commits that the commit `ref`, given by its hash, contains."""
    if not commits:
        return set()
    # Not `commit ^ref`: with wrong commit dates git stops before it sees that ref contains it.
    contained = set(_read(git, "rev-list", ref, "--").split())
    if ref not in contained:
        raise _unanswered(git, ("rev-list",), _NOT_COMMITS)
    return contained.intersection(commits)


def newest_first(git: Reader, commits: Mapping[str, int]) -> list[str]:
    """Sort commits by their times; of those of one second, descendants come before ancestors."""
    by_time = sorted(commits, key=lambda sha: (-commits[sha], sha))
    ordered: list[str] = []
    for second, group in groupby(by_time, key=lambda sha: commits[sha]):
        same_second = list(group)
        if len(same_second) > 1:
            words = ("--topo-order", f"--max-age={second}", *same_second)
            places = {sha: place for place, sha in enumerate(commit_names(git, *words))}
            same_second.sort(key=lambda sha: places.get(sha, len(places)))
        ordered += same_second
    return ordered


def short_names(git: Reader, commits: Iterable[str]) -> dict[str, str]:
    """Return each commit's name as git abbreviates it, by its whole name."""
    feed = "".join(f"{sha}\n" for sha in commits)
    if not feed:
        return {}
    output = _read(git, "log", "--no-walk=unsorted", "--format=%H %h", "--stdin", feed=feed)
    return dict(line.split(" ") for line in output.splitlines())


def _read(git: Reader, *words: str, feed: str = "") -> str:
    """Return what git printed, or raise GitUnanswered after several tries."""
    return _read_bytes(git, *words, feed=feed).decode("utf-8", "surrogateescape")


def _all_fields(git: Reader, *words: str) -> Iterator[bytes]:
    """Return the NUL-separated fields that git prints, once all of them have come."""
    fields = _read_bytes(git, *words).split(b"\0")
    if not fields[-1]:
        fields.pop()
    return iter(fields)


def _read_bytes(git: Reader, *words: str, feed: str = "") -> bytes:
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
    raise _unanswered(git, words, done.stderr)


def stream_fields(git: Reader, *words: str) -> Iterator[bytes]:
    """Yield the NUL-separated fields that git prints, so that a long history fits in memory.

    A git that dies before its first field is started again. After that GitUnanswered is raised,
    and the caller has to start over.
    """
    for failures in count(1):
        fields = _stream_once(git, *words)
        try:
            first = next(fields, None)
        except GitUnanswered:
            if failures == TRIES:
                raise
            time.sleep(PAUSES.delay(failures))
            continue
        if first is not None:
            yield first
            yield from fields
        return


def _stream_once(git: Reader, *words: str) -> Iterator[bytes]:
    with (
        tempfile.TemporaryFile() as errors,  # a pipe that is not read would block git
        subprocess.Popen(
            ["git", *SAFE_READING, *words],
            cwd=git.tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=reading_environment(),
        ) as running,
    ):
        assert running.stdout
        rest = b""
        while chunk := running.stdout.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole
        if rest:
            yield rest
        if running.wait() != 0:
            errors.seek(0)
            raise _unanswered(git, words, errors.read())


def _unanswered(git: Reader, words: tuple[str, ...], output: bytes) -> GitUnanswered:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else "it printed nothing"
    return GitUnanswered(f"git {words[0]} in {git.tree}: {last}", hint=f"git -C {git.tree} fsck")


class RefMove(Struct, frozen=True, kw_only=True):
    """One reflog entry: an agent moved a ref."""

    ref: str
    run_id: str  # empty: the entry names no run, for an agent can write any word there
    old: str  # empty: it is the oldest entry
    new: str


class Reflogs:
    """The reflogs of a branch and of the user's checkout.

    Every git command of an agent writes its run id there. They are read again only when one of
    them has changed.
    """

    def __init__(self, git: Reader, branch: str) -> None:
        self._git = git
        self._refs = (f"refs/heads/{branch}", "HEAD")
        self._paths: list[Path] = []
        for ref in self._refs:
            path = git.run("rev-parse", "--git-path", f"logs/{ref}").strip()
            self._paths.append(git.tree / path)
        self._stamps: list[object] | None = None
        self._moves: list[RefMove] = []

    def agent_moves(self) -> list[RefMove]:
        """Return the moves that agents made, oldest first."""
        stamps = [_stamp(path) for path in self._paths]
        if None in stamps:  # kept in another way (reftable), or missing: compare the refs as well
            stamps += [self._git.commit_of(ref) for ref in self._refs]
        if stamps != self._stamps:
            self._moves = []
            for ref in self._refs:
                self._moves += self._read(ref)
            self._stamps = stamps
        return self._moves

    def _read(self, ref: str) -> list[RefMove]:
        if self._git.commit_of(ref) is None:
            return []  # a branch that is only on a remote, or has no commit yet
        words = ("-g", "--no-show-signature", f"--max-count={MOST_ENTRIES}", "--format=%H%x00%gs")
        output = self._git.run("log", *words, ref, "--")
        entries = [line.partition("\0") for line in output.splitlines()]
        older = [new for new, _, _ in entries[1:]] + [""]
        moves = []
        for (new, _, action), old in zip(entries, older, strict=True):
            if action.startswith(AGENT_ACTION):
                name = action.removeprefix(AGENT_ACTION).partition(":")[0].strip()
                run_id = name if is_run_id(name) else ""
                moves.append(RefMove(ref=ref, run_id=run_id, old=old, new=new))
        return moves[::-1]


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
