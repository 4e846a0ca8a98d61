"""Reads what is known of watched runs: whether they progress, and which halts were proposed.

`dos watch` calls `gather` and proposes a halt for each run that `worker_health.is_due` finds due.
Nothing is written or stopped here.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from dos import run_ids
from dos.config.schema import Config
from dos.errors import NameInvalid
from dos.fleet.worker_health import HaltCandidate
from dos.journal import run_state
from dos.journal.events.fleet import RunStopped
from dos.journal.events.reader import select
from dos.journal.events.runs import HaltProposed, RunEnded
from dos.journal.store import Store
from dos.lanes.io.parts import config_for
from dos.lease import Lease
from dos.loop.io.history import LeaseQuery
from dos.loop.io.liveness import RunTraces, run_traces, started_at, traces_evidence
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Evidence, Verdict
from dos.world import World

OWNER = "watchdog"


class TrackedRun(Struct, frozen=True, kw_only=True):
    """A run that is to be watched, by what its caller knows of it.

    Whatever is empty is looked up by the run's id, or by its lane and time stamp.
    """

    run_id: str
    start_sha: str = ""
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""


class WatchedRuns(Struct, frozen=True, kw_only=True):
    """The runs that are watched, and the names that are no runs."""

    runs: list[HaltCandidate]
    skipped: list[str]


def gather(
    world: World,
    config: Config,
    tracked: Sequence[TrackedRun],
    *,
    discover: bool = False,
    now_ms: int | None = None,
) -> WatchedRuns:
    """Read the named runs, and with `discover` those of every lease, each once.

    Git is asked once for all of them.
    """
    leases = world.journal.leases()
    candidates = list(tracked)
    if discover:
        candidates += map(_tracked_lease, leases)
    runs: dict[str, TrackedRun] = {}
    skipped: list[str] = []
    for run in candidates:
        if _is_run(run.run_id):
            runs.setdefault(run.run_id, run)
        else:
            skipped.append(run.run_id)
    traces = []
    for run in runs.values():
        # The first one says what time it is, for all of them.
        found, now_ms = _traces(world, run, now_ms)
        traces.append(found)
    evidence = traces_evidence(world.workspace, traces, now_ms or 0)
    working = {lease.run_id for lease in leases}
    watched = []
    for run, found_evidence in zip(runs.values(), evidence, strict=True):
        verdict = liveness.judge(found_evidence, config.liveness)
        watched.append(_candidate(world.journal, run, found_evidence, verdict, working))
    return WatchedRuns(runs=watched, skipped=skipped)


def proposal_key(run: HaltCandidate) -> str:
    """Return the key of the next proposal; two watchers of the same run write the same one."""
    return f"{OWNER}/{run.moved_ms}/{len(run.proposed_ms)}"


def _tracked_lease(lease: Lease) -> TrackedRun:
    """Return the run that holds a lease; its process is what a halt would stop."""
    names = (lease.run_id, lease.loop_ts)
    name = next(filter(_is_run, names), lease.run_id or lease.lane)
    handle = "" if lease.pid is None else str(lease.pid)
    return TrackedRun(run_id=name, lane=lease.lane, loop_ts=lease.loop_ts, handle=handle)


def _is_run(text: str) -> bool:
    """Whether a text has the form of a run id."""
    try:
        run_ids.validated_run_id(text)
    except NameInvalid:
        return False
    return True


def _traces(world: World, run: TrackedRun, now_ms: int | None) -> tuple[RunTraces, int]:
    """Return the traces of a run, by its id, or by its lane and time stamp, and the time now."""
    traces, now = run_traces(world.journal, LeaseQuery(run_id=run.run_id), now_ms=now_ms)
    if traces.since_ms is None and run.lane and run.loop_ts:
        query = LeaseQuery(run_id=run.run_id, lane=run.lane, loop_ts=run.loop_ts)
        traces, now = run_traces(world.journal, query, now_ms=now)
    if traces.since_ms is None and run.lane:
        region = config_for(world, run.lane).lane_region(run.lane)
        if region:
            traces = structs.replace(traces, region=region)
    if run.start_sha:
        sha, committed_ms = started_at(world.git, run.start_sha)
        traces = structs.replace(traces, start_sha=sha, since_ms=committed_ms)
    return traces, now


def _candidate(
    journal: Store,
    run: TrackedRun,
    evidence: Evidence,
    verdict: Verdict,
    working: Collection[str],
) -> HaltCandidate:
    """Return a run with the halts that were proposed since its last progress.

    A run that stopped and holds a lane again, as after `dos resume`, has not ended.
    """
    candidate = HaltCandidate(
        run_id=run.run_id,
        verdict=verdict,
        evidence=evidence,
        lane=run.lane,
        loop_ts=run.loop_ts,
        handle=run.handle or run.run_id,
    )
    events = journal.load(run_state.stream(run.run_id))
    has_stopped = any(select(events, RunStopped, RunEnded))
    proposed_ms = [
        event.at_ms
        for event, fact in select(events, HaltProposed)
        if fact.owner == OWNER and fact.moved_ms == candidate.moved_ms
    ]
    return structs.replace(
        candidate,
        ended=has_stopped and run.run_id not in working,
        proposed_ms=tuple(proposed_ms),
    )
