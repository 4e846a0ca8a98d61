"""Commits as git has them: names, changes, reverts, what came after one, recent ones, copies."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, GitFailed, GitUnanswered
from dos.git import log
from dos.git.files import shallow_boundary
from dos.git.objects import Objects, is_hash
from dos.git.repository import Reader, Writer
from dos.text import quote, replace_undecodable
from dos.unknown import Unknown
from dos.workspace import find

# A shorter hash is too likely to be another commit's, and a name such as `main` moves.
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_ABSENT = re.compile(r"0+")
# Fields of a commit that cover its message and parents, so that they do not fit a copy.
_SIGNATURES = ("gpgsig", "gpgsig-sha256", "mergetag")
MAX_RECENT = 5_000  # the newest commits are enough to tell that something moves
# Work that was taken off a branch again counts; what dos itself saved under a ref does not.
_ALL_REFS = ("--exclude=refs/stash", "--exclude=refs/notes/*", "--all")
_NOT_SALVAGED = ("--basic-regexp", "--invert-grep", "--grep=^Salvaged by dos: ")
_PLAIN = ("--no-show-signature", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class BlobChange(Struct, frozen=True, kw_only=True):
    """One file between two trees; an empty blob stands for a missing file."""

    path: str
    old: str
    new: str
    moved_to: str = ""


class CommitSubject(Struct, frozen=True, kw_only=True):
    """A commit and the first line of its message."""

    sha: str
    subject: str


class RecentCommit(Struct, frozen=True, kw_only=True):
    """A commit with its time and the paths that it changed."""

    sha: str
    parents: tuple[str, ...]
    committed_ms: int
    paths: tuple[str, ...]  # of a merge, only those that differ from all its parents


def commit_by_hash(git: Reader, text: str) -> str | None:
    """Return the commit that a record names by its hash.

    None when the commit is not here, or the text is not a hash of at least seven digits.
    """
    if not _HASH.fullmatch(text):
        return None
    return git.commit_of(text)


def resolve_commit(git: Reader, name: str) -> str:
    """Return the commit that a person's argument names. Raises BadInput when there is none."""
    commit = None
    if name.isprintable() and not name.startswith("-"):
        commit = git.commit_of(name)
    if commit is None:
        raise BadInput(
            f"{quote(name)} names no commit here",
            hint="`git log` lists commits; a shallow clone may need `git fetch --unshallow`.",
        )
    return commit


def resolve_claimed_commit(git: Reader, name: str) -> str | Unknown:
    """Return the hash of the commit that a claim names, or Unknown with the reason."""
    if not name or name.startswith("-") or not name.isprintable():
        return Unknown(f"{quote(name)} cannot be the name of a commit")
    try:
        commit = git.commit_of(name)
    except GitFailed as error:
        return Unknown(error.message)
    return commit or Unknown(f"git knows no commit {quote(name)} here")


def is_ancestor(git: Reader, old: str, new: str) -> bool | Unknown:
    """Whether the first of two existing commits is an ancestor of the second."""
    try:
        return git.attempt("merge-base", "--is-ancestor", old, new).returncode == 0
    except GitUnanswered as error:
        return Unknown(error.message)


def blob_changes(git: Reader, sha: str) -> list[BlobChange]:
    """Return what a commit changed against its first parent; a root commit added all its files."""
    words = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev", "--no-commit-id")
    parents = git.run("rev-list", "--parents", "-n", "1", sha).split()[1:]
    base = parents[:1] or ["--root"]
    return list(_parse_changes(git.run("diff-tree", *words, *base, sha)))


def blob_changes_since(git: Reader, sha: str, head: str) -> dict[str, BlobChange]:
    """Return what differs between a commit and a later one, by the path in the first.

    A file that was moved is followed.
    """
    output = git.run("diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", sha, head)
    return {change.path: change for change in _parse_changes(output)}


def reverts(git: Reader, base: str, head: str) -> dict[str, str]:
    """Return the commits that later ones say they revert, and by which commit.

    Keys are names as the messages give them. A revert that was itself reverted does not count.
    """
    reverting: dict[str, str] = {}
    saying_so = ("--topo-order", "-F", "--grep=This reverts commit")
    # Newest first: a revert comes before the commit that it reverts.
    for record in log.records_at_once(git, *saying_so, f"{base}..{head}"):
        if reverted_by(reverting, record.sha):
            continue
        for reverted in _REVERTED.findall(record.message):
            reverting.setdefault(reverted, record.sha)
    return reverting


