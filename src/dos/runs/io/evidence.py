"""Gather the evidence about one run: its declaration, whether it can resume, where to rewind.

Everything is asked of git at the moment of the call: a step that was verified once counts only
while git still confirms it.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import json, structs

from dos import regions
from dos.errors import GitFailed
from dos.git import commits
from dos.git.commits import BlobChange, CommitSubject
from dos.journal import run_state
from dos.journal.run_state import RunState
from dos.journal.store import Store
from dos.lanes.io.gather import workspace_paths
from dos.lanes.io.parts import config_for
from dos.regions import Region
from dos.runs import resume, rewind, steps
from dos.runs.resume import resume_point
from dos.runs.rewind import Checkpoint, Finding, Fire
from dos.runs.steps import Declaration, FileState, Step, is_done
from dos.unknown import Unknown
from dos.world import World

ASSERTED = "the caller says that others changed its files since"
LONGEST_CHAIN = 1_000  # runs that continue one another
LARGEST_TRANSCRIPT = 1 << 30  # bytes


class RunCommits:
    """The commits of one run, asked of the repository as it is now.

    What git says is kept as long as this object, so make a new one for each command.
    """

    def __init__(self, world: World, start_sha: str) -> None:
        self._world = world
        self._git = world.git
        self._start_sha = start_sha

    @cached_property
    def head(self) -> str:
        """The commit at HEAD. Raises GitFailed when the repository has none."""
        head = self._git.commit_of("HEAD")
        if head is None:
            raise GitFailed(f"there is no commit in {self._world.workspace.tree}")
        return head

    @cached_property
    def start(self) -> str | None:
        """The commit that the run began at; None when this repository does not have it."""
        return commits.commit_by_hash(self._git, self._start_sha)

    @property
    def start_reachable(self) -> bool | Unknown:
        """Whether HEAD still contains the commit that the run began at."""
        try:
            head = self.head
            if not self.start:
                return False
            return commits.is_ancestor(self._git, self.start, head)
        except GitFailed as error:
            return Unknown(error.message)

    def gather(self, sha: str, globs: Sequence[str] = ()) -> steps.Evidence:
        """What git says now of a commit that is claimed to have done a step with these files."""
        unread = steps.Evidence(sha=sha, globs=tuple(globs))
        try:
            return self._commit_evidence(unread)
        except GitFailed as error:
            return structs.replace(unread, reachable=Unknown(error.message))

    def _commit_evidence(self, unread: steps.Evidence) -> steps.Evidence:
        """Stop at the first fact that decides: the later ones cost more git commands."""
        head = self.head
        commit = commits.commit_by_hash(self._git, unread.sha)
        if commit is None:
            return structs.replace(unread, reachable=False)
        reachable = commits.is_ancestor(self._git, commit, head)
        if reachable is not True:
            return structs.replace(unread, reachable=reachable)
        after_start = self._after_start(commit)
        evidence = structs.replace(unread, reachable=True, after_start=after_start)
        if after_start is not True:
            return evidence
        return structs.replace(
            evidence,
            touched=self._file_states(commit, head),
            reverted_by=commits.reverted_by(self._reverts, commit),
        )

    def _after_start(self, sha: str) -> bool | Unknown:
        """Whether the commit descends from the run's start and is not the start itself."""
        if self.start is None or self.start == sha:
            return False
        return commits.is_ancestor(self._git, self.start, sha)

    def _file_states(self, sha: str, head: str) -> dict[str, FileState]:
        """The state at HEAD of each file that a commit touched, by its name in the workspace."""
        changes = commits.blob_changes(self._git, sha)
        if not changes:
            return {}
        since = commits.blob_changes_since(self._git, sha, head)
        names = workspace_paths(self._world, [change.path for change in changes])
        states = {}
        for name, change in zip(names, changes, strict=True):
            states[name] = _file_state(change, since.get(change.path))
        return states

    @cached_property
    def _reverts(self) -> dict[str, str]:
        """The reverts since the run began, each by the commit that it reverts."""
        if not self.start:
            return {}
        return commits.reverts(self._git, self.start, "HEAD")


