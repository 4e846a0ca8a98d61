"""The lanes of a workspace: their names, their trees, and which of them run alone.

The arbiter takes a roster in place of the configuration, so that callers can pass lanes that no
file declares.
"""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from dos.text import comparison_key

GLOBAL = "global"  # a lane of every workspace, and a kind that always runs alone


class Roster(Struct, frozen=True, kw_only=True, dict=True):
    """The declared lanes. Names are compared in any case, and an alias stands for its lane."""

    concurrent: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()
    autopick: tuple[str, ...] = ()
    trees: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, str] = {}
    protected: tuple[str, ...] = ()  # globs and files that no lane may contain
    budgets: Mapping[str, int] = {}  # at most so many live leases of a lane kind
    parts: Mapping[str, str] = {}  # by name: the repeatable lane that each part is of
    most_parts: int | None = None  # of one lane that may be held; None: any number
    ratio_max: float = 0.0  # the share of a request that may touch a held region

    @property
    def known(self) -> list[str]:
        """Every lane name, as declared, without the aliases."""
        return list(self._spelled.values())

    def canonical(self, name: str) -> str | None:
        """The lane as declared, for its name in any case or an alias; None if not declared."""
        key = comparison_key(name.strip())
        target = self._alias_targets.get(key, "")
        return self._spelled.get(key) or self._spelled.get(target)

    def tree(self, name: str) -> tuple[str, ...]:
        """The declared globs; none for a lane without a tree and for a name that is no lane."""
        return self._trees.get(comparison_key(self.canonical(name) or name), ())

    def runs_alone(self, name: str) -> bool:
        """Whether nothing may run beside the lane."""
        return comparison_key(self.canonical(name) or name) in self._alone

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """Each lane as declared, by its compared name."""
        spelled: dict[str, str] = {}
        for names in (self.concurrent, self.exclusive, self.autopick, self.trees, (GLOBAL,)):
            for name in names:
                spelled.setdefault(comparison_key(name), name)
        return spelled

    @cached_property
    def _alias_targets(self) -> dict[str, str]:
        """The compared name of the lane that each alias stands for."""
        targets = {}
        for alias, lane in self.aliases.items():
            targets[comparison_key(alias)] = comparison_key(lane.strip())
        return targets

    @cached_property
    def _trees(self) -> dict[str, tuple[str, ...]]:
        """The globs of each lane, by its compared name."""
        return {comparison_key(lane): tuple(globs) for lane, globs in self.trees.items()}

    @cached_property
    def _alone(self) -> set[str]:
        """The compared names of the lanes beside which nothing runs."""
        side_by_side = {comparison_key(lane) for lane in self.concurrent}
        return {comparison_key(lane) for lane in self.exclusive} | ({GLOBAL} - side_by_side)
