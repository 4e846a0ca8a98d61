"""Decide whether a run's stop reason has recurred in others.

A run's cause is its stop reason, if a person or an outside change has to clear it. All
of it is read from the journal. With --all every recurring cause is listed, the worst first; a cause
that was cleared long ago is left out with --since or --runs.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.cli.loop.numbers import values_checked
from dos.cli.moments import moment_of_since
from dos.errors import BadInput
from dos.loop.io import history
from dos.loop.verdicts import recurring
from dos.loop.verdicts.recurring import Evidence, Policy
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"NEW": 0, "RECURRING": 3, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The run, and how many runs make its cause recurring."""

    run_id: Annotated[
        str, Option(help="run id (default: the last run that stopped)", positional=True)
    ] = ""
    all: Annotated[bool, Option(help="list the recurring causes of all runs")] = False
    since: Annotated[
        str, Option(help="with --all: of runs that stopped since a date or an age", metavar="WHEN")
    ] = ""
    runs: Annotated[int | None, Option(help="with --all: of the newest N runs", metavar="N")] = None
    min_recurrence: Annotated[int, Option(help="runs that make it recurring", metavar="N")] = 2


def run(args: Args, context: Context) -> Reply:
    """Compare the cause of one run's stop with those of earlier runs.

    Without a run there is nothing to compare, and the answer is NEW. Raises BadInput for a run that
    the journal does not have.
    """
    with values_checked("recurring"):
        policy = Policy(min_recurrence=args.min_recurrence)
    if args.all:
        return _list_causes(args, context, policy)
    if args.since or args.runs is not None:
        raise BadInput("--since and --runs are about all runs", hint="Add --all.")
    run_id = ""
    if args.run_id:
        run_id = run_ids.validated_run_id(args.run_id)
    evidence = history.recurring_evidence(context.world.journal, run_id)
    if run_id and evidence is None:
        raise BadInput(
            f"the journal has no run {run_id}", hint="`dos status` lists the last stopped runs."
        )
    verdict = recurring.judge(evidence or Evidence(run=""), policy)
    next_action = ""
    if verdict.recurring:
        next_action = f"`dos man wedge {verdict.cause_key}` shows what clears it."
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=next_action,
    )


def _list_causes(args: Args, context: Context, policy: Policy) -> Reply:
    """List every cause that stopped enough runs, whichever run stopped last."""
    if args.run_id:
        raise BadInput("--all is about all runs", hint="Leave the run id out.")
    if args.runs is not None and args.runs < 1:
        raise BadInput("--runs is less than 1", hint="For example: --runs 20")
    journal = context.world.journal
    since_ms = moment_of_since(args.since, journal.now_ms())
    hits = history.all_hits(journal, since_ms=since_ms, newest=args.runs)
    causes = recurring.recurring_causes(hits, policy)
    data = {"recurring": bool(causes), "clusters": to_builtins(causes)}
    if not causes:
        return Reply(text="NEW  no cause recurs", data=data)
    lines = []
    for cause in causes:
        lines.append(
            f"RECURRING  {cause.cause_key} stopped {plural(cause.runs_affected, 'run')};"
            f" last {cause.example_run}: {cause.example}"
        )
    return Reply(
        code=EXITS["RECURRING"],
        text="\n".join(lines),
        data=data,
        next_action=f"`dos man wedge {causes[0].cause_key}` shows what clears it.",
    )
