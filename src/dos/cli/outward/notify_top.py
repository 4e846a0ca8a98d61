"""Tell people which lanes are at work, in one message.

The message is replaced when a lane's state changes, and not sent again while none does.
"""

from dos.cli.fleet.top import released_frame
from dos.cli.outward.delivery import CommonArgs, Mailbox
from dos.outward import notification
from dos.verbs.context import Context, Reply

EXITS = {"delivered": 0, "not-delivered": 1, "contract_error": 2, "lock-busy": 4}


class Args(CommonArgs, kw_only=True):
    """How to send."""


def run(args: Args, context: Context) -> Reply:
    """Send what changed. It exits 1 where the transport did not deliver, also with --json."""
    mailbox = Mailbox(args, context)
    note = notification.of_lanes(released_frame(context))
    return mailbox.reply(note, [mailbox.deliver(note)])
