"""How one run stands, for `dos status RID`."""

from typing import TYPE_CHECKING

from msgspec import to_builtins

from dos.cli.loop import liveness
from dos.git import commits
from dos.journal import run_state
from dos.journal.run_state import RunState
from dos.loop.verdicts.liveness import Answer
from dos.runs import resume
from dos.runs.io import evidence, view
from dos.runs.io.evidence import gather_resume
from dos.runs.io.view import Status
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:
    from dos.cli.fleet.status import Args


def report(run_id: str, args: "Args", context: Context) -> Reply:
    world = context.world
    seen = run_state.read(world.journal, run_id)
    moving = _liveness(run_id, args, context, seen)
    stopped = args.stopped or seen.suspended or moving.data["verdict"] == Answer.STALLED
    found = None
    if stopped and not args.live and seen.has_intent:
        found = resume.judge(gather_resume(world, world.journal, run_id, seen))
    status = Status(
        run_id=run_id,
        liveness=moving.data,
        progress=view.progress(evidence.gather_declaration(world, run_id, seen)),
        region=[
            glob
            for lease in world.journal.leases(lapsed=False)
            if lease.run_id == run_id
            for glob in lease.region.globs
        ],
        resume=found,
    )
    known = seen.version or any(lease.run_id == run_id for lease in world.journal.leases())
    return Reply(
        code=moving.code,
        text=view.render_status(status),
        data=to_builtins(status),
        next_action=moving.next_action,
        stderr=""
        if known
        else f"warning: nothing is written of {run_id}; `dos why` shows the newest run",
    )


def _liveness(run_id: str, args: "Args", context: Context, seen: RunState) -> Reply:
    """Asked as `dos liveness` is, with what the run's own stream knows where no flag says otherwise."""
    known = commits.commit_by_hash(context.world.git, seen.start_sha) or ""
    lane = seen.lane if context.world.config.canonical_lane(seen.lane or " ") else ""
    asked = liveness.Args(
        run_id=run_id,
        start_sha=args.start_sha or known,
        lane=args.lane or lane,
        loop_ts=args.loop_ts,
        last_heartbeat_age_ms=args.last_heartbeat_age_ms,
        now_ms=args.now_ms,
    )
    return liveness.run(asked, context)
