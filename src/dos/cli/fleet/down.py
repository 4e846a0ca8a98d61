"""Stop the fleet after the work in progress.

Nothing is killed. Each worker ends at its next commit point; what it had not finished is done by the next `dos up`.
With --now nobody waits for that: each run is asked to halt, which ends its agent, saves what it has done so far, and
leaves it to go on later.
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
    timeout: Annotated[
        float, Option(help="how long to wait for the end; 0 only asks", metavar="SECONDS")
    ] = 300.0
    now: Annotated[bool, Option(help="stop the agents too, instead of waiting for them")] = False


def run(args: Args, context: Context) -> Reply:
    if args.timeout < 0:
        raise BadInput(
            "--timeout cannot be below 0", hint="For example: --timeout 60; 0 only asks."
        )
    if not _running(context.journal_world.journal):
        return Reply(text="nothing runs here", data={"down": True, "left": []})
    journal = context.journal
    drain = DrainRequested(reason=NOW if args.now else "dos down")
    asked: set[str] = set()
    journal.append_all(
        [
            Entry(stream=streams.FLEET, kind=drain.kind, body=drain),
            *(_halts(journal, asked) if args.now else []),
        ]
    )
    with progress(context) as say:
        for seconds in halt.wait_until(lambda: not _running(journal), journal, args.timeout):
            # Whoever had been started and had no lane yet has one by now.
            if args.now and (late := _halts(journal, asked)):
                journal.append_all(late)
            say(
                f"still running after {seconds:.0f} s: {join_some(_running(journal))}; Ctrl-C leaves them to it"
            )
    left = _running(journal)
    if left:
        names = ", ".join(left)
        return Reply(
            code=1,
            text=f"asked to drain; still running: {names}",
            data={"down": False, "left": left},
        )
    return Reply(text="everything has stopped", data={"down": True, "left": []})


def _halts(journal: Store, asked: set[str]) -> list[Entry]:
    runs = [lease.run_id for lease in halt.live_run_leases(journal) if lease.run_id not in asked]
    asked.update(runs)
    return [
        entry
        for run_id in runs
        for entry in halt.halt_entries(run_id, resumable=True, by=actor(), reason=NOW)
    ]


def _running(journal: Store) -> list[str]:
    leases = [*journal.leases(lapsed=False), *journal.leases(locks=True, lapsed=False)]
    ours = [
        lease
        for lease in leases
        if lease.run_id or (lease.is_lock and lease.lane in streams.supervisor)
    ]
    alive = [lease for lease in ours if not process.holder_has_exited(lease)]
    return [streams.supervisor(lease.host) if lease.is_lock else lease.lane for lease in alive]
