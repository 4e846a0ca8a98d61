"""What the journal, git and the processes of this machine say of runs.

Git is asked once for all of them. A commit belongs to a run when it touches a path of its region.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from dos import regions, run_ids
from dos.errors import BadInput
from dos.git import commits
from dos.git.commits import RecentCommit
from dos.git.repository import Reader
from dos.journal.backend import ReadTransaction
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.loop.io.history import LeaseHistory, LeaseQuery, lease_history
from dos.loop.verdicts.liveness import Evidence
from dos.machine import process
from dos.regions import Region
from dos.unknown import Unknown
from dos.workspace import Workspace

SKEW_MS = 300_000  # the age of a commit further in the future is not known: clocks differ
EARLY_MS = 1000  # a time this much in the future counts as now
EVERYWHERE = regions.region(())


class RunTraces(Struct, frozen=True, kw_only=True):
    """Where a run leaves traces, and what the journal and the system know of it."""

    began_ms: int
    region: Region = EVERYWHERE  # unknown: every commit may be its own
    start_sha: str = ""
    since_ms: int | None = None  # its commits are younger; None: git cannot show any of it
    beat_age_ms: int | None = None
    lapsed: bool = False
    alive: bool | None = None
    moves: list[int] = field(default_factory=list)


def lease_evidence(
    journal: Store, workspace: Workspace, leases: Sequence[Lease], *, now_ms: int | None = None
) -> dict[int, Evidence]:
    """Return the evidence for each of these leases, by its fence."""
    with journal.backend.read() as view:
        clock = StoreClock(view, now_ms)
        traces = {lease.fence: _lease_traces(lease, clock) for lease in leases}
    evidence = traces_evidence(workspace, list(traces.values()), clock.now_ms)
    return dict(zip(traces, evidence, strict=True))


def run_traces(
    journal: Store, query: LeaseQuery, *, now_ms: int | None = None
) -> tuple[RunTraces, int]:
    """Return the traces of a run that the journal has, and the time now."""
    history = lease_history(journal, query)
    with journal.backend.read() as view:
        clock = StoreClock(view, now_ms)
    return _history_traces(query.run_id, history, clock), clock.now_ms


def traces_evidence(
    workspace: Workspace, traces: Sequence[RunTraces], now_ms: int
) -> list[Evidence]:
    """Return the evidence for each run, with the commits that git shows.

    Without a repository the number of commits is `Unknown`, so that a verdict never takes it for
    none.
    """
    starts = [run.since_ms for run in traces if run.since_ms is not None]
    found: list[RecentCommit] | Unknown
    if not starts:
        found = []
    elif workspace.common is None:
        found = Unknown(f"{workspace.root} is in no git repository")
    else:
        found = commits.recent_commits(Reader(workspace.tree), min(starts))
    reader = _CommitReader(found, workspace.prefix)
    return [_evidence(run, reader, now_ms) for run in traces]


def started_at(git: Reader, start_sha: str) -> tuple[str, int]:
    """Return the id and the time of a commit that the caller names; raises BadInput."""
    sha = git.commit_of(start_sha)
    if sha is None:
        raise BadInput(
            f"{start_sha!r} names no commit in {git.tree}", hint="`git log` shows the commits."
        )
    seconds = git.run("log", "-1", "--no-show-signature", "--format=%ct", sha)
    return sha, int(seconds) * 1000


class StoreClock:
    """The store's clocks at one moment, moved to the time that the caller says it is."""

    def __init__(self, view: ReadTransaction, now_ms: int | None) -> None:
        wall_ms = view.wall_ms()
        self.now_ms = wall_ms if now_ms is None else now_ms
        self.boot = view.boot()
        self.lease_ms = view.lease_ms() + self.now_ms - wall_ms

    def beat_age_ms(self, lease: Lease) -> int | None:
        """Return the time since the last heartbeat; None for one in the future."""
        if lease.boot != self.boot:
            # Two boots of a machine have only the wall clock in common.
            return self.age_ms(lease.beat_ms)
        return _age(self.lease_ms - (lease.expires_ms - lease.ttl_ms))

    def age_ms(self, at_ms: int) -> int | None:
        """Return the time since `at_ms`; None for a time in the future."""
        return _age(self.now_ms - at_ms)


def _age(age_ms: int) -> int | None:
    """Return the age; 0 for a moment just ahead of the clock, None for one further ahead."""
    return max(0, age_ms) if age_ms >= -EARLY_MS else None


