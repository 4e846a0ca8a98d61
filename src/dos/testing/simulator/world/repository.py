"""Git as far as a fleet leans on it: commits, a target branch, fences, salvage refs, a tree for each lane."""

from collections.abc import Callable

from msgspec import Struct, field, structs

from dos.errors import Fenced
from dos.fleet.effects import NotLanded, Salvage
from dos.fleet.worker.dispatch import REPLAN as REPLAN
from dos.landing.worktree import EARLIER
from dos.units.unit import Landing

TARGET = "main"


class Commit(Struct, frozen=True):
    id: str
    parent: str
    units: tuple[str, ...]  # whose work it holds
    edits: tuple[int, ...]
    strays: bool = False
    red: bool = False  # the acceptance command fails on it


class Tree(Struct):
    """A lane's worktree on one host."""

    base: str
    head: str
    dirty: list[int] = field(default_factory=list)  # edits that nobody committed


class Repository:
    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}
        self.target = self._add("", (), ())
        self.landed: dict[
            str, str
        ] = {}  # unit -> the commit of the target branch that a landing brought
        self.named: dict[
            str, str
        ] = {}  # unit -> the newest commit of the target branch that names it and holds
        self.reverted: dict[
            str, str
        ] = {}  # commit of the target branch that a person took out -> its unit
        self.on_target = {self.target: None}  # ordered, as everything that is walked here
        self.documents: dict[str, str] = {}  # the texts that the target branch holds, by name
        self.fences: dict[str, int] = {}
        self.salvaged: dict[str, str] = {}  # ref -> commit
        self.trees: dict[str, Tree] = {}  # by path
        self.edits = 0
        self.doubled: list[str] = []  # units that the target branch got twice
        self.on_replanned: Callable[[str], None] = lambda lane: None
        self.stale: list[str] = []  # moves that were let through under an old fence

    # What agents and other people do

    def edit(self, tree: Tree) -> None:
        self.edits += 1
        tree.dirty.append(self.edits)

    def commit(self, tree: Tree, unit: str, *, strays: bool = False, red: bool = False) -> None:
        units = (unit,) if unit else ()
        tree.head = self._add(tree.head, units, tuple(tree.dirty), strays=strays, red=red)
        tree.dirty = []

    def move_by_another(self) -> None:
        self._advance(self._add(self.target, (), ()))

    def commit_to_branch(self, tree: Tree, unit: str) -> None:
        """An agent moves the target branch by itself."""
        made = self._add(self.target, (unit,), tuple(tree.dirty))
        tree.dirty = []
        self.on_target[made] = None
        self.named[unit] = made
        self.target = made

    def revert(self, unit: str) -> None:
        """Take out again what landed for the unit."""
        commit = self.landed.pop(unit)
        self.reverted[commit] = unit
        if self.named.get(unit) == commit:
            del self.named[unit]
        self.move_by_another()

    def commit_document(self, name: str, text: str) -> None:
        self.documents[name] = text
        self.move_by_another()

    # What a worker does

    def tree(self, path: str) -> Tree:
        return self.trees.setdefault(path, Tree(self.target, self.target))

    def prepare(self, tree: Tree, run_id: str) -> list[Salvage]:
        saved = self.save_commits(tree, run_id, EARLIER) + self.save_changes(tree, run_id, EARLIER)
        tree.base = tree.head = self.target
        return [structs.replace(each, earlier=True) for each in saved]

    def save_changes(self, tree: Tree, run_id: str, why: str) -> list[Salvage]:
        if not tree.dirty:
            return []
        saved = self._add(tree.head, (), tuple(tree.dirty))
        tree.dirty = []
        return [self._keep(run_id, saved, f"{why}: uncommitted changes")]

    def save_commits(self, tree: Tree, run_id: str, why: str) -> list[Salvage]:
        if tree.head in self.on_target or tree.head in self.salvaged.values():
            return []
        return [self._keep(run_id, tree.head, f"{why}: commits")]

    def since(self, base: str, head: str) -> list[Commit]:
        """The commits between two, oldest first."""
        found = []
        while head and head != base and head not in self.on_target:
            found.append(self.commits[head])
            head = found[-1].parent
        return found[::-1]

    def prepare_landing(self, unit: str, tree: Tree, head: str, base: str) -> Landing:
        tree.head, tree.dirty = head, []  # cleared: what acceptance left is nobody's work
        if self.target != base:
            onto = self.target
            for each in self.since(base, head):
                onto = self._add(onto, each.units, each.edits, strays=each.strays, red=each.red)
            tree.head = onto
        return Landing(unit=unit, branch=TARGET, base=self.target, commit=tree.head)

    def raise_fence(self, lane: str, fence: int) -> None:
        if self.fences.get(lane, 0) > fence:
            raise Fenced(f"git knows a newer fence for lane {lane!r} than {fence}")
        self.fences[lane] = fence

    def move(
        self, lane: str, fence: int, landing: Landing, *, fence_counts: bool = True
    ) -> NotLanded | None:
        """My fence is still the newest, the branch is still where I saw it, and now it is here."""
        if landing.commit not in self.commits:
            return NotLanded(reason=f"commit {landing.commit} is not there any more")
        newest = self.fences.get(lane, 0)
        moved = self.target != landing.base
        if (fence_counts and newest != fence) or moved:
            why = "the branch has moved" if moved else "its fence is not the newest"
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
        """Every edit that somebody can still find: on the target branch, on a salvage ref, or in a tree."""
        heads = [self.target, *self.salvaged.values(), *(tree.head for tree in self.trees.values())]
        found = {edit for tree in self.trees.values() for edit in tree.dirty}
        seen: set[str] = set()
        for head in heads:
            while head and head not in seen:
                seen.add(head)
                found.update(self.commits[head].edits)
                head = self.commits[head].parent
        return found

    def _advance(self, new: str) -> None:
        for each in self.since(self.target, new):
            for unit in each.units:
                plan, _, lane = unit.partition("/")
                if plan == REPLAN:
                    self.on_replanned(lane)
                    continue
                if unit in self.landed:
                    self.doubled.append(unit)
                self.landed[unit] = self.named[unit] = each.id
            self.on_target[each.id] = None
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
        made = f"c{len(self.commits):05d}"
        self.commits[made] = Commit(made, parent, units, edits, strays, red)
        return made

    def _keep(self, run_id: str, commit: str, why: str) -> Salvage:
        ref = f"refs/dos/salvage/{run_id}/{len(self.salvaged) + 1}"
        self.salvaged[ref] = commit
        return Salvage(ref=ref, commit=commit, why=why)
