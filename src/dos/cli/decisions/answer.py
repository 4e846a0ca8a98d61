"""Answer a decision and release what waits for it.

The first answer counts. Who comes second is told what was answered and by whom, and nothing is written. The lane or
the unit that waits stands for the question, as long as it waits for only one. A number of the list does not: the list
may have changed since it was printed.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog.waiting import FleetWaits, Waits, describe_waits
from dos.cli.decisions import open_questions
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
            help="its id, as `dos decisions` prints it; or the lane that waits",
            metavar="ID",
        ),
    ]
    choice: Annotated[str, Option(positional=True, help="one of its choices", metavar="CHOICE")]
    by: Annotated[str, Option(help="who answers; you when not given", metavar="WHO")] = ""


def run(args: Args, context: Context) -> Reply:
    by = validated_name(args.by, "name") if args.by else actor()
    known = open_questions.gather(context)
    asked = answer.find_question(context.journal_world.journal, _meant(known, args.decision), known)
    choice = answer.validated_choice(asked, args.choice)
    result = answer.answer(context.journal, asked, choice, by=by)
    now_ms = context.journal.now_ms()
    row = view.row(result.answered, now_ms)
    data = to_builtins(row) | {"answered": result.ours, "released": result.released}
    if not result.ours:
        text = f"{row.id} was answered before, and nothing was changed\n{view.render_one(result.answered, now_ms)}"
        return Reply(code=1, text=text, data=data, indented=True)
    context.reload()
    text, still = _after(result, open_questions.fleet_waits(context))
    data["waiting"] = to_builtins(still)
    return Reply(text=f"{row.id}: {choice}{text}", data=data, indented=True)


def _after(result: answer.AnswerResult, waits: FleetWaits) -> tuple[str, Waits]:
    """What the answer let go, and what that waits for besides."""
    if not result.released:
        return "", ()
    still = view.other_waits(result.answered.question, waits)
    lines = [f"; free to go on: {', '.join(result.released)}"]
    lines += [f"{each.subject} also waits: {describe_waits([each])}" for each in still]
    return "\n".join(lines), still


def _meant(known: Decisions, word: str) -> str:
    """The one question that a unit, or a lane, waits for. Of a lane's, those that an answer can clear."""
    meant = []
    for decision, asked in known.open.items():
        waits = asked.question.subjects
        is_of_lane = subject.Lane(word) in waits and bool(asked.raised.choices)
        if is_of_lane or subject.Unit(word) in waits:
            meant.append(decision)
    return meant[0] if len(meant) == 1 and word not in known.open else word
