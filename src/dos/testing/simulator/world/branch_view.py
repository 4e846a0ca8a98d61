"""What the target branch shows one process, by the rules of the product.

Reflogs are not modelled: an incident is found here by what a commit says and by who is at the unit.
"""

from collections.abc import Collection, Sequence

from dos.backlog.io import landed, target
from dos.backlog.io.landed import Landed, NotLanded, Truth
from dos.backlog.io.target import ShownUnits
from dos.fleet.incidents import ClaimWatch
from dos.fleet.state.fleet import FleetState, UnitState
from dos.journal.events.limits import IncidentFound
from dos.questions.state import Decisions
from dos.testing.simulator.world.repository import TARGET, Repository
from dos.units.unit import Unit


class BranchView:
    """With `is_watched`, commits that agents bring to the branch by themselves are looked for."""

    def __init__(self, repository: Repository, *, is_watched: bool) -> None:
        self._repository = repository
        self._watch = ClaimWatch(TARGET) if is_watched else None
        self.incidents: list[IncidentFound] = []  # of the last look, and not in the journal then
        self.shown: ShownUnits = {}  # at the last look

    @property
    def is_unsure(self) -> bool:
        """Whether the journal has to be read once more before it can be said how a unit came to the branch."""
        return self._watch is not None and bool(self._watch.suspects)

    def fleet_on_target(
        self, fleet: FleetState, units: Sequence[Unit], answers: Decisions, live: Collection[str]
    ) -> FleetState:
        """The fleet's state as the branch shows it; `live` are the runs that hold a lane."""
        self.incidents = self._watch.find_by_claims(fleet) if self._watch else []
        truths = self._truths(fleet)
        if self._watch:
            declared = {name for unit in units for name in (unit.name, *unit.depends)}
            truths = {name: truth for name, truth in truths.items() if name in declared}
        suspects: Collection[str] = ()
        if self._watch:
            self._watch.suspect(self._repository.named, fleet, live)
            suspects = self._watch.suspects
        self.shown = {}
        for name, truth in truths.items():
            before = fleet.units.get(name, UnitState())
            seen = landed.corrected_by_git(before, truth)
            if seen and name not in suspects:
                self.shown[name] = before.landed, seen
        return target.apply_shown_units(fleet, self.shown, answers) if self.shown else fleet

    def _truths(self, fleet: FleetState) -> dict[str, Truth]:
        """Of the units about which the branch may say something else than the journal."""
        named, reverted = self._repository.named, self._repository.reverted
        found: dict[str, Truth] = {
            name: Landed(commit)
            for name, commit in named.items()
            if not fleet.units.get(name, UnitState()).landed
        }
        for commit, unit in reverted.items():
            if unit not in named:
                found[unit] = NotLanded(f"a person reverted {commit}", is_claimed=True)
        if self._watch:
            disputed = {commit for each in self.incidents for commit in each.commits}
            found |= landed.truths_of_agent_commits(named, fleet, disputed)
        return found
