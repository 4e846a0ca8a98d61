"""Take a lease on a lane.

With --lane the named lane is granted or refused; with --any, or without --lane, dos picks a free
one. With --unit the lease is of the part of a repeatable lane in which that unit is worked on:
others may take the parts of other units beside it. Only the holder can renew the lease
(`dos lease-lane heartbeat`) or release it. With --pid, `dos lease-lane reap` can revoke the lease
as soon as that process has exited; without --pid, only after the lease has expired. With --again
as well, an owner that calls again from the same process keeps the lease that it has, renewed. With
--session the conversation of that name in an agent program holds the lease, too: its hooks then
refuse what lies outside of the lane. An agent of a fleet cannot give --session.
"""

import time
from typing import Annotated, Any

from msgspec import Struct, structs

from dos.cli.lanes import arbitrate, caller
from dos.errors import BadInput, StoreBusy, StoreFailed
from dos.git import files
from dos.journal import streams
from dos.journal.events.lanes import LeaseRefused
from dos.lanes.arbitrate import Answer, ArbiterRequest, Decision, judge
from dos.lanes.io import parts
from dos.lanes.io.gather import admission_rules, arbiter_evidence
from dos.lanes.leases import LiveLease
from dos.lanes.roster import GLOBAL, Roster
from dos.lease import Lease, Refusal, Request
from dos.machine import process
from dos.permission.io.record import bind_session
from dos.regions import region
from dos.text import comparison_key, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.listing.table import VERBS

LONGEST_INTERVAL_SECONDS = 86_400  # between two retries
SHORTEST_TRY_SECONDS = 0.5  # a journal in use is locked for a few milliseconds at a time
EXITS = {"acquire": 0, "refuse": 1, "contract_error": 2, "lock-busy": 4, "not_permitted": 77}


class Args(Struct, kw_only=True):
    """The lane that is wanted, its would-be holder, and how long to try."""

    owner: Annotated[
        str, Option(help="holder's name, needed again to renew and release", metavar="OWNER")
    ]
    lane: Annotated[str, Option(help="lane to take (default: any free one)", metavar="LANE")] = ""
    kind: Annotated[
        str,
        Option(
            help="kind of lane: cluster, keyword, global or another",
            metavar="KIND",
            may_be_empty=True,
        ),
    ] = ""
    unit: Annotated[
        str, Option(help="take the part of a repeatable lane of this unit", metavar="UNIT")
    ] = ""
    tree: Annotated[
        list[str], Option(help="paths of a lane that declares none", metavar="GLOB")
    ] = []
    mode: Annotated[
        str,
        Option(help="shared for readers, else exclusive", choices=("shared", "exclusive")),
    ] = "exclusive"
    any_: Annotated[bool, Option(help="take another free lane if this one is held")] = False
    run_id: Annotated[
        str, Option(help="run id (default: $CID_RUN_ID or $DISPATCH_RUN_ID)", metavar="RID")
    ] = ""
    loop_ts: Annotated[
        str, Option(help="stamp that identifies the loop (default: now)", metavar="STAMP")
    ] = ""
    session: Annotated[
        str, Option(help="conversation whose hooks hold the lease", metavar="ID")
    ] = ""
    pid: Annotated[
        int | None, Option(help="worker process; its exit lets others reap", metavar="PID")
    ] = None
    again: Annotated[
        bool, Option(help="renew the lease that this owner and --pid have already")
    ] = False
    ttl_minutes: Annotated[
        float | None,
        Option(help="lifetime (default: [leases] manual_ttl_minutes)", metavar="MINUTES"),
    ] = None
    leases: Annotated[
        str | None, Option(help="live leases besides those of the journal", metavar="JSON")
    ] = None
    retries: Annotated[int, Option(help="retries while the journal is locked", metavar="N")] = 5
    retry_interval: Annotated[
        float, Option(help="seconds between two retries", metavar="SECONDS")
    ] = 0.2


class Outcome(Struct, frozen=True, kw_only=True):
    """The arbiter's decision, and the lease if the journal granted it."""

    decision: Decision
    lease: Lease | None = None


