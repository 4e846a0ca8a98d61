"""Write down that somebody should stop a process.

Nobody is signalled: whoever reads the journal does it. With --resumable the run is put aside too, to go on later.
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.journal import runs
from dos.journal.run_events import HaltProposed, RunSuspended
from dos.journal.store import Entry
from dos.records import run_ids
from dos.records.leases import Lease
from dos.records.names import checked
from dos.sources import processes
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.lanes import identity
from dos.surfaces.cli.verbs.ledger import standing

EXITS = {"recorded": 0, "not-recorded": 1, "contract_error": 2, "lock-busy": 4}
STREAM = "halts"  # of those that belong to no run


class Args(Struct, kw_only=True):
    handle: Annotated[str, Option(help="what is to be stopped: a pid, a session, a job", metavar="H")]
    lane: Annotated[str, Option(help="the lane it works on", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="the stamp of its lease", metavar="STAMP")] = ""
    owner: Annotated[str, Option(help="who asks for it", metavar="OWNER")] = ""
    reason: Annotated[str, Option(help="why, for the record", metavar="TEXT")] = ""
    run_id: Annotated[str, Option(help="the run; that of the lease when not given", metavar="RID")] = ""
    command: Annotated[str, Option(help="what would stop it", metavar="COMMAND")] = ""
    resumable: Annotated[bool, Option(help="put the run aside, to go on later")] = False
    resume_sha: Annotated[str, Option(help="with --resumable: from this commit", metavar="REF")] = ""


def run(args: Args, desk: Desk) -> Reply:
    handle = checked(args.handle, "handle")
    owner = checked(args.owner, "owner") if args.owner else ""
    lane = checked(args.lane, "lane name") if args.lane else ""
    loop_ts = checked(args.loop_ts, "loop stamp") if args.loop_ts else ""
    command = standing.text(args.command, "command")
    reason = standing.text(args.reason, "reason") or (f"halt:{owner}" if owner else "halt")
    run_id = run_ids.checked_id(args.run_id) if args.run_id else ""
    resume_sha = standing.commit(desk, args.resume_sha) if args.resume_sha else ""
    lease = _lease(desk, handle, lane, loop_ts)
    fact = HaltProposed(
        handle=handle,
        lane=lane or (lease.lane if lease else ""),
        loop_ts=loop_ts or (lease.loop_ts if lease else ""),
        host=processes.host(),
        owner=owner,
        run_id=run_id or (lease.run_id if lease else ""),
        command=command,
        reason=reason,
    )
    suspends = args.resumable and bool(run_id)
    entries = [Entry(stream=runs.stream(fact.run_id) if fact.run_id else STREAM, kind=fact.kind, body=fact)]
    if suspends:
        put_aside = RunSuspended(run_id=run_id, reason=reason, resume_sha=resume_sha)
        entries.append(Entry(stream=runs.stream(run_id), kind=put_aside.kind, body=put_aside))
    desk.journal.append_all(entries)
    data: dict[str, Any] = {
        "recorded": True, "handle": handle, "command": command, "lane": fact.lane, "loop_ts": fact.loop_ts
    }  # fmt: skip
    if args.resumable:
        data |= {"suspended": suspends, "suspend_note": _note(run_id)}
    return Reply(data=data, plain=f"It is written down that {handle!r} should stop.", always_json=True)


def _lease(desk: Desk, handle: str, lane: str, loop_ts: str) -> Lease | None:
    """The lease that is meant: by its lane or stamp, else by its process."""
    store = desk.world.journal
    if lane or loop_ts:
        return identity.find(desk.policy_world, lane=lane, loop_ts=loop_ts)
    return next((lease for lease in reversed(store.leases()) if str(lease.pid) == handle), None)


def _note(run_id: str) -> str:
    if not run_id:
        return "no run was named, so that none is put aside"
    return f"`dos resume --run-id {run_id}` says where it goes on"
