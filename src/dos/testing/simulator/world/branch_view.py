"""What one process sees of the target branch of a simulation, judged by the product's own rules.

Reflogs are not modelled: an incident is found by what a commit names and by which run has the unit.
"""

from collections.abc import Collection, Sequence

from dos.backlog.io import landed, target
from dos.backlog.io.landed import Truth
from dos.backlog.io.target import ShownUnits
from dos.fleet.incidents import ClaimWatch
from dos.fleet.state.fleet import FleetState, UnitState
from dos.journal.events.limits import IncidentFound
from dos.questions.state import Decisions
from dos.testing.simulator.world.repository import TARGET, Repository
from dos.units.unit import Unit


class BranchView:
    """The looks of one process at the branch.

    With `is_watched`, commits that agents bring to the branch by themselves are looked for.
    """

    def __init__(self, repository: Repository, *, is_watched: bool) -> None:
        self._repository = repository
        self._watch = ClaimWatch(TARGET) if is_watched else None
        self.incidents: list[IncidentFound] = []  # found by the last look, not yet in the journal
        self.shown: ShownUnits = {}  # at the last look

    @property
    def is_unsure(self) -> bool:
        """Whether the journal has to be read again to tell how a unit came to the branch."""
        return self._watch is not None and bool(self._watch.suspects)

    def fleet_on_target(
        self, fleet: FleetState, units: Sequence[Unit], answers: Decisions, live: Collection[str]
    ) -> FleetState:
        """Return the fleet's state as the branch shows it; `live` are the runs that hold a lane."""
        self.incidents = []
        if self._watch:
            self.incidents = self._watch.find_by_claims(fleet)
        truths = self._truths(fleet)
        suspects: Collection[str] = ()
        if self._watch:
            declared: set[str] = set()
            for unit in units:
                declared.update((unit.name, *unit.depends))
            truths = {name: truth for name, truth in truths.items() if name in declared}
            self._watch.suspect(self._repository.named, fleet, live)
            suspects = self._watch.suspects
        self.shown = {}
        for name, truth in truths.items():
            before = fleet.units.get(name, UnitState())
            corrected = landed.corrected_by_git(before, truth)
            if corrected and name not in suspects:
                self.shown[name] = before.landed, corrected
        if not self.shown:
            return fleet
        return target.apply_shown_units(fleet, self.shown, answers)

    def _truths(self, fleet: FleetState) -> dict[str, Truth]:
        """Return what the branch shows of the units on which the journal may differ."""
        named = self._repository.named
        truths: dict[str, Truth] = {}
        for name, commit in named.items():
            if not fleet.units.get(name, UnitState()).landed:
                truths[name] = landed.Landed(commit)
        for commit, unit in self._repository.reverted.items():
            if unit not in named:
                truths[unit] = landed.NotLanded(f"a person reverted {commit}", is_claimed=True)
        if self._watch:
            disputed: set[str] = set()
            for incident in self.incidents:
                disputed.update(incident.commits)
            truths |= landed.truths_of_agent_commits(named, fleet, disputed)
        return truths
