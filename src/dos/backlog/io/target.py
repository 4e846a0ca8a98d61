"""What the target branch itself shows: units that a person committed, landed before, or took out again."""

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

ShownUnits = dict[
    str, tuple[str, UnitState]
]  # units as git shows them, each beside what the journal called landed then


def apply_shown_units(fleet: FleetState, shown: ShownUnits, answers: Decisions) -> FleetState:
    """The fleet's state with what git shows. What a person wants again is as if it had never landed."""
    wanted = [
        asked.question for asked in answers.answered.values() if asked.choice == ChoiceName.AGAIN
    ]
    again = {
        (question.unit, question.commit) for question in wanted if isinstance(question, UnitUndone)
    }
    units = {}
    for name, (landed_then, seen) in shown.items():
        before = fleet.units.get(name, UnitState())
        if before.landed != landed_then:
            continue  # it landed since
        undone = "" if (name, before.landed) in again else seen.undone
        # What was tried or claimed since then is the journal's to tell.
        units[name] = structs.replace(before, landed=seen.landed, undone=undone)
    return structs.replace(fleet, units={**fleet.units, **units}) if units else fleet


class TargetState:
    """Asked at every survey; history is looked at only when the branch, the plans or the landings have changed.

    With a `share`, looking takes no more than that of the time: what a worker landed is in the journal anyway.
    """

    def __init__(
        self, workspace: Workspace, config: Config, *, share: float = 1.0, is_watched: bool = True
    ) -> None:
        """`is_watched`: agents have no business on the target branch, nor in the checkout of the user."""
        self._workspace = workspace
        self._config = config
        self._share = share
        self._is_watched = is_watched
        self._watch: IncidentWatch | None = None
        self.incidents: list[IncidentFound] = []  # of the last look, and not in the journal then
        self.read_error = ""  # why the branch could not be read at the last look
        self._not_before = 0.0
        self._asked: object = None
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
        """The fleet's state as git shows it.

        `live` are the runs that hold a lane. What an agent brought to the branch by itself counts as no landing.
        """
        if self._workspace.common is None:
            self.read_error = f"{self._workspace.root} is not in a git repository"
            return fleet
        names = [name for unit in units for name in (unit.name, *unit.depends)]
        terms = [
            (unit.lane, unit.acceptance) for unit in units
        ]  # by which a person's commit counts
        ref, landings = (
            target.ref(branch),
            [(seen.landed, bool(seen.intended)) for seen in fleet.units.values()],
        )
        disputed = self._disputed(fleet, branch)
        asked = Reader(self._workspace.root).commit_of(ref), names, landings, terms, disputed
        if asked != self._asked and (names != self._names or time.monotonic() >= self._not_before):
            began = time.monotonic()
            # After the journal was read: whatever that calls landed is there to see, whichever host landed it.
            asked = target.newest(branch), names, landings, terms, disputed
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
            self.read_error = next(
                (truth.why for truth in truths.values() if isinstance(truth, Unknown)), ""
            )
            shown = {
                name: seen
                for name, seen in state.units.items()
                if seen is not fleet.units.get(name)
            }
            suspects = self._suspects(fleet, live)
            self._shown = {
                name: (fleet.units.get(name, UnitState()).landed, seen)
                for name, seen in shown.items()
                if name not in suspects
            }
            self._asked, self._names = asked, names
            now = time.monotonic()
            self._not_before = now + (now - began) * (1 / self._share - 1)
        return apply_shown_units(fleet, self._shown, answers)

    @property
    def has_suspects(self) -> bool:
        """Whether the journal has to be read once more before it can be said how a unit came to the branch."""
        return self._watch is not None and bool(self._watch.suspects)

    def _disputed(self, fleet: FleetState, branch: str) -> frozenset[str]:
        """The commits of incidents; those that the journal does not know yet are kept for whoever writes it."""
        if not self._is_watched:
            return frozenset()
        if self._watch is None:
            self._watch = IncidentWatch(Reader(self._workspace.root), branch)
        self.incidents = [*self._watch.find_by_reflogs(fleet), *self._watch.find_by_claims(fleet)]
        return fleet.incidents.disputed.union(
            commit for each in self.incidents for commit in each.commits
        )

    def _suspects(self, fleet: FleetState, live: Collection[str]) -> Collection[str]:
        if self._watch is None:
            return ()
        self._watch.suspect(self._memory.shipped_commits, fleet, live)
        return self._watch.suspects
