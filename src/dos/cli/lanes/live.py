"""List the leases and their holders.

Leases that have expired and were neither reaped nor taken over are listed and marked as lapsed;
they block nothing.
"""

from msgspec import Struct

from dos.lanes.io import leases
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    rows = leases.lease_rows(context.journal_world.journal)
    plain = [
        f"{row.lease.holder!r} holds {row.lease.lane!r}{' (lapsed)' if row.lapsed else ''}."
        for row in rows
    ]
    return Reply(
        data=[row.to_json() for row in rows],
        plain="\n".join(plain) or "Nobody holds a lane.",
        always_json=True,
    )
