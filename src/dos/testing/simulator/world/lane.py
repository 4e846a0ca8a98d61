"""The repository of a lane in a simulation, by the product's own code on the model of git.

What is decided about a lane (what is saved, taken over, set aside and settled, and which ref says
so in which order) is decided by LaneRepository. Below it are the model's programs: git, which may
die at any ref that it writes, with its worker or without, and a hand-over that may break off.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dos.errors import GitUnanswered
from dos.fleet.effects import Salvage
from dos.git.repository import Writer
from dos.handover.io.receive import Received
from dos.handover.refusal import Refused, Rule
from dos.landing.lane.claims import Claims, SavedCommit
from dos.landing.lane.inside import Answer, LaneFailed, LaneShell
from dos.landing.lane.repository import (
    BASE_REFS,
    PROGRESS_REFS,
    SETTLED_REFS,
    WORK_REFS,
    LaneRepository,
)
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import KilledInEffect
from dos.testing.simulator.world.repository import TARGET_REF, Repository, Tree
from dos.testing.simulator.world.site import Site


class SimulatedGit(Writer):
    """The shared repository, as git shows it to one process and writes it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._repository = site.repository

    @property
    def tree(self) -> Path:  # type: ignore[override]
        """Raise: code of the product that reaches for files has to be modelled."""
        raise NotImplementedError("a simulated repository has no files")

    def object_of(self, name: str) -> str | None:
        """Return the commit of a ref, or the commit itself if the repository has it."""
        repository = self._repository
        if name == TARGET_REF:
            return repository.target
        if name.startswith("refs/"):
            return repository.refs.get(name)
        if name in repository.commits and name not in repository.unsent:
            return name
        return None

    commit_of = object_of

    def is_ancestor(self, old: str, new: str) -> bool:
        return any(commit.id == old for commit in self._repository.history(new))

    def commits_between(self, base: str, head: str, *others: str) -> list[str]:
        """Return the commits of the head that neither the base nor the others have."""
        known: set[str] = set()
        for name in (base, *others):
            tip = self.object_of(name) or ""
            known.update(commit.id for commit in self._repository.history(tip))
        commits = []
        for commit in self._repository.history(head):
            if commit.id in known:
                break
            commits.append(commit.id)
        return commits[::-1]

    def paths_between(self, base: str, head: str) -> list[str]:
        """Return the paths of all edits since the base."""
        paths: dict[str, None] = {}
        for name in self.commits_between(base, head):
            for number in self._repository.commits[name].edits:
                paths[self._repository.edits[number - 1].path] = None
        return list(paths)

    def paths_of(self, commit: str) -> list[str]:  # noqa: ARG002
        return []

    def submodules_between(self, base: str, head: str) -> dict[str, str]:  # noqa: ARG002
        return {}

    def run(self, *words: str, feed: str | None = None, index: str = "") -> str:  # noqa: ARG002
        """Print the files of a commit, or salvage refs: of a run, at a commit, with their files."""
        saved = self._repository.salvaged
        match words:
            case ("show", "--no-patch", _, commit):
                lines = [self._content(commit)]
            case ("for-each-ref", "--points-at", commit, _):
                lines = [ref for ref, at in saved.items() if at == commit]
            case ("for-each-ref", "--format=%(refname)", prefix):
                lines = [ref for ref in saved if ref.startswith(prefix)]
            case ("for-each-ref", _, _):
                lines = [f"{ref} {at} {self._content(at)}" for ref, at in saved.items()]
            case _:
                raise NotImplementedError(f"git {words[0]}")
        return "\n".join(lines)

    def _content(self, name: str) -> str:
        """Return what stands for the tree and the parent of a commit."""
        commit = self._repository.commits[name]
        return f"{commit.edits} {commit.parent}".replace(", ", ",")

    def swap_ref(
        self,
        ref: str,
        new: str | None,
        old: str | None,
        *,
        verified: str = "",  # noqa: ARG002
        message: str = "",  # noqa: ARG002
    ) -> str:
        """Move a ref; git, or git and its process, may die before it or after it."""
        self.may_die()
        if self._repository.refs.get(ref) != old:
            return "another process moved it"
        if new in self._repository.unsent:
            return f"there is no object {new}"
        self._repository.set_ref(ref, new)
        self.may_die()
        return ""

    def may_die(self) -> None:
        """Let git die here by a fault, with its process or without."""
        if self._site.lane_fault(faults.GIT_DIES):
            raise GitUnanswered("git was killed")
        if self._site.lane_fault(faults.WORKER_DIES_INSIDE):
            raise KilledInEffect


