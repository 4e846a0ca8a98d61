"""The transports of `dos notify`. None of them raises: what went wrong is in their answer."""

import hmac
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec import DecodeError, Struct, json

from dos import plugins
from dos.errors import BadInput
from dos.machine import commands
from dos.outward.io import http
from dos.outward.io.secrets import read_secret
from dos.outward.notification import (
    Notification,
    Sent,
    Severity,
    for_chat,
    payload,
    without_links,
)
from dos.text import did_you_mean, quote
from dos.unknown import Unknown, call_or_unknown

NULL = "null"
BUILT_IN = (NULL, "webhook", "slack", "ntfy", "command")
GROUP = "dos.notifiers"
AGENT = "dos-notify/webhook"
SIGNATURE = "X-Dos-Signature-256"
NTFY = "https://ntfy.sh"
SLACK = "https://slack.com/api"
# The highest of ntfy's five priorities may wake people up.
_PRIORITIES = {Severity.URGENT: 5, Severity.WARN: 4, Severity.INFO: 3}
MOST_FIELDS = 10
LONGEST_HEADER = 150
LONGEST_FIELD = 2000
LONGEST_BLOCK = 2800


class Notifier(Protocol):
    """Sends a message; `ref` is the transport's name for the one that it replaces."""

    def send(self, note: Notification, ref: str) -> Sent: ...


class Target(Struct, frozen=True, kw_only=True):
    """Where messages go: the options of the verb, with [notify] behind them."""

    root: Path
    url: str
    channel: str
    command: tuple[str, ...]
    timeout_seconds: float
    token_file: str = ""


class NullNotifier:
    """Sends nothing: the message is only shown."""

    def send(self, _note: Notification, _ref: str) -> Sent:
        return Sent(delivered=False, detail="not sent: the notifier null only shows the message")


class WebhookNotifier:
    """Posts the message as JSON that Slack's and Mattermost's webhooks understand as well.

    With a secret, the body is signed: `X-Dos-Signature-256: sha256=HMAC`.
    """

    def __init__(self, target: Target) -> None:
        self._url = _url(target.url or os.environ.get("DOS_WEBHOOK_URL", ""), "webhook")
        self._timeout = target.timeout_seconds
        self._token = read_secret("DOS_WEBHOOK_TOKEN", file=target.token_file)
        self._secret = read_secret("DOS_WEBHOOK_SECRET")

    def send(self, note: Notification, ref: str) -> Sent:
        """Count a message as delivered when the service answers with success."""
        body = json.encode({**payload(note), "text": for_chat(note.text), "replaces": bool(ref)})
        headers = {"Content-Type": "application/json", "User-Agent": AGENT}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if self._secret:
            digest = hmac.new(self._secret.encode(), body, "sha256").hexdigest()
            headers[SIGNATURE] = f"sha256={digest}"
        answer = http.post(self._url, body, headers, self._timeout)
        return _sent(answer, self._url, ref=note.key)


class NtfyNotifier:
    """Publishes to a topic of an ntfy server; servers from 2.16 on replace the earlier message."""

    def __init__(self, target: Target) -> None:
        self._url = _url(target.url or NTFY, "ntfy")
        self._topic = _channel(target.channel, "ntfy", "the topic")
        self._timeout = target.timeout_seconds
        self._token = read_secret("NTFY_TOKEN", file=target.token_file)

    def send(self, note: Notification, ref: str) -> Sent:
        content: dict[str, Any] = {
            "topic": self._topic,
            "title": note.title,
            "message": without_links(note.summary or note.title),
            "markdown": False,
            "priority": _PRIORITIES[note.severity],
            "tags": [note.source],
        }
        if ref:
            content["sequence_id"] = ref
        headers = {"Content-Type": "application/json", "User-Agent": AGENT}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        answer = http.post(self._url, json.encode(content), headers, self._timeout)
        return _sent(answer, self._url, ref=ref or str(_fields(answer).get("id") or ""))


class SlackNotifier:
    """Posts to a channel with a bot's token, and edits the message that it replaces."""

    def __init__(self, target: Target) -> None:
        self._url = _url(target.url or SLACK, "slack")
        self._channel = _channel(target.channel, "slack", "the id of the channel")
        self._timeout = target.timeout_seconds
        self._token = read_secret("SLACK_BOT_TOKEN", file=target.token_file)
        if not self._token:
            raise BadInput(
                "the notifier `slack` needs the token of a bot",
                hint="Set $SLACK_BOT_TOKEN, or use --token-file FILE. An incoming webhook of"
                " Slack needs none: --notifier webhook",
            )

    def send(self, note: Notification, ref: str) -> Sent:
        """Post or edit. Slack answers refusals with status 200 and `"ok": false`."""
        channel, _, stamp = ref.partition("/")
        content: dict[str, Any] = {
            "channel": channel or self._channel,
            "text": for_chat(note.text),  # what a phone shows in place of the blocks
            "blocks": _blocks(note),
            "parse": "none",
            "link_names": False,
        }
        method = "chat.postMessage"
        if stamp:
            method = "chat.update"
            content["ts"] = stamp
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": AGENT,
            "Authorization": f"Bearer {self._token}",
        }
        url = f"{self._url.rstrip('/')}/{method}"
        answer = http.post(url, json.encode(content), headers, self._timeout)
        fields = _fields(answer)
        if isinstance(answer, http.Response) and answer.succeeded and fields.get("ok") is not True:
            return Sent(delivered=False, detail=f"Slack refused: {quote(str(fields.get('error')))}")
        new_ref = f"{fields.get('channel', self._channel)}/{fields.get('ts', stamp)}"
        return _sent(answer, self._url, ref=new_ref)


