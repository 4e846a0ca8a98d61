"""What needs a person: each question with what waits behind it, since when, and what happens without an answer.

A row also has the keys of released versions, which scripts read.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from dos.backlog import waiting
from dos.backlog.waiting import FleetWaits, Waiting, Waits
from dos.journal import streams
from dos.journal.events.limits import Choice
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion, urgent_first
from dos.text import first_diff_lines, last_output_lines, plural
from dos.times import utc_stamp

StoredQuestion = OpenQuestion | AnsweredQuestion


class AnswerRow(Struct, frozen=True, kw_only=True):
    choice: str
    by: str
    at: str
    expired: bool
    reason: str = ""  # why it was closed without a person's answer


class QuestionRow(Struct, frozen=True, kw_only=True):
    id: str
    about: str
    question: str
    choices: list[Choice]
    waits: list[str]
    raised_at: str
    expires_at: str | None
    expires_on_start: bool
    otherwise: str
    answer: AnswerRow | None
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
    waiting: list[Waiting] = []  # what those who wait for the answer wait for besides


def ordered_questions(decisions: Decisions, *, with_answered: bool = False) -> list[StoredQuestion]:
    """The most urgent first, then the oldest; what was answered comes last."""
    past = reversed(decisions.answered.values()) if with_answered else ()
    return [*urgent_first(decisions), *past]


def rows(
    asked: Sequence[StoredQuestion], now_ms: int, waits: FleetWaits = FleetWaits()
) -> list[QuestionRow]:
    """`waits` is what everything waits for: an answer alone does not help what waits for something else too."""
    return [row(each, now_ms, waits) for each in asked]


def other_waits(question: AnyQuestion, waits: FleetWaits) -> Waits:
    """What those who wait for the answer wait for besides."""
    lanes, units = subject.lane_names(question.waits), subject.unit_names(question.waits)
    its_own = {question.command, question.answer_command} - {
        ""
    }  # what its plan holds a unit for is the question
    found = waits.waits_besides(question.id, lanes=lanes, units=units)
    return tuple(each for each in found if each.clears_with not in its_own)


def row(asked: StoredQuestion, now_ms: int, waits: FleetWaits = FleetWaits()) -> QuestionRow:
    raised = asked.raised
    question = asked.question
    said = None
    if isinstance(asked, AnsweredQuestion):
        said = AnswerRow(
            choice=asked.choice,
            by=asked.by,
            at=utc_stamp(asked.answered_ms),
            expired=asked.expired,
            reason=asked.reason,
        )
    return QuestionRow(
        id=raised.id,
        about=raised.about,
        question=raised.question,
        choices=raised.choices,
        waits=raised.waits,
        raised_at=utc_stamp(asked.at_ms),
        expires_at=None if raised.expires_ms is None else utc_stamp(raised.expires_ms),
        expires_on_start=raised.until_start,
        otherwise=raised.otherwise,
        answer=said,
        detail=raised.detail,
        kind=question.kind,
        lane=question.lane,
        reason_token=question.token or raised.about.upper(),
        reason_text=raised.question,
        run_id=question.run_id,
        age_seconds=max(0, (now_ms - asked.at_ms) // 1000),
        source_path=question.source or streams.decision(question.id),
        proposed_command=question.command or question.answer_command,
        handle=raised.id,
        waiting=list(other_waits(question, waits)) if said is None else [],
    )


def render(shown: Sequence[StoredQuestion], now_ms: int, waits: FleetWaits = FleetWaits()) -> str:
    unanswered = [each for each in shown if isinstance(each, OpenQuestion)]
    title = f"{plural(len(unanswered), 'question')} for a person"
    lines = [title if unanswered else "nothing waits for a person"]
    for number, asked in enumerate(shown, 1):
        each = row(asked, now_ms, waits)
        if each.answer is not None:
            lines.append(f"{number:>3}  {each.id}: {_answer_text(each.answer)}")
            continue
        lines.append(f"{number:>3}  {each.question}")
        lines.append(f"     {_waiting_text(each, asked.question)}")
        if each.waiting:
            lines.append(f"     also waits: {waiting.describe_waits(each.waiting)}")
        if asked.question.command:
            lines.append(f"     {each.proposed_command}")
        if each.choices:
            lines.append(
                f"     dos decide-for {each.id} {'|'.join(choice.name for choice in each.choices)}"
            )
    return "\n".join(lines)


def render_one(
    asked: StoredQuestion,
    now_ms: int,
    difference: Sequence[str] = (),
    waits: FleetWaits = FleetWaits(),
) -> str:
    each = row(asked, now_ms, waits)
    question = asked.question
    lines = [
        each.question,
        "",
        f"id       {each.id}",
        f"asked    {each.raised_at} ({format_duration(each.age_seconds)} ago)",
    ]
    lines.append(f"waiting  {', '.join(each.waits) or 'nothing'}")
    lines += [f"besides  {more.subject}: {more}" for more in each.waiting]
    lines += last_output_lines(question.output)
    lines += first_diff_lines(difference)
    if each.answer is not None:
        return "\n".join([*lines, f"answer   {_answer_text(each.answer)}"])
    lines.append(f"expires  {_expiry_text(each, question)}")
    if question.command:
        lines.append(f"command  {each.proposed_command}")
    lines += ["choices"] if each.choices else []
    lines += [
        f"  dos decide-for {each.id} {choice.name:<8} {choice.meaning}".rstrip()
        for choice in each.choices
    ]
    return "\n".join(lines)


def format_duration(seconds: float) -> str:
    """How long, as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def _answer_text(answer: AnswerRow) -> str:
    if answer.reason:
        return f"{answer.choice}, closed at {answer.at}: {answer.reason}"
    if answer.expired:
        return f"{answer.choice}, because nobody answered by {answer.at}"
    return f"{answer.choice}, by {answer.by or 'somebody'} at {answer.at}"


def _waiting_text(each: QuestionRow, question: AnyQuestion) -> str:
    waits = f"{', '.join(each.waits)} waits" if each.waits else "nothing waits"
    return (
        f"{waits} since {format_duration(each.age_seconds)}; expires {_expiry_text(each, question)}"
    )


def _expiry_text(each: QuestionRow, question: AnyQuestion) -> str:
    """When the question is over without an answer, and what holds then."""
    if question.closes:
        return f"by itself {question.closes}"
    if each.expires_at:
        return f"{each.expires_at}, then: {each.otherwise}"
    if each.expires_on_start:
        cooling = (
            ", or leave while one of its units is on cooldown"
            if question.leaves_units_on_cooldown
            else ""
        )
        return f"with the next `dos up`, then: {each.otherwise}{cooling}"
    return f"never; until then: {each.otherwise}" if each.otherwise else "never"
