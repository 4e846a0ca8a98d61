"""The settings tables [lanes], [overlap] and [[concurrency_class]]: what may be worked on at once.

Names are checked when the file is read, so that a misspelt lane is an error and not a lane that
nothing ever runs on.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, Self, get_args

from msgspec import field, structs

from dos import regions
from dos.fields import (
    BadValue,
    Count,
    Key,
    Share,
    Table,
    check_globs,
    check_name,
    check_one_spelling,
)
from dos.regions import Region
from dos.text import comparison_key, did_you_mean, quote

SOFT_OVERLAP_CEILING = 1 / 3  # no setting tolerates more than this share of a request
OverlapPolicy = Literal["prefix"]  # there is no other: a rule that nobody has would admit anything
OVERLAP_POLICIES: tuple[str, ...] = get_args(OverlapPolicy)
PART_MARK = "/"  # between the name of a repeatable lane and the unit of one of its parts


class Lanes(Table, frozen=True, kw_only=True, dict=True):
    """[lanes]: the declared lanes. The table replaces the default as a whole."""

    concurrent: tuple[str, ...] = ()
    """Lanes that run beside others where no trees overlap; with `[]`, autopick is repeatable."""
    exclusive: tuple[str, ...] = ()
    """Lanes that run alone: no other lane may be held meanwhile."""
    repeatable: tuple[str, ...] = ()
    """Lanes that several workers share, each in the paths of one unit; they run beside others."""
    autopick: tuple[str, ...] = ()
    """Lanes to try in this order when none is named; units without a lane go to the first."""
    trees: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Globs of the paths that each lane may change; no worker is granted a lane without any."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Other names of lanes, each with the lane that it stands for."""
    # lane -> its agent, in place of [workers] agent
    agents: dict[str, str] = field(default_factory=dict)
    """Agents of single lanes; they override [workers] agent, and a unit's agent overrides them."""

    def __post_init__(self) -> None:
        for name, key in self._spelled():
            check_name(name, key, "lane name")
        check_one_spelling(self._spelled(), "lane name")
        for word, lane in self.aliases.items():
            check_name(word, ("aliases", word), "alias")
            if not lane.strip():
                raise BadValue(
                    ("aliases", word),
                    "the alias leads to no lane",
                    "Name the lane that it stands for.",
                )
        check_one_spelling(((word, ("aliases", word)) for word in self.aliases), "alias")
        for name, globs in self.trees.items():
            check_globs(globs, ("trees", name))
        self._check_agents()
        self._check_repeatable()

    def _check_agents(self) -> None:
        """Each agent has a name and a declared lane: a misspelt lane would keep its usual agent."""
        check_one_spelling(((name, ("agents", name)) for name in self.agents), "lane name")
        for name, agent in self.agents.items():
            if self.canonical(name) is None:
                hint = did_you_mean(name, self.declared(), "lanes")
                raise BadValue(
                    ("agents", name), f"there is no lane {quote(name)} to give an agent", f"{hint}."
                )
            check_name(agent, ("agents", name), "agent name")

    def _check_repeatable(self) -> None:
        """A lane that runs alone cannot be shared."""
        for place, name in enumerate(self.repeatable):
            if name in self.exclusive:
                raise BadValue(
                    ("repeatable", place),
                    f"lane {quote(name)} runs alone, so several workers cannot share it",
                    "Keep it in exclusive or in repeatable.",
                )

    def with_autopick_repeatable(self) -> Self:
        """The lanes of a file that says `concurrent = []`; the same where that shares none.

        It has no lane for one worker beside others, so several workers share each lane of autopick
        that does not run alone.
        """
        shared = (*self.repeatable, *(lane for lane in self.autopick if lane not in self.exclusive))
        repeatable = tuple(dict.fromkeys(shared))
        if self.concurrent or repeatable == self.repeatable:
            return self
        return structs.replace(self, repeatable=repeatable)

    def agent(self, name: str) -> str:
        """The agent of a lane, for any spelling of its name; empty if it has none of its own.

        A part of a repeatable lane has the agent of that lane.
        """
        lane = self.whole_of(name) or self.canonical(name)
        if not lane:
            return ""
        for spelled, agent in self.agents.items():
            if self.canonical(spelled) == lane:
                return agent
        return ""

    def _spelled(self) -> Iterator[tuple[str, Key]]:
        """Each lane name as it is written, with the key where."""
        for role in ("concurrent", "exclusive", "repeatable", "autopick"):
            for place, name in enumerate(getattr(self, role)):
                yield name, (role, place)
        for name in self.trees:
            yield name, ("trees", name)

    def roster(self) -> list[str]:
        """The lanes that workers are placed on: concurrent, repeatable, then exclusive, each once.

        A lane in two of these lists has the place of the first one.
        """
        return list(dict.fromkeys((*self.concurrent, *self.repeatable, *self.exclusive)))

    def declared(self) -> list[str]:
        """Every lane that is named anywhere in the table, the roster first."""
        return list(dict.fromkeys(name for name, _ in self._spelled()))

    @cached_property
    def _by_folded(self) -> dict[str, str]:
        """Every lane by its compared name or alias; a name outranks an alias."""
        lanes = {comparison_key(lane): lane for lane in self.declared()}
        by_key = {}
        for alias, lane in self.aliases.items():
            target = lanes.get(comparison_key(lane.strip()))
            if target is not None:
                by_key[comparison_key(alias)] = target
        return by_key | lanes

    def canonical(self, name: str) -> str | None:
        """The lane as declared, for a name in any case or an alias; None if not declared."""
        return self._by_folded.get(comparison_key(name.strip()))

    def whole_of(self, name: str) -> str:
        """The repeatable lane whose part has this name; empty if it is no name of a part.

        A name of a part is that of its lane and of a unit, which may be one that no plan has.
        """
        key = comparison_key(name.strip())
        if key in self._by_folded:
            return ""
        for lane in self._repeatable_longest_first:
            start = f"{comparison_key(lane)}{PART_MARK}"
            if key.startswith(start) and len(key) > len(start):
                return lane
        return ""

    @cached_property
    def _repeatable_longest_first(self) -> list[str]:
        """The repeatable lanes; one whose name begins with that of another one comes first."""
        return sorted(self.repeatable, key=len, reverse=True)

    def region(self, name: str) -> Region | None:
        """The lane's region, unknown if it has no tree; None if there is no such lane."""
        lane = self.canonical(name)
        if lane is None:
            return None
        return regions.region(self.trees.get(lane, ()))


