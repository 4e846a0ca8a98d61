"""Check that a run's recorded evidence yields its decisions.

Every decision of the run is made again from the evidence in the journal. With --policy the limits
of another dos.toml apply ([loop], [liveness] and [workers] max_iterations): the first decision that
differs is shown. What would have followed it cannot be known.
"""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.fleet.worker.start_state import new_state
from dos.loop import record, tokens
from dos.loop.types import LoopDecision
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"same": 0, "not-found": 1, "contract_error": 2, "differs": 3}


class Args(Struct, kw_only=True):
    run: Annotated[
        str,
        Option(
            positional=True, help="run, lane or unit; the newest run when not given", metavar="RUN"
        ),
    ] = ""
    policy: Annotated[str, Option(help="a dos.toml with other limits", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    found = lookup.find_run(context, args.run)
    if found.missing:
        return found.missing
    policy = _policy(args.policy) if args.policy else None
    made = record.replay(record.read_decisions(found.events), policy)
    data: dict[str, Any] = {
        "run_id": found.run_id,
        "policy": args.policy or None,
        **to_builtins(made),
    }
    which = f" under {args.policy}" if args.policy else ""
    if made.difference is None:
        times = "1 decision" if made.decisions == 1 else f"{made.decisions} decisions"
        return Reply(text=f"{found.run_id}: {times}{which}, no difference", data=data)
    first = made.difference
    again = f", try {first.attempt}" if first.attempt > 1 else ""
    text = (
        f"{found.run_id}: from iteration {first.iteration}{again} on it goes another way{which}\n"
        f"  recorded  {_told(first.recorded)}\n  replayed  {_told(first.replayed)}"
    )
    return Reply(code=EXITS["differs"], text=text, data=data)


def _told(decision: LoopDecision) -> str:
    what = tokens.decision_words(decision.action, decision.next_mode, decision.stop_reason)
    return f"{what}: {decision.reason}"


def _policy(path: str) -> record.ReplayPolicy:
    from dos.config.load import parse, read_text

    text = read_text(Path(path))
    if text is None:
        raise BadInput(f"there is no file {quote(path)}", hint="Give a dos.toml.")
    config = parse(text, Path(path)).config
    return record.ReplayPolicy(loop=new_state(config), liveness=config.liveness)
