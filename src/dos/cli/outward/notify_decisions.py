"""Tell people about open decisions, once each.

Every open decision is one message. It is replaced when what it says changes, and once more when the
decision is closed; the same message is never sent twice. [notify] of dos.toml says where to.
"""

from typing import Annotated

from dos.cli.decisions import gather
from dos.cli.outward.delivery import CommonArgs, Mailbox
from dos.errors import BadInput
from dos.outward import notification
from dos.questions import view
from dos.questions.state import Decisions
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"delivered": 0, "not-delivered": 1, "contract_error": 2, "lock-busy": 4}


class Args(CommonArgs, kw_only=True):
    """How many decisions get a message of their own, and how to send it."""

    all: Annotated[bool, Option(help="a message for every open decision")] = False
    top: Annotated[int, Option(help="messages for the N most urgent ones", metavar="N")] = 5


def run(args: Args, context: Context) -> Reply:
    """Send what is new. It exits 1 where the transport did not deliver, also with --json."""
    if args.top < 1:
        raise BadInput("--top is less than 1", hint="For example: --top 5")
    mailbox = Mailbox(args, context)
    decisions = gather.open_questions(context)
    now_ms = context.journal_world.journal.now_ms()
    rows = view.rows(view.ordered_questions(decisions), now_ms)
    most = None if args.all else args.top
    summary = notification.of_all_decisions(rows, most=most)
    deliveries = [mailbox.deliver(notification.of_decision(row)) for row in rows[:most]]
    open_keys = {notification.decision_key(row.id) for row in rows}
    if most is not None and len(rows) > most:
        deliveries.append(mailbox.deliver(notification.of_the_others(len(rows) - most)))
        open_keys.add(notification.OTHERS)
    for key in mailbox.open_keys(notification.decision_key("")):
        if key not in open_keys:
            note = notification.of_closed_decision(key, _answer(decisions, key))
            deliveries.append(mailbox.deliver(note, closes=True))
    if not deliveries:
        deliveries.append(mailbox.deliver(summary))
    return mailbox.reply(summary, deliveries)


def _answer(decisions: Decisions, key: str) -> str:
    """Return how a decision was answered, as far as it is known."""
    answered = decisions.answered.get(key.removeprefix(notification.decision_key("")))
    if answered is None:
        return "Its cause is gone."
    if answered.expired or answered.reason:
        return f"Closed with {answered.choice}: {answered.reason or 'nobody answered in time'}"
    return f"Answered {answered.choice} by {answered.by or 'an unknown user'}"
