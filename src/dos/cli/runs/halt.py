"""Stop a run now, or record that a process should stop.

With a run, its worker is asked to stop: it ends the agent, saves the unfinished work and releases
the lane; this verb waits for that. With --handle no process is signalled: the request is recorded,
and the program that reads the journal acts on it. With --resumable the run is also suspended, so
that it can be resumed later.
"""

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msgspec import Struct, structs

from dos import run_ids
from dos.cli.lanes import caller, pauses
from dos.cli.runs import lookup
from dos.cli.terminal.progress import progress
from dos.errors import BadInput
from dos.journal import run_state, streams
from dos.journal.backend import Entry
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import RunStopped
from dos.journal.events.limits import HaltRequested
from dos.journal.events.reader import select
from dos.journal.events.runs import HaltProposed, RunSuspended
from dos.journal.store import Store
from dos.lease import Lease
from dos.loop import tokens
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

# An exit of a worker that was killed writes no event, so the leases are looked at this often.
LOOK_SECONDS = 1.0
EXITS = {
    "recorded": 0,
    "halted": 0,
    "not-recorded": 1,
    "still-running": 1,
    "contract_error": 2,
    "lock-busy": 4,
}


class Args(Struct, kw_only=True):
    """The run to stop, or the process that another program should stop."""

    run: Annotated[str, Option(help="run to stop, or its lane", positional=True, metavar="RUN")] = (
        ""
    )
    handle: Annotated[
        str, Option(help="pid, session or job that another program should stop", metavar="H")
    ] = ""
    lane: Annotated[str, Option(help="with --handle: lane it works on", metavar="LANE")] = ""
    loop_ts: Annotated[str, Option(help="with --handle: stamp of its lease", metavar="STAMP")] = ""
    owner: Annotated[str, Option(help="requester's name", metavar="OWNER")] = ""
    reason: Annotated[str, Option(help="reason to record", metavar="TEXT")] = ""
    run_id: Annotated[
        str, Option(help="with --handle: its run (default: the lease's run)", metavar="RID")
    ] = ""
    command: Annotated[
        str, Option(help="with --handle: command that stops it", metavar="COMMAND")
    ] = ""
    resumable: Annotated[bool, Option(help="suspend the run so that it can be resumed")] = False
    resume_sha: Annotated[
        str, Option(help="with --resumable: commit to resume from", metavar="REF")
    ] = ""
    timeout: Annotated[
        float, Option(help="how long to wait for its end; 0 only asks", metavar="SECONDS")
    ] = 30.0


def run(args: Args, context: Context) -> Reply:
    """Stop the named run, or record that another program should stop a process."""
    if args.run:
        return _halt(args, context)
    if args.handle:
        return _propose(args, context)
    raise BadInput(
        "neither a run nor --handle is given", hint="`dos top` shows the lanes: dos halt LANE"
    )


# Stopping a run of this fleet


def _halt(args: Args, context: Context) -> Reply:
    """Ask the run's worker to stop and wait for it, up to --timeout.

    No process is signalled: the worker reads the request in the journal, ends its agent, saves the
    work and exits.
    """
    if args.handle or args.lane or args.loop_ts or args.run_id or args.command:
        raise BadInput(
            "a run cannot be combined with --handle, --lane, --loop-ts, --run-id or --command",
            hint="Give the run alone, or --handle and its options.",
        )
    if args.timeout < 0:
        raise BadInput(
            "--timeout cannot be below 0", hint="For example: --timeout 60; 0 only asks."
        )
    run_id = lookup.named_run_id(context.journal_world.journal, args.run)
    by = caller.optional_name(args.owner, "owner") or actor()
    reason = lookup.validated_text(args.reason, "reason") or "halt"
    resume_sha = lookup.optional_commit_hash(context, args.resume_sha)
    lease = live_lease(context.journal_world.journal, run_id)
    if lease is None:
        return _not_running(context, run_id)
    journal = context.journal
    journal.append_all(
        halt_entries(run_id, resumable=args.resumable, by=by, reason=reason, resume_sha=resume_sha)
    )

    def has_ended() -> bool:
        return live_lease(journal, run_id) is None

    with progress(context) as show:
        for seconds in wait_until(has_ended, journal, args.timeout):
            show(
                f"{run_id} on {lease.lane} was asked to stop {seconds:.0f} s ago; "
                "Ctrl-C stops waiting"
            )
    if not has_ended():
        text = f"{run_id} was asked to stop and still runs; `dos top` shows when it has stopped"
        return Reply(code=1, text=text, data=_data(run_id, lease.lane, halted=False))
    return _stopped(journal, run_id, lease.lane, resumable=args.resumable)


