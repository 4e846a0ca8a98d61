"""What a branch shows of units, remembered: when it has grown, only what that can have changed is looked at again."""

from collections.abc import Collection

from msgspec import Struct

from dos.git import log
from dos.git.message_index import Needles
from dos.git.objects import Objects
from dos.verify.io.verifier import Ask, Verifier
from dos.verify.message import words
from dos.verify.policy import Policy
from dos.verify.shipped import Evidence, Verdict, judge
from dos.world import World

MOST_COMMITS = (
    1_000  # that are gone through for what they touch; with more to see, all is looked at anew
)
_SAYS_SO = "This reverts commit"


class _Unit(Struct, frozen=True, kw_only=True):
    verdict: Verdict
    needles: Needles
    looked_at: frozenset[str]
    is_walked: bool
    is_unreadable: bool


class _Grown(Struct, frozen=True, kw_only=True):
    """What has come to a branch."""

    commits: set[str]
    said: frozenset[str]  # every word of the messages
    touched: set[str]
    retells: (
        bool  # there is a merge or a revert, which throws another light on what was there before
    )

    def changes(self, unit: _Unit) -> bool:
        return (
            unit.is_unreadable
            or (unit.is_walked and self.retells)
            or not unit.looked_at.isdisjoint(self.touched)
            or any(needle <= self.said for needle in unit.needles)
        )


class VerdictCache:
    """Of one branch. A new one knows nothing, and looks at everything."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.tip = ""  # the commit at which it looked
        self.contains: dict[
            str, bool
        ] = {}  # whether that has a commit: of those that were asked for
        self.shipped_commits: dict[
            str, str
        ] = {}  # unit -> the commit that git shows it by, whoever made that
        self.receipted: set[tuple[str, str]] = (
            set()
        )  # units with the commits whose receipts were found good
        self._surroundings: object = None
        self._units: dict[str, _Unit] = {}

    def verify(self, world: World, names: Collection[str], ref: str) -> dict[str, Verdict]:
        """The verdict on each unit by its name, as git alone shows it."""
        with Objects(world.git) as objects:
            look = Verifier(world, objects, Ask(ref=ref, is_vouched=False))
            surroundings = look.surroundings
            grown = self._grown(look) if self.tip and surroundings == self._surroundings else None
            known: dict[str, _Unit] = {}
            if grown is not None:
                kept = ((name, self._units[name]) for name in names if name in self._units)
                known = {name: unit for name, unit in kept if not grown.changes(unit)}
            again = [name for name in names if name not in known]
            found, policy = (
                look.gather_evidence([_unit(name) for name in again]) if again else ([], Policy())
            )
            units = known | {
                name: _remembered(seen, judge(seen, policy), look.needles(_unit(name)))
                for name, seen in zip(again, found, strict=True)
            }
        self.contains = self.contains | dict.fromkeys(grown.commits, True) if grown else {}
        self.tip, self._surroundings, self._units = look.tip.sha, surroundings, units
        return {name: units[name].verdict for name in names}

    def _grown(self, look: Verifier) -> _Grown | None:
        """What came since the last look; None when that is too much, or the branch did not go on from there."""
        if look.objects.commit(self.tip) is None:
            return None
        gone, new = log.difference(look.git, self.tip, look.tip.sha)
        if gone or len(new) > MOST_COMMITS:
            return None
        commits = [commit for commit in map(look.objects.commit, new) if commit]
        merges = any(len(commit.parents) > 1 for commit in commits)
        return _Grown(
            commits=new,
            said=frozenset[str]().union(*(words(commit.message) for commit in commits)),
            # What a merge leaves out counts for nothing; who depends on more than the tip is looked at again for it.
            touched=set(look.git.paths_between(self.tip, look.tip.sha))
            if merges
            else log.touched_paths(look.git, new),
            retells=merges or any(_SAYS_SO in commit.message for commit in commits),
        )


def _unit(name: str) -> tuple[str, str]:
    plan, _, phase = name.rpartition("/")
    return plan, phase


def _remembered(seen: Evidence, verdict: Verdict, needles: Needles) -> _Unit:
    return _Unit(
        verdict=verdict,
        needles=needles,
        looked_at=frozenset[str]().union(*(each.looked_at for each in seen.commits)),
        is_walked=any(each.is_walked for each in seen.commits),
        is_unreadable=any(each.unreadable for each in seen.commits),
    )
