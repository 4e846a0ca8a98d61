"""Show the live leases in the format of dos-kernel ≤ 0.30.

Leases of imported logs are shown as well; they hold no lane here.
"""

from msgspec import Struct

from dos.journal.transfer import transfer
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, context: Context) -> Reply:
    leases = transfer.replay_live_leases(context.journal_world.journal)
    return Reply(data=leases, indented=True, always_json=True)
