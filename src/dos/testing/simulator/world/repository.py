"""A model of git as far as a fleet uses it, and what one process sees of it.

The repository has commits, the target branch, fence refs, salvage refs, and a worktree for each
lane and host. A view judges the target branch by the product's own rules. Reflogs are not modelled:
an incident is found by what a commit names and by which run has the unit.
"""

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct, field, structs

from dos.backlog.io import landed, target
from dos.backlog.io.landed import Truth
from dos.backlog.io.target import ShownUnits
from dos.errors import Fenced
from dos.fleet.effects import NotLanded, Salvage
from dos.fleet.incidents import ClaimWatch
from dos.fleet.state.fleet import FleetState, UnitState
from dos.fleet.worker.dispatch import REPLAN as REPLAN
from dos.git.repository import SALVAGE_REFS
from dos.journal.events.limits import IncidentFound
from dos.landing.worktree import EARLIER
from dos.questions.state import Decisions
from dos.units.unit import Landing, Unit

TARGET = "main"


class Commit(Struct, frozen=True):
    """A commit: which units and edits it contains, and what measuring it would show."""

    id: str
    parent: str
    units: tuple[str, ...]  # units whose work it contains
    edits: tuple[int, ...]
    strays: bool = False
    red: bool = False  # the acceptance command fails on it


class Tree(Struct):
    """A lane's worktree on one host."""

    base: str
    head: str
    dirty: list[int] = field(default_factory=list)  # uncommitted edits


