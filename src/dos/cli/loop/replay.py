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
from dos.text import plural, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"same": 0, "not-found": 1, "contract_error": 2, "differs": 3}


class Args(Struct, kw_only=True):
    """The run, and the limits to decide by."""

    run: Annotated[
        str,
        Option(positional=True, help="run, lane or unit (default: the newest run)", metavar="RUN"),
    ] = ""
    policy: Annotated[str, Option(help="dos.toml with other limits", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Decide a recorded run again and show the first decision that differs.

    It only reads the journal. Exits with 3 on a difference, and with 1 for an unknown run.
    """
    found = lookup.find_run(context, args.run)
    if found.missing:
        return found.missing
    policy = None
    under = ""
    if args.policy:
        policy = _policy(args.policy)
        under = f" under {args.policy}"
    replay = record.replay(record.read_decisions(found.events), policy)
    data: dict[str, Any] = {
        "run_id": found.run_id,
        "policy": args.policy or None,
        **to_builtins(replay),
    }
    if replay.difference is None:
        decisions = plural(replay.decisions, "decision")
        return Reply(text=f"{found.run_id}: {decisions}{under}, no difference", data=data)
    first = replay.difference
    attempt = f", attempt {first.attempt}" if first.attempt > 1 else ""
    lines = [
        f"{found.run_id}: differs from iteration {first.iteration}{attempt} on{under}",
        f"  recorded  {_describe(first.recorded)}",
        f"  replayed  {_describe(first.replayed)}",
    ]
    return Reply(code=EXITS["differs"], text="\n".join(lines), data=data)


def _describe(decision: LoopDecision) -> str:
    """Return a decision as people read it: what happens next, and why."""
    what = tokens.decision_words(decision.action, decision.next_mode, decision.stop_reason)
    return f"{what}: {decision.reason}"


def _policy(path: str) -> record.ReplayPolicy:
    """Read the limits from a dos.toml; raises BadInput if there is no such file."""
    from dos.config.load import parse, read_text

    text = read_text(Path(path))
    if text is None:
        raise BadInput(f"there is no file {quote(path)}", hint="Give a dos.toml.")
    config = parse(text, Path(path)).config
    return record.ReplayPolicy(loop=new_state(config), liveness=config.liveness)
