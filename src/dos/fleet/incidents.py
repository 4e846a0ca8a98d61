"""Notices commits of agents on the target branch, or in the checkout of the user, that no landing brought there."""

from collections.abc import Collection, Mapping

from dos.fleet import effects
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git.log import Reflogs, RefMove
from dos.git.repository import Reader
from dos.journal import streams
from dos.journal.events.limits import IncidentFound
from dos.questions.catalog import AnyQuestion
from dos.questions.units import Incident

MOST_COMMITS = 100  # of one incident that are written down


class ClaimWatch:
    """Finds incidents by what commits say and who is at which unit: what a model of git can tell as well."""

    def __init__(self, branch: str) -> None:
        self._branch = branch
        self._is_first_look = True
        self._older: set[tuple[str, str]] = (
            set()
        )  # units with commits that were there while nobody was at them
        self._suspects: dict[
            str, tuple[str, str]
        ] = {}  # unit -> the run that was at it, the commit that names it

    def suspect(self, named: Mapping[str, str], fleet: FleetState, live: Collection[str]) -> None:
        """Remember units that a new commit names while a live run is at them, and whose landing nobody has begun.

        `named` are the units that the branch shows, each with its commit. What was there before the run took the unit
        is no work of its agent. A worker may have begun to land one after the journal was read, so it takes a second
        look at the journal to be sure.
        """
        for name, commit in named.items():
            seen = fleet.units.get(name, UnitState())
            if self._is_first_look or seen.claimed_by not in live:
                self._older.add((name, commit))
            elif not seen.landed and seen.intended is None and (name, commit) not in self._older:
                self._suspects[name] = (seen.claimed_by, commit)
        self._is_first_look = False

    def find_by_claims(self, fleet: FleetState) -> list[IncidentFound]:
        """The suspects of the looks before, as far as no worker has landed them or is about to."""
        found = []
        for name, (run_id, commit) in self._suspects.items():
            seen = fleet.units.get(name, UnitState())
            if seen.landed or seen.intended is not None or commit in fleet.incidents.disputed:
                continue
            run = fleet.runs.get(run_id)
            found.append(
                IncidentFound(
                    id=f"{run_id}-{commit[:9]}",
                    branch=self._branch,
                    run_id=run_id,
                    lane=run.lane if run else "",
                    units=[name],
                    commits=[commit],
                    found=f"{commit[:9]} names {name}, which the run was at, and no worker landed it",
                )
            )
        self._suspects = {}
        return found

    @property
    def suspects(self) -> Collection[str]:
        return self._suspects


class IncidentWatch(ClaimWatch):
    """Of one target branch. What the journal knows already is not found again."""

    def __init__(self, git: Reader, branch: str) -> None:
        super().__init__(branch)
        self._git = git
        self._reflogs = Reflogs(git, branch)

    def find_by_reflogs(self, fleet: FleetState) -> list[IncidentFound]:
        """One for each run whose agents moved the branch, or the HEAD of the user, since the last that was noted."""
        known = {
            (each.run_id, new) for each in fleet.incidents.found.values() for new in each.moved_to
        }
        fresh: dict[str, list[RefMove]] = {}
        for move in self._reflogs.agent_moves():
            if (move.run_id, move.new) not in known:
                fresh.setdefault(move.run_id, []).append(move)
        return [self._of_moves(run_id, moves, fleet) for run_id, moves in fresh.items()]

    def _of_moves(self, run_id: str, moves: list[RefMove], fleet: FleetState) -> IncidentFound:
        commits: dict[str, None] = {}
        for move in moves:
            if move.old:
                commits |= dict.fromkeys(
                    self._git.attempt(
                        "rev-list", "--reverse", f"{move.old}..{move.new}"
                    ).stdout.split()
                )
        landed = {each.landed for each in fleet.units.values()}
        run = fleet.runs.get(run_id)
        unit = run.unit if run else ""
        on_branch = any(move.ref != "HEAD" for move in moves)
        where = f"the branch {self._branch}" if on_branch else "the HEAD of your checkout"
        return IncidentFound(
            id=f"{run_id or 'unknown'}-{moves[-1].new[:9]}",
            branch=self._branch if on_branch else "HEAD",
            run_id=run_id,
            lane=run.lane if run else "",
            units=[unit] if unit and not fleet.units.get(unit, UnitState()).landed else [],
            commits=[commit for commit in commits if commit not in landed][:MOST_COMMITS],
            moved_to=list(dict.fromkeys(move.new for move in moves)),
            found=f"the reflog says that its agent moved {where}",
        )


def record(found: IncidentFound) -> effects.Record:
    """One record, however many find it: in the stream of the run, where `dos why` tells of it."""
    stream = streams.run(found.run_id) if found.run_id else streams.FLEET
    return effects.Record(stream=stream, fact=found, key=f"incident/{found.id}")


def ask_about(found: IncidentFound) -> AnyQuestion:
    return Incident.ask(
        found.id,
        what=_moved(found) if found.moved_to else _named(found),
        units=found.units,
        commits=found.commits,
        run_id=found.run_id,
        lane=found.lane,
    )


def _moved(found: IncidentFound) -> str:
    count = len(found.commits)
    what = f"put {count} commit{'' if count == 1 else 's'} on" if count else "moved"
    where = "the HEAD of your checkout" if found.branch == "HEAD" else f"the branch {found.branch}"
    named = (
        f" ({', '.join(commit[:9] for commit in found.commits[:3])}{', …' if count > 3 else ''})"
        if count
        else ""
    )
    return f"An agent of {_run(found)} {what} {where}{named}"


def _named(found: IncidentFound) -> str:
    """Who made the commit is not known: it may be the person who is asked."""
    commits = " and ".join(commit[:9] for commit in found.commits)
    return f"{commits} on the branch {found.branch} names {' and '.join(found.units)}, which {_run(found)} is at"


def _run(found: IncidentFound) -> str:
    named = f"run {found.run_id}" if found.run_id else "an unknown run"
    return f"{named} on lane {found.lane}" if found.lane else named
