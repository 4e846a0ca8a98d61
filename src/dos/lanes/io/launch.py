"""What speaks for or against a launch on a lane: who is live, and how its last runs ended."""

from pathlib import Path

from dos import regions
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.state import fleet
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.lanes import arbitrate, launch_health
from dos.lanes.launch_health import LaneRun
from dos.loop import released_texts
from dos.reasons import table
from dos.reasons.table import ClearsBy, Needs
from dos.text import comparison_key, quote
from dos.world import World

LARGEST_LOG = 16 << 20


def launch_evidence(
    world: World,
    config: Config,
    *,
    lane: str,
    tree: tuple[str, ...] = (),
    leases: str | None = None,
    own_loop_ts: str = "",
    git_log: Path | None = None,
) -> launch_health.Evidence:
    """By the journal; or by live leases that a caller wrote down, and by a log of a released host's commits."""
    declared = config.canonical_lane(lane)
    if declared is None and not tree:
        raise BadInput(
            f"there is no lane {quote(lane)}; the lanes are {', '.join(config.known_lanes())}",
            hint="Name one of them, or give --tree.",
        )
    lane = declared or lane
    if leases is None:
        live = [arbitrate.live_lease(lease) for lease in world.journal.leases(lapsed=False)]
    else:
        live = arbitrate.live_leases_from_json(leases)
    region = regions.region(tree) if tree else config.lane_region(lane)
    return launch_health.Evidence(
        lane=lane,
        region=region or regions.region(()),
        live=tuple(live),
        own_loop_ts=own_loop_ts,
        runs=released_texts.lane_runs(_lines(git_log), lane) if git_log else _runs(world, lane),
    )


def _runs(world: World, lane: str) -> tuple[LaneRun, ...]:
    """Newest first, and none from before a person last started the fleet: that is a person's word to try again."""
    state, _ = fold.current(world.journal, FleetState)
    ended = [
        (run_id, run)
        for run_id, run in state.runs.items()
        if run.stop_reason
        and run.stopped_ms > state.started_ms
        and comparison_key(run.lane) == comparison_key(lane)
    ]
    return tuple(
        _run(run_id, run)
        for run_id, run in sorted(ended, key=lambda row: row[1].stopped_ms, reverse=True)
    )


def _run(run_id: str, run: fleet.FleetRun) -> LaneRun:
    reason = table.find(run.stop_reason)
    clears_by = reason.clears_by if reason else ClearsBy.OPERATOR
    needs = reason.needs if reason else Needs.OPERATOR
    blocked = not run.landed and needs in (Needs.OPERATOR, Needs.ENVIRONMENT)
    return LaneRun(
        label=f"{run_id}: {run.stop_reason} after {run.iterations} iterations, {run.landed} landed: {run.stop_detail}",
        shipped=run.landed > 0,
        needs_fix=blocked and clears_by is ClearsBy.CODE_FIX,
        cause=run.stop_reason if blocked else "",
        replan_clears=clears_by is ClearsBy.REPLAN,
    )


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_LOG:
            raise BadInput(
                f"{quote(str(path))} is no file of at most {LARGEST_LOG} bytes",
                hint="git log --format='%h %s' writes one.",
            )
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"{quote(str(path))}: {why}", hint="Give a file that `git log --format=%s` wrote."
        ) from error
