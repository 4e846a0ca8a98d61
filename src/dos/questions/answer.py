"""A person's answer to a question of the fleet: the first one counts, and what follows from it is written with it."""

from msgspec import Struct, field

from dos.errors import BadInput, Conflict
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.questions import state, subject
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion
from dos.text import join_some, quote, validated_name


class AnswerResult(Struct, frozen=True, kw_only=True):
    answered: AnsweredQuestion
    ours: bool  # this answer was written; else somebody was quicker, and nothing was
    released: list[str] = field(default_factory=list)  # what waited for it and for nothing else


def find_question(
    store: Store, decision: str, known: Decisions | None = None
) -> OpenQuestion | AnsweredQuestion:
    """By its id, among those that are `known`; of one that was answered long ago its own stream still tells."""
    known = known or fold.current(store, Decisions)[0]
    if asked := known.open.get(decision):
        return asked
    written = fold.fold(
        Decisions(), store.load(streams.decision(validated_name(decision, "decision")))
    )
    found = written.open.get(decision) or written.answered.get(decision)
    if found is None:
        raise BadInput(f"there is no decision {quote(decision)}", hint=_open_hint(known))
    return found


def id_by_number(known: Decisions, number: int) -> str:
    """The id of one in the list. Only to look at: the list may have moved since it was printed."""
    names = [asked.raised.id for asked in state.urgent_first(known)]
    if not 1 <= number <= len(names):
        raise BadInput(f"there is no decision number {number}", hint=_open_hint(known))
    return names[number - 1]


def validated_choice(asked: OpenQuestion | AnsweredQuestion, choice: str) -> str:
    names = [each.name for each in asked.raised.choices]
    if not names:
        question = asked.question
        raise BadInput(
            f"{question.id} is not cleared by an answer; it closes {question.closes or 'by itself'}",
            hint=f"Edit the plan: {question.command}",
        )
    if choice not in names:
        raise BadInput(
            f"{quote(choice)} is no answer to {asked.raised.id}",
            hint=f"It can be answered with: {', '.join(names)}.",
        )
    return choice


def answer(
    store: Store, asked: OpenQuestion | AnsweredQuestion, choice: str, *, by: str
) -> AnswerResult:
    if isinstance(asked, AnsweredQuestion):
        return AnswerResult(answered=asked, ours=False)
    waiting, _ = fold.current(store, Decisions)
    try:
        store.append_all(state.answer_entries(asked, validated_choice(asked, choice), by=by))
    except Conflict:
        return AnswerResult(answered=_answered(store, asked), ours=False)
    answered = _answered(store, asked)
    goes_on = answered.taken is not None and answered.taken.releases
    released = state.released_by(waiting, asked.raised.id) if goes_on else ()
    return AnswerResult(answered=answered, ours=True, released=sorted(subject.to_words(released)))


def _answered(store: Store, asked: OpenQuestion) -> AnsweredQuestion:
    found = find_question(store, asked.raised.id)
    if isinstance(found, OpenQuestion):
        raise Conflict(
            f"the question {asked.raised.id} changed while it was answered", hint="Try again."
        )
    return found


def _open_hint(waiting: Decisions) -> str:
    return (
        f"These wait: {join_some(waiting.open)}."
        if waiting.open
        else "None waits; `dos decisions --all` shows all."
    )
