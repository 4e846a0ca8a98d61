"""Who holds what.

Also what has lapsed and nobody has taken or reaped yet: it is marked, and stands in nobody's way.
"""

from msgspec import Struct

from dos.lanes.io import view
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    rows = view.rows(context.journal_world.journal)
    plain = [
        f"{row.lease.holder!r} holds {row.lease.lane!r}{' (lapsed)' if row.lapsed else ''}."
        for row in rows
    ]
    return Reply(
        data=[row.to_json() for row in rows],
        plain="\n".join(plain) or "Nobody holds a lane.",
        always_json=True,
    )