def _file_state(change: BlobChange, since: BlobChange | None) -> FileState:
    """The state of a file by what changed after the commit; `since` is None for no change."""
    if since is None:
        return FileState.KEPT
    # Git takes any new file with the same content for a move of the old one, so a move alone does
    # not prove that the work survived.
    if since.moved_to:
        return FileState.REWRITTEN
    # A deleted file is undone work, unless the deletion was the work: then nothing differs.
    if since.new in (change.old, ""):
        return FileState.UNDONE
    return FileState.REWRITTEN


def gather_declaration(world: World, run_id: str, run: RunState) -> Declaration:
    """What a run declared, with what git says of each of its steps now.

    Where git cannot be asked, the parts that it decides are Unknown; nothing is raised.
    """
    run_commits = RunCommits(world, run.start_sha)
    start_reachable: bool | Unknown = False
    if run.has_intent:
        start_reachable = run_commits.start_reachable
    return Declaration(
        run_id=run_id,
        has_intent=run.has_intent,
        goal=run.goal,
        plan=run.plan,
        phase=run.phase,
        steps=tuple(_step(run_commits, run, name) for name in run.steps),
        kept_steps=tuple(run.kept_steps),
        start_sha=run.start_sha,
        start_reachable=start_reachable,
        unreadable_lines=run.unreadable_lines,
        unreadable_newer=run.unreadable_newer,
    )


def gather_step(world: World, run: RunState, name: str) -> Step:
    """One step with what git says of it now, whether the run declared it or not."""
    return _step(RunCommits(world, run.start_sha), run, name)


def _step(run_commits: RunCommits, run: RunState, name: str) -> Step:
    """One step: its claim and, when a commit was recorded as verified, git's verdict on it now."""
    claimed = run.claimed.get(name, "")
    verified = run.verified.get(name)
    if verified is None:
        return Step(id=name, claimed=claimed)
    evidence = run_commits.gather(verified.sha, run.regions.get(name, ()))
    verdict = steps.judge(evidence)
    return Step(id=name, claimed=claimed, verified=verified.sha, via=verified.via, now=verdict)


def gather_resume(
    world: World, journal: Store, run_id: str, run: RunState, *, asserted_diverged: bool = False
) -> resume.Evidence:
    """What decides whether a run can resume: its own events, its steps in git, its lane since.

    With `asserted_diverged` the caller's word replaces the search for commits of others.
    """
    declared = gather_declaration(world, run_id, run)
    if asserted_diverged:
        divergence: str | Unknown = ASSERTED
    else:
        divergence = diverged(world, journal, run, declared)
    return resume.Evidence(
        declared=declared,
        diverged=divergence,
        result=run.result,
        suspended=run.suspended,
        proposed=run.proposed,
        successor=run.successor,
    )


def diverged(world: World, journal: Store, run: RunState, declared: Declaration) -> str | Unknown:
    """Which foreign commits touched the lane's files after the resume point; empty when none did.

    A run without a lane owns no files, so no commit of others can be in its way.
    """
    if not run.lane or not declared.has_intent or declared.unknown:
        return ""
    region = config_for(world, run.lane).lane_region(run.lane)
    if region is None or not region.is_known:
        return Unknown(
            f"lane {run.lane!r} no longer has a tree, so changes by others cannot be detected"
        )
    try:
        since = commits.commit_by_hash(world.git, resume_point(declared).sha)
        if not since:
            return ""
        foreign = _foreign_commits(world, region, since, _own_commits(world, journal, run))
    except GitFailed as error:
        return Unknown(error.message)
    if isinstance(foreign, Unknown):
        return foreign
    return _divergence_text(run.lane, since, foreign)