class LaneAnswer(Answer):
    """What the program inside a lane answers."""

    def __init__(self, claims: Claims) -> None:
        self.found = claims

    def exit_status(self) -> int:
        return 0


class SimulatedShell(LaneShell):
    """Runs the lane's program: it answers what the model of the lane has."""

    def __init__(self, site: Site, tree: Tree) -> None:
        self.folder = Path(tree.lane)
        self._site = site
        self._tree = tree

    @contextmanager
    def answer(self, command: str, order: Mapping[str, Any], seconds: float) -> Iterator[Answer]:  # noqa: ARG002
        """Answer with the head, and for `collect` with uncommitted edits as a commit."""
        tree = self._tree
        if tree.is_damaged:
            raise LaneFailed(f"the repository of lane {tree.lane} is damaged")
        saved: tuple[SavedCommit, ...] = ()
        if command == "collect" and tree.dirty:
            second = self._site.scheduler.now // 1000
            snapshot = self._site.repository.snapshot(tree, order["message"], second)
            saved = (SavedCommit(commit=snapshot, kind="changes", onto=tree.head),)
        is_known = tree.head in (order["base"], order.get("known"))
        yield LaneAnswer(Claims(head=tree.head, saved=saved, has_pack=bool(saved) or not is_known))


class ReceivedCommits(Received):
    """Commits that were handed over; only a planted bug takes a part of them for the whole."""

    def __init__(
        self, repository: Repository, commits: list[str], *, is_whole: bool = True
    ) -> None:
        self._repository = repository
        self.commits = tuple(commits)
        self._is_whole = is_whole

    def move_in(self) -> None:
        """Bring the commits, and all before them, into the shared repository."""
        for head in self.commits:
            for commit in self._repository.since("", head):
                if commit.id in self._repository.unsent and not self._is_whole:
                    self._repository.torn.add(commit.id)
                self._repository.unsent.discard(commit.id)

    def close(self) -> None:
        """There is no quarantine to remove."""


class SimulatedLane(LaneRepository):
    """One lane's repository on one host: the product's decisions on the model's files."""

    def __init__(self, site: Site, git: SimulatedGit, path: str) -> None:
        self.site = site
        self.git = git
        self.folder = Path(path)
        self.tree = site.repository.tree(path)
        self.shell = SimulatedShell(site, self.tree)
        # A clone has one repository for each lane; the model's hosts share one clone.
        self.work_ref = f"{WORK_REFS}{path}"
        self._settled_ref = f"{SETTLED_REFS}{path}"
        self._base_ref = f"{BASE_REFS}{path}"
        self._progress_ref = f"{PROGRESS_REFS}{path}"

    def set_aside(self, run_id: str, why: str) -> list[Salvage]:
        """Move the lane to the saved work as it is."""
        if not self.site.repository.set_aside(self.tree):
            return []
        return [Salvage(ref=f"salvage/{run_id}/{self.tree.lane}", commit="", why=why)]

    def _reset(self, base: str, *, fresh: bool) -> None:  # noqa: ARG002
        self.site.repository.reset(self.tree, base)

    def _receive(self, answer: Answer, claims: Claims, base: str) -> Received | Refused:  # noqa: ARG002
        """Receive the commits, unless the hand-over breaks off or its check dies."""
        if self.site.lane_fault(faults.CHECK_DIES):
            return Refused(rule=Rule.UNCHECKED, reason="the check was killed")
        if self.site.lane_fault(faults.HANDOVER_BREAKS):
            return self.broken_off(claims)
        return ReceivedCommits(self.site.repository, claims.commits)

    def broken_off(self, claims: Claims) -> Received | Refused:  # noqa: ARG002
        """Return what becomes of a hand-over that broke off."""
        return Refused(rule=Rule.PACK, reason="the pack ends early")

    def _claims(self, answer: Answer) -> Claims:
        assert isinstance(answer, LaneAnswer)
        return answer.found

    @property
    def _is_repository(self) -> bool:
        return bool(self.tree.base)

    @property
    def _is_distrusted(self) -> bool:
        return self.tree.is_distrusted

    def _mark_distrusted(self, is_distrusted: bool) -> None:
        self.tree.is_distrusted = is_distrusted

    def _take_over_large_files(self, claims: Claims, base: str) -> None:
        """Do nothing: a simulation has no large files."""

    @property
    def _worktree_directory(self) -> None:
        """None: a simulation has no lanes of earlier versions."""
        return None

    def _worktree_head(self) -> None:
        return None
