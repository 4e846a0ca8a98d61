"""Stop a run now, or record that a process should stop.

With a run, its worker is asked to stop: it ends the agent, saves the unfinished work and releases
the lane; this verb waits for that. With --handle no process is signalled: the request is recorded,
and the program that reads the journal acts on it. With --resumable the run is also suspended, so
that it can be resumed later.
"""

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msgspec import Struct

from dos import run_ids
from dos.cli.lanes import caller, pauses
from dos.cli.runs import lookup
from dos.cli.terminal.progress import progress
from dos.errors import BadInput
from dos.journal import run_state, streams
from dos.journal.events import envelope, fleet
from dos.journal.events.limits import HaltRequested
from dos.journal.events.reader import select
from dos.journal.events.runs import HaltProposed, RunSuspended
from dos.journal.store import Entry, Store
from dos.lease import Lease
from dos.loop import tokens
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

LOOK_SECONDS = 1.0


def halt_entries(
    run_id: str, *, resumable: bool, by: str, reason: str, resume_sha: str = "", key: str = ""
) -> list[Entry]:
    """In the run's own stream, where its worker looks; one that is to go on later is put aside by the same word."""
    facts: list[envelope.Fact] = [
        HaltRequested(run_id=run_id, resumable=resumable, by=by, reason=reason)
    ]
    if resumable:
        facts.append(RunSuspended(run_id=run_id, reason=reason, resume_sha=resume_sha))
    return [
        Entry(
            stream=run_state.stream(run_id),
            kind=fact.kind,
            body=fact,
            key=f"{fact.kind}/{key}" if key else None,
        )
        for fact in facts
    ]


def live_run_leases(journal: Store) -> list[Lease]:
    """The leases of the runs that live, as far as the journal and the system know."""
    return [
        lease
        for lease in journal.leases(lapsed=False)
        if lease.run_id and not process.holder_has_exited(lease)
    ]


def last_stop(journal: Store, run_id: str) -> fleet.RunStopped | None:
    """Its last word; None: it has not said it."""
    said = [fact for _, fact in select(journal.load(run_state.stream(run_id)), fleet.RunStopped)]
    return said[-1] if said else None


def wait_until(over: Callable[[], bool], journal: Store, seconds: float) -> Iterator[float]:
    """The seconds that went by, at each look, for as long as it is not over and there is time left."""
    began = time.monotonic()
    while not over() and (left := seconds - (time.monotonic() - began)) > 0:
        yield time.monotonic() - began
        journal.wait(journal.last(), min(LOOK_SECONDS, left))


EXITS = {
    "recorded": 0,
    "halted": 0,
    "not-recorded": 1,
    "still-running": 1,
    "contract_error": 2,
    "lock-busy": 4,
}


class Args(Struct, kw_only=True):
    run: Annotated[
        str, Option(help="the run that is to stop, or its lane", positional=True, metavar="RUN")
    ] = ""
    handle: Annotated[
        str, Option(help="what somebody should stop: a pid, a session, a job", metavar="H")
    ] = ""
    lane: Annotated[str, Option(help="with --handle: the lane it works on", metavar="LANE")] = ""
    loop_ts: Annotated[
        str, Option(help="with --handle: the stamp of its lease", metavar="STAMP")
    ] = ""
    owner: Annotated[str, Option(help="who asks for it", metavar="OWNER")] = ""
    reason: Annotated[str, Option(help="why, for the record", metavar="TEXT")] = ""
    run_id: Annotated[
        str, Option(help="with --handle: the run; that of the lease when not given", metavar="RID")
    ] = ""
    command: Annotated[str, Option(help="with --handle: what would stop it", metavar="COMMAND")] = (
        ""
    )
    resumable: Annotated[bool, Option(help="put the run aside, to go on later")] = False
    resume_sha: Annotated[str, Option(help="with --resumable: from this commit", metavar="REF")] = (
        ""
    )
    timeout: Annotated[
        float, Option(help="how long to wait for its end; 0 only asks", metavar="SECONDS")
    ] = 30.0


def run(args: Args, context: Context) -> Reply:
    if not args.run and not args.handle:
        raise BadInput(
            "nothing is named that could stop", hint="`dos top` shows the lanes: dos halt LANE"
        )
    return _halted(args, context) if args.run else _proposed(args, context)


