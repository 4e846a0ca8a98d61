"""Sends messages once: what verbs of `dos notify` share.

A message that says the same as the last one under its key is not sent again; one that says
something else replaces it.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.doors import NotificationSent
from dos.outward.io import messages
from dos.outward.io.notifiers import NULL, Notifier, Target, open_notifier
from dos.outward.notification import Notification, Sent
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

CLOSED = "closed"  # instead of the digest of a message: nothing more will be said under its key


class Delivery(Struct, frozen=True, kw_only=True):
    """What became of one message."""

    key: str
    action: str  # sent, updated, closed, unchanged, shown, failed or skipped
    result: Sent


class CommonArgs(Struct, kw_only=True):
    """How to send."""

    notifier: Annotated[
        str,
        Option(
            help="null, webhook, slack, ntfy, command, a plugin ([notify] notifier)",
            metavar="NAME",
        ),
    ] = ""
    channel: Annotated[str, Option(help="Slack channel or ntfy topic", metavar="NAME")] = ""
    url: Annotated[str, Option(help="where to send ($DOS_WEBHOOK_URL)", metavar="URL")] = ""
    token: Annotated[str, Option(help="refused: see --token-file", hidden=True)] = ""
    token_file: Annotated[
        str, Option(help="file with the token, readable only by you", metavar="FILE")
    ] = ""
    dry_run: Annotated[bool, Option(help="show the message, send nothing")] = False


class Mailbox:
    """One call: sends messages over one transport, and remembers them in the journal."""

    def __init__(self, args: CommonArgs, context: Context) -> None:
        if args.token:
            raise BadInput(
                "--token would show the token to everybody who lists processes",
                hint="Put it into a file and use --token-file FILE, or set $DOS_WEBHOOK_TOKEN,"
                " $SLACK_BOT_TOKEN or $NTFY_TOKEN.",
            )
        settings = context.policy.notify
        self.name = args.notifier or settings.notifier
        self._context = context
        self._dry_run = args.dry_run
        self._has_failed = False
        self._journal = context.journal_world.journal
        target = Target(
            root=context.journal_world.workspace.root,
            url=args.url or settings.url,
            channel=args.channel or settings.channel,
            command=settings.command,
            timeout_seconds=settings.timeout_seconds,
            token_file=args.token_file,
        )
        self._notifier: Notifier = open_notifier(self.name, target)

    def deliver(self, note: Notification, *, closes: bool = False) -> Delivery:
        """Send a message unless it was sent before. After a failure no other one is tried."""
        last = messages.last_sent(self._journal, self.name, note.key)
        digest = CLOSED if closes else note.digest
        if last is not None and last.digest == digest:
            unchanged = Sent(delivered=True, detail="it was sent before", ref=last.ref)
            return Delivery(key=note.key, action="unchanged", result=unchanged)
        if self._dry_run:
            shown = Sent(delivered=False, detail="dry run: it would be sent")
            return Delivery(key=note.key, action="shown", result=shown)
        if self._has_failed:
            skipped = Sent(delivered=False, detail="not tried: an earlier message failed")
            return Delivery(key=note.key, action="skipped", result=skipped)
        ref = ""
        if last is not None and last.digest != CLOSED:
            ref = last.ref
        sent = self._notifier.send(note, ref)
        if self.name == NULL:
            return Delivery(key=note.key, action="shown", result=sent)
        if not sent.delivered:
            self._has_failed = True
            return Delivery(key=note.key, action="failed", result=sent)
        self._record(
            NotificationSent(transport=self.name, key=note.key, ref=sent.ref, digest=digest)
        )
        action = "sent"
        if ref:
            action = CLOSED if closes else "updated"
        return Delivery(key=note.key, action=action, result=sent)

    def open_keys(self, prefix: str) -> list[str]:
        """Return the keys with this prefix whose message was not closed yet."""
        found = messages.sent_with_prefix(self._journal, self.name, prefix)
        return [sent.key for sent in found if sent.digest != CLOSED]

    def reply(self, note: Notification, deliveries: Sequence[Delivery]) -> Reply:
        """Return the reply: it exits 1 where a message was not delivered."""
        result = _whole_result(deliveries)
        is_real = self.name != NULL and not self._dry_run
        data: dict[str, Any] = {
            "notification": to_builtins(note),
            "result": to_builtins(result),
            "notifier": self.name,
            "messages": to_builtins(list(deliveries)),
        }
        lines = [note.text]
        lines += [f"{each.action}  {each.key}: {each.result.detail}" for each in deliveries]
        code = int(is_real and not result.delivered)
        stderr = ""
        if code:
            stderr = f"error: not delivered by {self.name}: {result.detail}"
        return Reply(code=code, text="\n".join(lines), data=data, stderr=stderr, indented=True)

    def _record(self, sent: NotificationSent) -> None:
        """Remember a message, unless that would create a journal."""
        if not isinstance(self._journal.backend, MemoryBackend):
            messages.record_sent(self._context.journal, sent)


def _whole_result(deliveries: Sequence[Delivery]) -> Sent:
    """Return one result for all messages: that of the first that failed, else of the last."""
    for delivery in deliveries:
        if not delivery.result.delivered:
            return delivery.result
    if deliveries:
        return deliveries[-1].result
    return Sent(delivered=True, detail="there is nothing to send")
