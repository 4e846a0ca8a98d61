"""Record a halt proposal for each run that stopped moving.

Nothing is signalled: for a run that spins or has stalled, a halt proposal is recorded in the
journal, for a person or a program to carry out. It is recorded once for each time that the run
stops moving, and again after --repropose-ms. A run is named by its id; the parts after it give what
the journal does not know: its first commit, its lane, the stamp of its loop, the handle to stop it
by.
"""

import re
from typing import Annotated, Any

from msgspec import Struct, json

from dos.cli import repeat
from dos.errors import BadInput, StoreFailed
from dos.fleet import worker_health
from dos.fleet.io import halt_proposals
from dos.fleet.io.halt_proposals import OWNER, TrackedRun, WatchedRuns
from dos.fleet.worker_health import HaltCandidate, HaltPolicy
from dos.journal import run_state
from dos.journal.backend import Entry
from dos.journal.events.runs import HaltProposed
from dos.loop.verdicts.liveness import Answer
from dos.machine import process
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.output import print_stderr

EXITS = {"reported": 0, "contract_error": 2, "lock-busy": 4}
# A stamp contains colons.
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)(?::(.*))?"
)


class Args(Struct, kw_only=True):
    """Which runs to watch, when to propose a halt, and how often to check."""

    track: Annotated[
        list[str],
        Option(
            help="a run to watch; may be repeated",
            metavar="RID[:SHA[:LANE[:STAMP[:HANDLE]]]]",
            repeatable=True,
        ),
    ] = []
    discover: Annotated[bool, Option(help="watch every run that holds a lane")] = False
    budget_ms: Annotated[
        int | None, Option(help="do not propose a stalled run that is younger", metavar="MS")
    ] = None
    command: Annotated[
        str, Option(help="the command that stops a run, for the record", metavar="COMMAND")
    ] = ""
    repropose_ms: Annotated[
        int, Option(help="propose the same run again after this time", metavar="MS")
    ] = 1_800_000
    watch: Annotated[bool, Option(help="repeat until Ctrl-C")] = False
    max_ticks: Annotated[
        int | None, Option(help="with --watch: stop after N checks", metavar="N")
    ] = None
    interval: Annotated[
        float, Option(help="with --watch: seconds between two checks", metavar="SECONDS")
    ] = 300.0
    now_ms: Annotated[
        int | None, Option(help="the current time, in ms since 1970 (default: now)", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Check the runs once, or with --watch again and again until Ctrl-C."""
    if not args.track and not args.discover:
        raise BadInput(
            "no run to watch",
            hint="Give --track RID, or --discover for every run that holds a lane.",
        )
    tracked = [_parse_tracked(text) for text in args.track]
    if args.command:
        validated_name(args.command, "command", longest=1_000)
    repeat.check_options(args.interval, args.max_ticks, args.now_ms)
    try:
        policy = HaltPolicy(budget_ms=args.budget_ms, repropose_ms=args.repropose_ms)
    except ValueError as error:
        raise BadInput(str(error), hint="Give milliseconds, 0 or more.") from error
    if not args.watch:
        return _check(args, context, tracked, policy, args.now_ms)

    def print_check(number: int) -> None:
        """Print one check; a journal that is away is reported, and the next check tries again."""
        now_ms = repeat.tick_time_ms(args.now_ms, number, args.interval)
        try:
            reply = _check(args, context, tracked, policy, now_ms)
            text = reply.text
            if context.as_json:
                text = json.encode(reply.data, order="sorted").decode()
            for line in text.splitlines():
                context.print_line(line)
        except StoreFailed as error:  # a proposal that was not recorded is due at the next check
            print_stderr(f"warning: cannot use the journal: {error.message}")
        context.reload()

    repeat.repeat(print_check, interval_seconds=args.interval, max_ticks=args.max_ticks)
    return Reply()


def _check(
    args: Args,
    context: Context,
    tracked: list[TrackedRun],
    policy: HaltPolicy,
    now_ms: int | None,
) -> Reply:
    """Check the runs once, and record a proposal for each that is due.

    All proposals of one check are recorded in one transaction.
    """
    watched = halt_proposals.gather(
        context.world, context.policy, tracked, discover=args.discover, now_ms=now_ms
    )
    due = [run for run in watched.runs if worker_health.is_due(run, policy)]
    if due:
        context.journal.append_all([_proposal(run, args.command) for run in due])
    return Reply(text=_text(watched, due), data=_data(watched, due, policy))


def _proposal(run: HaltCandidate, command: str) -> Entry:
    """Return the entry that proposes the halt of a run.

    Its key names the period without progress, so that two watchers record it once.
    """
    proposal = HaltProposed(
        handle=run.handle,
        lane=run.lane,
        loop_ts=run.loop_ts,
        host=process.host(),
        owner=OWNER,
        run_id=run.run_id,
        command=command,
        reason=f"{run.verdict.answer}: {run.verdict.reason}",
        moved_ms=run.moved_ms,
    )
    return Entry(
        stream=run_state.stream(run.run_id),
        kind=proposal.kind,
        body=proposal,
        key=halt_proposals.proposal_key(run),
        at_ms=run.evidence.now_ms,
    )


def _data(watched: WatchedRuns, due: list[HaltCandidate], policy: HaltPolicy) -> dict[str, Any]:
    """Return the check for JSON: all runs by verdict, and those whose halt was proposed."""

    def with_answer(answer: Answer) -> list[str]:
        """Return the runs with this verdict."""
        return [run.run_id for run in watched.runs if run.verdict.answer is answer]

    within_budget = [run.run_id for run in watched.runs if worker_health.within_budget(run, policy)]
    return {
        "watched": len(watched.runs),
        "verdicts": {run.run_id: run.verdict.answer for run in watched.runs},
        "proposed_halts": [run.run_id for run in due],
        "advancing": with_answer(Answer.ADVANCING),
        "spinning": with_answer(Answer.SPINNING),
        "stalled_within_budget": within_budget,
        "unknown": with_answer(Answer.UNKNOWN),
        "skipped": watched.skipped,
    }


def _text(watched: WatchedRuns, due: list[HaltCandidate]) -> str:
    """Return the check as text: a line for each run, and for each name that is no run id."""
    proposed = {run.run_id for run in due}
    lines = [f"WATCH: {len(watched.runs)} watched, {len(due)} to be stopped"]
    for run in watched.runs:
        line = f"{run.run_id}  {run.verdict.answer}  {run.verdict.reason}"
        if run.run_id in proposed:
            line += f" — stop it: {run.handle}"
        lines.append(line)
    for name in watched.skipped:
        lines.append(f"skipped {quote(name)}: not a run id")
    return "\n".join(lines)


def _parse_tracked(text: str) -> TrackedRun:
    """Parse RID[:SHA[:LANE[:STAMP[:HANDLE]]]]; raises BadInput where there is no run id."""
    run_id, sha, lane, rest = (*text.split(":", 3), "", "", "")[:4]
    if not run_id.strip():
        raise BadInput(
            f"--track {quote(text)} has no run id", hint="For example: --track RID-01J8XK2M3N4P5Q6"
        )
    stamp = _STAMP.fullmatch(rest)
    if stamp:
        loop_ts = stamp[1]
        handle = stamp[2] or ""
    else:
        loop_ts, _, handle = rest.partition(":")
    parts = {"start commit": sha, "lane name": lane, "loop stamp": loop_ts, "handle": handle}
    for what, part in parts.items():
        if part:
            validated_name(part, what)
    return TrackedRun(run_id=run_id, start_sha=sha, lane=lane, loop_ts=loop_ts, handle=handle)
