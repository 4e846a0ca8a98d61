"""Verdicts on units at a branch, kept: when it has grown, only what that can change is redone.

A supervisor asks about all units every few seconds, and few commits arrive meanwhile. The cache is
in memory; a process that starts verifies everything once.
"""

from collections.abc import Collection

from msgspec import Struct

from dos.git import log
from dos.git.message_index import Needles
from dos.git.objects import Objects
from dos.verify.io.verifier import Ask, Verifier
from dos.verify.message import words
from dos.verify.shipped import Evidence, Verdict, judge
from dos.world import World

MOST_COMMITS = 1_000  # whose changes are listed; with more of them all units are verified anew
_REVERTS = "This reverts commit"


class _CachedVerdict(Struct, frozen=True, kw_only=True):
    """The verdict on one unit, and what it depends on: words of messages, paths, and history."""

    verdict: Verdict
    needles: Needles
    looked_at: frozenset[str]
    is_walked: bool
    is_unreadable: bool


class _Growth(Struct, frozen=True, kw_only=True):
    """The commits that have come to a branch since it was last verified."""

    commits: set[str]
    words: frozenset[str]  # of their messages
    touched: set[str]
    has_merge_or_revert: bool  # either one can change what older commits amount to

    def affects(self, cached: _CachedVerdict) -> bool:
        """Whether the verdict may have changed; True in doubt."""
        if cached.is_unreadable:
            return True
        if cached.is_walked and self.has_merge_or_revert:
            return True
        if not cached.looked_at.isdisjoint(self.touched):
            return True
        return any(needle <= self.words for needle in cached.needles)


class VerdictCache:
    """The verdicts on the units of one branch. A new cache is empty and verifies everything."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Empty the cache, so that the next call verifies every unit."""
        self.tip = ""  # the commit that was verified
        # Whether the tip contains a commit, for the commits that were asked about.
        self.contains: dict[str, bool] = {}
        # Unit -> the commit by which git shows it as shipped, whoever made that commit.
        self.shipped_commits: dict[str, str] = {}
        # Units with the commits for which a good receipt was found.
        self.receipted: set[tuple[str, str]] = set()
        self._surroundings: object = None
        self._cached: dict[str, _CachedVerdict] = {}

    def verify(self, world: World, names: Collection[str], ref: str) -> dict[str, Verdict]:
        """The verdict on each unit by its name, as git alone shows it at the ref."""
        with Objects(world.git) as objects:
            verifier = Verifier(world, objects, Ask(ref=ref, is_vouched=False))
            surroundings = verifier.surroundings
            growth = None
            if self.tip and surroundings == self._surroundings:
                growth = self._growth(verifier)
            cached = self._still_valid(names, growth)
            missing = [name for name in names if name not in cached]
            cached |= _verified(verifier, missing)
        if growth:
            self.contains = self.contains | dict.fromkeys(growth.commits, True)
        else:
            self.contains = {}
        self.tip = verifier.tip.sha
        self._surroundings = surroundings
        self._cached = cached
        return {name: cached[name].verdict for name in names}

    def _still_valid(
        self, names: Collection[str], growth: _Growth | None
    ) -> dict[str, _CachedVerdict]:
        """The cached verdicts that the new commits cannot have changed."""
        valid: dict[str, _CachedVerdict] = {}
        if growth is None:
            return valid
        for name in names:
            cached = self._cached.get(name)
            if cached is not None and not growth.affects(cached):
                valid[name] = cached
        return valid

    def _growth(self, verifier: Verifier) -> _Growth | None:
        """What has come since the last call; None if too much, or the branch was rewritten."""
        git = verifier.git
        if verifier.objects.commit(self.tip) is None:
            return None
        gone, new = log.difference(git, self.tip, verifier.tip.sha)
        if gone or len(new) > MOST_COMMITS:
            return None
        message_words: set[str] = set()
        has_merge = False
        has_revert = False
        for commit in filter(None, map(verifier.objects.commit, new)):
            message_words |= words(commit.message)
            has_merge |= len(commit.parents) > 1
            has_revert |= _REVERTS in commit.message
        if has_merge:
            # What a merge leaves out is not touched. A verdict that depends on more than the tip
            # is redone for any merge.
            touched = set(git.paths_between(self.tip, verifier.tip.sha))
        else:
            touched = log.touched_paths(git, new)
        return _Growth(
            commits=new,
            words=frozenset(message_words),
            touched=touched,
            has_merge_or_revert=has_merge or has_revert,
        )


def _verified(verifier: Verifier, names: list[str]) -> dict[str, _CachedVerdict]:
    """Verify units by their names, and note what each verdict depends on."""
    verified: dict[str, _CachedVerdict] = {}
    if not names:
        return verified
    units = list(map(_plan_and_phase, names))
    gathered, policy = verifier.gather_evidence(units)
    for name, unit, evidence in zip(names, units, gathered, strict=True):
        needles = verifier.needles(unit)
        verified[name] = _cached_verdict(evidence, judge(evidence, policy), needles)
    return verified


def _plan_and_phase(name: str) -> tuple[str, str]:
    """Split PLAN/ID, where the plan may itself contain a slash."""
    plan, _, phase = name.rpartition("/")
    return plan, phase


def _cached_verdict(evidence: Evidence, verdict: Verdict, needles: Needles) -> _CachedVerdict:
    """A verdict with the paths, words and commits that it depends on."""
    looked_at: set[str] = set()
    is_walked = False
    is_unreadable = False
    for commit in evidence.commits:
        looked_at |= commit.looked_at
        is_walked |= commit.is_walked
        is_unreadable |= bool(commit.unreadable)
    return _CachedVerdict(
        verdict=verdict,
        needles=needles,
        looked_at=frozenset(looked_at),
        is_walked=is_walked,
        is_unreadable=is_unreadable,
    )
