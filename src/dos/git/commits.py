"""Commits as git has them: what one touched, what became of it, what came after it."""

import os
import re
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, GitFailed, GitUnanswered
from dos.git import log
from dos.git.files import shallow_boundary as cut_off_at
from dos.git.objects import Objects, is_hash
from dos.git.repository import Reader, Writer
from dos.text import quote, replace_undecodable
from dos.unknown import Unknown
from dos.workspace import find

# Shorter ones are too easily another commit's, and a name such as `main` moves.
_RECORDED = re.compile(r"[0-9a-fA-F]{7,64}")
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_ABSENT = re.compile(r"0+")
_LOG = ("-z", "--no-show-signature")


class BlobChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob is a file that is not there."""

    path: str
    old: str
    new: str
    moved_to: str = ""


class CommitSubject(Struct, frozen=True, kw_only=True):
    sha: str
    subject: str


def commit_by_hash(git: Reader, text: str) -> str | None:
    """The commit that a record names by its hash; None when it is not here, or the text is not a hash."""
    return git.commit_of(text) if _RECORDED.fullmatch(text) else None


def resolve_commit(git: Reader, name: str) -> str:
    """The commit that a person means; an error when there is none."""
    found = git.commit_of(name) if name.isprintable() and not name.startswith("-") else None
    if found is None:
        raise BadInput(
            f"{quote(name)} names no commit here",
            hint="`git log` shows those that are here; a clone may have to be fetched whole.",
        )
    return found


def is_ancestor(git: Reader, old: str, new: str) -> bool | Unknown:
    """Of two commits that are here."""
    try:
        return git.attempt("merge-base", "--is-ancestor", old, new).returncode == 0
    except GitUnanswered as error:
        return Unknown(error.message)


def blob_changes(git: Reader, sha: str) -> list[BlobChange]:
    """What a commit changed, by its first parent; a first commit made everything that is in it."""
    words = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev", "--no-commit-id")
    parents = git.run("rev-list", "--parents", "-n", "1", sha).split()[1:]
    said = git.run("diff-tree", *words, *(parents[:1] or ["--root"]), sha)
    return list(_changes(said))


def blob_changes_since(git: Reader, sha: str, head: str) -> dict[str, BlobChange]:
    """What differs now from how a commit left it, by the commit's names; a file that was moved is followed."""
    said = git.run("diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", sha, head)
    return {change.path: change for change in _changes(said)}


def reverts(git: Reader, base: str, head: str) -> dict[str, str]:
    """What commits after a base say they take back, by the name they give it, and which of them says so.

    One that was taken back in turn takes nothing back.
    """
    standing: dict[str, str] = {}
    saying_so = ("--topo-order", "-F", "--grep=This reverts commit")
    # Newest first: a revert comes before what it reverts.
    for record in log.records_at_once(git, *saying_so, f"{base}..{head}"):
        if not reverted_by(standing, record.sha):
            named = _REVERTED.findall(record.message)
            standing |= {reverted: record.sha for reverted in named if reverted not in standing}
    return standing


def reverted_by(standing: dict[str, str], sha: str) -> str:
    return next((by for reverted, by in standing.items() if sha.startswith(reverted)), "")


def commits_after(git: Reader, base: str, head: str = "HEAD") -> list[CommitSubject] | Unknown:
    """The commits of head that base does not have, newest first."""
    try:
        said = git.run("log", *_LOG, "--format=%H%x00%s", "--end-of-options", f"{base}..{head}")
    except GitFailed as error:
        return Unknown(error.message)
    fields = said.split("\0")
    return [
        CommitSubject(sha=sha, subject=replace_undecodable(subject))
        for sha, subject in zip(fields[::2], fields[1::2], strict=False)
    ]


def paths_by_commit(git: Reader, commits: Sequence[CommitSubject]) -> dict[str, list[str]]:
    """What each commit touched; a merge is left out, for what it brings in has commits of its own."""
    feed = "".join(f"{commit.sha}\n" for commit in commits)
    said = git.run(
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--root",
        "--no-renames",
        "--raw",
        "--no-abbrev",
        feed=feed,
    )
    found: dict[str, list[str]] = {}
    fields = iter(said.split("\0"))
    paths: list[str] = []
    for field in filter(None, fields):
        if field.startswith(":"):
            paths.append(next(fields))
        else:
            paths = found.setdefault(field.strip(), [])
    return found


def _changes(said: str) -> Iterator[BlobChange]:
    """Records of `diff --raw -z`: `:modes blobs status`, then the path, then a second one when the file moved."""
    fields = iter(said.split("\0"))
    for head in fields:
        if not head:
            continue
        _, _, old, new, status = head.removeprefix(":").split(" ")
        path = next(fields)
        moved = next(fields) if status[0] in "RC" else ""
        yield BlobChange(path=path, old=_blob(old), new=_blob(new), moved_to=moved)