def reverted_by(reverting: dict[str, str], sha: str) -> str:
    """Return which commit reverts a commit, by the result of `reverts`; "" when none does."""
    for reverted, by in reverting.items():
        if sha.startswith(reverted):
            return by
    return ""


def commits_after(git: Reader, base: str, head: str = "HEAD") -> list[CommitSubject] | Unknown:
    """Return the commits of head that base does not have, newest first."""
    words = ("-z", "--no-show-signature", "--format=%H%x00%s", "--end-of-options")
    try:
        output = git.run("log", *words, f"{base}..{head}")
    except GitFailed as error:
        return Unknown(error.message)
    fields = output.split("\0")
    commits = []
    for sha, subject in zip(fields[::2], fields[1::2], strict=False):
        commits.append(CommitSubject(sha=sha, subject=replace_undecodable(subject)))
    return commits


def paths_by_commit(git: Reader, commits: Sequence[CommitSubject]) -> dict[str, list[str]]:
    """Return the paths that each commit touched.

    Merges are left out: what they bring in has commits of its own.
    """
    words = ("--stdin", "-r", "-z", "--root", "--no-renames", "--raw", "--no-abbrev")
    feed = "".join(f"{commit.sha}\n" for commit in commits)
    fields = iter(git.run("diff-tree", *words, feed=feed).split("\0"))
    by_commit: dict[str, list[str]] = {}
    paths: list[str] = []
    for field in filter(None, fields):
        if field.startswith(":"):
            paths.append(next(fields))
        else:
            paths = by_commit.setdefault(field.strip(), [])
    return by_commit


def _parse_changes(output: str) -> Iterator[BlobChange]:
    """Parse `diff --raw -z`: `:modes blobs status`, the path, and the new path of a moved file."""
    fields = iter(output.split("\0"))
    for head in fields:
        if not head:
            continue
        _, _, old, new, status = head.removeprefix(":").split(" ")
        path = next(fields)
        moved_to = next(fields) if status[0] in "RC" else ""
        yield BlobChange(path=path, old=_blob(old), new=_blob(new), moved_to=moved_to)


def _blob(name: str) -> str:
    if _ABSENT.fullmatch(name):
        return ""
    return name


def recent_commits(git: Reader, since_ms: int) -> list[RecentCommit] | Unknown:
    """Return the commits of all refs since a time, by the committer's date, newest first."""
    # It begins each commit's record. Random, so that no file name can be taken for one.
    mark = os.urandom(16).hex()
    words = (
        f"--max-age={max(0, since_ms // 1000)}",
        f"--max-count={MAX_RECENT}",
        f"--format={mark} %ct %H %P",
    )
    plain = ("-z", "-c", "--root", "--name-only", *_PLAIN)
    try:
        output = git.run("log", *plain, *_NOT_SALVAGED, *words, *_ALL_REFS)
    except GitFailed as error:
        return Unknown(error.message)
    return [_parse_recent(head, paths) for head, paths in _split_recent(output, f"{mark} ")]


