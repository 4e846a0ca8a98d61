"""The lanes of a workspace: what they are called, which paths are theirs, and which of them run alone."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from dos.text import comparison_key

GLOBAL = "global"  # a name that is known everywhere, and a kind that always runs alone


class Roster(Struct, frozen=True, kw_only=True, dict=True):
    """Names are compared folded, and an alias stands for its lane."""

    concurrent: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()
    autopick: tuple[str, ...] = ()
    trees: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, str] = {}
    protected: tuple[str, ...] = ()  # globs and files that no lane may reach
    budgets: Mapping[str, int] = {}  # at most so many live leases of a lane kind
    ratio_max: float = 0.0  # the share of a request that may touch a held region

    @property
    def known(self) -> list[str]:
        """Every lane name that means something here, as declared, without the aliases."""
        return list(self._spelled.values())

    def canonical(self, name: str) -> str | None:
        """The lane as it is declared, for its name in any case or an alias; None when nobody declared it."""
        wanted = comparison_key(name.strip())
        return self._spelled.get(wanted) or self._spelled.get(self._leads_to.get(wanted, ""))

    def tree(self, name: str) -> tuple[str, ...]:
        """The declared globs; none for a lane that has no tree and for a name that is no lane."""
        return self._trees.get(comparison_key(self.canonical(name) or name), ())

    def runs_alone(self, name: str) -> bool:
        return comparison_key(self.canonical(name) or name) in self._alone

    @cached_property
    def _spelled(self) -> dict[str, str]:
        spelled: dict[str, str] = {}
        for names in (self.concurrent, self.exclusive, self.autopick, self.trees, (GLOBAL,)):
            for name in names:
                spelled.setdefault(comparison_key(name), name)
        return spelled

    @cached_property
    def _leads_to(self) -> dict[str, str]:
        return {
            comparison_key(word): comparison_key(lane.strip())
            for word, lane in self.aliases.items()
        }

    @cached_property
    def _trees(self) -> dict[str, tuple[str, ...]]:
        return {comparison_key(lane): tuple(globs) for lane, globs in self.trees.items()}

    @cached_property
    def _alone(self) -> set[str]:
        side_by_side = {comparison_key(lane) for lane in self.concurrent}
        return {comparison_key(lane) for lane in self.exclusive} | ({GLOBAL} - side_by_side)
