"""Stop the fleet after the work in progress.

Nothing is killed. Each worker ends at its next commit point; the next `dos up` does what it had not
finished. With --now each run is asked to halt, which ends its agent, saves its work so far, and
leaves the run to be resumed.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.runs import halt
from dos.cli.terminal.progress import progress
from dos.errors import BadInput
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events.fleet import DrainRequested
from dos.journal.store import Store
from dos.machine import process
from dos.text import join_some
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"down": 0, "still-running": 1, "contract_error": 2}
NOW = "dos down --now"


class Args(Struct, kw_only=True):
    """How long to wait, and whether agents are stopped too."""

    timeout: Annotated[
        float, Option(help="how long to wait for the end; 0: do not wait", metavar="SECONDS")
    ] = 300.0
    now: Annotated[bool, Option(help="stop the agents, too, instead of waiting for them")] = False


def run(args: Args, context: Context) -> Reply:
    """Request a drain, and wait until no worker and no supervisor is left, or for --timeout.

    The request is recorded in the journal, so it also reaches supervisors on other hosts. With
    --now runs are halted as well, again and again while it waits: a worker may take its lane only
    after the first request.
    """
    if args.timeout < 0:
        raise BadInput(
            f"--timeout is {args.timeout:g}; it must be at least 0",
            hint="For example: --timeout 60. With 0 it does not wait.",
        )
    if not _running(context.journal_world.journal):
        return Reply(text="Nothing is running", data={"down": True, "left": []})
    journal = context.journal
    halted: set[str] = set()
    request = DrainRequested(reason=NOW if args.now else "dos down")
    entries = [Entry(stream=streams.FLEET, kind=request.kind, body=request)]
    if args.now:
        entries += _halt_entries(journal, halted)
    journal.append_all(entries)
    with progress(context) as show:
        for seconds in halt.wait_until(lambda: not _running(journal), journal, args.timeout):
            if args.now:
                # A worker that had no lane at the first request may have one by now.
                entries = _halt_entries(journal, halted)
                if entries:
                    journal.append_all(entries)
            names = join_some(_running(journal))
            show(f"still running after {seconds:.0f} s: {names}; Ctrl-C stops waiting")
    still_running = _running(journal)
    if not still_running:
        return Reply(text="Everything has stopped", data={"down": True, "left": []})
    return Reply(
        code=1,
        text=f"Drain requested; still running: {', '.join(still_running)}",
        data={"down": False, "left": still_running},
    )


def _halt_entries(journal: Store, halted: set[str]) -> list[Entry]:
    """Return the entries that halt runs which were not halted yet, and add those to the set."""
    entries: list[Entry] = []
    for lease in halt.live_run_leases(journal):
        if lease.run_id not in halted:
            halted.add(lease.run_id)
            entries += halt.halt_entries(lease.run_id, resumable=True, by=actor(), reason=NOW)
    return entries


def _running(journal: Store) -> list[str]:
    """Return the lanes of live workers and the names of live supervisors."""
    names = []
    for lease in (*journal.leases(lapsed=False), *journal.leases(locks=True, lapsed=False)):
        is_supervisor = lease.is_lock and lease.lane in streams.supervisor
        if not (lease.run_id or is_supervisor) or process.holder_has_exited(lease):
            continue
        names.append(streams.supervisor(lease.host) if lease.is_lock else lease.lane)
    return names
