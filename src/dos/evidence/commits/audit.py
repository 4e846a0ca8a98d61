"""What a commit's verdict needs to know of the files that it changed; only those that can decide it are read."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from dos.records.changes import CommitFacts, FileChange
from dos.sources import commits
from dos.sources.git import Git
from dos.sources.history.objects import Objects
from dos.verdicts.commits import claim_kinds, content, paths, weakening
from dos.verdicts.commits.audit import Evidence, Limit, has_effect
from dos.verdicts.commits.claim_kinds import Claim, ClaimKind
from dos.verdicts.commits.weakening import TestChange, Weakening

_SUBMODULE = "160000"
_KEPT_BYTES = 16_000_000
_KEPT_BLOBS = 2_000
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
# What lines that are only added can take away with: a skip, an early end, a comment around what was there.
_HARMFUL = re.compile(
    rb"skip|xfail|gnore|isabled|todo|only|return|except|catch|pending|suppress|expectedFailure|__test__"
    rb"|\b[xf](?:it|describe|context)\b|if \(?(?:0|false|False)|/\*|\"\"\"|'''|=begin|<#"
)


class Auditor:
    """Reads commits of one repository, one after the other."""

    def __init__(self, git: Git, objects: Objects, *, short: int, cut_off: frozenset[str] = frozenset()) -> None:
        self._git, self._objects, self._blobs = git, objects, _Blobs(objects)
        self._short, self._cut_off = short, cut_off

    def gather(self, facts: CommitFacts) -> Evidence:
        claim = claim_kinds.claim(facts.subject)
        name = facts.sha[: self._short]
        if facts.sha in self._cut_off:
            return Evidence(sha=name, subject=facts.subject, claim=claim, files=(), limits=(Limit.SHALLOW,))
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


class _Blobs:
    """Files by the names of their blobs; the last ones are kept, for the next commit found what this one left."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._kept: dict[str, bytes | None] = {}
        self._size = 0

    def read(self, name: str) -> bytes | None:
        if name not in self._kept:
            if self._size > _KEPT_BYTES or len(self._kept) > _KEPT_BLOBS:
                self._kept, self._size = {}, 0
            self._kept[name] = self._objects.blob(name)
            self._size += len(self._kept[name] or b"")
        return self._kept[name]


class _Look:
    """One commit's files."""

    def __init__(self, git: Git, objects: Objects, blobs: _Blobs, facts: CommitFacts, claim: Claim) -> None:
        self._git, self._objects, self._blobs, self._facts, self._claim = git, objects, blobs, facts, claim
        self.is_unread = False

    def cosmetic(self) -> Iterator[str]:
        """The paths whose change means nothing, until one is found that a claim can rest on."""
        for decides in self._deciding():
            for change in self._facts.files:
                if not decides(change.path) or not has_effect(change, self._facts.subject, frozenset()):
                    continue
                if not self._is_cosmetic(change):
                    return
                yield change.path

    def _deciding(self) -> list[Callable[[str], bool]]:
        match self._claim.kind:
            case ClaimKind.CODE_EFFECT:
                return [paths.is_source, paths.is_ci, paths.is_config]
            case ClaimKind.TEST:
                return [paths.is_test]
            case _:
                return []

    def tests_shrank(self) -> bool:
        """Whether the text files among the tests have fewer lines than before."""
        balance = 0
        for change in self._facts.files:
            if paths.is_test(change.path) and self._is_text(change):
                balance += self._lines(change.new_blob) - self._lines(change.old_blob)
        return balance < 0

    def weakened(self) -> list[Weakening]:
        watched = [change for change in self._facts.files if weakening.is_watched(change.path)]
        if all(change.status == "A" for change in watched):
            return []
        watched = [change for change in watched if not self._came_by_merge(change)]
        if not any(self._is_suspicious(change) for change in watched):
            return []
        changes = [
            TestChange(path=change.path, old=self._text(change.old_blob), new=self._text(change.new_blob))
            for change in watched
            if self._is_text(change)
        ]
        found = weakening.find(changes)
        if found and self._claim.says_removed:
            found = [] if self._is_exact_revert() else weakening.find(changes, self._gone())
        return found

    def _is_cosmetic(self, change: FileChange) -> bool:
        if change.status == "T" or not self._is_text(change):
            return False
        old, new = self._text(change.old_blob) or "", self._text(change.new_blob) or ""
        return not content.differs(change.path, old, new)

    def _is_suspicious(self, change: FileChange) -> bool:
        """Whether a test file lost a line, or won one that can take others out of play."""
        if change.status == "A":
            return False
        old, new = self._blob(change.old_blob), self._blob(change.new_blob)
        if old is None or new is None:
            return old is not None
        before, after = Counter(old.split(b"\n")), Counter(new.split(b"\n"))
        return bool(before - after) or any(map(_HARMFUL.search, after - before))

    def _came_by_merge(self, change: FileChange) -> bool:
        """Whether a merge only took the file over as another parent has it: that side's commits answer for it."""
        for parent in self._facts.parents[1:]:
            commit = self._objects.commit(parent)
            there = self._objects.at(commit.tree, change.path) if commit else None
            if (there.sha if there else "") == change.new_blob:
                return True
        return False

    def _is_exact_revert(self) -> bool:
        """Whether the files that were tested came back with their tests, to what an older commit had found."""
        named = _REVERTED.search(self._facts.body)
        sha = commits.recorded(self._git, named[1]) if named else None
        if sha is None:
            return False
        before = {change.path: (change.old, change.new) for change in commits.changes(self._git, sha)}
        ours = {change.path: (change.new_blob, change.old_blob) for change in self._facts.files}
        code = any(paths.is_source(path) and not paths.is_test(path) for path in ours)
        return code and all(before.get(path) == blobs for path, blobs in ours.items())

    def _gone(self) -> frozenset[str]:
        """What the code outside of the tests does not define any more, and the names of its deleted files."""
        old, new, stems = set[str](), set[str](), set[str]()
        for change in self._facts.files:
            if not paths.is_source(change.path) or paths.is_test(change.path) or not self._is_text(change):
                continue
            old |= weakening.definitions(self._text(change.old_blob) or "")
            new |= weakening.definitions(self._text(change.new_blob) or "")
            if change.status == "D":
                stems.add(change.path.rpartition("/")[2].partition(".")[0])
        return frozenset(name for name in (old - new) | stems if len(name) > 2)

    def _is_text(self, change: FileChange) -> bool:
        if _SUBMODULE in (change.old_mode, change.new_mode):
            return False
        blobs = [self._blob(name) for name in (change.old_blob, change.new_blob) if name]
        return all(blob is not None and not content.is_binary(blob) for blob in blobs)

    def _lines(self, name: str) -> int:
        return len(content.decoded(self._blob(name) or b"").splitlines())

    def _text(self, name: str) -> str | None:
        blob = self._blob(name)
        return None if blob is None else content.decoded(blob)

    def _blob(self, name: str) -> bytes | None:
        if not name:
            return None
        found = self._blobs.read(name)
        self.is_unread = self.is_unread or found is None
        return found
