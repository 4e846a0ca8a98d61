"""The state of one run, for `dos status RID`."""

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
    """Reply with the progress of a run and, once it has stopped, where it can resume."""
    world = context.world
    run = run_state.read(world.journal, run_id)
    liveness_reply = _liveness(run_id, args, context, run)
    is_stalled = liveness_reply.data["verdict"] == Answer.STALLED
    has_stopped = args.stopped or run.suspended or is_stalled
    resume_plan = None
    if has_stopped and not args.live and run.has_intent:
        resume_plan = resume.judge(gather_resume(world, world.journal, run_id, run))
    region: list[str] = []
    for lease in world.journal.leases(lapsed=False):
        if lease.run_id == run_id:
            region += lease.region.globs
    status = Status(
        run_id=run_id,
        liveness=liveness_reply.data,
        progress=view.progress(evidence.gather_declaration(world, run_id, run)),
        region=region,
        resume=resume_plan,
    )
    has_lease = any(lease.run_id == run_id for lease in world.journal.leases())
    warning = ""
    if not run.version and not has_lease:
        warning = f"warning: nothing is recorded of {run_id}; `dos why` shows the newest run"
    return Reply(
        code=liveness_reply.code,
        text=view.render_status(status),
        data=to_builtins(status),
        next_action=liveness_reply.next_action,
        stderr=warning,
    )


def _liveness(run_id: str, args: "Args", context: Context, run: RunState) -> Reply:
    """Call `dos liveness`, with what the journal knows of the run where no option is given."""
    start_sha = commits.commit_by_hash(context.world.git, run.start_sha) or ""
    lane = ""
    if context.world.config.canonical_lane(run.lane or " "):
        lane = run.lane
    arguments = liveness.Args(
        run_id=run_id,
        start_sha=args.start_sha or start_sha,
        lane=args.lane or lane,
        loop_ts=args.loop_ts,
        last_heartbeat_age_ms=args.last_heartbeat_age_ms,
        now_ms=args.now_ms,
    )
    return liveness.run(arguments, context)
