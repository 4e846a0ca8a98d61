"""Open questions that need no answer any more: their time is over, or their cause is gone."""

from typing import assert_never

from dos.fleet.observation import Observation
from dos.fleet.state import held_units
from dos.limits import quota
from dos.questions import state
from dos.questions.catalog import Added, UnknownQuestion
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.lanes import LaneFailed, LaneStopped, UnitsFailed
from dos.questions.resources import (
    BaselineFailed,
    BudgetSpent,
    LimitDoubted,
    LimitReached,
    limit_question,
)
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.state import OpenQuestion, PendingClose
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone

# These are closed by what has happened, as if a person had answered. The others expire.
_SETTLED = (BaselineFailed, LimitReached, LimitDoubted)


def closings(observation: Observation) -> list[PendingClose]:
    """Return the open questions that expire now, each with the choice that is taken for it."""
    answers = observation.answers
    expired = state.expired_questions(
        answers, observation.now_ms, started_ms=observation.state.started_ms
    )
    expired_ids = {asked.raised.id for asked in expired}
    found = []
    for asked in answers.open.values():
        question = asked.question
        if question.id in expired_ids or _is_unused(observation, asked):
            choice = question.choice_without_answer(observation.on_cooldown)
            found.append(PendingClose(asked=asked, choice=choice))
        elif not isinstance(question, _SETTLED):
            why = _why_moot(observation, asked)
            if why:
                choice = question.settled_choice
                found.append(PendingClose(asked=asked, choice=choice, reason=why))
    return found


def settled(observation: Observation) -> list[OpenQuestion]:
    """Return the open questions that events have answered: a test passes, a limit is lifted."""
    return [
        asked
        for asked in observation.answers.open.values()
        if isinstance(asked.question, _SETTLED) and _why_moot(observation, asked)
    ]


def _why_moot(observation: Observation, asked: OpenQuestion) -> str:
    """Return why no answer is needed any more; empty while the question stands."""
    question = asked.question
    match question:
        case PlanChanged() | SettingsChanged():
            return _why_text_moot(observation, question)
        case UnitsFailed():
            return held_units.why_moot(asked, observation.state, observation.unfinished)
        case BaselineFailed():
            return "the test passes" if question.id in observation.baseline.passed else ""
        case LimitReached() | LimitDoubted():
            return _why_limit_moot(observation, question)
        case HaltProposed() | RunStopped():
            return ""  # the state of the questions closes them with the event that ends the cause
        case LandingBlocked():
            return ""  # the worker that lands the unit closes it
        case (
            LaneFailed()
            | LaneStopped()
            | LandingConflict()
            | UnitUndone()
            | UnitHeld()
            | Incident()
            | Spinning()
            | BudgetSpent()
            | Added()
            | UnknownQuestion()
        ):
            return ""  # only an answer or the end of their time closes them
        case _:
            assert_never(question)


def _why_text_moot(observation: Observation, question: PlanChanged | SettingsChanged) -> str:
    if question.where != observation.where:
        return ""  # it is about another checkout
    current = {changed.id for changed in observation.changed_texts}
    if question.id in current:
        return ""
    return "the file was edited again, or approved"


def _why_limit_moot(observation: Observation, question: LimitReached | LimitDoubted) -> str:
    limit = observation.limits.get(question.key.path)
    if limit is None or not limit.ending or limit_question(limit).id != question.id:
        return "the limit does not hold any more"
    return ""


def _is_unused(observation: Observation, asked: OpenQuestion) -> bool:
    """Whether it is about a limit that holds, and that no agent of these lanes uses."""
    question = asked.question
    if not isinstance(question, LimitReached | LimitDoubted):
        return False
    limit = observation.limits.get(question.key.path)
    if limit is None or not limit.ending:
        return False
    used = {met.key for met in quota.limits_met_by(observation.limits, observation.agents)}
    return question.key not in used
