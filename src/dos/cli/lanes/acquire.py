"""Take a lease on a lane.

With --lane the named lane is granted or refused; with --any, or without --lane, dos picks a free
one. Only the holder can renew the lease (`dos lease-lane heartbeat`) or release it. With --pid,
`dos lease-lane reap` can revoke the lease as soon as that process has exited; without --pid, only
after the lease has expired.
"""

import time
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Struct, structs

from dos.cli.lanes import arbitrate, caller
from dos.errors import BadInput, StoreBusy, StoreFailed
from dos.git import files
from dos.journal import streams
from dos.journal.events.lanes import LeaseRefused
from dos.lanes import arbitrate as arbiter
from dos.lanes.arbitrate import Answer, Ask, Decision, Held
from dos.lanes.io.gather import admission_rules, arbiter_evidence
from dos.lanes.roster import GLOBAL, Roster
from dos.lease import Lease, Refusal, Request
from dos.machine import process
from dos.regions import region
from dos.text import comparison_key, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

LONGEST_INTERVAL_SECONDS = 86_400
SHORTEST_TRY_SECONDS = 0.5  # a journal in use is locked for a few milliseconds at a time
EXITS = {"acquire": 0, "refuse": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    owner: Annotated[
        str, Option(help="who asks; renewing and releasing need the same name", metavar="OWNER")
    ]
    lane: Annotated[str, Option(help="the lane; any free one when not given", metavar="LANE")] = ""
    kind: Annotated[
        str,
        Option(help="cluster, keyword, global or another kind", metavar="KIND", may_be_empty=True),
    ] = ""
    tree: Annotated[
        list[str], Option(help="the paths, where the lane has none of its own", metavar="GLOB")
    ] = []
    mode: Annotated[
        str, Option(help="readers may share: shared or exclusive", choices=("shared", "exclusive"))
    ] = "exclusive"
    any_: Annotated[bool, Option(help="another free lane will do as well")] = False
    run_id: Annotated[
        str, Option(help="the run; $CID_RUN_ID or $DISPATCH_RUN_ID when not given", metavar="RID")
    ] = ""
    loop_ts: Annotated[
        str, Option(help="the loop's own stamp; now when not given", metavar="STAMP")
    ] = ""
    pid: Annotated[
        int | None, Option(help="the worker's process, whose end frees the lane", metavar="PID")
    ] = None
    ttl_minutes: Annotated[
        float | None,
        Option(
            help="how long it lasts; [leases] manual_ttl_minutes when not given", metavar="MINUTES"
        ),
    ] = None
    leases: Annotated[
        str | None, Option(help="live leases beside those of the journal", metavar="JSON")
    ] = None
    retries: Annotated[
        int, Option(help="how often to try again while the journal is locked", metavar="N")
    ] = 5
    retry_interval: Annotated[
        float, Option(help="seconds between two tries", metavar="SECONDS")
    ] = 0.2


class Taken(Struct, frozen=True, kw_only=True):
    decision: Decision
    lease: Lease | None = None


def run(args: Args, context: Context) -> Reply:
    validated_name(args.owner, "owner")
    if args.retries < 0 or not 0 <= args.retry_interval <= LONGEST_INTERVAL_SECONDS:
        raise BadInput(
            f"--retries cannot be below 0, and --retry-interval is between 0 and {LONGEST_INTERVAL_SECONDS} seconds",
            hint="For example: --retries 5 --retry-interval 0.2",
        )
    context.busy_seconds = max(SHORTEST_TRY_SECONDS, args.retry_interval)
    ask = arbitrate.build_request(
        lane=args.lane, kind=args.kind, tree=args.tree, mode=args.mode, exact=not args.any_
    )
    request = _request(args, context)
    taken = _patiently(args, lambda: _take(args, context, ask, request))
    decision = taken.decision
    if taken.lease is None:
        return _refusal(args, context, ask, request, decision)
    return Reply(
        data=_data(args, request, decision, taken.lease),
        plain=arbitrate.sentence(decision),
        next_action=_interpretation(taken.lease),
        always_json=True,
    )


def _request(args: Args, context: Context) -> Request:
    """All but the lane, which is not decided yet."""
    worker = caller.identify_process(args.pid)
    return Request(
        lane=args.lane,
        holder=args.owner,
        host=process.host(),
        ttl_ms=caller.ttl_ms(args.ttl_minutes, context.policy),
        region=region(()),
        run_id=caller.run_id(args.run_id),
        loop_ts=caller.loop_stamp(args.loop_ts),
        pid=worker.pid if worker else None,
        pid_started=worker.started if worker else None,
        system=process.system(),
        start_sha=files.head_commit(context.world.workspace),
    )


def _patiently(args: Args, attempt: Callable[[], Taken]) -> Taken:
    for _ in range(args.retries):
        try:
            return attempt()
        except StoreBusy:
            time.sleep(args.retry_interval)
    return attempt()


def _take(args: Args, context: Context, ask: Ask, request: Request) -> Taken:
    """The arbiter says which lane; the journal's transaction says whether. Who was overtaken asks again."""
    config, world = context.policy, context.world
    admit = admission_rules(world.workspace.root, config)
    before: tuple[Held, ...] | None = None
    journal = (
        world.journal
    )  # only read, until there is something to grant: a wrong name makes no journal
    while True:
        seen = arbiter_evidence(world, config, journal=journal, beside=args.leases)
        decision = arbiter.judge(
            ask, seen.live, seen.roster, predicates=seen.predicates, config=config
        )
        if decision.outcome is Answer.REFUSE:
            return Taken(decision=decision)
        journal = context.journal
        outcome = journal.acquire(
            _decided(request, ask, decision, seen.roster), admit, requested_lane=ask.lane
        )
        if isinstance(outcome, Lease):
            return Taken(decision=decision, lease=outcome)
        if (
            seen.live == before
        ):  # nothing has changed: the journal is stricter than the arbiter was told to be
            return Taken(decision=_refused(ask, outcome))
        before = seen.live


def _refused(ask: Ask, refusal: Refusal) -> Decision:
    return Decision(
        outcome=Answer.REFUSE,
        reason=refusal.detail,
        reason_class=refusal.reason.value,
        requested_lane=ask.lane,
    )


def _decided(request: Request, ask: Ask, decision: Decision, roster: Roster) -> Request:
    kind = decision.lane_kind
    return structs.replace(
        request,
        lane=decision.lane,
        kind=kind,
        region=region(decision.tree),
        mode=ask.mode,
        exclusive=roster.runs_alone(decision.lane)
        or comparison_key(kind) == GLOBAL
        or roster.runs_alone(kind),
    )


def _refusal(args: Args, context: Context, ask: Ask, request: Request, decision: Decision) -> Reply:
    """That a refusal cannot be written down changes no answer."""
    data, hint, unwritten = _data(args, request, decision, None), {}, ""
    if decision.exit_code == 1:
        try:
            hint = _note_refusal(args, context, ask, request, decision)
        except StoreFailed as error:
            unwritten = f"warning: the refusal could not be written down: {error}"
        data["refusal_journaled"] = not unwritten
    return Reply(
        code=decision.exit_code,
        data=data | hint,
        plain=arbitrate.sentence(decision),
        next_action=arbitrate.interpretation(decision, hint),
        stderr=unwritten or arbitrate.warning_text(decision, hint),
        always_json=True,
    )


def _note_refusal(
    args: Args, context: Context, ask: Ask, request: Request, decision: Decision
) -> dict[str, str]:
    """One event for one obstacle, however often somebody polls; and what to do about an obstacle that is dead."""
    lane = context.policy.canonical_lane(ask.lane) or ask.lane
    stream = streams.lease(lane) if lane else streams.LANES
    fact = LeaseRefused(
        lane=lane,
        holder=args.owner,
        reason_class=decision.reason_class,
        reason=decision.reason,
        run_id=request.run_id,
        loop_ts=request.loop_ts,
    )
    found = arbitrate.blocking_leases(context, context.journal, ask)
    # Of a refusal that no single lease is behind, the newest lease; 0 where there is none.
    obstacle = max(
        (lease.fence for lease in found or context.journal.leases(lapsed=False)), default=0
    )
    key = f"refused/{args.owner}/{decision.reason_class}/{obstacle}"
    with context.journal.backend.read() as view:
        known = view.keyed(stream, key)
    if known is None:
        context.journal.record(stream, fact, key=key)
    return arbitrate.reap_hint(found)


def _data(args: Args, request: Request, decision: Decision, lease: Lease | None) -> dict[str, Any]:
    data = decision.to_json() | {
        "journaled": lease is not None,  # the lease, as released versions say it
        "owner": args.owner,
        "fence": lease.fence if lease else None,
        "expires_in_seconds": lease.ttl_ms / 1000 if lease else None,
    }
    return data | {"run_id": request.run_id} if request.run_id else data


def _interpretation(lease: Lease) -> str:
    globs = ", ".join(lease.region.globs)
    return f"GO: change only {globs}; renew with `dos lease-lane heartbeat`, and release it when you are done."