def _lease_traces(lease: Lease, clock: StoreClock) -> RunTraces:
    """Return the traces of the run that holds a lease."""
    return RunTraces(
        began_ms=lease.granted_ms,
        region=lease.region,
        start_sha=lease.start_sha,
        since_ms=lease.granted_ms,
        beat_age_ms=clock.beat_age_ms(lease),
        lapsed=lease.has_lapsed(clock.lease_ms, clock.boot),
        alive=process.holder_is_running(lease),
    )


def _history_traces(run_id: str, history: LeaseHistory, clock: StoreClock) -> RunTraces:
    """Return the traces of a run by all of its leases, also those that have ended."""
    if not history.granted:
        return RunTraces(began_ms=run_ids.started_ms(run_id))
    first = history.granted[min(history.granted)]
    newest = history.granted[max(history.granted)]
    live = history.live
    if live:
        ages = list(map(clock.beat_age_ms, live))
    else:
        ages = list(map(clock.age_ms, history.beats))
    return RunTraces(
        began_ms=history.began_ms,
        region=_union([lease.region for lease in live] or [newest.region]),
        start_sha=first.start_sha,
        since_ms=history.began_ms,
        beat_age_ms=min((age for age in ages if age is not None), default=None),
        lapsed=all(lease.has_lapsed(clock.lease_ms, clock.boot) for lease in live),
        alive=_any_running(live or [newest]),
        moves=[at_ms for at_ms in history.moves if clock.age_ms(at_ms) is not None],
    )


def _union(held: Sequence[Region]) -> Region:
    """Return the region of all of them; unknown where one of them is."""
    globs: dict[str, None] = {}  # each once, in order
    for region in held:
        if not region.is_known:
            return EVERYWHERE
        globs |= dict.fromkeys(region.globs)
    return regions.region(globs)


def _any_running(held: Sequence[Request]) -> bool | None:
    """Return whether any of the processes runs; None where that is not known of the rest."""
    states = set(map(process.holder_is_running, held))
    if True in states:
        return True
    return None if None in states else False


class _CommitReader:
    """The recent commits, and to which run each belongs.

    Both caches matter: a fleet asks about many runs that share regions and starts.
    """

    def __init__(self, found: list[RecentCommit] | Unknown, prefix: str) -> None:
        self._commits = found
        self._prefix = prefix
        self._inside: dict[tuple[str, ...], dict[str, bool]] = {}  # globs -> path -> inside
        self._ancestors: dict[str, set[str]] = {"": set()}  # by the commit that a run began at

    def commits_of(self, traces: RunTraces) -> list[RecentCommit] | Unknown:
        """Return the commits of a run: younger than its start, and with a path of its region."""
        if traces.since_ms is None:
            return []
        if isinstance(self._commits, Unknown):
            return self._commits
        before = self._commits_before(traces.start_sha)
        # git has whole seconds, so ancestry says what was there already.
        since_ms = traces.since_ms // 1000 * 1000
        found = []
        for commit in self._commits:
            is_new = commit.committed_ms >= since_ms and commit.sha not in before
            if is_new and self._touches(commit, traces.region):
                found.append(commit)
        return found

    def _commits_before(self, start_sha: str) -> set[str]:
        """Return the commits that were there when the run began."""
        if start_sha not in self._ancestors:
            assert not isinstance(self._commits, Unknown)
            self._ancestors[start_sha] = commits.ancestors(self._commits, start_sha)
        return self._ancestors[start_sha]

    def _touches(self, commit: RecentCommit, region: Region) -> bool:
        """Whether a commit changes a path of the region."""
        inside = self._inside.setdefault(region.globs, {})
        for path in commit.paths:
            if path not in inside:
                inside[path] = self._belongs(path, region)
            if inside[path]:
                return True
        return False

    def _belongs(self, path: str, region: Region) -> bool:
        """Whether a path may be the run's: in an unknown region every path may."""
        return not region.is_known or regions.lane_holds(region, path, self._prefix)


def _evidence(traces: RunTraces, reader: _CommitReader, now_ms: int) -> Evidence:
    """Return the evidence for one run; its newest commit or move is its progress."""
    found = reader.commits_of(traces)
    times_ms = list(traces.moves)
    count: int | Unknown
    if isinstance(found, Unknown):
        count = found
    else:
        count = len(found)
        latest_ms = now_ms + SKEW_MS
        times_ms += [commit.committed_ms for commit in found if commit.committed_ms <= latest_ms]
    return Evidence(
        run_started_ms=traces.began_ms,
        now_ms=now_ms,
        commits_since_start=count,
        journal_events_since=len(traces.moves),
        last_heartbeat_age_ms=traces.beat_age_ms,
        process_alive=traces.alive,
        progress_age_ms=max(0, now_ms - max(times_ms)) if times_ms else None,
        lapsed=traces.lapsed,
    )
