"""What needs a person: each question with what waits behind it, since when, and what happens without an answer.

A row also has the keys of released versions, which scripts read.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from dos.journal import streams
from dos.journal.engine_events import Choice, DecisionRaised
from dos.journal.states.decisions import Answered, Decisions, Standing, in_order
from dos.records.moments import second_stamp
from dos.records.names import counted
from dos.views.outputs import changed, indented

# The released word for what is most urgent; every other kind is called what it is about.
_KINDS = {"spinning": "LIVENESS", "landing_conflict": "CONFLICT", "unit_undone": "UNDONE"}


class Said(Struct, frozen=True, kw_only=True):
    choice: str
    by: str
    at: str
    expired: bool
    reason: str = ""  # why it was closed without a person's answer


class Row(Struct, frozen=True, kw_only=True):
    id: str
    about: str
    question: str
    choices: list[Choice]
    waits: list[str]
    raised_at: str
    expires_at: str | None
    expires_on_start: bool
    otherwise: str
    answer: Said | None
    detail: dict[str, Any]
    kind: str
    lane: str
    reason_token: str
    reason_text: str
    run_id: str
    age_seconds: int
    source_path: str
    proposed_command: str
    handle: str
    resolver_kind: str = "HUMAN"
    run_ts: str = ""
    evidence: list[str] = field(default_factory=list)
    dup_count: int = 1


def rows(decisions: Decisions, now_ms: int, *, with_answered: bool = False) -> list[Row]:
    """The most urgent first, then the oldest; what was answered comes last."""
    past = reversed(decisions.answered.values()) if with_answered else ()
    return [row(asked, now_ms) for asked in (*in_order(decisions), *past)]


def row(asked: Standing | Answered, now_ms: int) -> Row:
    raised = asked.raised
    detail = raised.detail
    said = None
    if isinstance(asked, Answered):
        said = Said(
            choice=asked.choice,
            by=asked.by,
            at=second_stamp(asked.answered_ms),
            expired=asked.expired,
            reason=asked.reason,
        )
    return Row(
        id=raised.id,
        about=raised.about,
        question=raised.question,
        choices=raised.choices,
        waits=raised.waits,
        raised_at=second_stamp(asked.at_ms),
        expires_at=None if raised.expires_ms is None else second_stamp(raised.expires_ms),
        expires_on_start=raised.until_start,
        otherwise=raised.otherwise,
        answer=said,
        detail=detail,
        kind=str(detail.get("kind") or _KINDS.get(raised.about, raised.about.upper())),
        lane=str(detail.get("lane", "")),
        reason_token=str(detail.get("token") or raised.about.upper()),
        reason_text=raised.question,
        run_id=str(detail.get("run_id", "")),
        age_seconds=max(0, (now_ms - asked.at_ms) // 1000),
        source_path=str(detail.get("source") or streams.decision(raised.id)),
        proposed_command=command(raised),
        handle=raised.id,
    )


def command(raised: DecisionRaised) -> str:
    """What to type: what was written down for it, or the first choice."""
    if written := raised.detail.get("command"):
        return str(written)
    return (
        f"dos decide-for {raised.id} {raised.choices[0].name}" if raised.choices else f"dos decisions show {raised.id}"
    )


def render(shown: Sequence[Row]) -> str:
    if not shown:
        return "nothing waits for a person"
    waiting = [each for each in shown if each.answer is None]
    title = f"{counted(len(waiting), 'question')} for a person"
    lines = [title if waiting else "nothing waits for a person"]
    for number, each in enumerate(shown, 1):
        if each.answer is not None:
            lines.append(f"{number:>3}  {each.id}: {_said(each.answer)}")
            continue
        lines.append(f"{number:>3}  {each.question}")
        lines.append(f"     {_behind(each)}")
        if each.detail.get("command"):
            lines.append(f"     {each.proposed_command}")
        if each.choices:
            lines.append(f"     dos decide-for {each.id} {'|'.join(choice.name for choice in each.choices)}")
    return "\n".join(lines)


def render_one(each: Row, difference: Sequence[str] = ()) -> str:
    lines = [each.question, "", f"id       {each.id}", f"asked    {each.raised_at} ({span(each.age_seconds)} ago)"]
    lines.append(f"waiting  {', '.join(each.waits) or 'nothing'}")
    lines += indented(map(str, each.detail.get("output") or ()))
    lines += changed(difference)
    if each.answer is not None:
        return "\n".join([*lines, f"answer   {_said(each.answer)}"])
    lines.append(f"expires  {_expiry(each)}")
    if each.detail.get("command"):
        lines.append(f"command  {each.proposed_command}")
    lines += ["choices"] if each.choices else []
    lines += [f"  dos decide-for {each.id} {choice.name:<8} {choice.meaning}".rstrip() for choice in each.choices]
    return "\n".join(lines)


def span(seconds: float) -> str:
    """How long, as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def _said(answer: Said) -> str:
    if answer.reason:
        return f"{answer.choice}, closed at {answer.at}: {answer.reason}"
    if answer.expired:
        return f"{answer.choice}, because nobody answered by {answer.at}"
    return f"{answer.choice}, by {answer.by or 'somebody'} at {answer.at}"


def _behind(each: Row) -> str:
    waits = f"{', '.join(each.waits)} waits" if each.waits else "nothing waits"
    return f"{waits} since {span(each.age_seconds)}; expires {_expiry(each)}"


def _expiry(each: Row) -> str:
    """When the question is over without an answer, and what holds then."""
    if closes := each.detail.get("closes"):
        return f"by itself {closes}"
    if each.expires_at:
        return f"{each.expires_at}, then: {each.otherwise}"
    if each.expires_on_start:
        can_leave = each.detail.get("units") and any(choice.name == "leave" for choice in each.choices)
        cooling = ", or leave while one of its units is on cooldown" if can_leave else ""
        return f"with the next `dos up`, then: {each.otherwise}{cooling}"
    return f"never; until then: {each.otherwise}" if each.otherwise else "never"
