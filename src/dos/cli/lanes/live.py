"""List the leases and their holders.

Leases that have expired and were neither reaped nor taken over are listed and marked as lapsed;
they block nothing.
"""

from msgspec import Struct

from dos.lanes.io.leases import lease_rows
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, context: Context) -> Reply:
    """List the leases of lanes, with those that have expired and that nobody took since."""
    rows = lease_rows(context.journal_world.journal)
    sentences = []
    for row in rows:
        mark = " (lapsed)" if row.lapsed else ""
        sentences.append(f"{row.lease.holder!r} holds {row.lease.lane!r}{mark}.")
    return Reply(
        data=[row.to_json() for row in rows],
        plain="\n".join(sentences) or "No leases.",
        always_json=True,
    )
