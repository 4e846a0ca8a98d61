"""What a commit's verdict needs to know of the files that it changed; only those that can decide it are read."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from dos.audit import claim_kinds, weakening
from dos.audit.audit import Evidence, Limit, has_effect
from dos.audit.claim_kinds import ClaimKind, SubjectClaim
from dos.audit.weakening import TestChange, Weakening
from dos.git import commits
from dos.git.changes import CommitFacts, FileChange
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.verify import content, file_kinds

_SUBMODULE = "160000"
_KEPT_BYTES = 16_000_000
_KEPT_BLOBS = 2_000
_AHEAD = 64  # commits
# The kinds of files that can stand behind a claim, the plainest first.
_DECIDING = {
    ClaimKind.CODE_EFFECT: (file_kinds.is_source, file_kinds.is_ci, file_kinds.is_config),
    ClaimKind.TEST: (file_kinds.is_test,),
}
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


class Auditor:
    """Reads commits of one repository, one after the other."""

    def __init__(
        self, git: Reader, objects: Objects, *, short: int, cut_off: frozenset[str] = frozenset()
    ) -> None:
        self._git, self._objects, self._blobs = git, objects, _Blobs(objects)
        self._short, self._cut_off = short, cut_off

    def gather_all(self, commits: Iterable[CommitFacts]) -> Iterator[Evidence]:
        """One after the other; what some of them need is read ahead, for a file at a time is the most of the work."""
        waiting = iter(commits)
        while some := list(islice(waiting, _AHEAD)):
            self._blobs.read_ahead({name for facts in some for name in _deciding_blobs(facts)})
            yield from map(self.gather, some)

    def gather(self, facts: CommitFacts) -> Evidence:
        claim = claim_kinds.parse_claim(facts.subject)
        name = facts.sha[: self._short]
        if facts.sha in self._cut_off:
            return Evidence(
                sha=name, subject=facts.subject, claim=claim, files=(), limits=(Limit.SHALLOW,)
            )
        look = _Look(self._git, self._objects, self._blobs, facts, claim)
        weakened = tuple(look.weakened())
        cosmetic = frozenset() if weakened else frozenset(look.cosmetic())
        shrank = claim.kind is ClaimKind.TEST and not weakened and look.tests_shrank()
        return Evidence(
            sha=name,
            subject=facts.subject,
            claim=claim,
            files=facts.files,
            cosmetic=cosmetic,
            tests_shrank=shrank,
            weakened=weakened,
            limits=(Limit.UNREAD,) if look.is_unread else (),
        )


def _deciding_blobs(facts: CommitFacts) -> Iterator[str]:
    """What is read of most commits: the tests that it changed, and the first file of code."""
    code = next((change for change in facts.files if file_kinds.is_source(change.path)), None)
    for change in facts.files:
        if (change.status == "M" and weakening.is_watched(change.path)) or change is code:
            yield from (name for name in (change.old_blob, change.new_blob) if name)


class _Blobs:
    """Files by the names of their blobs; the last ones are kept, for the next commit found what this one left."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._kept: dict[str, bytes | None] = {}
        self._size = 0

    def read_ahead(self, names: Iterable[str]) -> None:
        if self._size > _KEPT_BYTES or len(self._kept) > _KEPT_BLOBS:
            self._kept, self._size = {}, 0
        wanted = [name for name in names if name not in self._kept]
        for name, blob in zip(wanted, self._objects.blobs(wanted), strict=True):
            self._kept[name] = blob
            self._size += len(blob or b"")

    def read(self, name: str) -> bytes | None:
        if name not in self._kept:
            self.read_ahead([name])
        return self._kept[name]


