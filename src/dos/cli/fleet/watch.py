"""Record a halt proposal for each run that stopped moving.

Nobody is signalled: for a run that spins or has stalled a halt is written to the journal, for somebody to carry out. It
is written once for each time that the run stops moving, and again only after a while. A run is its id; what follows
tells more of it, where the journal does not know: its first commit, its lane, its loop's stamp, what to stop.
"""

import re
from typing import Annotated, Any

from msgspec import Struct, json

from dos.cli import repeat
from dos.errors import BadInput, StoreFailed
from dos.fleet.io import halt_proposals as evidence
from dos.fleet.io.halt_proposals import OWNER, TrackedRun, WatchedRuns
from dos.fleet.population import lease_health
from dos.fleet.population.lease_health import HaltCandidate as Watched
from dos.fleet.population.lease_health import HaltPolicy as Policy
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
# A stamp has colons of its own.
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)(?::(.*))?"
)


class Args(Struct, kw_only=True):
    track: Annotated[
        list[str],
        Option(
            help="a run; can be repeated",
            metavar="RID[:SHA[:LANE[:STAMP[:HANDLE]]]]",
            repeatable=True,
        ),
    ] = []
    discover: Annotated[bool, Option(help="every run that holds a lane")] = False
    budget_ms: Annotated[
        int | None, Option(help="leave a stalled run alone that is younger", metavar="MS")
    ] = None
    command: Annotated[
        str, Option(help="what would stop one, for the record", metavar="COMMAND")
    ] = ""
    repropose_ms: Annotated[
        int, Option(help="propose the same again after this long", metavar="MS")
    ] = 1_800_000
    watch: Annotated[bool, Option(help="look again and again, until Ctrl-C")] = False
    max_ticks: Annotated[
        int | None, Option(help="with --watch: end after so many looks", metavar="N")
    ] = None
    interval: Annotated[
        float, Option(help="with --watch: seconds between two looks", metavar="SECONDS")
    ] = 300.0
    now_ms: Annotated[
        int | None, Option(help="what time it is; now when not given", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    if not args.track and not args.discover:
        raise BadInput(
            "no run is named",
            hint="Give --track RID, or --discover for every run that holds a lane.",
        )
    tracked = [_tracked(text) for text in args.track]
    if args.command:
        validated_name(args.command, "command", longest=1_000)
    repeat.check_options(args.interval, args.max_ticks, args.now_ms)
    try:
        policy = Policy(budget_ms=args.budget_ms, repropose_ms=args.repropose_ms)
    except ValueError as error:
        raise BadInput(str(error), hint="Give milliseconds from 0.") from error
    if not args.watch:
        return _tick(args, context, tracked, policy, args.now_ms)

    def tell(number: int) -> None:
        try:
            found = _tick(
                args,
                context,
                tracked,
                policy,
                repeat.tick_time_ms(args.now_ms, number, args.interval),
            )
            said = (
                json.encode(found.data, order="sorted").decode() if context.as_json else found.text
            )
            for line in said.splitlines():
                context.print_line(line)
        except StoreFailed as error:  # what could not be written now is due at the next look
            print_stderr(f"the journal cannot be used now: {error.message}")
        context.reload()

    repeat.repeat(tell, interval_seconds=args.interval, max_ticks=args.max_ticks)
    return Reply()


def _tick(
    args: Args, context: Context, tracked: list[TrackedRun], policy: Policy, now_ms: int | None
) -> Reply:
    seen = evidence.gather(
        context.world, context.policy, tracked, discover=args.discover, now_ms=now_ms
    )
    due = [run for run in seen.runs if lease_health.is_due(run, policy)]
    if due:
        context.journal.append_all([_entry(run, args.command) for run in due])
    data = _data(seen, due, policy)
    return Reply(text=_text(seen, due), data=data)


def _entry(run: Watched, command: str) -> Entry:
    fact = HaltProposed(
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
        kind=fact.kind,
        body=fact,
        key=evidence.proposal_key(run),
        at_ms=run.evidence.now_ms,
    )


def _data(seen: WatchedRuns, due: list[Watched], policy: Policy) -> dict[str, Any]:
    def answered(answer: Answer) -> list[str]:
        return [run.run_id for run in seen.runs if run.verdict.answer is answer]

    return {
        "watched": len(seen.runs),
        "verdicts": {run.run_id: run.verdict.answer for run in seen.runs},
        "proposed_halts": [run.run_id for run in due],
        "advancing": answered(Answer.ADVANCING),
        "spinning": answered(Answer.SPINNING),
        "stalled_within_budget": [
            run.run_id for run in seen.runs if lease_health.within_budget(run, policy)
        ],
        "unknown": answered(Answer.UNKNOWN),
        "skipped": seen.skipped,
    }


def _text(seen: WatchedRuns, due: list[Watched]) -> str:
    proposed = {run.run_id for run in due}
    lines = [f"WATCH: {len(seen.runs)} watched, {len(due)} to be stopped"]
    for run in seen.runs:
        halt = f" — stop it: {run.handle}" if run.run_id in proposed else ""
        lines.append(f"{run.run_id}  {run.verdict.answer}  {run.verdict.reason}{halt}")
    return "\n".join(
        [*lines, *(f"skipped {quote(name)}: it is no run id" for name in seen.skipped)]
    )


def _tracked(text: str) -> TrackedRun:
    run_id, sha, lane, rest = (*text.split(":", 3), "", "", "")[:4]
    if not run_id.strip():
        raise BadInput(
            f"--track {quote(text)} names no run", hint="For example: --track RID-01J8XK2M3N4P5Q6"
        )
    stamp = _STAMP.fullmatch(rest)
    loop_ts, handle = (
        (stamp[1], stamp[2] or "") if stamp else (rest.partition(":")[0], rest.partition(":")[2])
    )
    for what, part in (
        ("start commit", sha),
        ("lane name", lane),
        ("loop stamp", loop_ts),
        ("handle", handle),
    ):
        if part:
            validated_name(part, what)
    return TrackedRun(run_id=run_id, start_sha=sha, lane=lane, loop_ts=loop_ts, handle=handle)
