"""Gather what decides a launch on a lane: the live leases, and how its last runs ended.

A run that landed something counts as progress even if it was stopped; one that landed nothing
counts as blocked only if its stop reason needs a person or a change of the environment.
"""

from pathlib import Path

from dos import regions
from dos.errors import BadInput
from dos.fleet.state import fleet
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.lanes import launch_health
from dos.lanes.io.parts import config_for
from dos.lanes.launch_health import LaneRun
from dos.lanes.leases import live_lease, live_leases_from_json
from dos.loop import released_texts
from dos.reasons import table
from dos.reasons.table import ClearsBy, Needs
from dos.text import comparison_key, quote
from dos.world import World

LARGEST_LOG = 16 << 20


def launch_evidence(
    world: World,
    *,
    lane: str,
    tree: tuple[str, ...] = (),
    leases: str | None = None,
    own_loop_ts: str = "",
    git_log: Path | None = None,
) -> launch_health.Evidence:
    """The evidence for a launch, from the journal.

    `leases` is JSON in place of the journal's live leases; `git_log` is a log of subjects that
    dos-kernel ≤ 0.30 wrote, in place of its runs. Raises BadInput for an unknown lane.
    """
    config = config_for(world, lane)
    declared = config.canonical_lane(lane)
    if declared is None and not tree:
        raise BadInput(
            f"there is no lane {quote(lane)}; the lanes are {', '.join(config.known_lanes())}",
            hint="Name one of them, or give --tree.",
        )
    lane = declared or lane
    if leases is None:
        live = [live_lease(lease) for lease in world.journal.leases(lapsed=False)]
    else:
        live = live_leases_from_json(leases)
    region = config.lane_region(lane)
    if tree:
        region = regions.region(tree)
    if git_log:
        runs = released_texts.lane_runs(_lines(git_log), lane)
    else:
        runs = _runs(world, lane)
    return launch_health.Evidence(
        lane=lane,
        region=region or regions.region(()),
        live=tuple(live),
        own_loop_ts=own_loop_ts,
        runs=runs,
    )


def _runs(world: World, lane: str) -> tuple[LaneRun, ...]:
    """The lane's runs that ended since a person last started the fleet, newest first.

    Starting the fleet is a person's decision to try again, so older runs do not count.
    """
    state, _ = fold.current(world.journal, FleetState)
    ended = []
    for run_id, run in state.runs.items():
        if not run.stop_reason or run.stopped_ms <= state.started_ms:
            continue
        if comparison_key(run.lane) == comparison_key(lane):
            ended.append((run.stopped_ms, _run(run_id, run)))
    ended.sort(key=_stopped_ms, reverse=True)
    return tuple(run for _, run in ended)


def _stopped_ms(entry: tuple[int, LaneRun]) -> int:
    return entry[0]


def _run(run_id: str, run: fleet.FleetRun) -> LaneRun:
    """A run of the journal, judged by the table of stop reasons."""
    reason = table.find(run.stop_reason)
    if reason:
        clears_by = reason.clears_by
    else:
        clears_by = ClearsBy.OPERATOR
    if reason:
        needs = reason.needs
    else:
        needs = Needs.OPERATOR
    blocked = not run.landed and needs in (Needs.OPERATOR, Needs.ENVIRONMENT)
    return LaneRun(
        label=(
            f"{run_id}: {run.stop_reason} after {run.iterations} iterations,"
            f" {run.landed} landed: {run.stop_detail}"
        ),
        shipped=run.landed > 0,
        needs_fix=blocked and clears_by is ClearsBy.CODE_FIX,
        cause=run.stop_reason if blocked else "",
        replan_clears=clears_by is ClearsBy.REPLAN,
    )


def _lines(path: Path) -> list[str]:
    """The lines of a log. Raises BadInput if it is no readable file of a sane size."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_LOG:
            raise BadInput(
                f"{quote(str(path))} is not a file of at most {LARGEST_LOG >> 20} MB",
                hint="git log --format='%h %s' writes one.",
            )
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"{quote(str(path))}: {why}", hint="Give a file that `git log --format=%s` wrote."
        ) from error
