"""Gathers the evidence for the audit of commits; only files that can decide a verdict are read."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from dos.audit import removal, weakening
from dos.audit.audit import Evidence, Limit
from dos.audit.claims import backing, claim_kinds
from dos.audit.claims.claim_kinds import SubjectClaim
from dos.audit.claims.diff import Diff
from dos.audit.claims.finding import Backing, Finding
from dos.audit.io import settings_changes
from dos.audit.io.settings_changes import ChangeReader
from dos.audit.removal import CodeChange
from dos.audit.settings import file_readers
from dos.audit.weakening import TestChange, Weakening
from dos.git import commits
from dos.git.changes import CommitFacts, FileChange
from dos.git.commits import BlobChange
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.verify import content, file_kinds
from dos.verify.stubs.only_stubs import TextChange

_SUBMODULE = "160000"
_KEPT_BYTES = 16_000_000
_KEPT_BLOBS = 2_000
_AHEAD = 64  # commits whose files are read together
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


class Auditor:
    """Gathers evidence about commits of one repository.

    `short` is the length of the names in the evidence; `cut_off` are the commits whose parents a
    shallow clone does not have.
    """

    def __init__(
        self, git: Reader, objects: Objects, *, short: int, cut_off: frozenset[str] = frozenset()
    ) -> None:
        self._git = git
        self._objects = objects
        self._blobs = _BlobCache(objects)
        self._short = short
        self._cut_off = cut_off

    def gather_all(self, commits: Iterable[CommitFacts]) -> Iterator[Evidence]:
        """Yield the evidence of each commit.

        The files of several commits are read ahead together: reading them one at a time would be
        most of the work.
        """
        remaining = iter(commits)
        while batch := list(islice(remaining, _AHEAD)):
            names: set[str] = set()
            for facts in batch:
                names.update(_deciding_blobs(facts))
            self._blobs.read_ahead(names)
            yield from map(self.gather, batch)

    def weakened(self, facts: CommitFacts) -> list[Weakening]:
        """Return how a commit weakens tests, without the rest of its evidence."""
        claim = claim_kinds.parse_claim(facts.subject)
        return _CommitFiles(self._git, self._objects, self._blobs, facts, claim).weakened()

    def gather(self, facts: CommitFacts) -> Evidence:
        """Return the evidence of one commit."""
        claim = claim_kinds.parse_claim(facts.subject)
        name = facts.sha[: self._short]
        if facts.sha in self._cut_off:
            return Evidence(
                sha=name,
                subject=facts.subject,
                claim=claim,
                files=(),
                backing=Backing(finding=Finding.OPEN, reason=""),
                limits=(Limit.SHALLOW,),
            )
        files = _CommitFiles(self._git, self._objects, self._blobs, facts, claim)
        weakened = tuple(files.weakened())
        found = files.backing()
        limits: tuple[Limit, ...] = ()
        if files.is_unread:
            limits = (Limit.UNREAD,)
        return Evidence(
            sha=name,
            subject=facts.subject,
            claim=claim,
            files=facts.files,
            backing=found,
            weakened=weakened,
            limits=limits,
        )


def _deciding_blobs(facts: CommitFacts) -> Iterator[str]:
    """Yield the blobs that most audits read: of changed tests and settings of their runners, and of
    the first source file."""
    source = next((change for change in facts.files if file_kinds.is_source(change.path)), None)
    for change in facts.files:
        is_changed_test = change.status == "M" and weakening.is_watched(change.path)
        if is_changed_test or change is source or file_readers.is_watched(change.path):
            yield from filter(None, _blob_names(change))


class _BlobCache:
    """Keeps the files that were read last: what one commit changed is often changed by the next."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._kept: dict[str, bytes | None] = {}
        self._size = 0

    def read_ahead(self, names: Iterable[str]) -> None:
        """Read those blobs that are not kept yet, in one request to git.

        The cache is emptied first when it is full: the next commits need mostly new files.
        """
        if self._size > _KEPT_BYTES or len(self._kept) > _KEPT_BLOBS:
            self._kept = {}
            self._size = 0
        missing = [name for name in names if name not in self._kept]
        for name, blob in zip(missing, self._objects.blobs(missing), strict=True):
            self._kept[name] = blob
            self._size += len(blob or b"")

    def read(self, name: str) -> bytes | None:
        """Return the content of a blob; None when this clone does not have it."""
        if name not in self._kept:
            self.read_ahead([name])
        return self._kept[name]


