"""The live leases, in the shape of released versions; also those of imported logs, which hold nothing here."""

from msgspec import Struct

from dos.journal.transfer import transfer
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    return Reply(
        data=transfer.replayed(context.journal_world.journal), indented=True, always_json=True
    )