def _stopped(journal: Store, run_id: str, lane: str, *, resumable: bool) -> Reply:
    """Return the reply for a run that has ended: why, and how its lane and work can continue."""
    stop_reason = ""
    sentences = [f"{run_id} has exited without recording why"]
    last = last_stop(journal, run_id)
    if last:
        stop_reason = last.stop_reason
        sentences = [f"{run_id} stopped: {tokens.words(stop_reason)} ({last.reason})"]
    sentences.append(f"`{pauses.resume_command(lane)}` lets its lane start again")
    next_action = ""
    if resumable:
        next_action = f"dos resume --run-id {run_id}"
        sentences.append(f"`{next_action}` shows where the run can resume")
    return Reply(
        text="; ".join(sentences),
        data=_data(run_id, lane, halted=True, stop_reason=stop_reason),
        next_action=next_action,
    )


def _not_running(context: Context, run_id: str) -> Reply:
    """Reply for a run that holds no live lease; nothing is recorded."""
    journal = context.journal_world.journal
    if not journal.load(run_state.stream(run_id), limit=1):
        return Reply(
            code=1,
            text=f"the journal has no run {run_id}",
            data=_data(run_id, "", halted=False),
            next_action="`dos timeline LANE` shows the newest run of a lane, and its id.",
        )
    last = last_stop(journal, run_id)
    if last is None:
        return Reply(text=f"{run_id} is not running any more", data=_data(run_id, "", halted=True))
    words = tokens.words(last.stop_reason)
    return Reply(
        text=f"{run_id} has already stopped: {words} ({last.reason})",
        data=_data(run_id, last.lane, halted=True, stop_reason=last.stop_reason),
    )


def _data(run_id: str, lane: str, *, halted: bool, stop_reason: str = "") -> dict[str, Any]:
    """Return the JSON document about a run that was asked to stop."""
    return {"run_id": run_id, "lane": lane, "halted": halted, "stop_reason": stop_reason}


def halt_entries(
    run_id: str, *, resumable: bool, by: str, reason: str, resume_sha: str = "", key: str = ""
) -> list[Entry]:
    """Return the entries that ask a run to stop, in its own stream, which its worker reads.

    With `resumable` the run is suspended by the same transaction. `key` makes each entry unique.
    """
    facts: list[Fact] = [HaltRequested(run_id=run_id, resumable=resumable, by=by, reason=reason)]
    if resumable:
        facts.append(RunSuspended(run_id=run_id, reason=reason, resume_sha=resume_sha))
    entries = []
    for fact in facts:
        entry_key = f"{fact.kind}/{key}" if key else None
        entries.append(
            Entry(stream=run_state.stream(run_id), kind=fact.kind, body=fact, key=entry_key)
        )
    return entries


def live_run_leases(journal: Store) -> list[Lease]:
    """Return the leases of the runs whose process, as far as this host can tell, still runs.

    A process of another machine cannot be seen from here, and counts as running.
    """
    leases = journal.leases(lapsed=False)
    return [lease for lease in leases if lease.run_id and not process.holder_has_exited(lease)]