def run(args: Args, context: Context) -> Reply:
    """Take the lease, and reply with it or with the refusal and what to do about it."""
    validated_name(args.owner, "owner")
    if args.session:
        from dos.verbs import permission  # few conversations are named

        # An agent could name that of anybody.
        permission.check_permission(VERBS["lease-lane acquire"], args, context, "--session")
    if args.unit:
        args = structs.replace(args, lane=_lane_of_unit(args, context))
    if args.retries < 0 or not 0 <= args.retry_interval <= LONGEST_INTERVAL_SECONDS:
        raise BadInput(
            "--retries cannot be below 0, and --retry-interval must be between 0 and "
            f"{LONGEST_INTERVAL_SECONDS} seconds",
            hint="For example: --retries 5 --retry-interval 0.2",
        )
    context.busy_seconds = max(SHORTEST_TRY_SECONDS, args.retry_interval)
    ask = arbitrate.build_request(
        lane=args.lane, kind=args.kind, tree=args.tree, mode=args.mode, exact=not args.any_
    )
    request = _request(args, context)
    outcome = _kept(args, context, request) or _take_with_retries(args, context, ask, request)
    if outcome.lease is None:
        return _refusal(args, context, ask, request, outcome.decision)
    if args.session:
        bind_session(context.journal, args.session, outcome.lease, of_process=False)
    return Reply(
        data=_data(args, request, outcome.decision, outcome.lease),
        plain=arbitrate.sentence(outcome.decision),
        next_action=_interpretation(outcome.lease),
        always_json=True,
    )


def _lane_of_unit(args: Args, context: Context) -> str:
    """Return the part of the lane in which the unit is worked on; the whole lane if it has none.

    Raises BadInput for a unit that no plan declares, or that is of another lane.
    """
    if args.tree:
        raise BadInput(
            "--unit and --tree both say which paths to take",
            hint="Leave --tree out: the paths are those that the unit declares.",
        )
    lane = parts.lane_of_unit(context.policy_world, args.unit)
    whole = context.policy.lanes.whole_of(lane) or lane
    if args.lane and context.policy.canonical_lane(args.lane) != whole:
        raise BadInput(
            f"unit {quote(args.unit)} is of lane {quote(whole)}, not of {quote(args.lane)}",
            hint=f"Give --lane {whole}, or leave it out.",
        )
    return lane


def _request(args: Args, context: Context) -> Request:
    """Build the request for the journal; the lane is filled in after the arbiter's decision.

    Raises BadInput if the process that --pid names does not run.
    """
    request = Request(
        lane=args.lane,
        holder=args.owner,
        host=process.host(),
        ttl_ms=caller.ttl_ms(args.ttl_minutes, context.policy),
        region=region(()),
        prefix=context.world.workspace.prefix,
        run_id=caller.run_id(args.run_id),
        loop_ts=caller.loop_stamp(args.loop_ts),
        system=process.system(),
        start_sha=files.head_commit(context.world.workspace),
    )
    worker = caller.identify_process(args.pid)
    if worker is None:
        return request
    return structs.replace(request, pid=worker.pid, pid_started=worker.started)


def _kept(args: Args, context: Context, request: Request) -> Outcome | None:
    """Renew the lease that the same process has under this name; None where it has none.

    A name is no proof, so a lease of another process counts as that of another holder.
    """
    if not args.again or request.pid is None:
        return None
    lease = caller.find_lease(context.world, lane=args.lane, owner=args.owner)
    if lease is None or lease.key_hash or lease.host != request.host:
        return None
    if (lease.pid, lease.pid_started) != (request.pid, request.pid_started):
        return None
    if not context.journal.renew([lease.fence]).kept:
        return None
    decision = Decision(
        outcome=Answer.ACQUIRE,
        lane=lease.lane,
        lane_kind=lease.kind,
        tree=tuple(lease.region.globs),
        reason=f"{quote(args.owner)} holds lane {quote(lease.lane)} already: it was renewed",
        requested_lane=args.lane,
    )
    return Outcome(decision=decision, lease=lease)


def _take_with_retries(
    args: Args, context: Context, ask: ArbiterRequest, request: Request
) -> Outcome:
    """Take the lease; while another process has locked the journal, try again as often as allowed.

    The last attempt raises StoreBusy if the journal is still locked.
    """
    for _ in range(args.retries):
        try:
            return _take(args, context, ask, request)
        except StoreBusy:
            time.sleep(args.retry_interval)
    return _take(args, context, ask, request)


