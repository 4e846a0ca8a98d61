"""Decide whether a run makes progress or only runs.

The run's lane, region and process are found in the journal by its id. It makes progress while there
is a commit in its region, or a lease that it took or released, within the window of [liveness].
What the run says about itself has no effect. Options override what the journal recorded.
"""

from typing import Annotated

from msgspec import Struct, structs, to_builtins

from dos import run_ids
from dos.cli.lanes.caller import MOST_PROCESSES, optional_name
from dos.cli.loop.numbers import values_checked
from dos.errors import BadInput
from dos.lanes.io.parts import config_for
from dos.loop.io.history import LeaseQuery
from dos.loop.io.liveness import RunTraces, run_traces, started_at, traces_evidence
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "ADVANCING": 0,
    "SPINNING": 3,
    "STALLED": 4,
    "UNKNOWN": 5,
    "contract_error": 2,
    "unknown": 5,
}
NEXT = {
    Answer.SPINNING: "Look at what it does: it runs and makes no progress.",
    Answer.STALLED: "If it still holds a lane, `dos lease-lane reap` releases it.",
    Answer.UNKNOWN: "Make git readable first; until then no lease may be revoked.",
}


class Args(Struct, kw_only=True):
    """The run, and facts to use instead of the recorded ones."""

    run_id: Annotated[str, Option(help="run to judge", metavar="RID")]
    start_sha: Annotated[
        str, Option(help="count commits from here (default: from its lease)", metavar="SHA")
    ] = ""
    lane: Annotated[str, Option(help="only its work in this lane", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    last_heartbeat_age_ms: Annotated[
        int | None, Option(help="age of its last renewal", metavar="MS")
    ] = None
    pid: Annotated[int | None, Option(help="its process", metavar="PID")] = None
    host_id: Annotated[str, Option(help="host of --pid (default: this one)", metavar="HOST")] = ""
    no_proc: Annotated[bool, Option(help="ignore its process")] = False
    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Judge a run by its traces in the journal and in git.

    Options replace single traces, so that a loop that records less can be judged too.
    """
    world = context.world
    query = LeaseQuery(
        run_id=run_ids.validated_run_id(args.run_id),
        lane=_lane(args, context),
        loop_ts=optional_name(args.loop_ts, "loop stamp"),
    )
    if args.now_ms is not None and args.now_ms < 0:
        raise BadInput(
            f"--now-ms is {args.now_ms}, which is below 0",
            hint="Give epoch milliseconds.",
        )
    recorded, now_ms = run_traces(world.journal, query, now_ms=args.now_ms)
    with values_checked("liveness"):
        traces = _with_options(args, context, query, recorded)
        evidence = traces_evidence(world.workspace, [traces], now_ms)[0]
        verdict = liveness.judge(evidence, world.config.liveness)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT.get(verdict.answer, ""),
    )


def _lane(args: Args, context: Context) -> str:
    """Return the lane of --lane under its canonical name; an undeclared one as it was typed."""
    lane = optional_name(args.lane, "lane name")
    return config_for(context.world, lane).canonical_lane(lane) or lane


def _with_options(args: Args, context: Context, query: LeaseQuery, traces: RunTraces) -> RunTraces:
    """Replace what the journal recorded by what the options say."""
    has_lease = traces.since_ms is not None
    if query.lane and not has_lease:
        region = config_for(context.world, query.lane).lane_region(query.lane)
        if region is None:
            raise BadInput(
                f"lane {query.lane!r} is neither declared nor held; the lanes are "
                + ", ".join(context.world.config.known_lanes()),
                hint="`dos man lane` lists them.",
            )
        traces = structs.replace(traces, region=region)
    if args.start_sha:
        name = validated_name(args.start_sha, "start commit")
        sha, made_ms = started_at(context.world.git, name)
        traces = structs.replace(traces, start_sha=sha, since_ms=made_ms)
    if args.last_heartbeat_age_ms is not None:
        traces = structs.replace(traces, beat_age_ms=args.last_heartbeat_age_ms, lapsed=False)
    return structs.replace(traces, alive=_alive(args, traces.alive))


def _alive(args: Args, recorded: bool | None) -> bool | None:
    """Whether its process runs; None if this host cannot tell."""
    if args.no_proc:
        return None
    if args.host_id and validated_name(args.host_id, "host") != process.host():
        return None
    if args.pid is None:
        return recorded
    if not 0 < args.pid < MOST_PROCESSES:
        raise BadInput(f"--pid {args.pid} is not a pid", hint="Give a pid from 1 upwards.")
    return process.identify(args.pid) is not None
