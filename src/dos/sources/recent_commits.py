"""What was committed lately, anywhere in the repository: on every branch, and in every worktree without one."""

import os
from collections.abc import Iterator

from msgspec import Struct

from dos.errors import GitFailed
from dos.records.unknown import Unknown
from dos.sources.git import Reader

MOST = 5_000  # the newest of more are enough to say that something moves
# Work that was taken off a branch again counts; what dos itself put on a ref to save it does not.
_WHERE = ("--exclude=refs/stash", "--exclude=refs/notes/*", "--all")
_SAVED = ("--basic-regexp", "--invert-grep", "--grep=^Salvaged by dos: ")
_PLAIN = ("--no-show-signature", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class Commit(Struct, frozen=True, kw_only=True):
    sha: str
    parents: tuple[str, ...]
    committed_ms: int
    paths: tuple[str, ...]  # of a merge, only what none of its sides has


def read(git: Reader, since_ms: int) -> list[Commit] | Unknown:
    """Everything that was committed since, by the committer's date, newest first."""
    # In front of each commit, and never to be guessed: no file name can pass for one.
    mark = os.urandom(16).hex()
    words = (f"--max-age={max(0, since_ms // 1000)}", f"--max-count={MOST}", f"--format={mark} %ct %H %P")
    try:
        said = git.run("log", "-z", "-c", "--root", "--name-only", *_PLAIN, *_SAVED, *words, *_WHERE)
    except GitFailed as error:
        return Unknown(error.message)
    return [_commit(*found) for found in _split(said, f"{mark} ")]


def ancestors(commits: list[Commit], sha: str) -> set[str]:
    """A commit and those among these that it was built on."""
    parents = {commit.sha: commit.parents for commit in commits}
    found, waiting = {sha}, [sha]
    while waiting:
        new = set(parents.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _split(said: str, mark: str) -> Iterator[tuple[str, list[str]]]:
    head, paths = "", list[str]()
    for record in said.split("\0"):
        if not record.startswith(mark):
            paths.append(record)
            continue
        if head:
            yield head, paths
        head, paths = record[len(mark) :], []
    if head:
        yield head, paths


def _commit(head: str, records: list[str]) -> Commit:
    seconds, sha, *parents = head.split()
    # Between a commit and its paths git puts a line's end, or for a merge an empty record.
    first = [record.removeprefix("\n") for record in records[:1]]
    paths = tuple(record for record in [*first, *records[1:]] if record)
    return Commit(sha=sha, parents=tuple(parents), committed_ms=int(seconds) * 1000, paths=paths)
