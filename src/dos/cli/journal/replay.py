"""The live leases, in the shape of released versions; also those of imported logs, which hold nothing here."""

from msgspec import Struct

from dos.journal.transfer import transfer
from dos.verbs.context import Desk, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, desk: Desk) -> Reply:
    return Reply(
        data=transfer.replayed(desk.journal_world.journal), indented=True, always_json=True
    )
