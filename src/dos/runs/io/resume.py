"""Whether a run can go on: its own stream, and what git says of its steps and of its lane since."""

from dos import regions
from dos.errors import GitFailed
from dos.git import commits
from dos.git.commits import CommitSubject
from dos.journal import run_state
from dos.journal.run_state import RunState
from dos.journal.store import Store
from dos.regions import Region
from dos.runs import resume
from dos.runs.declared import Declaration
from dos.runs.io import declared as declared_evidence
from dos.runs.resume import Evidence
from dos.unknown import Unknown
from dos.world import World

ASSERTED = "somebody said that others have changed its files since"
LONGEST_CHAIN = 1_000  # runs that go on with one another


def gather(
    world: World, journal: Store, run_id: str, run: RunState, *, asserted_diverged: bool = False
) -> Evidence:
    declared = declared_evidence.gather(world, run_id, run)
    return Evidence(
        declared=declared,
        diverged=ASSERTED if asserted_diverged else diverged(world, journal, run, declared),
        result=run.result,
        suspended=run.suspended,
        proposed=run.proposed,
        successor=run.successor,
    )


def diverged(world: World, journal: Store, run: RunState, declared: Declaration) -> str | Unknown:
    """Whose commits touched the lane's files after the point where the run would go on; empty when nobody's did.

    A run without a lane has no files that are its own alone, so that nobody can be in its way.
    """
    if not run.lane or not declared.has_intent or declared.unknown:
        return ""
    region = world.config.lane_region(run.lane)
    if region is None or not region.is_known:
        return Unknown(
            f"lane {run.lane!r} has no region any more, so that nobody knows whether others changed it"
        )
    try:
        since = commits.commit_by_hash(world.git, resume.resume_point(declared).sha)
        strangers = _strangers(world, region, since, _own(world, journal, run)) if since else []
    except GitFailed as error:
        return Unknown(error.message)
    if isinstance(strangers, Unknown):
        return strangers
    return _told(run.lane, since or "", strangers) if strangers else ""


def _strangers(
    world: World, region: Region, since: str, own: set[str]
) -> list[CommitSubject] | Unknown:
    later = commits.commits_after(world.git, since)
    if isinstance(later, Unknown):
        return later
    others = [commit for commit in later if commit.sha not in own]
    touched = commits.paths_by_commit(world.git, others)

    def trespasses(commit: CommitSubject) -> bool:
        paths = touched.get(commit.sha, [])
        return any(regions.lane_holds(region, path, world.workspace.prefix) for path in paths)

    return [commit for commit in others if trespasses(commit)]


def _own(world: World, journal: Store, run: RunState) -> set[str]:
    """The commits that the run names or landed, and those of the runs that it goes on with."""
    found: set[str | None] = set()
    seen: set[str] = set()
    while len(seen) < LONGEST_CHAIN:
        named = [*run.claimed.values(), *(verified.sha for verified in run.verified.values())]
        found |= {commits.commit_by_hash(world.git, sha) for sha in named}
        for landing in run.landings:
            landed = commits.commits_after(world.git, landing.base, landing.commit)
            found |= set() if isinstance(landed, Unknown) else {commit.sha for commit in landed}
        if not run.resumes or run.resumes in seen:
            break
        seen.add(run.resumes)
        run = run_state.read(journal, run.resumes)
    return {sha for sha in found if sha}


def _told(lane: str, since: str, strangers: list[CommitSubject]) -> str:
    newest = strangers[0]
    more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
    return f"lane {lane!r} was changed after {since[:9]} by {newest.sha[:9]} ({newest.subject}){more}, not by this run"
