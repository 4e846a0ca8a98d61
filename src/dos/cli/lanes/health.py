"""Decide whether to launch a worker on a lane.

The verdict comes from the live leases and from how the lane's last runs ended. With --git-log-file
the runs are read from the archive commit subjects of dos-kernel ≤ 0.30 instead, newest first.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.lanes import launch_health
from dos.lanes.io.launch import launch_evidence
from dos.lanes.launch_health import Action, Policy
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "proceed": 0,
    "route_unstick": 3,
    "route_replan": 4,
    "overlap_block": 6,
    "contract_error": 2,
}
NEXT = {
    Action.PROCEED: "GO: launch a worker on it.",
    Action.ROUTE_UNSTICK: "STOP: fix the cause first; `dos man wedge CAUSE` explains it.",
    Action.ROUTE_REPLAN: "STOP: replan first.",
    Action.OVERLAP_BLOCK: "STOP: take another lane, or wait for the lease that blocks this one.",
}


class Args(Struct, kw_only=True):
    """The lane, and facts to use instead of the recorded ones."""

    lane: Annotated[str, Option(help="lane to check", metavar="LANE")]
    tree: Annotated[
        str, Option(help="its paths, separated by commas (default: the declared ones)")
    ] = ""
    leases_json: Annotated[
        str | None, Option(help="live leases to use instead of the journal's", metavar="JSON")
    ] = None
    own_lease_ts: Annotated[
        str, Option(help="loop stamp of your own lease, which is ignored", metavar="STAMP")
    ] = ""
    window: Annotated[int, Option(help="how many past runs to consider", metavar="N")] = 12
    git_log_file: Annotated[
        str, Option(help="archive commit subjects to use instead of the journal", metavar="FILE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Judge a launch on the lane by its live leases and by how its last runs ended."""
    validated_name(args.lane, "lane name")
    if args.window < 1:
        raise BadInput(f"--window {args.window} considers no run", hint="Give 1 or more.")
    globs = [glob.strip() for glob in args.tree.split(",")]
    git_log = None
    if args.git_log_file:
        git_log = Path(args.git_log_file)
    evidence = launch_evidence(
        context.policy_world,
        lane=args.lane,
        tree=tuple(filter(None, globs)),
        leases=args.leases_json,
        own_loop_ts=args.own_lease_ts,
        git_log=git_log,
    )
    verdict = launch_health.judge(evidence, Policy(window=args.window))
    return Reply(
        code=verdict.exit_code,
        data=to_builtins(verdict),
        plain=f"{verdict.answer}: {verdict.reason}.",
        next_action=NEXT[verdict.answer],
        indented=True,
        always_json=True,
    )
