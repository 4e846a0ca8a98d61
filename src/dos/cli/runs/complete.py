"""Check whether everything that a run declared is done.

Git decides: a step counts when a commit that still stands at HEAD did it. What the run claims does
not count.
"""

from typing import Annotated

from msgspec import UNSET, Struct, to_builtins

from dos import run_ids
from dos.journal import run_state
from dos.runs import complete
from dos.runs.io import evidence
from dos.runs.io.evidence import ASSERTED, diverged
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "COMPLETE": 0,
    "INCOMPLETE": 3,
    "INDETERMINATE": 4,
    "UNDERDECLARED": 5,
    "contract_error": 2,
    "unknown": 6,
}


class Args(Struct, kw_only=True):
    """The run, and what to assume about it."""

    run_id: Annotated[str, Option(help="run to check", metavar="RID")]
    diverged: Annotated[bool, Option(help="assume that others changed its files")] = False


def run(args: Args, context: Context) -> Reply:
    """Judge the declaration by git now; nothing is recorded."""
    run_id = run_ids.validated_run_id(args.run_id)
    world = context.world
    state = run_state.read(world.journal, run_id)
    declaration = evidence.gather_declaration(world, run_id, state)
    divergence: str | Unknown = ASSERTED
    if not args.diverged:
        divergence = diverged(world, world.journal, state, declaration)
    if isinstance(divergence, Unknown):
        divergence = divergence.why
    verdict = complete.judge(complete.Evidence(declared=declaration, diverged=divergence))
    lines = [f"{verdict.answer}  {verdict.reason}"]
    if verdict.fraction_done is not UNSET:
        counts = f"{len(verdict.verified)} of {len(verdict.declared)}"
        lines.append(f"verified  {counts} ({verdict.fraction_done:.0%})")
    if verdict.residual:
        lines.append(f"left      {', '.join(verdict.residual)}")
    return Reply(code=EXITS[verdict.answer], text="\n".join(lines), data=to_builtins(verdict))