class Repository:
    """The repository that all hosts share.

    Everything that is walked is ordered, so that a seed always means the same simulation.
    """

    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}
        self.target = self._add("", (), ())
        # unit -> the commit on the target branch that its landing brought
        self.landed: dict[str, str] = {}
        # unit -> the newest commit on the target branch that names it and was not reverted
        self.named: dict[str, str] = {}
        # commit on the target branch that a person reverted -> its unit
        self.reverted: dict[str, str] = {}
        self.on_target = {self.target: None}
        self.documents: dict[str, str] = {}  # the texts on the target branch, by name
        self.fences: dict[str, int] = {}
        self.salvaged: dict[str, str] = {}  # ref -> commit
        self.trees: dict[str, Tree] = {}  # by path
        self.edits = 0
        self.doubled: list[str] = []  # units that landed twice
        self.on_replanned: Callable[[str], None] = lambda _lane: None
        self.stale: list[str] = []  # moves that were accepted under an old fence

    # What agents and other people do

    def edit(self, tree: Tree) -> None:
        """Make one more uncommitted edit in the tree."""
        self.edits += 1
        tree.dirty.append(self.edits)

    def commit(self, tree: Tree, unit: str, *, strays: bool = False, red: bool = False) -> None:
        """Commit the tree's edits for the unit."""
        units = (unit,) if unit else ()
        tree.head = self._add(tree.head, units, tuple(tree.dirty), strays=strays, red=red)
        tree.dirty = []

    def move_by_another(self) -> None:
        """Move the target branch by a commit from outside the fleet."""
        self._advance(self._add(self.target, (), ()))

    def commit_to_branch(self, tree: Tree, unit: str) -> None:
        """Let an agent move the target branch by itself."""
        commit = self._add(self.target, (unit,), tuple(tree.dirty))
        tree.dirty = []
        self.on_target[commit] = None
        self.named[unit] = commit
        self.target = commit

    def revert(self, unit: str) -> None:
        """Revert the commit that landed for the unit."""
        commit = self.landed.pop(unit)
        self.reverted[commit] = unit
        if self.named.get(unit) == commit:
            del self.named[unit]
        self.move_by_another()

    def commit_document(self, name: str, text: str) -> None:
        """Commit a text to the target branch from outside the fleet."""
        self.documents[name] = text
        self.move_by_another()

    # What a worker does

    def tree(self, path: str) -> Tree:
        """Return the worktree at the path; a new one is at the target branch."""
        return self.trees.setdefault(path, Tree(self.target, self.target))

    def prepare(self, tree: Tree, run_id: str) -> list[Salvage]:
        """Save what an earlier run left in the tree, and reset the tree to the target branch."""
        saved = self.save_commits(tree, run_id, EARLIER) + self.save_changes(tree, run_id, EARLIER)
        tree.base = self.target
        tree.head = self.target
        return [structs.replace(salvage, earlier=True) for salvage in saved]

    def save_changes(self, tree: Tree, run_id: str, why: str) -> list[Salvage]:
        """Save uncommitted edits to a salvage ref."""
        if not tree.dirty:
            return []
        saved = self._add(tree.head, (), tuple(tree.dirty))
        tree.dirty = []
        return [self._keep(run_id, saved, f"{why}: uncommitted changes")]

    def save_commits(self, tree: Tree, run_id: str, why: str) -> list[Salvage]:
        """Save the tree's head to a salvage ref, unless it landed or was saved already."""
        if tree.head in self.on_target or tree.head in self.salvaged.values():
            return []
        return [self._keep(run_id, tree.head, f"{why}: commits")]

    def since(self, base: str, head: str) -> list[Commit]:
        """Return the commits between base and head that have not landed, oldest first."""
        commits = []
        while head and head != base and head not in self.on_target:
            commits.append(self.commits[head])
            head = commits[-1].parent
        return commits[::-1]

    def prepare_landing(self, unit: str, tree: Tree, head: str, base: str) -> Landing:
        """Rebase the work onto the target branch; files that acceptance left are cleared."""
        tree.head = head
        tree.dirty = []
        if self.target != base:
            onto = self.target
            for commit in self.since(base, head):
                onto = self._add(
                    onto, commit.units, commit.edits, strays=commit.strays, red=commit.red
                )
            tree.head = onto
        return Landing(unit=unit, branch=TARGET, base=self.target, commit=tree.head)

    def raise_fence(self, lane: str, fence: int) -> None:
        """Record the lane's newest fence in git; raises Fenced if git knows a newer one."""
        if self.fences.get(lane, 0) > fence:
            raise Fenced(f"git knows a newer fence for lane {lane!r} than {fence}")
        self.fences[lane] = fence

    def move(
        self, lane: str, fence: int, landing: Landing, *, fence_counts: bool = True
    ) -> NotLanded | None:
        """Move the target branch if the fence is the lane's newest and the branch has not moved.

        Only a planted bug passes `fence_counts=False`.
        """
        if landing.commit not in self.commits:
            return NotLanded(reason=f"commit {landing.commit} is not there any more")
        newest = self.fences.get(lane, 0)
        moved = self.target != landing.base
        if (fence_counts and newest != fence) or moved:
            why = "its fence is not the newest"
            if moved:
                why = "the branch has moved"
            return NotLanded(
                reason=f"git refused to move {landing.branch!r}: {why}",
                retryable=moved,
                branch_moved=moved,
            )
        if newest != fence:
            self.stale.append(
                f"{landing.commit} under fence {fence} of lane {lane}, where {newest} is the newest"
            )
        self._advance(landing.commit)
        return None

    # What is looked at in the end

    def reachable_edits(self) -> set[int]:
        """Return the edits that are on the target branch, on a salvage ref, or in a worktree."""
        heads = [self.target, *self.salvaged.values()]
        edits: set[int] = set()
        for tree in self.trees.values():
            heads.append(tree.head)
            edits.update(tree.dirty)
        visited: set[str] = set()
        for head in heads:
            while head and head not in visited:
                visited.add(head)
                edits.update(self.commits[head].edits)
                head = self.commits[head].parent
        return edits

    def _advance(self, new: str) -> None:
        """Move the target branch, and note the units that the new commits bring.

        The commit of a replan brings no unit: it changes the lane's plan.
        """
        for commit in self.since(self.target, new):
            for unit in commit.units:
                plan, _, lane = unit.partition("/")
                if plan == REPLAN:
                    self.on_replanned(lane)
                    continue
                if unit in self.landed:
                    self.doubled.append(unit)
                self.landed[unit] = commit.id
                self.named[unit] = commit.id
            self.on_target[commit.id] = None
        self.target = new

    def _add(
        self,
        parent: str,
        units: tuple[str, ...],
        edits: tuple[int, ...],
        *,
        strays: bool = False,
        red: bool = False,
    ) -> str:
        """Add a commit and return its id; ids are numbered, so that they repeat with the seed."""
        commit_id = f"c{len(self.commits):05d}"
        self.commits[commit_id] = Commit(commit_id, parent, units, edits, strays, red)
        return commit_id

    def _keep(self, run_id: str, commit: str, why: str) -> Salvage:
        """Point a new salvage ref at the commit."""
        ref = f"{SALVAGE_REFS}{run_id}/{len(self.salvaged) + 1}"
        self.salvaged[ref] = commit
        return Salvage(ref=ref, commit=commit, why=why)


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
