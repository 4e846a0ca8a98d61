"""Show what happened in a run, when, and how long it took.

The lines are the events of the run, its units and its lease, in order; the longest gap is marked.
Without an argument the newest run is shown.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.runs import lookup
from dos.report import timeline
from dos.times import utc_datetime
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"told": 0, "not-found": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The run to show."""

    run: Annotated[
        str,
        Option(positional=True, help="run, lane or unit (default: the newest run)", metavar="RUN"),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Show the events of the run in order, with the time that passed between them."""
    found = lookup.find_run(context, args.run)
    if found.missing:
        return found.missing
    journal = context.world.journal
    events = timeline.events_of_run(journal, found.run_id, found.events)
    moments = timeline.moments(events)
    data = {"run_id": found.run_id, "moments": to_builtins(moments)}
    text = timeline.render(found.run_id, moments, utc_datetime(journal.now_ms()))
    return Reply(text=text, data=data, indented=True)
