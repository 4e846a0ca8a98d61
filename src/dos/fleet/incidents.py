"""Incidents: commits of agents on the target branch or the user's HEAD that no landing made."""

from collections.abc import Collection, Mapping

from dos.fleet import effects
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git.log import Reflogs, RefMove
from dos.git.repository import Reader
from dos.journal import streams
from dos.journal.events.limits import IncidentFound
from dos.questions.catalog import AnyQuestion
from dos.questions.units import Incident

MOST_COMMITS = 100  # of one incident that are recorded


class ClaimWatch:
    """Finds incidents by the units that commits name and the runs that work on them.

    It needs no repository, so that the simulator can use it with its model of git.
    """

    def __init__(self, branch: str) -> None:
        self._branch = branch
        self._is_first_look = True
        # Units with the commits that named them while no run worked on them.
        self._older: set[tuple[str, str]] = set()
        # Unit -> the run that worked on it, and the commit that names it.
        self._suspects: dict[str, tuple[str, str]] = {}

    def suspect(self, named: Mapping[str, str], fleet: FleetState, live: Collection[str]) -> None:
        """Remember units that a new commit names while a live run works on them.

        `named` are the units that the branch shows, each with its commit. A commit that was there
        before the run claimed the unit is not its agent's. A worker may have begun to land the
        unit after the journal was read, so `find_by_claims` decides by a later state.
        """
        for name, commit in named.items():
            unit = fleet.units.get(name, UnitState())
            if self._is_first_look or unit.claimed_by not in live:
                self._older.add((name, commit))
            elif not _is_landing(unit) and (name, commit) not in self._older:
                self._suspects[name] = (unit.claimed_by, commit)
        self._is_first_look = False

    def find_by_claims(self, fleet: FleetState) -> list[IncidentFound]:
        """Return the suspects that no worker has landed or is about to land, and forget them."""
        found = []
        for name, (run_id, commit) in self._suspects.items():
            unit = fleet.units.get(name, UnitState())
            if _is_landing(unit) or commit in fleet.incidents.disputed:
                continue
            run = fleet.runs.get(run_id)
            what = f"{commit[:9]} names {name}, which the run was at, and no worker landed it"
            found.append(
                IncidentFound(
                    id=f"{run_id}-{commit[:9]}",
                    branch=self._branch,
                    run_id=run_id,
                    lane=run.lane if run else "",
                    units=[name],
                    commits=[commit],
                    found=what,
                )
            )
        self._suspects = {}
        return found

    @property
    def suspects(self) -> Collection[str]:
        """The units that `find_by_claims` has to look at."""
        return self._suspects


class IncidentWatch(ClaimWatch):
    """Finds the incidents of one target branch; those in the journal are not found again."""

    def __init__(self, git: Reader, branch: str) -> None:
        super().__init__(branch)
        self._git = git
        self._reflogs = Reflogs(git, branch)

    def find_by_reflogs(self, fleet: FleetState) -> list[IncidentFound]:
        """Return an incident for each run whose agents moved the branch or the user's HEAD."""
        recorded = set()
        for incident in fleet.incidents.found.values():
            for commit in incident.moved_to:
                recorded.add((incident.run_id, commit))
        moves: dict[str, list[RefMove]] = {}
        for move in self._reflogs.agent_moves():
            if (move.run_id, move.new) not in recorded:
                moves.setdefault(move.run_id, []).append(move)
        return [self._incident(run_id, of_run, fleet) for run_id, of_run in moves.items()]

    def _incident(self, run_id: str, moves: list[RefMove], fleet: FleetState) -> IncidentFound:
        """Return one incident for all moves of a run, without the commits that dos has landed."""
        landed = {unit.landed for unit in fleet.units.values()}
        commits = [commit for commit in self._commits(moves) if commit not in landed]
        run = fleet.runs.get(run_id)
        units: list[str] = []
        if run and run.unit and not fleet.units.get(run.unit, UnitState()).landed:
            units = [run.unit]
        branch = "HEAD"
        where = "the HEAD of your checkout"
        if any(move.ref != "HEAD" for move in moves):
            branch = self._branch
            where = f"the branch {self._branch}"
        return IncidentFound(
            id=f"{run_id or 'unknown'}-{moves[-1].new[:9]}",
            branch=branch,
            run_id=run_id,
            lane=run.lane if run else "",
            units=units,
            commits=commits[:MOST_COMMITS],
            moved_to=list(dict.fromkeys(move.new for move in moves)),
            found=f"the reflog says that its agent moved {where}",
        )

    def _commits(self, moves: list[RefMove]) -> list[str]:
        """Return the commits that the moves added, oldest first, each once."""
        commits: dict[str, None] = {}
        for move in moves:
            if move.old:
                listed = self._git.attempt("rev-list", "--reverse", f"{move.old}..{move.new}")
                commits |= dict.fromkeys(listed.stdout.split())
        return list(commits)


def _is_landing(unit: UnitState) -> bool:
    """Whether the unit has landed, or a worker intends to land it."""
    return bool(unit.landed) or unit.intended is not None


def record(found: IncidentFound) -> effects.Record:
    """Return the record of an incident; its key makes it one, however many find it.

    It is in the stream of the run, where `dos why` shows it.
    """
    stream = streams.run(found.run_id) if found.run_id else streams.FLEET
    return effects.Record(stream=stream, fact=found, key=f"incident/{found.id}")


def ask_about(found: IncidentFound) -> AnyQuestion:
    """Return the question whether the commits of an incident are to be kept."""
    return Incident.ask(
        found.id,
        what=_describe_move(found) if found.moved_to else _describe_claim(found),
        units=found.units,
        commits=found.commits,
        run_id=found.run_id,
        lane=found.lane,
    )


def _describe_move(found: IncidentFound) -> str:
    where = f"the branch {found.branch}"
    if found.branch == "HEAD":
        where = "the HEAD of your checkout"
    count = len(found.commits)
    if not count:
        return f"An agent of {_describe_run(found)} moved {where}"
    commits = ", ".join(commit[:9] for commit in found.commits[:3])
    if count > 3:
        commits = f"{commits}, …"
    what = "1 commit" if count == 1 else f"{count} commits"
    return f"An agent of {_describe_run(found)} put {what} on {where} ({commits})"


def _describe_claim(found: IncidentFound) -> str:
    """Who made the commit is not known: it may be the person who is asked."""
    commits = " and ".join(commit[:9] for commit in found.commits)
    units = " and ".join(found.units)
    run = _describe_run(found)
    return f"{commits} on the branch {found.branch} names {units}, which {run} works on"


def _describe_run(found: IncidentFound) -> str:
    run = f"run {found.run_id}" if found.run_id else "an unknown run"
    return f"{run} on lane {found.lane}" if found.lane else run
