"""What can be known of runs that are at work: the journal, git, and the processes of this machine.

Git is asked once for all of them, and which commit belongs to whom is told by the paths that it touches.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from dos import regions, run_ids
from dos.errors import BadInput
from dos.git import commits as recent_commits
from dos.git.commits import RecentCommit as Commit
from dos.git.repository import Reader
from dos.journal.backend import ReadTransaction
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.loop.io import history as run_leases
from dos.loop.io.history import LeaseHistory, LeaseQuery
from dos.loop.verdicts.liveness import Evidence
from dos.machine import process
from dos.regions import Region
from dos.unknown import Unknown
from dos.workspace import Workspace

SKEW_MS = 300_000  # clocks of two machines differ; a commit from further in the future says nothing of its age
EVERYWHERE = regions.region(())


class RunTraces(Struct, frozen=True, kw_only=True):
    """Where a run leaves traces, and what the journal and the system know of it."""

    began_ms: int
    region: Region = EVERYWHERE  # unknown: every commit may be its own
    start_sha: str = ""
    since_ms: int | None = (
        None  # its commits are younger than this; None: it has nothing that git could show
    )
    beat_age_ms: int | None = None
    lapsed: bool = False
    alive: bool | None = None
    moves: list[int] = field(default_factory=list)


def lease_evidence(
    journal: Store, workspace: Workspace, leases: Sequence[Lease], *, now_ms: int | None = None
) -> dict[int, Evidence]:
    """The evidence for each of these leases, by its fence."""
    with journal.backend.read() as view:
        moment = StoreClock(view, now_ms)
        seen = {lease.fence: _of_lease(lease, moment) for lease in leases}
    return dict(
        zip(seen, traces_evidence(workspace, list(seen.values()), moment.now_ms), strict=True)
    )


def run_traces(
    journal: Store, wanted: LeaseQuery, *, now_ms: int | None = None
) -> tuple[RunTraces, int]:
    """The traces of a run, found in the journal by its id, and the time it is now."""
    history = run_leases.lease_history(journal, wanted)
    with journal.backend.read() as view:
        moment = StoreClock(view, now_ms)
    return _of_history(wanted.run_id, history, moment), moment.now_ms


def traces_evidence(
    workspace: Workspace, traces: Sequence[RunTraces], now_ms: int
) -> list[Evidence]:
    """Add what git says."""
    starts = [each.since_ms for each in traces if each.since_ms is not None]
    if not starts:
        commits: list[Commit] | Unknown = []
    elif workspace.common is None:
        commits = Unknown(f"{workspace.root} is in no git repository")
    else:
        commits = recent_commits.recent_commits(Reader(workspace.tree), min(starts))
    reader = _Reader(commits, workspace.prefix)
    return [_evidence(each, reader, now_ms) for each in traces]


def started_at(git: Reader, start_sha: str) -> tuple[str, int]:
    """A commit that somebody named, and when it was made."""
    sha = git.commit_of(start_sha)
    if sha is None:
        raise BadInput(
            f"{start_sha!r} names no commit in {git.tree}", hint="`git log` shows the commits."
        )
    return sha, int(git.run("log", "-1", "--no-show-signature", "--format=%ct", sha)) * 1000


class StoreClock:
    """The store's clocks at one moment, moved to the time that the caller says it is."""

    def __init__(self, view: ReadTransaction, now_ms: int | None) -> None:
        wall_ms = view.wall_ms()
        self.now_ms = wall_ms if now_ms is None else now_ms
        self.boot = view.boot()
        self.lease_ms = view.lease_ms() + self.now_ms - wall_ms

    def beat_age_ms(self, lease: Lease) -> int | None:
        """Since its grant or its last renewal; a beat that is still to come is none."""
        if (
            lease.boot != self.boot
        ):  # two starts of a machine have no clock in common but the one on the wall
            return self.age_ms(lease.beat_ms)
        age = self.lease_ms - (lease.expires_ms - lease.ttl_ms)
        return max(0, age) if age >= -1000 else None

    def age_ms(self, at_ms: int) -> int | None:
        age = self.now_ms - at_ms
        return max(0, age) if age >= -1000 else None


