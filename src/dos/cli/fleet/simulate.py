"""Test a simulated fleet with random faults, by seed.

The supervisor, the worker and the journal are the real ones; git and the agents are modelled, and
time is a virtual clock. The faults follow from the seed alone, so a seed that breaks a promise is
printed with the command that runs it again. With --plant a known bug is put in first: then a seed
that fails is the wanted result, and the first one ends the search.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"held": 0, "failed": 1, "contract_error": 2}
SEEDS = 200


class Args(Struct, kw_only=True):
    """Which seeds to run, on which store, with which bug."""

    seeds: Annotated[
        int | None, Option(help=f"number of seeds (default: {SEEDS})", metavar="N")
    ] = None
    seed: Annotated[
        int | None, Option(help="the seed to run, or the first one with --seeds", metavar="K")
    ] = None
    store: Annotated[str, Option(help="journal backend: memory or sqlite", metavar="NAME")] = (
        "memory"
    )
    plant: Annotated[
        str, Option(help="plant this bug first (an unknown name lists them)", metavar="BUG")
    ] = ""
    jobs: Annotated[
        int | None, Option(help="number of processes (default: one a core)", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Run the seeds; exit code 1 if a promise was broken or a kind of fault never happened.

    A fault that never happened was not tested, so it fails the run, unless a bug is planted: then
    the first failing seed ends the search.
    """
    # Imported by name: no surface may depend on the simulator.
    batch: Any = import_module("dos.testing.simulator.batch")
    request = batch.BatchRequest(
        first=args.seed or 0,
        count=_seed_count(args),
        store=args.store,
        plant=args.plant,
        jobs=args.jobs if args.jobs is not None else os.cpu_count() or 1,
    )
    batch.check(request)
    with _progress_bar(request.count, context) as show:
        for summary in batch.run(request):
            show(summary)
    silent = [] if args.plant else summary.never_happened
    lines = [batch.summary_line(summary), *batch.failure_lines(summary, request)]
    if silent:
        lines.append(f"faults that never happened, so nothing tested them: {', '.join(silent)}")
    has_failed = bool(summary.failing or silent)
    data = {
        **to_builtins(summary),
        "fired": summary.fault_count,
        "silent": silent,
        "failed": has_failed,
    }
    return Reply(code=int(has_failed), text="\n".join(lines), data=data)


def _seed_count(args: Args) -> int:
    """Return the number of seeds: as given, one for a named seed, or the default."""
    if args.seeds is not None:
        return args.seeds
    return SEEDS if args.seed is None else 1


@contextmanager
def _progress_bar(count: int, context: Context) -> Iterator[Any]:
    """Yield a function that shows a summary as a bar on a terminal, and nowhere else."""
    if context.as_json or not sys.stderr.isatty() or count == 1:
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("seeds"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failing]} failing"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=count, failing=0)

        def show(summary: Any) -> None:
            bar.update(task, completed=summary.seeds, failing=summary.failing)

        yield show


def _ignore(_summary: Any) -> None:
    """Show nothing."""