def ancestors(commits: list[RecentCommit], sha: str) -> set[str]:
    """Return a commit and its ancestors among these commits."""
    parents = {commit.sha: commit.parents for commit in commits}
    reached = {sha}
    waiting = [sha]
    while waiting:
        new = set(parents.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached


def _split_recent(output: str, mark: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the head and the path records of each commit."""
    head = ""
    paths: list[str] = []
    for record in output.split("\0"):
        if not record.startswith(mark):
            paths.append(record)
            continue
        if head:
            yield head, paths
        head = record[len(mark) :]
        paths = []
    if head:
        yield head, paths


def _parse_recent(head: str, records: list[str]) -> RecentCommit:
    seconds, sha, *parents = head.split()
    # Between a commit and its paths git prints a line end, or for a merge an empty record.
    if records:
        records[0] = records[0].removeprefix("\n")
    return RecentCommit(
        sha=sha,
        parents=tuple(parents),
        committed_ms=int(seconds) * 1000,
        paths=tuple(record for record in records if record),
    )


def is_fast_forward(git: Reader, old: str, new: str) -> bool:
    """Whether `new` is `old` or a descendant of it, so that moving a branch there loses nothing.

    Git's "no" is believed. Its "yes" is checked by the raw commits, newest first, because files
    beside the objects could make git see other parents. A landing is only a few commits long.
    """
    base, tip = git.commit_of(old), git.commit_of(new)
    if base is None or tip is None or not git.is_ancestor(base, tip):
        return False
    reached = {tip}
    waiting = [(0, tip)]
    with Objects(git) as objects:
        while waiting:
            _, name = heappop(waiting)
            if name == base:
                return True
            commit = objects.commit(name)
            if commit is None:
                continue
            for parent in commit.parents:
                if parent not in reached:
                    reached.add(parent)
                    heappush(waiting, (-commit.committed_seconds, parent))
    return False


def hidden_history(git: Reader, base: str = "", head: str = "") -> str:
    """Return why git does not show all of the history that is here; "" when it does.

    Git's file `shallow` names commits whose parents are treated as missing. One that git wrote
    names commits whose parents really are missing, and none that was made since (`base..head`).
    """
    boundary = [word for word in shallow_boundary(find(git.tree)).split() if is_hash(word)]
    if not boundary:
        return ""
    new: set[str] = set()
    if base:
        new.update(git.commits_between(base, head))
    with Objects(git) as objects:
        for name in boundary:
            commit = objects.commit(name)
            if commit is None or not commit.parents:
                continue
            if name in new or all(objects.commit(parent) for parent in commit.parents):
                return f"git's own file `shallow` was changed: it hides the parents of {name[:9]}"
    return ""


class CommitText(Struct, frozen=True, kw_only=True):
    """A commit as git stores it, to be copied with another message.

    Fields that this version does not know are kept. Signatures are not: they cover the message and
    the parents of the original.
    """

    fields: tuple[str, ...]  # the lines of the header, each with those that continue it
    message: str

    @classmethod
    def read(cls, git: Reader, commit: str) -> "CommitText":
        """Return the text of a commit. Raises GitFailed where there is none."""
        header, _, message = git.run("cat-file", "commit", commit).partition("\n\n")
        return cls(fields=tuple(unfold_lines(header.split("\n"))), message=message)

    @property
    def parents(self) -> list[str]:
        """The commits that it follows."""
        found = []
        for field in self.fields:
            key, _, value = field.partition(" ")
            if key == "parent":
                found.append(value)
        return found

    def write_copy(
        self, git: Writer, message: str, *, parents: Mapping[str, str] = {}, committer: str = ""
    ) -> str:
        """Write the commit with another message to git's objects, and return the name of the copy.

        Files, author, dates and encoding stay. `parents` names those to replace; `committer`
        replaces the commit's own. Raises MalformedObject where git accepts no such header.
        """
        header: list[str] = []
        for field in self.fields:
            key, _, value = field.partition(" ")
            if key in _SIGNATURES:
                continue
            if key == "parent":
                field = f"parent {parents.get(value, value)}"
            elif key == "committer" and committer:
                field = f"committer {committer}"
            header.append(field)
        feed = "\n".join([*header, "", message])
        return git.run("hash-object", "-t", "commit", "-w", "--stdin", feed=feed).strip()


def unfold_lines(lines: Iterable[str]) -> list[str]:
    """Join the lines of a header or of trailers; a line that begins with a blank continues one.

    Without it, what continues a field that is dropped would continue the field before.
    """
    fields: list[str] = []
    for line in lines:
        if line.startswith((" ", "\t")) and fields:
            fields[-1] += f"\n{line}"
        else:
            fields.append(line)
    return fields


def commit_paths(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files alone, as the user, and return the new commit. Ignored ones are added."""
    git = Writer(root)
    git.run("add", "--force", "--", *paths)
    git.run(*_user_identity(), "commit", "--quiet", "-m", message, "--", *paths)
    return git.commit_of("HEAD") or ""


def _user_identity() -> list[str]:
    """Return settings with the user's name, if only the environment has it: git gets none of it."""
    words: list[str] = []
    for key, variable in (("user.name", "GIT_AUTHOR_NAME"), ("user.email", "GIT_AUTHOR_EMAIL")):
        value = os.environ.get(variable)
        if value:
            words += ("-c", f"{key}={value}")
    return words