def _take(args: Args, context: Context, ask: ArbiterRequest, request: Request) -> Outcome:
    """Let the arbiter choose a lane and the journal grant it.

    The journal decides in its transaction. If another holder was faster, the arbiter decides again
    with the new leases, until it is granted or refused.
    """
    config = context.policy
    world = context.world
    lanes = parts.config_for(world, ask.lane)
    admit = admission_rules(world.workspace.root, config)
    live_before: tuple[LiveLease, ...] | None = None
    # Read-only until there is something to grant: a mistyped lane creates no journal.
    journal = world.journal
    while True:
        evidence = arbiter_evidence(world, lanes, journal=journal, beside=args.leases)
        decision = judge(
            ask, evidence.live, evidence.roster, predicates=evidence.predicates, config=config
        )
        if decision.outcome is Answer.REFUSE:
            return Outcome(decision=decision)
        journal = context.journal
        decided = _with_lane(request, ask, decision, evidence.roster)
        granted = journal.acquire(decided, admit, requested_lane=ask.lane)
        if isinstance(granted, Lease):
            return Outcome(decision=decision, lease=granted)
        if evidence.live == live_before:
            # No lease has changed since: the journal can be stricter than the arbiter.
            return Outcome(decision=_refused(ask, granted))
        live_before = evidence.live


def _refused(ask: ArbiterRequest, refusal: Refusal) -> Decision:
    """Return the journal's refusal in the form of a decision by the arbiter."""
    return Decision(
        outcome=Answer.REFUSE,
        reason=refusal.detail,
        reason_class=refusal.reason.value,
        requested_lane=ask.lane,
    )


def _with_lane(
    request: Request, ask: ArbiterRequest, decision: Decision, roster: Roster
) -> Request:
    """Return the request for the lane, the paths and the kind that the arbiter decided on.

    The lease is exclusive if the lane or its kind runs alone.
    """
    kind = decision.lane_kind
    is_global = comparison_key(kind) == GLOBAL
    return structs.replace(
        request,
        lane=decision.lane,
        kind=kind,
        region=region(decision.tree),
        mode=ask.mode,
        part_of=roster.parts.get(decision.lane, ""),
        exclusive=roster.runs_alone(decision.lane) or is_global or roster.runs_alone(kind),
    )


def _refusal(
    args: Args, context: Context, ask: ArbiterRequest, request: Request, decision: Decision
) -> Reply:
    """Reply with the refusal; a refusal that cannot be recorded is still a refusal."""
    data = _data(args, request, decision, None)
    hint: dict[str, str] = {}
    failure = ""
    if decision.exit_code == 1:
        try:
            hint = _record_refusal(args, context, ask, request, decision)
        except StoreFailed as error:
            failure = f"warning: the refusal could not be recorded in the journal: {error}"
        data["refusal_journaled"] = not failure
    return Reply(
        code=decision.exit_code,
        data=data | hint,
        plain=arbitrate.sentence(decision),
        next_action=arbitrate.interpretation(decision, hint),
        stderr=failure or arbitrate.warning_text(decision, hint),
        always_json=True,
    )


def _record_refusal(
    args: Args, context: Context, ask: ArbiterRequest, request: Request, decision: Decision
) -> dict[str, str]:
    """Record the refusal and return the hint for a dead holder.

    The key makes it one event for each owner, reason and blocking lease, however often an owner
    polls.
    """
    lane = parts.config_for(context.world, ask.lane).canonical_lane(ask.lane) or ask.lane
    stream = streams.lease(lane) if lane else streams.LANES
    refused = LeaseRefused(
        lane=lane,
        holder=args.owner,
        reason_class=decision.reason_class,
        reason=decision.reason,
        run_id=request.run_id,
        loop_ts=request.loop_ts,
    )
    blocking = arbitrate.blocking_leases(context, context.journal, ask)
    # If no single lease caused the refusal, the newest lease stands for it; 0 where there is none.
    obstacles = blocking or context.journal.leases(lapsed=False)
    newest_fence = max((lease.fence for lease in obstacles), default=0)
    key = f"refused/{args.owner}/{decision.reason_class}/{newest_fence}"
    with context.journal.backend.read() as view:
        recorded = view.keyed(stream, key)
    if recorded is None:
        context.journal.record(stream, refused, key=key)
    return arbitrate.reap_hint(blocking)


def _data(args: Args, request: Request, decision: Decision, lease: Lease | None) -> dict[str, Any]:
    """Return the JSON document: the decision, and the fence and lifetime of a granted lease."""
    data = decision.to_json() | {
        # Whether the lease was recorded: a key of dos-kernel ≤ 0.30.
        "journaled": lease is not None,
        "owner": args.owner,
        "fence": None,
        "expires_in_seconds": None,
    }
    if lease is not None:
        data["fence"] = lease.fence
        data["expires_in_seconds"] = lease.ttl_ms / 1000
    if request.run_id:
        data["run_id"] = request.run_id
    return data


def _interpretation(lease: Lease) -> str:
    """Return the next action for an agent that got the lease."""
    globs = ", ".join(lease.region.globs)
    return (
        f"GO: change only {globs}; renew the lease with `dos lease-lane heartbeat`, "
        "and release it when you are done."
    )
