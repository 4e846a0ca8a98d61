"""Check all notes of an agent, the stale ones first.

Nothing is changed. With --route, each stale note becomes a decision, once.
"""

from collections import Counter
from typing import Annotated

from msgspec import Struct

from dos.cli.memory.recall import line, recall
from dos.journal import fold
from dos.memory.io import store
from dos.memory.verdict import Answer, Verdict, in_order
from dos.questions import state
from dos.questions.catalog import Added
from dos.questions.state import Decisions
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
KIND = "RECALL_STALE"


class Args(Struct, kw_only=True):
    """Which notes, and whether to ask about the stale ones."""

    store: Annotated[
        str,
        Option(help="folder of the notes (default: Claude Code's for this one)", metavar="DIR"),
    ] = ""
    route: Annotated[bool, Option(help="add a decision for each stale note")] = False


def run(args: Args, context: Context) -> Reply:
    """Compare every note with the repository."""
    workspace = context.lenient_world.workspace
    folder = store.find_store(workspace, context.start_directory, args.store)
    verdicts = in_order([recall(workspace, note) for note in store.read_notes(folder)])
    routed: list[str] = []
    if args.route:
        routed = _route(verdicts, context)
    counts = Counter(verdict.answer for verdict in verdicts)
    lines = [line(verdict) for verdict in verdicts]
    lines += [f"added {name}" for name in routed]
    return Reply(
        text="\n".join(lines) or f"{folder} has no notes",
        data={
            "store": str(folder),
            "counts": {answer.value: counts[answer] for answer in Answer},
            "memories": [verdict.to_dict() for verdict in verdicts],
            "routed": routed,
        },
        indented=True,
    )


def _route(verdicts: list[Verdict], context: Context) -> list[str]:
    """Ask about each stale note that is not asked about yet; return the new decisions."""
    recorded, _ = fold.current(context.journal, Decisions)
    entries = []
    names = []
    for verdict in verdicts:
        if verdict.answer is not Answer.STALE:
            continue
        text = f"The note {verdict.memory} is stale: {verdict.reason}"
        question = Added.ask(KIND, "", text, "", answered=recorded.answered)
        if question.id not in recorded.open:
            entries.append(state.raise_entry(question))
            names.append(question.id)
    if entries:
        context.journal.append_all(entries)
    return names
