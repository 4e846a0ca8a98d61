"""Questions as rows for JSON and as text: what waits, since when, and what happens without an
answer.

A row also has the keys of dos-kernel, which scripts read.
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
from dos.text import first_diff_lines, last_output_lines, plural, quote_ends
from dos.times import format_duration, format_local_time, utc_datetime, utc_stamp

StoredQuestion = OpenQuestion | AnsweredQuestion


class AnswerRow(Struct, frozen=True, kw_only=True):
    """The answer to a question, as JSON has it."""

    choice: str
    by: str
    at: str
    expired: bool
    reason: str = ""  # why it was closed without a person's answer


class QuestionRow(Struct, frozen=True, kw_only=True):
    """A question as JSON has it; the last keys are those of dos-kernel."""

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
    proposed_by_asker: bool = False  # the command is not ours: whoever asked wrote it
    resolver_kind: str = "HUMAN"
    run_ts: str = ""
    evidence: list[str] = field(default_factory=list)
    dup_count: int = 1
    waiting: list[Waiting] = []  # what the waiting subjects wait for besides the answer


def ordered_questions(decisions: Decisions, *, with_answered: bool = False) -> list[StoredQuestion]:
    """Return the open questions, urgent ones first, then the answered ones, the newest first."""
    questions: list[StoredQuestion] = list(urgent_first(decisions))
    if with_answered:
        questions += reversed(decisions.answered.values())
    return questions


def rows(
    questions: Sequence[StoredQuestion], now_ms: int, waits: FleetWaits = FleetWaits()
) -> list[QuestionRow]:
    """Return a row for each question. `waits` is everything that lanes and units wait for."""
    return [row(asked, now_ms, waits) for asked in questions]


def other_waits(question: AnyQuestion, waits: FleetWaits) -> Waits:
    """Return what the waiting subjects wait for besides this answer.

    A hold in a plan that is cleared by the question's own command is the question itself.
    """
    lanes = subject.lane_names(question.waits)
    units = subject.unit_names(question.waits)
    own_commands = {question.clearing_command, question.answer_command} - {""}
    found = waits.waits_besides(question.id, lanes=lanes, units=units)
    return tuple(wait for wait in found if wait.clears_with not in own_commands)


def row(asked: StoredQuestion, now_ms: int, waits: FleetWaits = FleetWaits()) -> QuestionRow:
    """Return the row of one question."""
    raised = asked.raised
    question = asked.question
    answer = None
    still_waiting: list[Waiting] = []
    if isinstance(asked, AnsweredQuestion):
        answer = AnswerRow(
            choice=asked.choice,
            by=asked.by,
            at=utc_stamp(asked.answered_ms),
            expired=asked.expired,
            reason=asked.reason,
        )
    else:
        still_waiting = list(other_waits(question, waits))
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
        answer=answer,
        detail=raised.detail,
        kind=question.kind,
        lane=question.lane,
        reason_token=question.token or raised.about.upper(),
        reason_text=raised.question,
        run_id=question.run_id,
        age_seconds=max(0, (now_ms - asked.at_ms) // 1000),
        source_path=question.source or streams.decision(question.id),
        proposed_command=question.proposed_command
        or question.clearing_command
        or question.answer_command,
        proposed_by_asker=bool(question.proposed_command),
        handle=raised.id,
        waiting=still_waiting,
    )


def render(
    questions: Sequence[StoredQuestion], now_ms: int, waits: FleetWaits = FleetWaits()
) -> str:
    """Return the list of questions as text, each with its expiry and the command to type."""
    open_count = sum(isinstance(asked, OpenQuestion) for asked in questions)
    if open_count:
        lines = [plural(open_count, "open decision")]
    else:
        lines = ["No open decisions"]
    for number, asked in enumerate(questions, 1):
        if isinstance(asked, AnsweredQuestion):
            lines.append(f"{number:>3}  {asked.raised.id}: {_answer_text(asked, now_ms)}")
        else:
            first, *more = _open_lines(asked, now_ms, waits)
            lines.append(f"{number:>3}  {first}")
            lines += [f"     {line}" for line in more]
    return "\n".join(lines)


def _open_lines(asked: OpenQuestion, now_ms: int, waits: FleetWaits) -> list[str]:
    """The lines of an open question in the list."""
    question = asked.question
    lines = [
        asked.raised.question,
        f"{_waiting_text(asked, now_ms)} {_expiry_text(asked, now_ms)}",
    ]
    still_waiting = other_waits(question, waits)
    if still_waiting:
        lines.append(f"also waits: {waiting.describe_waits(still_waiting)}")
    if question.clearing_command:
        lines.append(question.clearing_command)
    if question.proposed_command:
        lines.append(f"Whoever asked proposes the command {quote_ends(question.proposed_command)}.")
    if asked.raised.choices:
        names = "|".join(choice.name for choice in asked.raised.choices)
        lines.append(f"dos decide-for {asked.raised.id} {names}")
    return lines


def render_one(
    asked: StoredQuestion,
    now_ms: int,
    difference: Sequence[str] = (),
    waits: FleetWaits = FleetWaits(),
) -> str:
    """Return one question as text, with all that is known about it. `difference` are diff lines."""
    raised = asked.raised
    question = asked.question
    lines = [raised.question, "", f"id       {raised.id}"]
    if isinstance(asked, AnsweredQuestion) or asked.has_age:
        lines.append(f"asked    {_local(asked.at_ms, now_ms)} ({_age_text(asked, now_ms)} ago)")
    lines.append(f"waiting  {_subjects_text(raised.waits) or 'nothing'}")
    if isinstance(asked, OpenQuestion):
        lines += [f"also     {wait.subject}: {wait}" for wait in other_waits(question, waits)]
    lines += last_output_lines(question.output)
    lines += first_diff_lines(difference)
    if isinstance(asked, AnsweredQuestion):
        return "\n".join([*lines, f"answer   {_answer_text(asked, now_ms)}"])
    lines.append(f"closes   {_expiry_text(asked, now_ms)}")
    if question.clearing_command:
        lines.append(f"command  {question.clearing_command}")
    if question.proposed_command:
        lines.append(f"proposed {quote_ends(question.proposed_command)}, by whoever asked")
    if raised.choices:
        lines.append("choices")
    for choice in raised.choices:
        command = f"dos decide-for {raised.id} {choice.name:<8}"
        lines.append(f"  {command} {choice.meaning}".rstrip())
    return "\n".join(lines)


def _answer_text(asked: AnsweredQuestion, now_ms: int) -> str:
    """How and when the question was answered or closed."""
    at = _local(asked.answered_ms, now_ms)
    if asked.reason:
        return f"closed with {asked.choice} at {at}: {asked.reason}"
    if asked.expired:
        return f"closed with {asked.choice} at {at}, without an answer"
    return f"answered {asked.choice} by {asked.by or 'an unknown user'} at {at}"


def _waiting_text(asked: OpenQuestion, now_ms: int) -> str:
    """A sentence on what waits for the answer, and since when."""
    age = _age_text(asked, now_ms)
    subjects = asked.raised.waits
    if not subjects and asked.has_age:
        return f"Asked {age} ago; nothing waits for the answer."
    if not subjects:
        return "Nothing waits for the answer."
    names = _subjects_text(subjects)
    is_one = len(subjects) == 1
    if asked.has_age:
        verb = "has" if is_one else "have"
        return f"{names} {verb} waited {age}."
    verb = "waits" if is_one else "wait"
    return f"{names} {verb} for it."


def _age_text(asked: StoredQuestion, now_ms: int) -> str:
    """How long ago the question was asked."""
    return format_duration(max(0, (now_ms - asked.at_ms) // 1000))


def _subjects_text(words: Sequence[str]) -> str:
    """The subjects as people read them: `lane api` for the word `lane:api`."""
    return ", ".join(word.replace(":", " ", 1) for word in words)


def _expiry_text(asked: OpenQuestion, now_ms: int) -> str:
    """A sentence on when the question closes without an answer, and with which choice."""
    raised = asked.raised
    question = asked.question
    if question.closes:
        return f"It closes by itself {question.closes}."
    if raised.expires_ms is not None:
        at = _local(raised.expires_ms, now_ms)
        return f"If unanswered at {at}, dos answers {raised.otherwise}."
    if raised.until_start:
        if question.leaves_units_on_cooldown:
            return (
                "If unanswered, the next `dos up` tries its units again, each once its cooldown"
                " is over."
            )
        return f"If unanswered, the next `dos up` answers {raised.otherwise}."
    if question.choice(raised.otherwise):
        return f"It never expires; until you answer, {raised.otherwise} applies."
    if raised.otherwise:
        return f"It never expires; until you answer, {raised.otherwise}."
    return "It never expires."


def _local(at_ms: int, now_ms: int) -> str:
    """The local time, as people read it."""
    return format_local_time(utc_datetime(at_ms), utc_datetime(now_ms))
