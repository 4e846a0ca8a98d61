"""What a verb may still say of a run, and which commit it means."""

import os

from dos.errors import BadInput, Refused
from dos.git import commits
from dos.journal import run_stream
from dos.journal.events.envelope import Fact
from dos.journal.run_state import Run
from dos.text import quote, validated_name
from dos.verbs.context import Context

LONGEST_TEXT = 1_000


def open_run(context: Context, run_id: str) -> Run:
    """The run, provided that something was declared for it and nobody else goes on with it."""
    return still_open(run_id, run_stream.read(context.world.journal, run_id))


def still_open(run_id: str, run: Run) -> Run:
    if not run.has_intent:
        raise Refused(
            f"nothing was declared for {run_id}",
            hint=f"dos run begin --run-id {run_id} --goal TEXT",
        )
    if run.successor:
        raise Refused(
            f"{run.successor} goes on with the work of {run_id}",
            hint=f"Speak of {run.successor}, or stop working.",
        )
    return run


def write(context: Context, run_id: str, fact: Fact) -> None:
    """Write of the run, unless another goes on with it by now."""

    def decide(run: Run) -> list[Fact]:
        still_open(run_id, run)
        return [fact]

    run_stream.change(context.journal, run_id, decide, fence=fence(run_id))


def declared_step(run: Run, step: str) -> str:
    validated_name(step, "step")
    if run.steps and step not in run.steps:
        raise BadInput(
            f"{quote(step)} is none of the declared steps: {', '.join(run.steps[:20])}",
            hint="`dos run begin --run-id RUN --step …` declares more.",
        )
    return step


def commit(context: Context, name: str) -> str:
    """The commit that was meant, by its whole hash: a shorter name may mean another one tomorrow."""
    return commits.named(context.world.git, name)


def fence(run_id: str) -> int | None:
    """Whoever works for the run under a lease may write of it only while it holds the lease."""
    exported = os.environ.get("DOS_FENCE", "")
    if not exported or os.environ.get("DOS_RUN_ID") != run_id:
        return None
    if not exported.isdecimal() or len(exported) > 18:
        raise BadInput(
            f"$DOS_FENCE is {quote(exported)}, which is no fence", hint="Unset DOS_FENCE."
        )
    return int(exported)


def text(given: str, what: str) -> str:
    return validated_name(given, what, longest=LONGEST_TEXT) if given else ""
