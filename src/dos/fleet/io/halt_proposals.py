"""What is known of the runs that somebody watches: whether they move, and what was proposed about them already."""

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from dos import run_ids
from dos.config.schema import Config
from dos.errors import NameInvalid
from dos.fleet.population.lease_health import HaltCandidate as Watched
from dos.journal import run_state as runs
from dos.journal.events.fleet import RunStopped
from dos.journal.events.reader import select
from dos.journal.events.runs import HaltProposed, RunEnded
from dos.journal.store import Store
from dos.lease import Lease
from dos.loop.io import liveness as progress
from dos.loop.io.history import LeaseQuery
from dos.loop.io.liveness import RunTraces
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Evidence, Verdict
from dos.world import World

OWNER = "watchdog"


class TrackedRun(Struct, frozen=True, kw_only=True):
    """A run that is to be watched, by what its caller knows of it."""

    run_id: str
    start_sha: str = ""
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""


class WatchedRuns(Struct, frozen=True, kw_only=True):
    runs: list[Watched]
    skipped: list[str]  # they are no runs


def gather(
    world: World,
    config: Config,
    tracked: Sequence[TrackedRun],
    *,
    discover: bool = False,
    now_ms: int | None = None,
) -> WatchedRuns:
    """The runs that were named, then, with `discover`, those of every lease; each once. Git is asked once for all."""
    leases = world.journal.leases()
    wanted = [*tracked, *(map(_of_lease, leases) if discover else ())]
    named: dict[str, TrackedRun] = {}
    for run in wanted:
        if _is_run(run.run_id):
            named.setdefault(run.run_id, run)
    traces = []
    for run in named.values():
        trace, now_ms = _traces(
            world, config, run, now_ms
        )  # the first says what time it is, for all of them
        traces.append(trace)
    seen = progress.traces_evidence(world.workspace, traces, now_ms or 0)
    policy, at_work = config.liveness, {lease.run_id for lease in leases}
    return WatchedRuns(
        runs=[
            _watched(world.journal, run, each, liveness.judge(each, policy), at_work)
            for run, each in zip(named.values(), seen, strict=True)
        ],
        skipped=[run.run_id for run in wanted if not _is_run(run.run_id)],
    )


def proposal_key(run: Watched) -> str:
    """Of the next proposal: whoever watches the same run at the same time writes the same one."""
    return f"{OWNER}/{run.moved_ms}/{len(run.proposed_ms)}"


def _of_lease(lease: Lease) -> TrackedRun:
    known = next(filter(_is_run, (lease.run_id, lease.loop_ts)), lease.run_id or lease.lane)
    handle = "" if lease.pid is None else str(lease.pid)
    return TrackedRun(run_id=known, lane=lease.lane, loop_ts=lease.loop_ts, handle=handle)


def _is_run(text: str) -> bool:
    try:
        run_ids.validated_run_id(text)
    except NameInvalid:
        return False
    return True


def _traces(
    world: World, config: Config, run: TrackedRun, now_ms: int | None
) -> tuple[RunTraces, int]:
    traces, now = progress.run_traces(world.journal, LeaseQuery(run_id=run.run_id), now_ms=now_ms)
    if traces.since_ms is None and run.lane and run.loop_ts:
        named = LeaseQuery(run_id=run.run_id, lane=run.lane, loop_ts=run.loop_ts)
        traces, now = progress.run_traces(world.journal, named, now_ms=now)
    if traces.since_ms is None and run.lane and (region := config.lane_region(run.lane)):
        traces = structs.replace(traces, region=region)
    if run.start_sha:
        sha, made_ms = progress.started_at(world.git, run.start_sha)
        traces = structs.replace(traces, start_sha=sha, since_ms=made_ms)
    return traces, now


def _watched(
    journal: Store, run: TrackedRun, seen: Evidence, verdict: Verdict, at_work: Collection[str]
) -> Watched:
    watched = Watched(
        run_id=run.run_id,
        verdict=verdict,
        evidence=seen,
        lane=run.lane,
        loop_ts=run.loop_ts,
        handle=run.handle or run.run_id,
    )
    happened = journal.load(runs.stream(run.run_id))
    stopped = any(select(happened, RunStopped, RunEnded))
    proposed = select(happened, HaltProposed)
    earlier = [
        event
        for event, fact in proposed
        if (fact.owner, fact.moved_ms) == (OWNER, watched.moved_ms)
    ]
    return structs.replace(
        watched,
        ended=stopped and run.run_id not in at_work,
        proposed_ms=tuple(event.at_ms for event in earlier),
    )
