"""One question, whole: what waits for it, which answers there are, and what each of them does."""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.plans.questions.texts import TextChanged
from dos.runtime.by_hand import answering
from dos.runtime.fleet import text_changes
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.people import waiting
from dos.views.people import decisions as view

EXITS = {"shown": 0, "none-to-show": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    decision: Annotated[str, Option(positional=True, help="its id, or its number in the list", metavar="ID")]


def run(args: Args, desk: Desk) -> Reply:
    journal = desk.journal_world.journal
    decision, known = args.decision, waiting.now(desk)
    if decision.isdecimal():
        if not known.open:
            return Reply(code=1, text="nothing waits for a person", data=None)
        decision = answering.numbered(known, int(decision))
    found = answering.find(journal, decision, known)
    now_ms = journal.now_ms()
    waits = waiting.waits(desk)
    data = to_builtins(view.row(found, now_ms, waits))
    if isinstance(found.question, TextChanged):
        data["difference"] = text_changes.difference(journal, desk.journal_world.workspace.root, found.question)
    text = view.render_one(found, now_ms, data.get("difference", ()), waits)
    return Reply(text=text, data=data, indented=True)
