"""What a run set out to do, with what git says of each step now."""

from collections.abc import Sequence
from functools import cached_property

from msgspec import structs

from dos.errors import GitFailed
from dos.git import commits
from dos.git.commits import BlobChange
from dos.journal.run_state import RunState
from dos.lanes.io.gather import workspace_paths
from dos.runs import step as step_verdict
from dos.runs.declared import Declaration, Step
from dos.runs.step import Evidence, FileState
from dos.unknown import Unknown
from dos.world import World


class RunCommits:
    """The commits of one run, asked of the repository as it is now."""

    def __init__(self, world: World, start_sha: str) -> None:
        self._world = world
        self._git = world.git
        self._start_sha = start_sha

    @cached_property
    def head(self) -> str:
        found = self._git.commit_of("HEAD")
        if found is None:
            raise GitFailed(f"there is no commit in {self._world.workspace.tree}")
        return found

    @cached_property
    def start(self) -> str | None:
        """The commit that the run began at; None when it is not here."""
        return commits.commit_by_hash(self._git, self._start_sha)

    @property
    def start_reachable(self) -> bool | Unknown:
        try:
            head = self.head
            return commits.is_ancestor(self._git, self.start, head) if self.start else False
        except GitFailed as error:
            return Unknown(error.message)

    def gather(self, sha: str, globs: Sequence[str] = ()) -> Evidence:
        blank = Evidence(sha=sha, globs=tuple(globs))
        try:
            return self._gathered(blank)
        except GitFailed as error:
            return structs.replace(blank, reachable=Unknown(error.message))

    def _gathered(self, blank: Evidence) -> Evidence:
        head, found = self.head, commits.commit_by_hash(self._git, blank.sha)
        reachable = commits.is_ancestor(self._git, found, head) if found else False
        if found is None or reachable is not True:
            return structs.replace(blank, reachable=reachable)
        seen = structs.replace(blank, reachable=True, after_start=self._after_start(found))
        if seen.after_start is not True:
            return seen
        reverted_by = commits.reverted_by(self._reverts, found)
        return structs.replace(seen, touched=self._fates(found, head), reverted_by=reverted_by)

    def _after_start(self, sha: str) -> bool | Unknown:
        if self.start is None or self.start == sha:
            return False
        return commits.is_ancestor(self._git, self.start, sha)

    def _fates(self, sha: str, head: str) -> dict[str, FileState]:
        changes = commits.blob_changes(self._git, sha)
        since = commits.blob_changes_since(self._git, sha, head) if changes else {}
        names = workspace_paths(self._world, [change.path for change in changes])
        return {
            name: _file_state(change, since.get(change.path))
            for name, change in zip(names, changes, strict=True)
        }

    @cached_property
    def _reverts(self) -> dict[str, str]:
        return commits.reverts(self._git, self.start, "HEAD") if self.start else {}


def _file_state(change: BlobChange, since: BlobChange | None) -> FileState:
    if since is None:
        return FileState.KEPT
    # Git takes any new file of the same content for the old one moved: that alone proves no survival.
    if since.moved_to:
        return FileState.REWRITTEN
    # A file that is gone is undone, except where its going was the change: then nothing differs.
    return FileState.UNDONE if since.new in (change.old, "") else FileState.REWRITTEN


def gather(world: World, run_id: str, run: RunState) -> Declaration:
    commits = RunCommits(world, run.start_sha)
    return Declaration(
        run_id=run_id,
        has_intent=run.has_intent,
        goal=run.goal,
        plan=run.plan,
        phase=run.phase,
        steps=tuple(_step(commits, run, name) for name in run.steps),
        kept_steps=tuple(run.kept_steps),
        start_sha=run.start_sha,
        start_reachable=commits.start_reachable if run.has_intent else False,
        unreadable_lines=run.unreadable_lines,
        unreadable_newer=run.unreadable_newer,
    )


def step(world: World, run: RunState, name: str) -> Step:
    """One step alone, declared or not."""
    return _step(RunCommits(world, run.start_sha), run, name)


def _step(commits: RunCommits, run: RunState, name: str) -> Step:
    claimed = run.claimed.get(name, "")
    verified = run.verified.get(name)
    if verified is None:
        return Step(id=name, claimed=claimed)
    now = step_verdict.judge(commits.gather(verified.sha, run.regions.get(name, ())))
    return Step(id=name, claimed=claimed, verified=verified.sha, via=verified.via, now=now)
