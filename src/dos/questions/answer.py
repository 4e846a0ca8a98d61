"""Answering a question: the first answer counts, and its effects are written with it."""

from msgspec import Struct, field

from dos.errors import BadInput, Conflict
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.questions import state, subject
from dos.questions.agent_requests import AGENT_ENDED, ToolRequested
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion
from dos.text import join_some, quote, validated_name


class AnswerResult(Struct, frozen=True, kw_only=True):
    """The answer that counts, and what it released."""

    answered: AnsweredQuestion
    ours: bool  # this answer was written; False: an earlier one counts, and nothing was written
    released: list[str] = field(default_factory=list)  # what waited for this question alone


def find_question(
    store: Store, decision: str, known: Decisions | None = None
) -> OpenQuestion | AnsweredQuestion:
    """Return the question of this id, from `known` or else from the journal.

    The stream of a question is read too, because the folded state forgets old answers. Raises
    BadInput when there is no such question.
    """
    known = known or fold.current(store, Decisions)[0]
    if decision in known.open:
        return known.open[decision]
    stream = streams.decision(validated_name(decision, "decision"))
    recorded = fold.fold(Decisions(), store.load(stream))
    found = recorded.open.get(decision) or recorded.answered.get(decision)
    if found is None:
        raise BadInput(f"there is no decision {quote(decision)}", hint=_open_hint(known))
    return found


def id_by_number(known: Decisions, number: int) -> str:
    """Return the id of an open question by its number in the list.

    Use it for showing only, never for answering: the list may have changed since it was printed.
    """
    ids = [asked.raised.id for asked in state.urgent_first(known)]
    if not 1 <= number <= len(ids):
        raise BadInput(f"there is no decision number {number}", hint=_open_hint(known))
    return ids[number - 1]


def validated_choice(asked: OpenQuestion | AnsweredQuestion, choice: str) -> str:
    """Return the choice. Raises BadInput when the question does not offer it."""
    names = [offered.name for offered in asked.raised.choices]
    if not names:
        question = asked.question
        raise BadInput(
            f"{question.id} cannot be answered; it closes {question.closes or 'by itself'}",
            hint=f"Edit the plan: {question.clearing_command}",
        )
    if choice not in names:
        raise BadInput(
            f"{quote(choice)} is no answer to {asked.raised.id}",
            hint=f"Answer with one of: {', '.join(names)}.",
        )
    return choice


def answer(
    store: Store, asked: OpenQuestion | AnsweredQuestion, choice: str, *, by: str
) -> AnswerResult:
    """Write the answer and its effects in one transaction.

    An earlier answer counts and nothing is written; the result then says `ours=False`.
    """
    if isinstance(asked, AnsweredQuestion):
        return AnswerResult(answered=asked, ours=False)
    before, _ = fold.current(store, Decisions)
    try:
        store.append_all(state.answer_entries(asked, validated_choice(asked, choice), by=by))
    except Conflict:
        return AnswerResult(answered=_find_answered(store, asked), ours=False)
    answered = _find_answered(store, asked)
    released: set[subject.Subject] = set()
    if answered.taken is not None and answered.taken.releases:
        released = state.released_by(before, asked.raised.id)
    return AnswerResult(answered=answered, ours=True, released=sorted(subject.to_words(released)))


def is_moot(asked: OpenQuestion | AnsweredQuestion, listed: Decisions) -> bool:
    """Whether an agent asked it that has ended. `listed` are the questions that people see."""
    is_listed = asked.raised.id in listed.open
    return isinstance(asked.question, ToolRequested) and not is_listed


def close_moot(
    store: Store, asked: OpenQuestion | AnsweredQuestion
) -> OpenQuestion | AnsweredQuestion:
    """Close a question whose agent has ended, unless it is closed, and return it."""
    if isinstance(asked, AnsweredQuestion):
        return asked
    try:
        store.append_all(state.expiry_entries(asked, reason=AGENT_ENDED))
    except Conflict:
        pass  # somebody else closed it
    return _find_answered(store, asked)


def _find_answered(store: Store, asked: OpenQuestion) -> AnsweredQuestion:
    """The question with the answer that was written. Raises Conflict if there is none."""
    found = find_question(store, asked.raised.id)
    if isinstance(found, OpenQuestion):
        raise Conflict(
            f"the question {asked.raised.id} changed while it was answered", hint="Try again."
        )
    return found


def _open_hint(known: Decisions) -> str:
    """Which questions can be answered, for an error."""
    if known.open:
        return f"Open decisions: {join_some(known.open)}."
    return "There are no open decisions; `dos decisions --all` shows the answered ones."
