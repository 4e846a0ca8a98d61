"""The table [notify] of `dos.toml`: where messages to people go."""

from typing import Annotated

from msgspec import Meta

from dos.fields import BadValue, Table, check_text

Timeout = Annotated[float, Meta(ge=1, le=60)]


class Notify(Table, frozen=True, kw_only=True):
    """[notify]: where `dos notify` sends messages; their secrets are never in this file."""

    notifier: str = "null"
    """How `dos notify` sends: null, webhook, slack, ntfy, command, or a plugin."""
    url: str = ""
    """URL of the webhook, or of the ntfy server or Slack's API where it is not the public one."""
    channel: str = ""
    """Channel of Slack, or topic of ntfy."""
    command: tuple[str, ...] = ()
    """Program and arguments for the notifier `command`; it gets the message as JSON on stdin."""
    timeout_seconds: Timeout = 10.0
    """Time limit of sending one message."""

    def __post_init__(self) -> None:
        for name in ("notifier", "url", "channel"):
            check_text(getattr(self, name), (name,))
        for place, word in enumerate(self.command):
            check_text(word, ("command", place))
        if self.command and not self.command[0].strip():
            raise BadValue(
                ("command", 0),
                "the command has no program to start",
                "Put the program's name first.",
            )
