"""Decide whether a loop continues after an iteration.

With --state the decision is made from the given state, and nothing is recorded. With --run the
state is kept in the journal: each call decides the iteration that just ended, and repeating an
--iteration repeats its answer; what the run declared is checked against git. With --batch each line
of stdin is an object with a state and an outcome, and each line of the output is a decision.

For example: dos decide --state '{"iteration":3,"consecutive_unclear":1}'
  --outcome '{"kind":"GATE","verdict":"DRAIN"}'
"""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import MsgspecError, Struct, json, structs, to_builtins

from dos import run_ids
from dos.cli.streams import answer_lines
from dos.errors import BadInput
from dos.loop import decide, tokens
from dos.loop.types import IterationOutcome, LoopDecision, LoopState
from dos.text import quote
from dos.times import format_local_time
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:
    from dos.runs import complete

EXITS = {"continue": 0, "stop": 3, "retry-same-iter": 4, "wait": 5, "contract_error": 2}
LARGEST_BYTES = 1 << 20  # a longer file is cut off here and then reported as invalid JSON
FIELDS = "`dos help decide` shows an example; the fields are those of dos.loop_decide."


class Args(Struct, kw_only=True):
    """The state and the outcome, or the run whose state the journal keeps."""

    state: Annotated[
        str, Option(help="state of the loop: JSON, a file, or - for stdin", metavar="JSON")
    ] = ""
    outcome: Annotated[
        str, Option(help="outcome of the iteration: JSON, a file, or -", metavar="JSON")
    ] = ""
    run: Annotated[
        str, Option(help="keep the state in the journal under this run", metavar="RID")
    ] = ""
    iteration: Annotated[
        int | None, Option(help="with --run: iteration that ended", metavar="N")
    ] = None
    attempt: Annotated[int | None, Option(help="with --iteration: attempt of it", metavar="N")] = (
        None
    )
    evidence: Annotated[
        str, Option(help="with --run: evidence, as fields of a state", metavar="JSON")
    ] = ""
    unit: Annotated[str, Option(help="with --run: unit that was worked on", metavar="UNIT")] = ""
    lane: Annotated[str, Option(help="with --run: lane", metavar="LANE")] = ""
    batch: Annotated[
        bool, Option(help='read {"state":…,"outcome":…} lines, write one decision a line')
    ] = False


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a batch."""

    state: LoopState = LoopState()
    outcome: IterationOutcome


def run(args: Args, context: Context) -> Reply:
    """Decide from a given state, for a recorded run, or for each line of a batch.

    Only with --run is anything written: the decision, and with a stop also the end of the run.
    """
    if args.batch:
        return _batch(args)
    if not args.outcome:
        raise BadInput(
            "--outcome is missing",
            hint='Give one: dos decide --outcome \'{"kind":"SHIPPED"}\'',
        )
    outcome = _timed(_read(args.outcome, "--outcome", IterationOutcome))
    if args.run:
        return _decide_run(args, context, outcome)
    if args.iteration is not None or args.attempt is not None or args.evidence:
        raise BadInput(
            "--iteration, --attempt and --evidence need --run", hint="Put them into --state."
        )
    state = LoopState()
    if args.state:
        state = _read(args.state, "--state", LoopState)
    return _reply(decide.decide(state, outcome))


def _decide_run(args: Args, context: Context, outcome: IterationOutcome) -> Reply:
    """Decide the iteration that ended and record it; a repeated call gets the recorded answer."""
    from dos.cli.lanes.caller import optional_name
    from dos.fleet.worker.start_state import new_state
    from dos.loop.record import StepRequest, step

    if args.attempt is not None and args.iteration is None:
        raise BadInput("--attempt needs --iteration", hint="Give --iteration, too.")
    run_id = run_ids.validated_run_id(args.run)
    evidence = LoopState()
    if args.evidence:
        evidence = _read(args.evidence, "--evidence", LoopState)
    if evidence.completion is None:
        evidence = structs.replace(evidence, completion=_completion(context, run_id))
    if args.state:
        start = _read(args.state, "--state", LoopState)
    else:
        start = new_state(context.policy)
    request = StepRequest(
        outcome=outcome,
        evidence=evidence,
        lane=optional_name(args.lane, "lane name"),
        unit=optional_name(args.unit, "unit"),
        iteration=args.iteration,
        attempt=args.attempt,
        fence=_fence(),
    )
    stepped = step(context.journal, run_id, request, fresh=start)
    more = {
        "run_id": args.run,
        "iteration": stepped.iteration,
        "attempt": stepped.attempt,
        "repeated": stepped.repeated,
    }
    return _reply(stepped.decision, more)


def _completion(context: Context, run_id: str) -> "complete.Verdict | None":
    """Return whether git confirms all that the run declared; None if it declared nothing."""
    from dos.journal import run_state
    from dos.runs import complete
    from dos.runs.io.evidence import gather_declaration

    found = gather_declaration(context.world, run_id, run_state.read(context.world.journal, run_id))
    return complete.judge(complete.Evidence(declared=found)) if found.has_intent else None


def _fence() -> int | None:
    """Return the exported fence: a loop with a lease may record its run only while it holds it."""
    exported = os.environ.get("DOS_FENCE", "")
    if exported and not exported.isdecimal():
        raise BadInput(f"$DOS_FENCE is {quote(exported)}, not a fence", hint="Unset DOS_FENCE.")
    if not exported:
        return None
    return int(exported)


def _reply(decision: LoopDecision, more: dict[str, Any] | None = None) -> Reply:
    """Return the decision as text and JSON; `more` are further keys of the JSON.

    The time of a wait is shown as a local time; JSON keeps it in UTC.
    """
    text = tokens.decision_words(decision.action, decision.next_mode, decision.stop_reason)
    if decision.until:
        text += f" until {format_local_time(decision.until, datetime.now(UTC))}"
    text += f"  {decision.reason}"
    next_action = ""
    if decision.stop_reason:
        text += f"; {tokens.needs_words(decision.needs)}"
        next_action = f"`dos man wedge {decision.stop_reason}` explains it."
    data = {**to_builtins(decision), **(more or {})}
    return Reply(code=EXITS[decision.action], text=text, data=data, next_action=next_action)


def _read(source: str, where: str, kind: type[Any]) -> Any:
    """Decode JSON that an option holds itself, or names as a file or as `-` for stdin."""
    if source.lstrip()[:1] in ("{", "["):
        text = source.encode()
    elif source == "-":
        text = sys.stdin.buffer.read()
    else:
        text = _read_file(source, where)
    try:
        return json.decode(text, type=kind)
    except (MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: {error}", hint=FIELDS) from error


def _read_file(name: str, where: str) -> bytes:
    """Return the content of a file. Raises BadInput for what is no file, such as a device."""
    try:
        if Path(name).is_char_device() or Path(name).is_block_device():
            raise OSError(0, "it is a device")
        with Path(name).open("rb") as file:
            return file.read(LARGEST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"{where}: {quote(name)} is neither JSON nor a file: {why}", hint=FIELDS
        ) from error


def _batch(args: Args) -> Reply:
    """Answer each line of stdin by one decision. Raises BadInput for options that it ignores."""
    if args.state or args.outcome or args.run:
        raise BadInput(
            "--batch reads states and outcomes from stdin",
            hint="Leave --state, --outcome and --run out.",
        )
    return answer_lines(Step, _decide_step)


def _decide_step(step: Step) -> LoopDecision:
    """Decide one line of a batch."""
    return decide.decide(step.state, _timed(step.outcome))


def _timed(outcome: IterationOutcome) -> IterationOutcome:
    """Return the outcome with its end: a time to wait counts from the end, by default now."""
    if outcome.retry_after_seconds is None or outcome.ended_at is not None:
        return outcome
    return structs.replace(outcome, ended_at=datetime.now(UTC))