class CommandNotifier:
    """Starts a program with the message as JSON on its standard input; exit code 0 delivers it."""

    def __init__(self, target: Target) -> None:
        if not target.command:
            raise BadInput(
                "the notifier `command` has no program to start",
                hint="""Set it: dos config set notify.command '["notify-send", "dos"]'""",
            )
        self._target = target

    def send(self, note: Notification, ref: str) -> Sent:
        program = quote(self._target.command[0])
        body = json.encode({**payload(note), "replaces": bool(ref)})
        result = commands.run(
            self._target.command,
            self._target.root,
            self._target.timeout_seconds,
            stdin_bytes=body,
        )
        if isinstance(result, Unknown):
            return Sent(delivered=False, detail=f"{program} did not take the message")
        if result.code != 0:
            return Sent(delivered=False, detail=f"{program} exited with {result.code}")
        return Sent(delivered=True, detail=f"{program} took the message", ref=note.key)


class PluginNotifier:
    """A transport of another package, called so that nothing that it does ends the verb."""

    def __init__(self, name: str, plugin: object) -> None:
        self._name = name
        self._plugin = plugin

    def send(self, note: Notification, _ref: str) -> Sent:
        function = getattr(self._plugin, "send", None)
        if not callable(function):
            return Sent(delivered=False, detail=f"the plugin {self._name} has no function send")
        answer = call_or_unknown(lambda: function(note))
        if isinstance(answer, Unknown):
            return Sent(delivered=False, detail=f"the plugin {self._name} raised {answer.why}")
        delivered = getattr(answer, "delivered", answer)
        detail = str(getattr(answer, "detail", "") or f"the plugin {self._name} was called")
        return Sent(delivered=delivered is True, detail=detail, ref=note.key)


def known_notifiers() -> list[str]:
    """Return the names of all transports; plugins are not loaded."""
    return [*BUILT_IN, *plugins.installed_names(GROUP)]


def open_notifier(name: str, target: Target) -> Notifier:
    """Return the transport of a name. Raises BadInput for an unknown one and for what it lacks."""
    own: dict[str, Callable[[], Notifier]] = {
        NULL: NullNotifier,
        "webhook": partial(WebhookNotifier, target),
        "slack": partial(SlackNotifier, target),
        "ntfy": partial(NtfyNotifier, target),
        "command": partial(CommandNotifier, target),
    }
    if name in own:
        return own[name]()
    known = known_notifiers()
    if name not in known:
        raise BadInput(
            f"unknown notifier {quote(name)}; {did_you_mean(name, known, 'notifiers')}",
            hint=f"Use one of: {', '.join(known)}.",
        )
    options = {"url": target.url, "channel": target.channel}
    return PluginNotifier(name, plugins.create(GROUP, name, options))


def _url(url: str, notifier: str) -> str:
    if not url:
        raise BadInput(
            f"the notifier `{notifier}` needs a URL",
            hint="Set $DOS_WEBHOOK_URL, or [notify] url, or give --url.",
        )
    problem = http.url_problem(url)
    if problem:
        raise BadInput(
            f"the URL of the notifier `{notifier}` cannot be used: {problem}",
            hint="For example: --url https://example.org/hook",
        )
    return url


def _channel(channel: str, notifier: str, what: str) -> str:
    if not channel.strip():
        raise BadInput(
            f"the notifier `{notifier}` needs {what}",
            hint="Set it: dos config set notify.channel NAME, or give --channel.",
        )
    return channel.strip()


def _sent(answer: http.Response | Unknown, url: str, *, ref: str) -> Sent:
    """Return what became of a message by the answer to its request."""
    if isinstance(answer, Unknown):
        return Sent(delivered=False, detail=answer.why)
    where = http.host_of(url)
    if answer.succeeded:
        return Sent(delivered=True, detail=f"{where} took the message", ref=ref)
    why = f"{where} answered with status {answer.status}"
    if 300 <= answer.status < 400:
        why += "; redirects are not followed"
    return Sent(delivered=False, detail=why)


def _fields(answer: http.Response | Unknown) -> dict[str, Any]:
    """Return the JSON object of an answer; empty for any other answer."""
    if isinstance(answer, Unknown):
        return {}
    try:
        decoded = json.decode(answer.body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _blocks(note: Notification) -> list[dict[str, Any]]:
    """Return the message as Slack lays it out: header, fields, summary, severity."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": note.title[:LONGEST_HEADER]}}
    ]
    fields = [
        {"type": "mrkdwn", "text": f"*{for_chat(label)}*\n{for_chat(value)}"[:LONGEST_FIELD]}
        for label, value in note.fields[:MOST_FIELDS]
    ]
    if fields:
        blocks.append({"type": "section", "fields": fields})
    if note.summary:
        text = f"```{for_chat(note.summary)[:LONGEST_BLOCK]}```"
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": text}})
    context = {"type": "mrkdwn", "text": f"{note.severity} · dos {note.source}"}
    blocks.append({"type": "context", "elements": [context]})
    return blocks