DEFAULT_LANES = Lanes(
    concurrent=("main",),
    exclusive=("global",),
    autopick=("main",),
    trees={"main": ("**/*",), "global": ("**/*",)},
)


class Overlap(Table, frozen=True, kw_only=True):
    """[overlap]: how much of a request may touch a held region in `dos arbitrate`."""

    ratio_max: Share = 0.0
    """Share of requested folders that may overlap held ones in `dos arbitrate`; at most 1/3."""
    policy: OverlapPolicy = "prefix"
    """How two regions are compared; any other name than `prefix` is an error."""

    @property
    def tolerance(self) -> float:
        """The ratio that counts: no setting may exceed the ceiling."""
        return min(self.ratio_max, SOFT_OVERLAP_CEILING)


class ConcurrencyClass(Table, frozen=True, kw_only=True):
    """[[concurrency_class]]: at most so many live leases of one lane kind; 0 is no cap."""

    name: str
    """Kind of lane: `cluster`, `keyword`, the name of an exclusive lane, or another."""
    max_concurrent: Count
    """Most live leases of this kind; 0 is no cap."""

    def __post_init__(self) -> None:
        check_name(self.name, ("name",), "lane kind")


class Protect(Table, frozen=True, kw_only=True):
    """[protect]: paths that no lane may contain."""

    globs: tuple[str, ...] = ()
    """Globs of paths that no lane may contain; a lane whose tree overlaps one is refused."""

    def __post_init__(self) -> None:
        check_globs(self.globs, ("globs",))
