"""What is told to people away from their desk: a message for each open decision, one of the lanes.

A message says nothing that changes by itself, such as an age: then it would be sent again.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any

from msgspec import Struct, json, to_builtins

from dos.questions.view import QuestionRow
from dos.text import cut_middle, one_line, plural, quote_ends

LONGEST_VALUE = 600
LONGEST_SUMMARY = 8000
URGENT_KINDS = frozenset(("LIVENESS", "HALT_PROPOSED"))
DECISIONS = "dos-decisions"  # the key of what is said about decisions
OTHERS = f"{DECISIONS}/(others)"  # the key of the message on those without one of their own


class Severity(StrEnum):
    """How soon a person should look."""

    INFO = "INFO"
    WARN = "WARN"
    URGENT = "URGENT"


_SIGNS = {Severity.URGENT: "■", Severity.WARN: "▲", Severity.INFO: "·"}


class Notification(Struct, frozen=True, kw_only=True):
    """One message. The next one with the same key replaces it."""

    severity: Severity
    title: str
    summary: str
    fields: list[tuple[str, str]]
    key: str
    source: str

    @property
    def text(self) -> str:
        """The whole message as plain text, as chat programs show it."""
        summary = self.summary[:LONGEST_SUMMARY]
        return f"{_SIGNS[self.severity]} [{self.severity}] {self.title}\n{summary}".rstrip()

    @property
    def digest(self) -> str:
        """What the message says, in a form that shows whether it changed."""
        return sha256(json.encode(self)).hexdigest()[:32]


class Sent(Struct, frozen=True, kw_only=True):
    """Whether a message was delivered, and the transport's own name for it."""

    delivered: bool
    detail: str
    ref: str = ""


def payload(note: Notification) -> dict[str, Any]:
    """Return what a webhook and a command get: the message, and its text for chat programs."""
    return {
        **to_builtins(note),
        "summary": note.summary[:LONGEST_SUMMARY],
        "text": note.text,
    }


def for_chat(text: str) -> str:
    """Return text that Slack, Mattermost and their like show as it is: no mention, no link.

    Agents write parts of it. `&`, `<` and `>` are the marks of Slack, which has escapes for them;
    other marks are taken apart where people see it.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return without_links(text).replace("@", "＠").replace("](", "] (").replace("```", "'''")


def without_links(text: str) -> str:
    """Return text with web addresses that no program makes a link of, and people still read."""
    return text.replace("://", "[:]//").replace("www.", "www[.]").replace("WWW.", "WWW[.]")


def of_all_decisions(rows: Sequence[QuestionRow], *, most: int | None) -> Notification:
    """Return one message on all open decisions, with the first of them as fields."""
    fields = []
    for row in rows[:most]:
        value = row.reason_text or row.reason_token
        if row.dup_count > 1:
            value += f" ×{row.dup_count}"
        if row.proposed_command:
            value += f" — {_command(row)}"
        fields.append((f"{row.kind} @ {row.lane or '-'}", _cut(value)))
    title = f"{plural(len(rows), 'open decision')}" if rows else "No open decisions"
    return Notification(
        severity=_severity(rows),
        title=title,
        summary="\n".join(f"{label}: {value}" for label, value in fields),
        fields=fields,
        key=DECISIONS,
        source="decisions",
    )


def of_decision(row: QuestionRow) -> Notification:
    """Return the message on one open decision: what waits, what can be answered, what else."""
    fields = [(choice.name, _cut(choice.meaning)) for choice in row.choices]
    lines = [row.question]
    if row.waits:
        lines.append(f"Waiting: {', '.join(row.waits)}")
    for choice in row.choices:
        lines.append(f"dos decide-for {row.id} {choice.name}: {choice.meaning}".rstrip(": "))
    if row.proposed_command:
        lines.append(f"Command: {_command(row)}")
    if row.otherwise and row.expires_at:
        lines.append(f"Without an answer at {row.expires_at}: {row.otherwise}")
    elif row.otherwise:
        lines.append(f"Without an answer: {row.otherwise}")
    where = f" on lane {row.lane}" if row.lane else ""
    return Notification(
        severity=_severity([row]),
        title=_cut(f"Decision needed{where}: {row.kind}"),
        summary="\n".join(map(one_line, lines)),
        fields=fields,
        key=decision_key(row.id),
        source="decisions",
    )


def of_the_others(count: int) -> Notification:
    """Return the message on the decisions that have no message of their own."""
    return Notification(
        severity=Severity.WARN,
        title=f"{plural(count, 'more open decision')}",
        summary="`dos decisions` lists all of them.",
        fields=[],
        key=OTHERS,
        source="decisions",
    )


def of_closed_decision(key: str, answer: str) -> Notification:
    """Return the last message on a decision that is no longer open."""
    title = f"Decision {key.removeprefix(decision_key(''))} is closed"
    if key == OTHERS:
        title = "No further open decisions"
        answer = ""
    return Notification(
        severity=Severity.INFO,
        title=title,
        summary=one_line(answer),
        fields=[],
        key=key,
        source="decisions",
    )


def of_lanes(frame: Mapping[str, Any]) -> Notification:
    """Return the message on the lanes that are not free, from the released frame of `dos top`."""
    fields = []
    chips = []
    for lane in frame["lanes"]:
        word = str(lane["chip"]).split()[-1]
        if word != "FREE":
            chips.append(word)
            fields.append((str(lane["lane"]), _cut(f"{lane['chip']} {lane['holder']}".rstrip())))
    severity = Severity.INFO
    if "STALLED" in chips:
        severity = Severity.URGENT
    elif "SPINNING" in chips:
        severity = Severity.WARN
    fields.append(("verdicts", str(len(frame["verdicts"]))))
    return Notification(
        severity=severity,
        title=f"{plural(len(chips), 'lane')} at work",
        summary="\n".join(f"{label}: {value}" for label, value in fields),
        fields=fields,
        key=f"dos-top:{frame['workspace']}",
        source="top",
    )


def decision_key(question_id: str) -> str:
    """Return the key of the messages on one decision."""
    return f"{DECISIONS}/{question_id}"


def _severity(rows: Sequence[QuestionRow]) -> Severity:
    if any(row.kind in URGENT_KINDS for row in rows):
        return Severity.URGENT
    if rows:
        return Severity.WARN
    return Severity.INFO


def _command(row: QuestionRow) -> str:
    """Our command as it is typed; one that whoever asked proposes as their words."""
    if row.proposed_by_asker:
        return f"{quote_ends(row.proposed_command)}, proposed by whoever asked"
    return row.proposed_command


def _cut(text: str) -> str:
    """Return a text on one line, of a long one both ends: agents write parts of questions."""
    return cut_middle(one_line(" ".join(text.split())), LONGEST_VALUE)
