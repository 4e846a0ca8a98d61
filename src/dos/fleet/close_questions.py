"""Which open questions need no answer any more: nobody answered in time, or their cause is gone."""

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

# Closed with what has happened, as if a person had said it; of the others it is written that they expired, and why.
_SETTLED = (BaselineFailed, LimitReached, LimitDoubted)


def closings(seen: Observation) -> list[PendingClose]:
    """The open questions that expire now, each with what is taken for it."""
    due = state.expired_questions(seen.answers, seen.now_ms, started_ms=seen.state.started_ms)
    over = {asked.raised.id for asked in due}
    found = []
    for asked in seen.answers.open.values():
        question = asked.question
        if question.id in over or _is_unused(seen, asked):
            found.append(
                PendingClose(asked=asked, choice=question.choice_without_answer(seen.on_cooldown))
            )
        elif not isinstance(question, _SETTLED) and (why := _cause_gone(seen, asked)):
            found.append(PendingClose(asked=asked, choice=question.settled_choice, reason=why))
    return found


def settled(seen: Observation) -> list[OpenQuestion]:
    """The open questions that something else has answered: a test passes by now, a limit does not hold any more."""
    standing = [
        asked for asked in seen.answers.open.values() if isinstance(asked.question, _SETTLED)
    ]
    return [asked for asked in standing if _cause_gone(seen, asked)]


def _cause_gone(seen: Observation, asked: OpenQuestion) -> str:
    """Why nobody need answer any more; empty: the question still stands."""
    question = asked.question
    match question:
        case PlanChanged() | SettingsChanged():
            is_current = question.id in {each.id for each in seen.changed_texts}
            is_ours = question.where == seen.where
            return (
                "the file on disk is another one now, or was approved"
                if is_ours and not is_current
                else ""
            )
        case UnitsFailed():
            return held_units.why_moot(asked, seen.state, seen.unfinished)
        case BaselineFailed():
            return "the test passes" if question.id in seen.baseline.passed else ""
        case LimitReached() | LimitDoubted():
            limit = seen.limits.get(question.key.path)
            holds = limit is not None and limit.ending and limit_question(limit).id == question.id
            return "" if holds else "the limit does not hold any more"
        case HaltProposed() | RunStopped():
            return ""  # the journal's state closes them with the event that ends their cause
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
            return ""  # only an answer or its time ends them
        case _:
            assert_never(question)


def _is_unused(seen: Observation, asked: OpenQuestion) -> bool:
    """It is about a limit that holds, and that no agent of these lanes would meet."""
    question = asked.question
    if not isinstance(question, LimitReached | LimitDoubted):
        return False
    limit = seen.limits.get(question.key.path)
    used = {each.key for each in quota.limits_met_by(seen.limits, seen.agents)}
    return limit is not None and bool(limit.ending) and question.key not in used