class _CommitFiles:
    """The files of one commit. `is_unread` tells that one of them could not be read."""

    def __init__(
        self,
        git: Reader,
        objects: Objects,
        blobs: _BlobCache,
        facts: CommitFacts,
        claim: SubjectClaim,
    ) -> None:
        self._git = git
        self._objects = objects
        self._blobs = blobs
        self._facts = facts
        self._claim = claim
        self._diff = Diff(facts.files, self._read, facts.subject)
        self.is_unread = False

    def backing(self) -> Backing:
        """Return what the files say of the subject's claim; only those that decide are read."""
        return backing.weigh(self._claim, self._diff, self._reverted_paths())

    def weakened(self) -> list[Weakening]:
        """Return how the commit weakens tests, their runners' settings or their expected output."""
        found = self._weakened_tests()
        reader = ChangeReader(
            texts=self._texts, is_readable=self._is_own, is_cosmetic=self._diff.is_cosmetic
        )
        found += settings_changes.weakened_settings(self._objects, self._facts, reader)
        found += settings_changes.rewritten_output(self._facts, reader)
        if found and self._is_exact_revert():
            return []
        return found

    def _is_own(self, change: FileChange) -> bool:
        """Whether a change can be read, and is of this commit itself and not of a merged one."""
        return not self._came_by_merge(change) and self._is_readable(change)

    def _weakened_tests(self) -> list[Weakening]:
        """Return how the commit weakens tests; removals that the commit explains are excused."""
        watched = [change for change in self._facts.files if weakening.is_watched(change.path)]
        if all(map(_cannot_weaken, watched)):
            return []
        changes: list[TestChange] = []
        for change in watched:
            if not self._came_by_merge(change) and self._is_readable(change):
                old, new = self._texts(change)
                changes.append(TestChange(path=change.path, old=old, new=new))
        return weakening.find(changes, self._removed_names)

    def _read(self, change: FileChange) -> TextChange | None:
        """Return a file before and after; None for what is no text, or not in this clone."""
        if _SUBMODULE in (change.old_mode, change.new_mode) or not self._is_readable(change):
            return None
        if not file_kinds.is_source(change.path) and not self._is_text(change):
            return None
        old, new = self._texts(change)
        return TextChange(path=change.path, old=old, new=new)

    def _reverted_paths(self) -> frozenset[str]:
        """Return the paths of the commit that this one says it reverts; none if it is unknown."""
        if not self._claim.reverts:
            return frozenset()
        return frozenset(change.path for change in self._reverted_changes())

    def _came_by_merge(self, change: FileChange) -> bool:
        """Whether a merge took the file from another parent: that side's commits are audited."""
        for parent in self._facts.parents[1:]:
            if self._blob_in(parent, change.path) == change.new_blob:
                return True
        return False

    def _blob_in(self, parent: str, path: str) -> str:
        """Return the blob of a file in a commit; empty when the file or the commit is missing."""
        commit = self._objects.commit(parent)
        if commit is None:
            return ""
        entry = self._objects.entry_at(commit.tree, path)
        if entry is None:
            return ""
        return entry.sha

    def _reverted_changes(self) -> list[BlobChange]:
        """Return what the commit changed that the message says is reverted; nothing if unknown."""
        reverted = _REVERTED.search(self._facts.body)
        if reverted is None:
            return []
        sha = commits.commit_by_hash(self._git, reverted[1])
        if sha is None:
            return []
        return commits.blob_changes(self._git, sha)

    def _is_exact_revert(self) -> bool:
        """Whether the commit exactly undoes the commit that its message names.

        Code has to be among it: a revert of tests alone weakens them.
        """
        before: dict[str, tuple[str, str]] = {}
        for change in self._reverted_changes():
            before[change.path] = (change.old, change.new)
        has_code = False
        for file in self._facts.files:
            if before.get(file.path) != (file.new_blob, file.old_blob):
                return False
            has_code = has_code or _is_code(file.path)
        return has_code

    def _removed_names(self) -> frozenset[str]:
        """Return the names of code that the commit removes."""
        changes: list[CodeChange] = []
        for change in self._facts.files:
            if _is_code(change.path) and self._is_readable(change):
                old, new = self._texts(change)
                changes.append(CodeChange(change.path, old, new))
        return removal.removed_names(changes, self._facts.subject)

    def _is_readable(self, change: FileChange) -> bool:
        """Whether both sides of a change can be read."""
        return all(self._blob(name) is not None for name in filter(None, _blob_names(change)))

    def _is_text(self, change: FileChange) -> bool:
        """Whether both sides of a change are text, as far as they exist."""
        blobs = [self._blob(name) for name in _blob_names(change) if name]
        if not blobs:
            return False
        return all(blob is not None and not content.is_binary(blob) for blob in blobs)

    def _texts(self, change: FileChange) -> tuple[str | None, str | None]:
        """Return the text of the file before and after; None where there is none."""
        old, new = _blob_names(change)
        return self._text(old), self._text(new)

    def _text(self, name: str) -> str | None:
        """Return the text of a blob; None for no blob, and for one that cannot be read."""
        blob = self._blob(name)
        if blob is None:
            return None
        return content.decode(blob)

    def _blob(self, name: str) -> bytes | None:
        """Return the content of a blob, and note in `is_unread` that it is missing."""
        if not name:
            return None
        blob = self._blobs.read(name)
        self.is_unread = self.is_unread or blob is None
        return blob


def _cannot_weaken(change: FileChange) -> bool:
    """Whether a change only adds tests. A new conftest.py can still deselect others."""
    return change.status == "A" and not weakening.selects_tests(change.path)


def _is_code(path: str) -> bool:
    """Whether a path is source code that is not a test."""
    return file_kinds.is_source(path) and not file_kinds.is_run_as_test(path)


def _blob_names(change: FileChange) -> tuple[str, str]:
    """Return the blobs before and after; "" for a submodule, which is no file."""
    old = "" if change.old_mode == _SUBMODULE else change.old_blob
    new = "" if change.new_mode == _SUBMODULE else change.new_blob
    return old, new
