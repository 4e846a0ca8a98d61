"""Decide whether a run makes progress or only runs.

The run's lane, region and process are found in the journal by its id. It makes progress while there
is a commit in its region, or a lease that it took or released, within the window of [liveness].
What the run says about itself has no effect. Options override what the journal recorded.
"""

from typing import Annotated

from msgspec import Struct, structs, to_builtins

from dos import run_ids
from dos.cli.loop.numbers import values_checked as sensible
from dos.errors import BadInput
from dos.loop.io import liveness as evidence
from dos.loop.io.history import LeaseQuery
from dos.loop.io.liveness import RunTraces
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
MOST_PROCESSES = 1 << 31
NEXT = {
    Answer.SPINNING: "Look at what it does; it is alive and nothing comes of it.",
    Answer.STALLED: "If it still holds a lane, `dos lease-lane reap` takes it back.",
    Answer.UNKNOWN: "Make git readable first; until then nothing is known, and nothing may be taken back.",
}


class Args(Struct, kw_only=True):
    run_id: Annotated[str, Option(help="the run", metavar="RID")]
    start_sha: Annotated[
        str, Option(help="count commits from here, not from its lease", metavar="SHA")
    ] = ""
    lane: Annotated[str, Option(help="only what it does in this lane", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    last_heartbeat_age_ms: Annotated[
        int | None, Option(help="how old its last beat is", metavar="MS")
    ] = None
    pid: Annotated[int | None, Option(help="its process", metavar="PID")] = None
    host_id: Annotated[
        str, Option(help="the host of --pid; this one when not given", metavar="HOST")
    ] = ""
    no_proc: Annotated[bool, Option(help="do not look for its process")] = False
    now_ms: Annotated[
        int | None, Option(help="what time it is; now when not given", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    world, config = context.world, context.world.config
    wanted = LeaseQuery(
        run_id=run_ids.validated_run_id(args.run_id),
        lane=_lane(args, context),
        loop_ts=validated_name(args.loop_ts, "loop stamp") if args.loop_ts else "",
    )
    if args.now_ms is not None and args.now_ms < 0:
        raise BadInput(
            f"--now-ms is {args.now_ms}; time does not start below 0",
            hint="Give epoch milliseconds.",
        )
    traces, now_ms = evidence.run_traces(world.journal, wanted, now_ms=args.now_ms)
    with sensible("liveness"):
        seen = evidence.traces_evidence(
            world.workspace, [_told(args, context, wanted, traces)], now_ms
        )[0]
        verdict = liveness.judge(seen, config.liveness)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT.get(verdict.answer, ""),
    )


def _lane(args: Args, context: Context) -> str:
    return (
        (context.world.config.canonical_lane(validated_name(args.lane, "lane name")) or args.lane)
        if args.lane
        else ""
    )


def _told(args: Args, context: Context, wanted: LeaseQuery, traces: RunTraces) -> RunTraces:
    """What the caller knows better than the journal."""
    known = traces.since_ms is not None
    if wanted.lane and not known:
        region = context.world.config.lane_region(wanted.lane)
        if region is None:
            raise BadInput(
                f"nobody declared or holds a lane {wanted.lane!r}; the lanes are "
                + ", ".join(context.world.config.known_lanes()),
                hint="`dos man lane` lists them.",
            )
        traces = structs.replace(traces, region=region)
    if args.start_sha:
        sha, made_ms = evidence.started_at(
            context.world.git, validated_name(args.start_sha, "start commit")
        )
        traces = structs.replace(traces, start_sha=sha, since_ms=made_ms)
    if args.last_heartbeat_age_ms is not None:
        traces = structs.replace(traces, beat_age_ms=args.last_heartbeat_age_ms, lapsed=False)
    return structs.replace(traces, alive=_alive(args, traces.alive))


def _alive(args: Args, known: bool | None) -> bool | None:
    if args.no_proc:
        return None
    if args.host_id and validated_name(args.host_id, "host") != process.host():
        return None  # nobody here can say
    if args.pid is None:
        return known
    if not 0 < args.pid < MOST_PROCESSES:
        raise BadInput(f"--pid {args.pid} is no process", hint="Give a pid from 1 upwards.")
    return process.identify(args.pid) is not None
