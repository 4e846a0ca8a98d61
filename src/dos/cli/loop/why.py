"""Explain why a run continued or stopped, by iteration.

For each iteration: how it ended, the evidence, the counters, the decision and the rule that made
it. --json has all rules that were considered, in order.
Without an argument the newest run is shown. With a lane, it also shows what the lane waits for now.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog import waiting
from dos.cli.runs import lookup
from dos.report import explain, explain_text, timeline
from dos.times import utc_datetime
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"told": 0, "not-found": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The run, and the iteration to explain."""

    run: Annotated[
        str,
        Option(positional=True, help="run, lane or unit (default: the newest run)", metavar="RUN"),
    ] = ""
    iteration: Annotated[int | None, Option(help="only this iteration", metavar="N")] = None


def run(args: Args, context: Context) -> Reply:
    """Explain a run from its events; with --iteration only that iteration."""
    found = lookup.find_run(context, args.run)
    if found.missing:
        return found.missing
    journal = context.world.journal
    events = timeline.events_of_run(journal, found.run_id, found.events, with_successors=True)
    explanation = explain.explain_run(found.run_id, events)
    if args.iteration is not None:
        explanation = explain.only_iteration(explanation, args.iteration)
    text = explain_text.render(
        explanation, utc_datetime(journal.now_ms()), is_whole=args.iteration is None
    )
    if args.run and args.run == explanation.lane:
        text += _lane_waits(context, args.run)
    return Reply(text=text, data=to_builtins(explanation), indented=True)


def _lane_waits(context: Context, lane: str) -> str:
    """Return what the lane waits for now, as the last paragraph; empty where it waits for nothing.

    A run is in the past: what its lane waits for may have begun after it stopped.
    """
    from dos.fleet.io.reader import FleetReader  # only a lane needs what the fleet looks like

    waits = FleetReader(context.world).waits().lanes.get(lane, ())
    if not waits:
        return ""
    return f"\n\nNow lane {lane} waits: {waiting.describe_waits(waits)}"
