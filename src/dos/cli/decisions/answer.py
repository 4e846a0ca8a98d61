"""Answer a decision and release what waits for it.

The first answer counts. A second one is refused, with the first answer and who gave it. A lane or a
unit can stand for the decision while it waits for only one. A number of the list cannot: the list
may have changed since it was printed.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog.waiting import Waits, describe_waits
from dos.cli.decisions import gather
from dos.errors import BadInput
from dos.questions import answer, subject, view
from dos.questions.state import Decisions
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"answered": 0, "already-answered": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    decision: Annotated[
        str,
        Option(
            positional=True,
            help="the id that `dos decisions` prints, or the lane or unit that waits",
            metavar="ID",
        ),
    ]
    choice: Annotated[str, Option(positional=True, help="one of its choices", metavar="CHOICE")]
    by: Annotated[str, Option(help="who answers (default: you)", metavar="WHO")] = ""


def run(args: Args, context: Context) -> Reply:
    by = validated_name(args.by, "name") if args.by else actor()
    decisions = gather.open_questions(context)
    journal = context.journal_world.journal
    decision_id = _find_id(decisions, args.decision, args.choice)
    question = answer.find_question(journal, decision_id, decisions)
    if answer.is_moot(question, decisions):
        question = answer.close_moot(context.journal, question)
    choice = answer.validated_choice(question, args.choice)
    result = answer.answer(context.journal, question, choice, by=by)
    now_ms = context.journal.now_ms()
    row = view.row(result.answered, now_ms)
    data = to_builtins(row) | {"answered": result.ours, "released": result.released}
    if not result.ours:
        first_answer = view.render_one(result.answered, now_ms)
        text = f"{row.id} was answered before; nothing was changed\n{first_answer}"
        return Reply(code=1, text=text, data=data, indented=True)
    context.reload()
    still_waiting: Waits = ()
    if result.released:
        waits = gather.fleet_waits(context)
        still_waiting = view.other_waits(result.answered.question, waits)
    data["waiting"] = to_builtins(still_waiting)
    text = _describe_answer(choice, result.released, still_waiting)
    return Reply(text=text, data=data, indented=True)


def _describe_answer(choice: str, released: list[str], still_waiting: Waits) -> str:
    """Return the answer, what can start again, and what that still waits for."""
    sentences = [f"Answered: {choice}."]
    for subject_name in released:
        kind, colon, name = subject_name.partition(":")
        words = f"{kind.capitalize()} {name}" if colon else kind.capitalize()
        verb = "goes on" if kind == subject.RUN else "can start again"
        sentences.append(f"{words} {verb}.")
    lines = [" ".join(sentences)]
    for wait in still_waiting:
        lines.append(f"{wait.subject} also waits: {describe_waits([wait])}")
    return "\n".join(lines)


def _find_id(decisions: Decisions, word: str, choice: str) -> str:
    """Return the id of the one decision that a lane or a unit waits for; else the word itself.

    Of the decisions of a lane only those count that an answer can clear. Raises BadInput for a
    number of the list, with the command that answers that decision by its id.
    """
    if word in decisions.open:
        return word
    ids = []
    for decision_id, question in decisions.open.items():
        subjects = question.question.subjects
        is_of_lane = subject.Lane(word) in subjects and bool(question.raised.choices)
        if is_of_lane or subject.Unit(word) in subjects:
            ids.append(decision_id)
    if len(ids) == 1:
        return ids[0]
    if word.isdecimal() and not ids and decisions.open:
        decision_id = answer.id_by_number(decisions, int(word))
        raise BadInput(
            f"{word} is a number of the list, and the list may have changed since it was printed",
            hint=f"Answer by id. Number {word} is now: dos decide-for {decision_id} {choice}",
        )
    return word