def _blob(name: str) -> str:
    return "" if _ABSENT.fullmatch(name) else name


def resolve_claimed_commit(git: Reader, name: str) -> str | Unknown:
    """The hash of the commit that a claimant names."""
    if not name or name.startswith("-") or not name.isprintable():
        return Unknown(f"{quote(name)} cannot be the name of a commit")
    try:
        return git.commit_of(name) or Unknown(f"git knows no commit {quote(name)} here")
    except GitFailed as error:
        return Unknown(error.message)


MAX_RECENT = 5_000  # the newest of more are enough to say that something moves
# Work that was taken off a branch again counts; what dos itself put on a ref to save it does not.
_WHERE = ("--exclude=refs/stash", "--exclude=refs/notes/*", "--all")
_SAVED = ("--basic-regexp", "--invert-grep", "--grep=^Salvaged by dos: ")
_PLAIN = ("--no-show-signature", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class RecentCommit(Struct, frozen=True, kw_only=True):
    sha: str
    parents: tuple[str, ...]
    committed_ms: int
    paths: tuple[str, ...]  # of a merge, only what none of its sides has


def recent_commits(git: Reader, since_ms: int) -> list[RecentCommit] | Unknown:
    """Everything that was committed since, by the committer's date, newest first."""
    # In front of each commit, and never to be guessed: no file name can pass for one.
    mark = os.urandom(16).hex()
    words = (
        f"--max-age={max(0, since_ms // 1000)}",
        f"--max-count={MAX_RECENT}",
        f"--format={mark} %ct %H %P",
    )
    try:
        said = git.run(
            "log", "-z", "-c", "--root", "--name-only", *_PLAIN, *_SAVED, *words, *_WHERE
        )
    except GitFailed as error:
        return Unknown(error.message)
    return [_commit(*found) for found in _split(said, f"{mark} ")]


def ancestors(commits: list[RecentCommit], sha: str) -> set[str]:
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


def _commit(head: str, records: list[str]) -> RecentCommit:
    seconds, sha, *parents = head.split()
    # Between a commit and its paths git puts a line's end, or for a merge an empty record.
    first = [record.removeprefix("\n") for record in records[:1]]
    paths = tuple(record for record in [*first, *records[1:]] if record)
    return RecentCommit(
        sha=sha, parents=tuple(parents), committed_ms=int(seconds) * 1000, paths=paths
    )


def is_fast_forward(git: Reader, old: str, new: str) -> bool:
    """Whether the commit `new` is `old` or was built on it: to move a branch from one to the other takes nothing away.

    Git's no is a no. Its yes is walked through, commit by commit, the newest first: a landing is a few steps long.
    """
    base, tip = git.commit_of(old), git.commit_of(new)
    if base is None or tip is None or not git.is_ancestor(base, tip):
        return False
    seen, waiting = {tip}, [(0, tip)]
    with Objects(git) as objects:
        while waiting:
            _, name = heappop(waiting)
            if name == base:
                return True
            commit = objects.commit(name)
            for parent in commit.parents if commit else ():
                if parent not in seen:
                    seen.add(parent)
                    heappush(waiting, (-commit.committed_seconds if commit else 0, parent))
    return False


def hidden_history(git: Reader, base: str = "", head: str = "") -> str:
    """Why git does not show all of the history that is here; empty when it does.

    A `shallow` file says which commits have no parents. One that git made itself names commits whose parents are
    not here, and none of what was committed since (`base`..`head`).
    """
    named = [word for word in cut_off_at(find(git.tree)).split() if is_hash(word)]
    if not named:
        return ""
    new = set(git.commits_between(base, head)) if base else set[str]()
    with Objects(git) as objects:
        for name in named:
            commit = objects.commit(name)
            parents = commit.parents if commit else ()
            if parents and (name in new or all(objects.commit(parent) for parent in parents)):
                return (
                    f"git's own file `shallow` was changed: it hides what {name[:9]} was built on"
                )
    return ""


def commit_paths(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files alone, as the user; the new commit. Ignored ones are added too."""
    git = Writer(root)
    git.run("add", "--force", "--", *paths)
    git.run(*_identity(), "commit", "--quiet", "-m", message, "--", *paths)
    return git.commit_of("HEAD") or ""


def _identity() -> list[str]:
    """Who commits, where only the environment says so: git is started without it."""
    known = (("user.name", "GIT_AUTHOR_NAME"), ("user.email", "GIT_AUTHOR_EMAIL"))
    return [
        word
        for key, name in known
        if (value := os.environ.get(name))
        for word in ("-c", f"{key}={value}")
    ]
