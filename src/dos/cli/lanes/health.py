"""Decide whether to launch a worker on a lane.

The verdict comes from the live leases and from how the lane's last runs ended. With --git-log-file
the runs are read from the archive commit subjects of dos-kernel ≤ 0.30 instead, newest first.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.lanes import launch_health
from dos.lanes.io import launch
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
    Action.PROCEED: "GO: launch on it.",
    Action.ROUTE_UNSTICK: "STOP: mend what the evidence names; `dos man wedge CAUSE` explains it.",
    Action.ROUTE_REPLAN: "STOP: replan first.",
    Action.OVERLAP_BLOCK: "STOP: take another lane, or wait for that one.",
}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="the lane", metavar="LANE")]
    tree: Annotated[
        str, Option(help="its paths, with commas; those it is declared with when not given")
    ] = ""
    leases_json: Annotated[
        str | None, Option(help="the live leases, instead of the journal's", metavar="JSON")
    ] = None
    own_lease_ts: Annotated[
        str, Option(help="the loop stamp of your own lease", metavar="STAMP")
    ] = ""
    window: Annotated[int, Option(help="how many runs are looked at", metavar="N")] = 12
    git_log_file: Annotated[
        str, Option(help="a log of archive commits, instead of the journal", metavar="FILE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    validated_name(args.lane, "lane name")
    if args.window < 1:
        raise BadInput(f"--window {args.window} looks at nothing", hint="Give 1 or more runs.")
    seen = launch.launch_evidence(
        context.world,
        context.policy,
        lane=args.lane,
        tree=tuple(glob.strip() for glob in args.tree.split(",") if glob.strip()),
        leases=args.leases_json,
        own_loop_ts=args.own_lease_ts,
        git_log=Path(args.git_log_file) if args.git_log_file else None,
    )
    verdict = launch_health.plan(seen, Policy(window=args.window))
    return Reply(
        code=verdict.exit_code,
        data=to_builtins(verdict),
        plain=f"{verdict.answer}: {verdict.reason}.",
        next_action=NEXT[verdict.answer],
        indented=True,
        always_json=True,
    )
