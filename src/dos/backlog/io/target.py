"""The fleet's state as the target branch shows it.

The branch shows units that a person committed, that landed before, or that were removed again.
"""

import time
from collections.abc import Collection, Sequence

from msgspec import structs

from dos.backlog.io import landed
from dos.choices import ChoiceName
from dos.config.schema import Config
from dos.fleet.incidents import IncidentWatch
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git.repository import Reader
from dos.journal.events.limits import IncidentFound
from dos.landing.target import TargetView
from dos.questions.state import Decisions
from dos.questions.units import UnitUndone
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.verify.io.verdict_cache import VerdictCache
from dos.workspace import Workspace
from dos.world import World

# Units as git shows them, each with the commit that the journal called landed at that time.
ShownUnits = dict[str, tuple[str, UnitState]]


def apply_shown_units(fleet: FleetState, shown: ShownUnits, answers: Decisions) -> FleetState:
    """The fleet's state with what git shows.

    A unit that a person wants done again is as if it had never landed.
    """
    wanted_again = set()
    for answered in answers.answered.values():
        question = answered.question
        if answered.choice == ChoiceName.AGAIN and isinstance(question, UnitUndone):
            wanted_again.add((question.unit, question.commit))
    units = {}
    for name, (landed_then, unit) in shown.items():
        before = fleet.units.get(name, UnitState())
        if before.landed != landed_then:
            continue  # it landed since
        if (name, before.landed) in wanted_again:
            undone = ""
        else:
            undone = unit.undone
        # What was tried or claimed since then is in the journal's state.
        units[name] = structs.replace(
            before, landed=unit.landed, undone=undone, soaking=unit.soaking
        )
    if not units:
        return fleet
    return structs.replace(fleet, units={**fleet.units, **units})


class TargetState:
    """Corrects the fleet's state by the target branch, at every survey.

    History is read only if the branch, the plans or the landings have changed. With a `share`,
    reading takes at most that share of the time: what workers land is in the journal anyway.
    """

    def __init__(
        self, workspace: Workspace, config: Config, *, share: float = 1.0, is_watched: bool = True
    ) -> None:
        """With `is_watched`, commits of agents on the target branch count as incidents."""
        self._workspace = workspace
        self._config = config
        self._share = share
        self._is_watched = is_watched
        self._watch: IncidentWatch | None = None
        self.incidents: list[IncidentFound] = []  # of the last read that the journal lacked then
        self.read_error = ""  # why the branch could not be read the last time
        self._not_before = 0.0
        self._inputs: object = None
        self._names: list[str] = []
        self._shown: ShownUnits = {}
        self._memory = VerdictCache()

    def correct_fleet(
        self,
        fleet: FleetState,
        units: Sequence[Unit],
        target: TargetView,
        branch: str,
        answers: Decisions,
        live: Collection[str] = (),
    ) -> FleetState:
        """The fleet's state as git shows it, or as it is where git cannot be read.

        Why it could not be read is in `read_error` then; new incidents are in `incidents`. `live`
        are the runs that hold a lane. What an agent brought to the branch outside a landing counts
        as no landing.
        """
        if self._workspace.common is None:
            self.read_error = f"{self._workspace.root} is not in a git repository"
            return fleet
        names: list[str] = []
        terms = []  # by which people's commits count
        for unit in units:
            names += (unit.name, *unit.depends)
            terms.append((unit.lane, unit.acceptance))
        ref = target.ref(branch)
        landings = [(unit.landed, bool(unit.intended)) for unit in fleet.units.values()]
        disputed = self._disputed(fleet, branch)
        tip = Reader(self._workspace.root).commit_of(ref)
        is_changed = (tip, names, landings, terms, disputed) != self._inputs
        is_due = names != self._names or time.monotonic() >= self._not_before
        if is_changed and is_due:
            began = time.monotonic()
            # After the journal was read, so that whatever it calls landed can be seen here,
            # whichever host landed it.
            newest = target.newest(branch)
            self._read(fleet, names, units, ref, disputed, live)
            self._inputs = newest, names, landings, terms, disputed
            self._names = names
            now = time.monotonic()
            self._not_before = now + (now - began) * (1 / self._share - 1)
        return apply_shown_units(fleet, self._shown, answers)

    def _read(
        self,
        fleet: FleetState,
        names: Sequence[str],
        units: Sequence[Unit],
        ref: str,
        disputed: Collection[str],
        live: Collection[str],
    ) -> None:
        """Read the branch, and keep the units about which it says something else."""
        with World(self._workspace.root, config=self._config) as world:
            world.workspace = self._workspace
            truths, state = landed.inspect_target(
                world,
                names,
                fleet,
                ref=ref,
                memory=self._memory,
                declared=units,
                disputed=disputed,
            )
        self.read_error = ""
        for truth in truths.values():
            if isinstance(truth, Unknown):
                self.read_error = truth.why
                break
        suspects = self._suspects(fleet, live)
        self._shown = {}
        for name, unit in state.units.items():
            before = fleet.units.get(name)
            if unit is not before and name not in suspects:
                self._shown[name] = (before.landed if before else "", unit)

    @property
    def has_suspects(self) -> bool:
        """Whether the journal has to be read again before a unit's way to the branch is known."""
        return self._watch is not None and bool(self._watch.suspects)

    def _disputed(self, fleet: FleetState, branch: str) -> frozenset[str]:
        """The commits of incidents. Those that the journal lacks are kept in `incidents`."""
        if not self._is_watched:
            return frozenset()
        if self._watch is None:
            self._watch = IncidentWatch(Reader(self._workspace.root), branch)
        self.incidents = [*self._watch.find_by_reflogs(fleet), *self._watch.find_by_claims(fleet)]
        return fleet.incidents.disputed.union(*(incident.commits for incident in self.incidents))

    def _suspects(self, fleet: FleetState, live: Collection[str]) -> Collection[str]:
        """Units that may be on the branch by an agent's own commit; they wait for the journal."""
        if self._watch is None:
            return ()
        self._watch.suspect(self._memory.shipped_commits, fleet, live)
        return self._watch.suspects
