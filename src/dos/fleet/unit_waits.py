"""What a unit waits for: a question, its plan, a cooldown, or a lane that never gets a worker."""

from collections.abc import Iterator
from datetime import datetime
from shlex import quote

from dos.backlog import cooldown, pickable
from dos.backlog.waiting import Waiting, WaitsOn
from dos.fleet.observation import Observation
from dos.fleet.state import held_units
from dos.fleet.state.held_units import Hold
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import PlanChanged
from dos.questions.state import AnsweredQuestion, OpenQuestion
from dos.times import utc_datetime
from dos.units.portfolio import soak_end
from dos.units.unit import Unit

NEXT_START = "dos up"  # starts what a person left aside, and checks again what had failed

_HELD_FOR = {
    pickable.Answer.UNPARSEABLE: WaitsOn.PLAN_PROBLEM,
    pickable.Answer.DRAFT_CLASS: WaitsOn.GATE,
    pickable.Answer.OPERATOR_GATED: WaitsOn.GATE,
    pickable.Answer.SOAK_OPEN: WaitsOn.SOAK,
    pickable.Answer.DEPENDENCY_UNMET: WaitsOn.DEPENDENCY,
}


def waiting_for_question(asked: OpenQuestion, held: str) -> Waiting:
    """Return the wait for an open question; `held` is the lane or the unit that waits."""
    return _question_wait(asked.question, held, since=utc_datetime(asked.at_ms))


def answer_command(observation: Observation, question: AnyQuestion | None) -> str:
    """Return the command that answers a question, whether it is asked already or not.

    After an answer it is the next start of the fleet that tries again.
    """
    if question is None or question.id in observation.answers.answered:
        return NEXT_START
    return question.answer_command


def unit_waits(observation: Observation, unit: Unit) -> Iterator[Waiting]:
    """Yield what an unfinished unit waits for, apart from its lane."""
    name = unit.name
    if why := observation.unstaffed.get(name):
        yield Waiting(on=WaitsOn.NO_LANE, subject=name, why=why)
        return
    if hold := observation.held_units.get(name):
        yield _hold_wait(unit, hold)
    elif question := observation.unasked_failures.get(name):
        yield _asked_or_not(observation, question, name)
    elif verdict := observation.verdicts.get(name):
        yield _verdict_wait(observation, unit, verdict)
    if rest := observation.on_cooldown.get(name):
        yield Waiting(
            on=WaitsOn.COOLDOWN,
            subject=name,
            why=cooldown.describe_attempts(rest, observation.now_ms),
            until=utc_datetime(rest.until_ms),
            clears_with=f"dos up --retry {quote(name)}",
        )


def unapproved_waits(observation: Observation, unit: Unit) -> Iterator[Waiting]:
    """Yield what a unit waits for that only an unapproved edit of a plan declares."""
    for question in observation.changed_texts:
        if not isinstance(question, PlanChanged) or question.document != unit.document:
            continue
        if question.id in observation.answers.answered:
            why = f"{unit.document} was edited on disk, and the edit is not approved"
            yield Waiting(on=WaitsOn.PERSON, subject=unit.name, why=why, clears_with=NEXT_START)
        else:
            yield _asked_or_not(observation, question, unit.name)


def _question_wait(question: AnyQuestion, held: str, *, since: datetime | None) -> Waiting:
    until: datetime | None = None
    if question.expires_ms is not None:
        until = utc_datetime(question.expires_ms)
    return Waiting(
        on=question.waits_on,
        subject=held,
        why=question.text,
        since=since,
        until=until,
        clears_with=question.answer_command,
        question=question.id,
    )


def _asked_or_not(observation: Observation, question: AnyQuestion, held: str) -> Waiting:
    """Return the wait for a question that is open, or that the next tick asks."""
    asked = observation.answers.open.get(question.id)
    since = utc_datetime(asked.at_ms) if asked else None
    return _question_wait(question, held, since=since)


def _hold_wait(unit: Unit, hold: Hold) -> Waiting:
    if not isinstance(hold.asked, AnsweredQuestion):
        return waiting_for_question(hold.asked, unit.name)
    return Waiting(
        on=WaitsOn.PERSON,
        subject=unit.name,
        why=hold.why,
        since=utc_datetime(hold.asked.answered_ms),
        clears_with=f"dos up --retry {quote(unit.name)}",
    )


def _verdict_wait(observation: Observation, unit: Unit, verdict: pickable.Verdict) -> Waiting:
    """Return the wait of a unit that its plan, or what happened to it, holds."""
    reason = verdict.reason
    assert reason is not None
    on = _HELD_FOR.get(reason, WaitsOn.UNKNOWN)
    if reason is pickable.Answer.OPERATOR_GATED and not unit.gated:
        on = WaitsOn.PERSON  # runs died while they worked on it, or git no longer shows it
    why = verdict.evidence
    until: datetime | None = None
    if reason is pickable.Answer.SOAK_OPEN:
        until = soak_end(unit.soak_until)
        if until:
            why = ""  # "soaking until 12:00" says it all
    return Waiting(
        on=on,
        subject=unit.name,
        why=why,
        until=until,
        clears_with=_clearing_command(observation, unit, verdict),
    )


def _clearing_command(observation: Observation, unit: Unit, verdict: pickable.Verdict) -> str:
    """Return what to type so that a unit is offered again; empty where it clears by itself."""
    if verdict.reason is pickable.Answer.DEPENDENCY_UNMET:
        return ""
    if unit.name in observation.undone and not unit.gated:
        return answer_command(observation, observation.question_about_undone(unit.name))
    question = held_units.about_held(unit, verdict, observation.state)
    return question.clearing_command or question.answer_command
