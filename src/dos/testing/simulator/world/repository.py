"""A model of git as far as a fleet uses it: commits, the target branch, refs, and lanes.

Each lane has a repository of its own on each host, a Tree. What an agent commits is only there
until a hand-over brings it into the repository that all share; what the product decides about that
is its own code (`lane.py`). The model writes down whatever the product should never have done.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct, field, structs

from dos.errors import Fenced
from dos.fleet.effects import NotLanded
from dos.fleet.worker.dispatch import REPLAN as REPLAN
from dos.git.repository import SALVAGE_REFS
from dos.landing.lane.repository import SETTLED_REFS, WORK_REFS
from dos.units.unit import Landing

TARGET = "main"
TARGET_REF = f"refs/heads/{TARGET}"
OUTSIDE = "outside.txt"  # a path of no lane
PLANS_LEASE = "replan-"  # how the lane of a lease on plan documents begins


class Edit(Struct, frozen=True):
    """A change of one file by an agent; a foreign one was made in the lane of another agent."""

    path: str
    lane: str  # of the agent
    is_foreign: bool = False


class Commit(Struct, frozen=True):
    """A commit: which units and edits it contains, and what the acceptance command says of it."""

    id: str
    parent: str
    units: tuple[str, ...]  # units that it names
    edits: tuple[int, ...]
    red: bool = False  # the acceptance command fails on it
    reverts: str = ""  # the commit that it takes back


class Tree(Struct):
    """The repository of a lane on one host; without a base there is none yet."""

    lane: str = ""
    base: str = ""
    head: str = ""
    dirty: list[int] = field(default_factory=list)  # uncommitted edits
    is_damaged: bool = False  # its git can answer nothing
    is_distrusted: bool = False


class Repository:
    """The repository that all hosts share.

    Everything that is walked is ordered, so that a seed always means the same simulation.
    """

    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}
        self.unsent: set[str] = set()  # commits that only a lane has
        self.torn: set[str] = set()  # commits that were taken without all of their files
        self.edits: list[Edit] = []  # an edit is known by its number, from 1
        self.target = self.add("", (), ())
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
        self.refs: dict[str, str] = {}  # of lanes, by which the product knows their state
        self.trees: dict[str, Tree] = {}  # by path
        self.aside: list[Tree] = []  # lanes that were moved to the saved work as they were
        self.on_replanned: Callable[[str], None] = lambda _lane: None
        # What the product should never have done.
        self.doubled: list[str] = []  # units that landed twice
        self.stale: list[str] = []  # moves that were accepted under an old fence
        self.foreign: list[str] = []  # landings of what is not the lane's own work
        self.half_taken: list[str] = []  # work that counts as handed over and is not all there
        self.saved_twice: list[str] = []
        self._snapshots: dict[object, str] = {}

    # What agents and other people do

    def edit(self, tree: Tree, path: str = "", lane: str = "") -> None:
        """Make one more uncommitted edit in the tree; `lane` is that of the agent."""
        self.edits.append(Edit(path, lane, is_foreign=lane != tree.lane))
        tree.dirty.append(len(self.edits))

    def disown(self, tree: Tree) -> None:
        """Let the tree's edits count as foreign: the agent of another lane is about to commit them.

        Its lane's own agent may then rewrite them away without having seen them.
        """
        for number in tree.dirty:
            self.edits[number - 1] = structs.replace(self.edits[number - 1], is_foreign=True)

    def commit(
        self, tree: Tree, *units: str, red: bool = False, rewrites_history: bool = False
    ) -> None:
        """Commit the tree's edits, with the names of the units."""
        parent = "" if rewrites_history else tree.head
        tree.head = self.add(parent, units, tuple(tree.dirty), red=red)
        self.unsent.add(tree.head)
        tree.dirty = []

    def move_by_another(self, *, reverts: str = "") -> None:
        """Move the target branch by a commit from outside the fleet."""
        self._advance(self.add(self.target, (), (), reverts=reverts))

    def commit_to_branch(self, tree: Tree, unit: str) -> None:
        """Let an agent move the target branch by itself."""
        commit = self.add(self.target, (unit,), tuple(tree.dirty))
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
        self.move_by_another(reverts=commit)

    def commit_document(self, name: str, text: str) -> None:
        """Commit a text to the target branch from outside the fleet."""
        self.documents[name] = text
        self.move_by_another()

    # What the programs in a lane do

    def tree(self, path: str) -> Tree:
        """Return the lane at the path; a new one has no repository yet."""
        return self.trees.setdefault(path, Tree(path.partition("/")[2]))

    def reset(self, tree: Tree, commit: str) -> None:
        """Make the lane's repository anew at a commit; whatever was in it is gone."""
        tree.base = commit
        tree.head = commit
        tree.dirty = []
        tree.is_damaged = False

    def set_aside(self, tree: Tree) -> bool:
        """Move the lane to the saved work as it is; False if there is none."""
        if not tree.base:
            return False
        self.aside.append(Tree(tree.lane, tree.base, tree.head, tree.dirty))
        self.reset(tree, "")
        return True

    def snapshot(self, tree: Tree, message: str, second: int) -> str:
        """Commit the uncommitted edits on no branch; within a second the commit is the same."""
        content = (tree.head, tuple(tree.dirty), message, second)
        if content not in self._snapshots:
            commit = self.add(tree.head, (), tuple(tree.dirty))
            self.unsent.add(commit)
            self._snapshots[content] = commit
        return self._snapshots[content]

    # What a worker does

    def set_ref(self, ref: str, commit: str | None) -> None:
        """Move or remove a ref; writes down what a ref of a lane wrongly says to be handed over."""
        if commit is None:
            self.refs.pop(ref, None)
            return
        if ref.startswith(SALVAGE_REFS):
            self._check_saved_once(ref, commit)
            self.salvaged[ref] = commit
        else:
            self.refs[ref] = commit
        if any(each.id in self.torn for each in self.since("", commit)):
            self.half_taken.append(f"{ref} is at {commit}, of which only a part was handed over")
        if ref.startswith(WORK_REFS):
            self._check_handed_over(ref, self.trees[ref.removeprefix(WORK_REFS)], [commit])
        elif ref.startswith(SETTLED_REFS):
            self._check_handed_over(ref, self.trees[ref.removeprefix(SETTLED_REFS)], [])

    def _check_handed_over(self, ref: str, tree: Tree, heads: list[str]) -> None:
        """Note an edit of the lane that nothing holds although the ref says that all is held."""
        edits = set(tree.dirty)
        for commit in self.since("", tree.head):
            edits.update(commit.edits)
        own = {number for number in edits if not self.edits[number - 1].is_foreign}
        if not own:
            return
        held = self._edits_of([self.target, *self.salvaged.values(), *heads])
        if own - held:
            self.half_taken.append(f"{ref} is at {self.refs[ref]}, without edit {min(own - held)}")

    def _check_saved_once(self, ref: str, commit: str) -> None:
        """Note that a salvage ref holds the same work already."""
        new = self.commits[commit]
        for other_ref, other in self.salvaged.items():
            old = self.commits[other]
            if (old.parent, old.edits, old.units) == (new.parent, new.edits, new.units):
                self.saved_twice.append(f"{ref} saves what {other_ref} has")

    def since(self, base: str, head: str) -> list[Commit]:
        """Return the commits between base and head that have not landed, oldest first."""
        commits = []
        while head and head != base and head not in self.on_target:
            commits.append(self.commits[head])
            head = commits[-1].parent
        return commits[::-1]

    def history(self, head: str) -> Iterator[Commit]:
        """Yield the commit and all before it, newest first."""
        while head:
            commit = self.commits[head]
            yield commit
            head = commit.parent

    def rebase(self, base: str, head: str) -> str:
        """Return the head of the same work on top of the target branch; what landed is left out."""
        if self.target == base:
            return head
        onto = self.target
        for commit in self.since(base, head):
            onto = self.add(onto, commit.units, commit.edits, red=commit.red)
        return onto

    def shows_done(self, unit: str, commit: str) -> bool | None:
        """Whether the unit's newest work in the history is right; None: it has none."""
        reverted = set()
        for each in self.history(commit):
            if each.reverts:
                reverted.add(each.reverts)
            if unit in each.units and each.id not in reverted:
                return not each.red
        return None

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
        if landing.commit in self.on_target:
            return None
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
        self._check_own_work(lane.removeprefix(PLANS_LEASE), landing)
        self._advance(landing.commit)
        return None

    def _check_own_work(self, lane: str, landing: Landing) -> None:
        """Note a commit that names another unit, or holds what its lane's agents may not write."""
        if landing.base not in [commit.id for commit in self.history(landing.commit)]:
            self.foreign.append(f"{landing.commit} does not descend from {landing.base}")
        for commit in self.since(landing.base, landing.commit):
            others = set(commit.units) - {landing.unit}
            if others:
                self.foreign.append(f"{commit.id} of {landing.unit} names {min(others)}")
            for number in commit.edits:
                edit = self.edits[number - 1]
                if edit.path == OUTSIDE or edit.lane.removeprefix(PLANS_LEASE) != lane:
                    self.foreign.append(f"{commit.id} of lane {lane} has edit {number}: {edit}")

    # What is looked at in the end

    def lost_edits(self) -> set[int]:
        """Return the edits that are neither on the target branch, nor saved, nor in their lane.

        What an agent wrote in the lane of another is not promised to be kept.
        """
        heads = [self.target, *self.salvaged.values()]
        held: set[int] = set()
        for tree in (*self.trees.values(), *self.aside):
            heads.append(tree.head)
            held.update(tree.dirty)
        held |= self._edits_of(heads)
        own = {number for number, edit in enumerate(self.edits, 1) if not edit.is_foreign}
        return own - held

    def _edits_of(self, heads: list[str]) -> set[int]:
        """Return the edits of all commits that are reachable from the heads."""
        edits: set[int] = set()
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

    def add(
        self,
        parent: str,
        units: tuple[str, ...],
        edits: tuple[int, ...],
        *,
        red: bool = False,
        reverts: str = "",
    ) -> str:
        """Add a commit and return its id; ids are numbered, so that they repeat with the seed."""
        commit_id = f"c{len(self.commits):05d}"
        self.commits[commit_id] = Commit(commit_id, parent, units, edits, red, reverts)
        return commit_id
