"""Let the workers finish what they are at, and stop.

Nothing is killed. Each worker ends at its next commit point; what it had not finished is done by the next `dos up`.
"""

import time
from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.journal.events import DrainRequested
from dos.journal.store import Store
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option

EXITS = {"down": 0, "still-running": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    timeout: Annotated[float, Option(help="how long to wait for the end; 0 only asks", metavar="SECONDS")] = 300.0


def run(args: Args, desk: Desk) -> Reply:
    if args.timeout < 0:
        raise BadInput("--timeout cannot be below 0", hint="For example: --timeout 60; 0 only asks.")
    if not _running(desk.journal_world.journal):
        return Reply(text="nothing runs here", data={"down": True, "left": []})
    journal = desk.journal
    journal.record("fleet", DrainRequested(reason="dos down"))
    deadline = time.monotonic() + args.timeout
    while (left := _running(journal)) and time.monotonic() < deadline:
        journal.wait(journal.last(), min(1.0, max(0.0, deadline - time.monotonic())))
    if left:
        names = ", ".join(left)
        return Reply(code=1, text=f"asked to drain; still running: {names}", data={"down": False, "left": left})
    return Reply(text="everything has stopped", data={"down": True, "left": []})


def _running(journal: Store) -> list[str]:
    leases = [*journal.leases(lapsed=False), *journal.leases(locks=True, lapsed=False)]
    return [lease.lane for lease in leases if lease.run_id or (lease.is_lock and lease.lane.startswith("supervisor/"))]
