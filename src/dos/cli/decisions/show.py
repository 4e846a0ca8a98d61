"""Show one decision, its choices and their effects."""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.approval.io import texts
from dos.cli.decisions import open_questions
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
    decision, known = args.decision, open_questions.gather(context)
    if decision.isdecimal():
        if not known.open:
            return Reply(code=1, text="nothing waits for a person", data=None)
        decision = answer.id_by_number(known, int(decision))
    found = answer.find_question(journal, decision, known)
    now_ms = journal.now_ms()
    waits = open_questions.fleet_waits(context)
    data = to_builtins(view.row(found, now_ms, waits))
    if isinstance(found.question, TextChanged):
        data["difference"] = texts.diff_lines(
            journal, context.journal_world.workspace.root, found.question
        )
    text = view.render_one(found, now_ms, data.get("difference", ()), waits)
    return Reply(text=text, data=data, indented=True)