def _of_lease(lease: Lease, moment: StoreClock) -> RunTraces:
    return RunTraces(
        began_ms=lease.granted_ms,
        region=lease.region,
        start_sha=lease.start_sha,
        since_ms=lease.granted_ms,
        beat_age_ms=moment.beat_age_ms(lease),
        lapsed=lease.has_lapsed(moment.lease_ms, moment.boot),
        alive=process.holder_is_running(lease),
    )


def _of_history(run_id: str, history: LeaseHistory, moment: StoreClock) -> RunTraces:
    if not history.granted:
        return RunTraces(began_ms=run_ids.started_ms(run_id))
    first, newest = history.granted[min(history.granted)], history.granted[max(history.granted)]
    ages = [moment.beat_age_ms(lease) for lease in history.live] or [
        moment.age_ms(at_ms) for at_ms in history.beats
    ]
    return RunTraces(
        began_ms=history.began_ms,
        region=_union([lease.region for lease in history.live] or [newest.region]),
        start_sha=first.start_sha,
        since_ms=history.began_ms,
        beat_age_ms=min((age for age in ages if age is not None), default=None),
        lapsed=all(lease.has_lapsed(moment.lease_ms, moment.boot) for lease in history.live),
        alive=_any_running(history.live or [newest]),
        moves=[at_ms for at_ms in history.moves if moment.age_ms(at_ms) is not None],
    )


def _union(held: Sequence[Region]) -> Region:
    if not all(region.is_known for region in held):
        return EVERYWHERE
    return regions.region(dict.fromkeys(glob for region in held for glob in region.globs))


def _any_running(held: Sequence[Request]) -> bool | None:
    """Gone only when each of them is."""
    seen = {process.holder_is_running(each) for each in held}
    return True if True in seen else None if None in seen else False


class _Reader:
    """The commits, and to whom of the asked they belong."""

    def __init__(self, commits: list[Commit] | Unknown, prefix: str) -> None:
        self._commits = commits
        self._prefix = prefix
        self._inside: dict[
            tuple[str, ...], dict[str, bool]
        ] = {}  # for each region, what is known of a path
        self._before: dict[str, set[str]] = {"": set()}  # for each start, what was there already

    def of(self, traces: RunTraces) -> list[Commit] | Unknown:
        if traces.since_ms is None:
            return []
        if isinstance(self._commits, Unknown):
            return self._commits
        if traces.start_sha not in self._before:
            self._before[traces.start_sha] = recent_commits.ancestors(
                self._commits, traces.start_sha
            )
        before, inside = (
            self._before[traces.start_sha],
            self._inside.setdefault(traces.region.globs, {}),
        )
        since = (
            traces.since_ms // 1000 * 1000
        )  # git knows seconds only, so ancestry says what was there already
        found = []
        for commit in self._commits:
            if commit.committed_ms >= since and commit.sha not in before:
                for path in commit.paths:
                    if path not in inside:
                        inside[path] = self._belongs(path, traces.region)
                    if inside[path]:
                        found.append(commit)
                        break
        return found

    def _belongs(self, path: str, region: Region) -> bool:
        """What may be a run's own shows that it is alive, so a lane of which nothing is known has every commit."""
        return not region.is_known or regions.lane_holds(region, path, self._prefix)


def _evidence(traces: RunTraces, reader: _Reader, now_ms: int) -> Evidence:
    commits = reader.of(traces)
    times = list(traces.moves)
    if not isinstance(commits, Unknown):
        times += [
            commit.committed_ms for commit in commits if commit.committed_ms <= now_ms + SKEW_MS
        ]
    return Evidence(
        run_started_ms=traces.began_ms,
        now_ms=now_ms,
        commits_since_start=commits if isinstance(commits, Unknown) else len(commits),
        journal_events_since=len(traces.moves),
        last_heartbeat_age_ms=traces.beat_age_ms,
        process_alive=traces.alive,
        progress_age_ms=max(0, now_ms - max(times)) if times else None,
        lapsed=traces.lapsed,
    )