def _halted(args: Args, context: Context) -> Reply:
    if args.handle or args.lane or args.loop_ts or args.run_id or args.command:
        raise BadInput(
            "a run is named, and --handle, --lane, --loop-ts, --run-id or --command beside it",
            hint="Give the run alone, or --handle and what belongs to it.",
        )
    if args.timeout < 0:
        raise BadInput(
            "--timeout cannot be below 0", hint="For example: --timeout 60; 0 only asks."
        )
    run_id = lookup.named_run_id(context.journal_world.journal, args.run)
    by = validated_name(args.owner, "owner") if args.owner else actor()
    reason = lookup.validated_text(args.reason, "reason") or "halt"
    resume_sha = lookup.commit_hash(context, args.resume_sha) if args.resume_sha else ""
    reading = context.journal_world.journal
    lease = next((lease for lease in live_run_leases(reading) if lease.run_id == run_id), None)
    if lease is None:
        return _not_at_work(context, run_id)
    journal = context.journal
    journal.append_all(
        halt_entries(run_id, resumable=args.resumable, by=by, reason=reason, resume_sha=resume_sha)
    )

    def over() -> bool:
        return all(each.run_id != run_id for each in live_run_leases(journal))

    with progress(context) as say:
        for seconds in wait_until(over, journal, args.timeout):
            say(
                f"{run_id} on {lease.lane} was asked to stop {seconds:.0f} s ago; Ctrl-C leaves it to that"
            )
    if not over():
        told = f"{run_id} was asked to stop, and has not yet; `dos top` shows when it has"
        return Reply(code=1, text=told, data=_data(run_id, lease.lane, halted=False))
    last = last_stop(journal, run_id)
    how = (
        f"stopped: {tokens.words(last.stop_reason)} ({last.reason})"
        if last
        else "is gone, and did not say why"
    )
    lines = [f"{run_id} {how}", f"`{pauses.resume_command(lease.lane)}` lets its lane go on"]
    note = f"dos resume --run-id {run_id}" if args.resumable else ""
    lines += [f"`{note}` says where the run goes on"] if note else []
    return Reply(
        text="; ".join(lines),
        data=_data(run_id, lease.lane, halted=True, stop_reason=last.stop_reason if last else ""),
        next_action=note,
    )


def _not_at_work(context: Context, run_id: str) -> Reply:
    """There is nothing to wait for, and nothing is written."""
    journal = context.journal_world.journal
    if not journal.load(run_state.stream(run_id), limit=1):
        return Reply(
            code=1,
            text=f"the journal knows no run {run_id}",
            data=_data(run_id, "", halted=False),
            next_action="`dos top` shows the runs.",
        )
    last = last_stop(journal, run_id)
    how = (
        f"has stopped already: {tokens.words(last.stop_reason)} ({last.reason})"
        if last
        else "does not run any more"
    )
    return Reply(
        text=f"{run_id} {how}",
        data=_data(
            run_id,
            last.lane if last else "",
            halted=True,
            stop_reason=last.stop_reason if last else "",
        ),
    )


def _data(run_id: str, lane: str, *, halted: bool, stop_reason: str = "") -> dict[str, Any]:
    return {"run_id": run_id, "lane": lane, "halted": halted, "stop_reason": stop_reason}


def _proposed(args: Args, context: Context) -> Reply:
    handle = validated_name(args.handle, "handle")
    owner = validated_name(args.owner, "owner") if args.owner else ""
    lane = validated_name(args.lane, "lane name") if args.lane else ""
    loop_ts = validated_name(args.loop_ts, "loop stamp") if args.loop_ts else ""
    command = lookup.validated_text(args.command, "command")
    reason = lookup.validated_text(args.reason, "reason") or (f"halt:{owner}" if owner else "halt")
    run_id = run_ids.validated_run_id(args.run_id) if args.run_id else ""
    resume_sha = lookup.commit_hash(context, args.resume_sha) if args.resume_sha else ""
    lease = _lease(context, handle, lane, loop_ts)
    fact = HaltProposed(
        handle=handle,
        lane=lane or (lease.lane if lease else ""),
        loop_ts=loop_ts or (lease.loop_ts if lease else ""),
        host=process.host(),
        owner=owner,
        run_id=run_id or (lease.run_id if lease else ""),
        command=command,
        reason=reason,
    )
    suspends = args.resumable and bool(run_id)
    entries = [
        Entry(
            stream=run_state.stream(fact.run_id) if fact.run_id else streams.HALTS,
            kind=fact.kind,
            body=fact,
        )
    ]
    if suspends:
        put_aside = RunSuspended(run_id=run_id, reason=reason, resume_sha=resume_sha)
        entries.append(Entry(stream=run_state.stream(run_id), kind=put_aside.kind, body=put_aside))
    context.journal.append_all(entries)
    data: dict[str, Any] = {
        "recorded": True, "handle": handle, "command": command, "lane": fact.lane, "loop_ts": fact.loop_ts
    }  # fmt: skip
    if args.resumable:
        data |= {"suspended": suspends, "suspend_note": _note(run_id)}
    return Reply(
        data=data, plain=f"It is written down that {handle!r} should stop.", always_json=True
    )


def _lease(context: Context, handle: str, lane: str, loop_ts: str) -> Lease | None:
    """The lease that is meant: by its lane or stamp, else by its process."""
    store = context.world.journal
    if lane or loop_ts:
        return caller.find_lease(context.policy_world, lane=lane, loop_ts=loop_ts)
    return next((lease for lease in reversed(store.leases()) if str(lease.pid) == handle), None)


def _note(run_id: str) -> str:
    if not run_id:
        return "no run was named, so that none is put aside"
    return f"`dos resume --run-id {run_id}` says where it goes on"
