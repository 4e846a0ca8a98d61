"""What the arbiter needs to know: the lanes of the workspace, and who holds what."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from dos import plugins
from dos.config.schema import Config
from dos.journal.store import Admit, Store
from dos.lanes import admission, arbitrate
from dos.lanes.admission import KERNEL_FILES, Predicate
from dos.lanes.arbitrate import Held
from dos.lanes.roster import Roster
from dos.world import World


class Evidence(Struct, frozen=True, kw_only=True):
    roster: Roster
    live: tuple[Held, ...]
    predicates: tuple[Predicate, ...]


def gather(
    world: World,
    config: Config,
    *,
    journal: Store | None = None,
    instead: str | None = None,
    beside: str | None = None,
    budgets: Mapping[str, int] | None = None,
) -> Evidence:
    """The lanes, and the live leases of the journal, or of another world that the caller wrote down as JSON.

    `instead` replaces the journal's leases and `beside` adds to them; `budgets` go before the configured ones.
    """
    if instead is not None:
        live = arbitrate.held_from_json(instead)
    else:
        live = [arbitrate.held(lease) for lease in (journal or world.journal).leases(lapsed=False)]
    live += [] if beside is None else arbitrate.held_from_json(beside)
    lanes = roster(world, config)
    return Evidence(
        roster=structs.replace(lanes, budgets={**lanes.budgets, **(budgets or {})}),
        live=tuple(live),
        predicates=predicates(),
    )


def roster(world: World, config: Config) -> Roster:
    lanes = config.lanes
    return Roster(
        concurrent=lanes.concurrent,
        exclusive=lanes.exclusive,
        autopick=lanes.autopick,
        trees=lanes.trees,
        aliases=lanes.aliases,
        protected=protected(world.workspace.root, config),
        budgets=config.class_budgets(),
        ratio_max=config.overlap.tolerance,
    )


def rules(root: Path, config: Config) -> Admit:
    """What the journal asks in the transaction that grants: the same rules for a worker and for the command line."""
    return partial(
        admission.judge,
        budgets=config.class_budgets(),
        protected=protected(root, config),
        predicates=predicates(),
        config=config,
    )


def predicates() -> tuple[Predicate, ...]:
    """What other packages add. They can only refuse more."""
    return tuple(plugin for _, plugin in plugins.load(plugins.PREDICATES))


def protected(root: Path, config: Config) -> tuple[str, ...]:
    """What no lane may reach: the configured paths, and the referee's own files where it is what is worked on."""
    return (*config.protect.globs, *(file for file in KERNEL_FILES if (root / file).is_file()))