def _foreign_commits(
    world: World, region: Region, since: str, own: set[str]
) -> list[CommitSubject] | Unknown:
    """The later commits that touch the region and are not the run's own, newest first."""
    later = commits.commits_after(world.git, since)
    if isinstance(later, Unknown):
        return later
    others = [commit for commit in later if commit.sha not in own]
    touched = commits.paths_by_commit(world.git, others)

    def touches_region(commit: CommitSubject) -> bool:
        paths = touched.get(commit.sha, [])
        return any(regions.lane_holds(region, path, world.workspace.prefix) for path in paths)

    return [commit for commit in others if touches_region(commit)]


def _own_commits(world: World, journal: Store, run: RunState) -> set[str]:
    """The commits that the run names or landed, and those of the runs that it continues.

    Without the latter, a successor would take the work of its predecessor for that of others.
    """
    own: set[str] = set()
    visited: set[str] = set()
    while len(visited) < LONGEST_CHAIN:
        verified = [claim.sha for claim in run.verified.values()]
        for sha in (*run.claimed.values(), *verified):
            commit = commits.commit_by_hash(world.git, sha)
            if commit:
                own.add(commit)
        for landing in run.landings:
            landed = commits.commits_after(world.git, landing.base, landing.commit)
            if not isinstance(landed, Unknown):
                own.update(commit.sha for commit in landed)
        if not run.resumes or run.resumes in visited:
            break
        visited.add(run.resumes)
        run = run_state.read(journal, run.resumes)
    return own


def _divergence_text(lane: str, since: str, foreign: list[CommitSubject]) -> str:
    """The sentence about foreign commits; empty when there are none."""
    if not foreign:
        return ""
    newest = foreign[0]
    text = f"lane {lane!r} was changed after {since[:9]} by {newest.sha[:9]} ({newest.subject})"
    if len(foreign) > 1:
        text += f" and {len(foreign) - 1} more"
    return f"{text}, not by this run"


def gather_rewind(
    world: World, run_id: str, run: RunState, *, fire: str, transcript: str
) -> rewind.Evidence:
    """The turns of a conversation, its checkpoint, and the claims that git does not confirm.

    `transcript` names the file to read; empty: the one that the checkpoint names.
    """
    stamp = run.checkpoint
    path = transcript
    checkpoint = None
    if stamp:
        path = transcript or stamp.transcript
        checkpoint = Checkpoint(turn=stamp.turn, digest=stamp.digest)
    turns: tuple[str, ...] | Unknown = ()
    if path:
        turns = read_turns(Path(path))
    if isinstance(turns, Unknown):
        turns = ()
    findings: tuple[Finding, ...] = ()
    if fire:
        findings = _findings(world, run_id, run, fire)
    return rewind.Evidence(
        run_id=run_id, fire=fire, checkpoint=checkpoint, turns=turns, findings=findings
    )


def read_turns(path: Path) -> tuple[str, ...] | Unknown:
    """The digest of each line of a transcript that is not blank, in order.

    Unknown if the file cannot be read, or is larger than any conversation.
    """
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_TRANSCRIPT:
            return Unknown(f"{path} is not a transcript")
        with path.open("rb") as file:
            turns = filter(None, map(bytes.strip, file))
            return tuple(map(turn_digest, turns))
    except (OSError, ValueError) as error:
        return Unknown(f"{path}: {getattr(error, 'strerror', None) or error}")


def turn_digest(turn: bytes | Mapping[str, Any]) -> str:
    """The digest of a line as it is; of a record, in the key order that all writers share.

    A checkpoint keeps the digest of its turn, which shows later whether the turn has changed.
    """
    if isinstance(turn, bytes):
        return sha256(turn).hexdigest()
    return sha256(json.encode(turn, order="sorted")).hexdigest()


def _findings(world: World, run_id: str, run: RunState, fire: str) -> tuple[Finding, ...]:
    """What the note of a rewind mentions: divergence, and claims that git does not confirm."""
    findings = []
    if fire == Fire.DIVERGED:
        findings.append(Finding(kind=Fire.DIVERGED))
    for declared in gather_declaration(world, run_id, run).steps:
        sha = declared.verified or declared.claimed
        if sha and not is_done(declared):
            findings.append(Finding(kind="VERIFY_NOT_SHIPPED", payload={"sha": sha}))
    return tuple(findings)
