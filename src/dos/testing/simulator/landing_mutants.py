"""Planted bugs of lanes, hand-overs, landings and what they are judged by.

Each function breaks one decision of the product, or one wall around an agent, for one simulation.
Its docstring says what the broken product does.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from dos.backlog.io import survey
from dos.fleet import effects
from dos.handover.io.receive import Received
from dos.landing import measure
from dos.landing.checks import Checks
from dos.landing.commit_checks import BaseResult
from dos.landing.gate import LandingGate
from dos.landing.lane import salvage_writer
from dos.landing.lane.claims import Claims
from dos.landing.lane.repository import HandOverRefused, LaneRepository
from dos.landing.lanes import Lanes
from dos.testing.simulator.world.landing import SimulatedLanding
from dos.testing.simulator.world.lane import ReceivedCommits, SimulatedLane
from dos.testing.simulator.world.repository import Repository, Tree

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation


def accept_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person accepts commits that change tests, and they are not landed."""
    patches.enter_context(patch.object(survey, "_accepted_landings", lambda *_args: {}))


def acceptance_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """The acceptance command that a plan states is not run."""
    patches.enter_context(patch.object(Checks, "acceptance", lambda *_args: ""))


def green_base_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """A command that passes without the work counts as one that failed."""
    patches.enter_context(patch.object(BaseResult, "is_green", False))


def required_red_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """Work lands although its acceptance passes without it and that is not enough."""
    patches.enter_context(patch.object(LandingGate, "why_not_told_apart", lambda *_a, **_n: ""))


def walls_down(simulation: "Simulation", _patches: ExitStack) -> None:
    """An agent can write into another lane although there are walls."""
    simulation.agents.passes_walls = lambda: True  # type: ignore[method-assign]


def strays_landed(_simulation: "Simulation", patches: ExitStack) -> None:
    """Nobody looks whether the paths of the work are inside the lane."""
    patches.enter_context(patch.object(measure, "paths_outside_lane", lambda *_args: []))


def other_names_landed(_simulation: "Simulation", patches: ExitStack) -> None:
    """Commits land that name another unit too."""
    patches.enter_context(patch.object(SimulatedLanding, "others_named", lambda *_args: ""))


def history_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """Commits land that do not descend from the commit that the lane was given."""
    patches.enter_context(patch.object(SimulatedLanding, "_history_problem", lambda *_args: ""))


def taken_before_saved(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane counts as taken over before all of it is saved."""
    save = LaneRepository._save

    def saved(lane: LaneRepository, claims: Claims, run_id: str, why: str) -> list[effects.Salvage]:
        lane._set_ref(lane.work_ref, claims.head)
        return save(lane, claims, run_id, why)

    patches.enter_context(patch.object(LaneRepository, "_save", saved))


def torn_pack_taken(_simulation: "Simulation", patches: ExitStack) -> None:
    """The part of a hand-over that came before it broke off is taken for all of it."""

    def taken(lane: SimulatedLane, claims: Claims) -> Received:
        return ReceivedCommits(lane.site.repository, claims.commits, is_whole=False)

    patches.enter_context(patch.object(SimulatedLane, "broken_off", taken))


def refused_is_empty(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane whose hand-over was refused counts as one that has nothing."""
    take_over = LaneRepository.take_over

    def taken(lane: LaneRepository, base: str, *, run_id: str, why: str) -> list[effects.Salvage]:
        try:
            return take_over(lane, base, run_id=run_id, why=why)
        except HandOverRefused:
            lane.deliver(base)
            return []

    patches.enter_context(patch.object(LaneRepository, "take_over", taken))


def settled_unsaved(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane counts as settled although its commits neither landed nor were saved."""

    def settled(lanes: Lanes, effect: effects.SaveCommits) -> list[effects.Salvage]:
        lanes._lanes[effect.worktree.path].settle(landed=effect.landed)
        return []

    patches.enter_context(patch.object(Lanes, "save_commits", settled))


def refused_removed(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane that cannot be taken over is removed instead of moved to the saved work."""

    def removed(repository: Repository, tree: Tree) -> bool:
        repository.reset(tree, "")
        return False

    patches.enter_context(patch.object(Repository, "set_aside", removed))


def saved_again(_simulation: "Simulation", patches: ExitStack) -> None:
    """A hand-over that is repeated saves the same uncommitted changes once more."""

    def saved(*snapshot: Any, is_earlier: bool) -> effects.Salvage:
        del is_earlier
        return salvage_writer.save_to_ref(*snapshot)

    patches.enter_context(patch.object(salvage_writer, "save_snapshot", saved))
