"""Take a lane, for a limited time.

The lane that is named is granted or refused; with --any, or without a name, a free one is chosen. Nobody but its holder
renews a lease (`lease-lane heartbeat`) or releases it. With --pid the lane is free as soon as that process is gone and
somebody reaps; without it, when the time is over.
"""

import time
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Struct, structs

from dos.errors import BadInput, StoreBusy, StoreFailed
from dos.evidence.access import lane as evidence
from dos.journal.events import LeaseRefused
from dos.records.leases import Lease, Refusal, Request, stream_of
from dos.records.names import checked, folded
from dos.records.regions import region
from dos.sources import processes
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.lanes import arbitrate, identity
from dos.verdicts.access import admission, arbiter
from dos.verdicts.access.arbiter import Ask, Decision, Held, Outcome
from dos.verdicts.access.ladder import Candidate
from dos.verdicts.access.roster import GLOBAL, Roster

SHORTEST_TRY_SECONDS = 0.5  # a journal in use is locked for a few milliseconds at a time
EXITS = {"acquire": 0, "refuse": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    owner: Annotated[str, Option(help="who asks; renewing and releasing need the same name", metavar="OWNER")]
    lane: Annotated[str, Option(help="the lane; any free one when not given", metavar="LANE")] = ""
    kind: Annotated[str, Option(help="cluster, keyword, global or another kind", metavar="KIND")] = ""
    tree: Annotated[list[str], Option(help="the paths, where the lane has none of its own", metavar="GLOB")] = []
    mode: Annotated[str, Option(help="readers may share: shared or exclusive", choices=("shared", "exclusive"))] = (
        "exclusive"
    )
    any_: Annotated[bool, Option(help="another free lane will do as well")] = False
    run_id: Annotated[str, Option(help="the run; $CID_RUN_ID or $DISPATCH_RUN_ID when not given", metavar="RID")] = ""
    loop_ts: Annotated[str, Option(help="the loop's own stamp; now when not given", metavar="STAMP")] = ""
    pid: Annotated[int | None, Option(help="the worker's process, whose end frees the lane", metavar="PID")] = None
    ttl_minutes: Annotated[
        float | None, Option(help="how long it lasts; [leases] manual_ttl_minutes when not given", metavar="MINUTES")
    ] = None
    leases: Annotated[str | None, Option(help="live leases beside those of the journal", metavar="JSON")] = None
    retries: Annotated[int, Option(help="how often to try again while the journal is locked", metavar="N")] = 5
    retry_interval: Annotated[float, Option(help="seconds between two tries", metavar="SECONDS")] = 0.2


class Taken(Struct, frozen=True, kw_only=True):
    decision: Decision
    lease: Lease | None = None


def run(args: Args, desk: Desk) -> Reply:
    checked(args.owner, "owner")
    if args.retries < 0 or args.retry_interval < 0:
        raise BadInput("--retries and --retry-interval cannot be below 0", hint="For example: --retries 5")
    desk.busy_seconds = max(SHORTEST_TRY_SECONDS, args.retry_interval)
    ask = arbitrate.asked(lane=args.lane, kind=args.kind, tree=args.tree, mode=args.mode, exact=not args.any_)
    request = _request(args, desk)
    taken = _patiently(args, lambda: _take(args, desk, ask, request))
    complaint = arbitrate.complaint(taken.decision)
    if taken.decision.exit_code == 1:
        complaint = _note_refusal(args, desk, ask, request, taken.decision)
    return Reply(
        code=taken.decision.exit_code,
        data=_data(args, request, taken),
        plain=arbitrate.sentence(taken.decision),
        next_action=_interpretation(taken),
        complaint=complaint,
        always_json=True,
    )


def _request(args: Args, desk: Desk) -> Request:
    """All but the lane, which is not decided yet."""
    worker = identity.process(args.pid)
    place = desk.world.workspace
    return Request(
        lane=args.lane,
        holder=args.owner,
        host=processes.host(),
        ttl_ms=identity.ttl_ms(args.ttl_minutes, desk.policy),
        region=region(()),
        run_id=identity.run_id(args.run_id),
        loop_ts=identity.loop_stamp(args.loop_ts),
        pid=worker.pid if worker else None,
        pid_started=worker.started if worker else None,
        start_sha=(desk.world.git.commit_of("HEAD") or "") if place.common else "",
    )


def _patiently(args: Args, attempt: Callable[[], Taken]) -> Taken:
    for _ in range(args.retries):
        try:
            return attempt()
        except StoreBusy:
            time.sleep(args.retry_interval)
    return attempt()


def _take(args: Args, desk: Desk, ask: Ask, request: Request) -> Taken:
    """The arbiter says which lane; the journal's transaction says whether. Who was overtaken asks again."""
    config, world = desk.policy, desk.world
    admit = evidence.rules(world.workspace.root, config)
    before: tuple[Held, ...] | None = None
    journal = world.journal  # only read, until there is something to grant: a wrong name makes no journal
    while True:
        seen = evidence.gather(world, config, journal=journal, beside=args.leases)
        decision = arbiter.judge(ask, seen.live, seen.roster, predicates=seen.predicates, config=config)
        if decision.outcome is Outcome.REFUSE:
            return Taken(decision=decision)
        journal = desk.journal
        outcome = journal.acquire(_decided(request, ask, decision, seen.roster), admit, requested_lane=ask.lane)
        if isinstance(outcome, Lease):
            return Taken(decision=decision, lease=outcome)
        if seen.live == before:  # nothing has changed: the journal is stricter than the arbiter was told to be
            return Taken(decision=_refused(ask, outcome))
        before = seen.live


def _refused(ask: Ask, refusal: Refusal) -> Decision:
    return Decision(
        outcome=Outcome.REFUSE,
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
        exclusive=roster.runs_alone(decision.lane) or folded(kind) == GLOBAL or roster.runs_alone(kind),
    )


def _note_refusal(args: Args, desk: Desk, ask: Ask, request: Request, decision: Decision) -> str:
    """One event for one obstacle, however often somebody polls. That it cannot be written changes no answer."""
    lane = desk.policy.canonical_lane(ask.lane) or ask.lane
    stream = stream_of(lane) if lane else "lanes"
    fact = LeaseRefused(
        lane=lane,
        holder=args.owner,
        reason_class=decision.reason_class,
        reason=decision.reason,
        run_id=request.run_id,
        loop_ts=request.loop_ts,
    )
    try:
        key = f"refused/{args.owner}/{decision.reason_class}/{_obstacle(desk, ask, lane)}"
        with desk.journal.backend.read() as view:
            known = view.keyed(stream, key)
        if known is None:
            desk.journal.record(stream, fact, key=key)
    except StoreFailed as error:
        return f"warning: the refusal could not be written down: {error}"
    return ""


def _obstacle(desk: Desk, ask: Ask, lane: str) -> int:
    """The fence of the lease in the way; of the newest, for a refusal that no single lease is behind; 0 for none."""
    live = desk.journal.leases(lapsed=False)
    roster = evidence.roster(desk.world, desk.policy)
    wanted = Candidate(
        lane=lane,
        kind=ask.kind,
        region=region(ask.tree or roster.tree(lane)),
        mode=ask.mode,
        exclusive=roster.runs_alone(lane or ask.kind),
    )
    in_the_way = [lease for lease in live if lane and admission.judge_pair(wanted, lease)]
    return max((lease.fence for lease in in_the_way or live), default=0)


def _data(args: Args, request: Request, taken: Taken) -> dict[str, Any]:
    lease = taken.lease
    data = taken.decision.to_json() | {
        "journaled": lease is not None,
        "owner": args.owner,
        "fence": lease.fence if lease else None,
        "expires_in_seconds": lease.ttl_ms / 1000 if lease else None,
    }
    return data | {"run_id": request.run_id} if request.run_id else data


def _interpretation(taken: Taken) -> str:
    if taken.lease is None:
        return arbitrate.interpretation(taken.decision)
    globs = ", ".join(taken.lease.region.globs)
    return f"GO: change only {globs}; renew with `dos lease-lane heartbeat`, and release it when you are done."