def live_lease(journal: Store, run_id: str) -> Lease | None:
    """Return the lease of a run that still runs, as far as this host can tell; else None."""
    for lease in live_run_leases(journal):
        if lease.run_id == run_id:
            return lease
    return None


def last_stop(journal: Store, run_id: str) -> RunStopped | None:
    """Return the last stop that the run recorded; None if it recorded none."""
    last = None
    for _, stop in select(journal.load(run_state.stream(run_id)), RunStopped):
        last = stop
    return last


def wait_until(is_over: Callable[[], bool], journal: Store, seconds: float) -> Iterator[float]:
    """Yield the seconds waited so far, until `is_over` or the time is up.

    It looks whenever the journal changes, and at least every LOOK_SECONDS.
    """
    began = time.monotonic()
    while not is_over():
        waited = time.monotonic() - began
        if waited >= seconds:
            return
        yield waited
        left = seconds - (time.monotonic() - began)
        journal.wait(journal.last(), max(0, min(LOOK_SECONDS, left)))


# Recording that another program should stop a process


def _propose(args: Args, context: Context) -> Reply:
    """Record that another program should stop a process, and with --resumable suspend its run.

    The lease of the process adds the lane, the stamp and the run where the options leave them out.
    """
    handle = validated_name(args.handle, "handle")
    owner = caller.optional_name(args.owner, "owner")
    lane = caller.optional_name(args.lane, "lane name")
    loop_ts = caller.optional_name(args.loop_ts, "loop stamp")
    default_reason = f"halt:{owner}" if owner else "halt"
    run_id = ""
    if args.run_id:
        run_id = run_ids.validated_run_id(args.run_id)
    proposed = HaltProposed(
        handle=handle,
        lane=lane,
        loop_ts=loop_ts,
        host=process.host(),
        owner=owner,
        run_id=run_id,
        command=lookup.validated_text(args.command, "command"),
        reason=lookup.validated_text(args.reason, "reason") or default_reason,
    )
    resume_sha = lookup.optional_commit_hash(context, args.resume_sha)
    lease = _lease(context, handle, lane, loop_ts)
    if lease is not None:
        proposed = _with_lease(proposed, lease)
    stream = run_state.stream(proposed.run_id) if proposed.run_id else streams.HALTS
    entries = [Entry(stream=stream, kind=proposed.kind, body=proposed)]
    suspends = args.resumable and bool(run_id)
    if suspends:
        suspended = RunSuspended(run_id=run_id, reason=proposed.reason, resume_sha=resume_sha)
        entries.append(Entry(stream=run_state.stream(run_id), kind=suspended.kind, body=suspended))
    context.journal.append_all(entries)
    data: dict[str, Any] = {
        "recorded": True,
        "handle": handle,
        "command": proposed.command,
        "lane": proposed.lane,
        "loop_ts": proposed.loop_ts,
    }
    if args.resumable:
        data |= {"suspended": suspends, "suspend_note": _suspend_note(run_id)}
    return Reply(data=data, plain=f"Recorded: {handle!r} should stop.", always_json=True)


def _with_lease(proposed: HaltProposed, lease: Lease) -> HaltProposed:
    """Fill in from the lease what the options left out."""
    return structs.replace(
        proposed,
        lane=proposed.lane or lease.lane,
        loop_ts=proposed.loop_ts or lease.loop_ts,
        run_id=proposed.run_id or lease.run_id,
    )


def _lease(context: Context, handle: str, lane: str, loop_ts: str) -> Lease | None:
    """Find the lease by its lane or stamp, else by the process."""
    if lane or loop_ts:
        return caller.find_lease(context.policy_world, lane=lane, loop_ts=loop_ts)
    for lease in reversed(context.world.journal.leases()):
        if str(lease.pid) == handle:
            return lease
    return None


def _suspend_note(run_id: str) -> str:
    """Return the JSON value that says whether a run was suspended, and how it can resume."""
    if not run_id:
        return "no run was named, so none was suspended"
    return f"`dos resume --run-id {run_id}` shows where it can resume"
