"""Show one decision, its choices and their effects.

It also shows what waits for it and, for a changed file, the difference.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.decisions.gather import questions_and_waits
from dos.questions import answer, view
from dos.questions.documents import TextChanged
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "none-to-show": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    decision: Annotated[
        str, Option(positional=True, help="its id, or its number in the list", metavar="ID")
    ]


def run(args: Args, context: Context) -> Reply:
    journal = context.journal_world.journal
    decision_id = args.decision
    decisions, waits = questions_and_waits(context)
    if decision_id.isdecimal():
        if not decisions.open:
            return Reply(code=1, text="No open decisions", data=None)
        decision_id = answer.id_by_number(decisions, int(decision_id))
    question = answer.find_question(journal, decision_id, decisions)
    now_ms = journal.now_ms()
    data = to_builtins(view.row(question, now_ms, waits))
    if isinstance(question.question, TextChanged):
        from dos.approval.io import texts  # only a changed file has a difference

        root = context.journal_world.workspace.root
        data["difference"] = texts.diff_lines(journal, root, question.question)
    text = view.render_one(question, now_ms, data.get("difference", ()), waits)
    return Reply(text=text, data=data, indented=True)
