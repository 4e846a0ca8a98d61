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
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:
    from dos.runs import complete

EXITS = {"continue": 0, "stop": 3, "retry-same-iter": 4, "wait": 5, "contract_error": 2}
LARGEST_BYTES = 1 << 20  # what is cut off here is no JSON, and said to be none
FIELDS = "`dos help decide` shows an example; the fields are those of dos.loop_decide."


class Args(Struct, kw_only=True):
    state: Annotated[
        str, Option(help="the loop's state: JSON, a file, or - for the input", metavar="JSON")
    ] = ""
    outcome: Annotated[
        str, Option(help="how the iteration ended: JSON, a file, or -", metavar="JSON")
    ] = ""
    run: Annotated[
        str, Option(help="keep the state in the journal, under this run", metavar="RID")
    ] = ""
    iteration: Annotated[
        int | None, Option(help="with --run: the iteration that ended", metavar="N")
    ] = None
    attempt: Annotated[
        int | None, Option(help="with --iteration: which try of it", metavar="N")
    ] = None
    evidence: Annotated[
        str, Option(help="with --run: what was seen, as fields of a state", metavar="JSON")
    ] = ""
    unit: Annotated[str, Option(help="with --run: the unit that was worked on", metavar="UNIT")] = (
        ""
    )
    lane: Annotated[str, Option(help="with --run: the lane", metavar="LANE")] = ""
    batch: Annotated[
        bool, Option(help='read {"state":…,"outcome":…} lines, write one decision a line')
    ] = False


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a batch."""

    state: LoopState = LoopState()
    outcome: IterationOutcome


def run(args: Args, context: Context) -> Reply:
    if args.batch:
        return _batch(args)
    if not args.outcome:
        raise BadInput(
            "there is no outcome to decide on",
            hint='Give one: dos decide --outcome \'{"kind":"SHIPPED"}\'',
        )
    outcome = _timed(_read(args.outcome, "--outcome", IterationOutcome))
    if args.run:
        return _durable(args, context, outcome)
    if args.iteration is not None or args.attempt is not None or args.evidence:
        raise BadInput(
            "--iteration, --attempt and --evidence belong to --run", hint="Put them into --state."
        )
    state = _read(args.state, "--state", LoopState) if args.state else LoopState()
    return _reply(decide.decide(state, outcome))


def _durable(args: Args, context: Context, outcome: IterationOutcome) -> Reply:
    from dos.fleet.worker.start_state import new_state
    from dos.loop import step as stepping

    if args.attempt is not None and args.iteration is None:
        raise BadInput("--attempt says which try of an iteration", hint="Give --iteration, too.")
    run_id = run_ids.validated_run_id(args.run)
    given = _read(args.evidence, "--evidence", LoopState) if args.evidence else LoopState()
    if given.completion is None:
        given = structs.replace(given, completion=_completion(context, run_id))
    start = _read(args.state, "--state", LoopState) if args.state else new_state(context.policy)
    stepped = stepping.step(
        context.journal,
        run_id,
        outcome,
        fresh=start,
        evidence=given,
        lane=validated_name(args.lane, "lane name") if args.lane else "",
        unit=validated_name(args.unit, "unit") if args.unit else "",
        iteration=args.iteration,
        attempt=args.attempt,
        fence=_fence(),
    )
    more = {
        "run_id": args.run,
        "iteration": stepped.iteration,
        "attempt": stepped.attempt,
        "repeated": stepped.repeated,
    }
    return _reply(stepped.decision, more)


def _completion(context: Context, run_id: str) -> "complete.Verdict | None":
    """Whether all that the run declared is done, by git's word; None for a run that declared nothing."""
    from dos.journal import run_state
    from dos.runs import complete
    from dos.runs.io.evidence import gather_declaration

    found = gather_declaration(context.world, run_id, run_state.read(context.world.journal, run_id))
    return complete.judge(complete.Evidence(declared=found)) if found.has_intent else None


def _fence() -> int | None:
    """A loop that was given a lane may go on with its run only while it holds the lane."""
    exported = os.environ.get("DOS_FENCE", "")
    if exported and not exported.isdecimal():
        raise BadInput(
            f"$DOS_FENCE is {quote(exported)}, which is no fence", hint="Unset DOS_FENCE."
        )
    return int(exported) if exported else None


def _reply(decision: LoopDecision, more: dict[str, Any] | None = None) -> Reply:
    what = tokens.decision_words(decision.action, decision.next_mode, decision.stop_reason)
    clears = f"; needs {decision.needs}" if decision.stop_reason else ""
    until = f" until {decision.until.isoformat()}" if decision.until else ""
    return Reply(
        code=EXITS[decision.action],
        text=f"{what}{until}  {decision.reason}{clears}",
        data={**to_builtins(decision), **(more or {})},
        next_action=f"`dos man wedge {decision.stop_reason}` says what to do."
        if decision.stop_reason
        else "",
    )


def _read(given: str, where: str, kind: type[Any]) -> Any:
    if given.lstrip()[:1] in ("{", "["):
        text = given.encode()
    elif given == "-":
        text = sys.stdin.buffer.read()
    else:
        text = _read_file(given, where)
    try:
        return json.decode(text, type=kind)
    except (MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: {error}", hint=FIELDS) from error


def _read_file(name: str, where: str) -> bytes:
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
    if args.state or args.outcome or args.run:
        raise BadInput(
            "--batch reads states and outcomes from the input",
            hint="Leave --state, --outcome and --run out.",
        )
    return answer_lines(Step, lambda step: decide.decide(step.state, _timed(step.outcome)))


def _timed(outcome: IterationOutcome) -> IterationOutcome:
    """A time to wait counts from when the launch failed: just now, unless somebody says when."""
    if outcome.retry_after_seconds is None or outcome.ended_at is not None:
        return outcome
    return structs.replace(outcome, ended_at=datetime.now(UTC))