class _Look:
    """One commit's files."""

    def __init__(
        self, git: Reader, objects: Objects, blobs: _Blobs, facts: CommitFacts, claim: SubjectClaim
    ) -> None:
        self._git, self._objects, self._blobs, self._facts, self._claim = (
            git,
            objects,
            blobs,
            facts,
            claim,
        )
        self.is_unread = False

    def cosmetic(self) -> Iterator[str]:
        """The paths whose change means nothing, until one is found that a claim can rest on."""
        for decides in _DECIDING.get(self._claim.kind, ()):
            for change in self._facts.files:
                if not decides(change.path) or not has_effect(
                    change, self._facts.subject, frozenset()
                ):
                    continue
                if not self._is_cosmetic(change):
                    return
                yield change.path

    def tests_shrank(self) -> bool:
        """Whether the text files among the tests have fewer lines than before."""
        balance = 0
        for change in self._facts.files:
            if file_kinds.is_test(change.path) and self._is_text(change):
                old, new = self._texts(change)
                balance += len((new or "").splitlines()) - len((old or "").splitlines())
        return balance < 0

    def weakened(self) -> list[Weakening]:
        watched = [change for change in self._facts.files if weakening.is_watched(change.path)]
        if all(
            change.status == "A" and not weakening.selects_tests(change.path) for change in watched
        ):
            return []
        watched = [
            change
            for change in watched
            if not self._came_by_merge(change) and self._is_here(change)
        ]
        texts = {change.path: self._texts(change) for change in watched}
        changes = [TestChange(path=path, old=old, new=new) for path, (old, new) in texts.items()]
        found = weakening.find(changes)
        if found and self._claim.says_removed:
            found = [] if self._is_exact_revert() else weakening.find(changes, self._gone())
        return found

    def _is_cosmetic(self, change: FileChange) -> bool:
        if change.status == "T" or change.old_blob == change.new_blob or not self._is_here(change):
            return False
        if _SUBMODULE in (change.old_mode, change.new_mode) or not (
            file_kinds.is_source(change.path) or self._is_text(change)
        ):
            return False
        old, new = self._texts(change)
        return not content.differs_in_substance(change.path, old or "", new or "")

    def _came_by_merge(self, change: FileChange) -> bool:
        """Whether a merge only took the file over as another parent has it: that side's commits answer for it."""
        for parent in self._facts.parents[1:]:
            commit = self._objects.commit(parent)
            there = self._objects.entry_at(commit.tree, change.path) if commit else None
            if (there.sha if there else "") == change.new_blob:
                return True
        return False

    def _is_exact_revert(self) -> bool:
        """Whether the files that were tested came back with their tests, to what an older commit had found."""
        named = _REVERTED.search(self._facts.body)
        sha = commits.commit_by_hash(self._git, named[1]) if named else None
        if sha is None:
            return False
        before = {
            change.path: (change.old, change.new) for change in commits.blob_changes(self._git, sha)
        }
        ours = {change.path: (change.new_blob, change.old_blob) for change in self._facts.files}
        code = any(file_kinds.is_source(path) and not file_kinds.is_test(path) for path in ours)
        return code and all(before.get(path) == blobs for path, blobs in ours.items())

    def _gone(self) -> frozenset[str]:
        """What the code outside of the tests does not define any more, and the names of its deleted files.

        As many new definitions are a renaming, and a file whose definitions are elsewhere was moved.
        """
        old, new, deleted = set[str](), set[str](), dict[str, frozenset[str]]()
        for change in self._facts.files:
            if (
                not file_kinds.is_source(change.path)
                or file_kinds.is_test(change.path)
                or not self._is_here(change)
            ):
                continue
            before, after = (weakening.definitions(text or "") for text in self._texts(change))
            old |= before
            new |= after
            if change.status == "D":
                deleted[change.path.rpartition("/")[2].partition(".")[0]] = before
        gone = old - new if len(old - new) > len(new - old) else set[str]()
        gone |= {stem for stem, before in deleted.items() if not before or before - new}
        return frozenset(name for name in gone if len(name) > 2)

    def _is_here(self, change: FileChange) -> bool:
        """Whether both sides of it can be read."""
        return all(self._blob(name) is not None for name in _names(change) if name)

    def _is_text(self, change: FileChange) -> bool:
        blobs = [self._blob(name) for name in _names(change) if name]
        return bool(blobs) and all(
            blob is not None and not content.is_binary(blob) for blob in blobs
        )

    def _texts(self, change: FileChange) -> tuple[str | None, str | None]:
        old, new = (self._blob(name) for name in _names(change))
        return None if old is None else content.decode(
            old
        ), None if new is None else content.decode(new)

    def _blob(self, name: str) -> bytes | None:
        if not name:
            return None
        found = self._blobs.read(name)
        self.is_unread = self.is_unread or found is None
        return found


def _names(change: FileChange) -> tuple[str, str]:
    """The blobs before and after; a submodule is no file."""
    return (
        "" if change.old_mode == _SUBMODULE else change.old_blob,
        "" if change.new_mode == _SUBMODULE else change.new_blob,
    )
