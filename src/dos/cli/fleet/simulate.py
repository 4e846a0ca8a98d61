"""Test a simulated fleet with random faults, by seed.

The supervisor, the worker and the journal are the real ones; git and the agents are modelled, and what goes wrong
follows from the seed alone. A seed that fails is printed with the words that run it again. With --plant a bug is
put in first: then a seed that fails is what is wanted, and the first one ends the search.
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
    seeds: Annotated[
        int | None, Option(help=f"how many seeds; {SEEDS:,} when not given", metavar="N")
    ] = None
    seed: Annotated[
        int | None, Option(help="this seed, or the first one with --seeds", metavar="K")
    ] = None
    store: Annotated[
        str, Option(help="what the journal is kept in: memory or sqlite", metavar="NAME")
    ] = "memory"
    plant: Annotated[
        str, Option(help="put this bug in first; any other word lists them", metavar="BUG")
    ] = ""
    jobs: Annotated[
        int | None, Option(help="how many processes; one for each core when not given", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    # By its name: it stands above the surfaces, and nothing else of them reaches up to it.
    many: Any = import_module("dos.testing.simulator.batches.batch")
    asked = many.BatchRequest(
        first=args.seed or 0,
        count=args.seeds if args.seeds is not None else SEEDS if args.seed is None else 1,
        store=args.store,
        plant=args.plant,
        jobs=args.jobs if args.jobs is not None else os.cpu_count() or 1,
    )
    many.check(asked)
    with _shown(asked.count, context) as show:
        for summary in many.run(asked):
            show(summary)
    silent = [] if args.plant else summary.never_happened
    lines = [many.summary_line(summary), *many.failure_lines(summary, asked)]
    lines += [f"never happened, so nothing was tested: {', '.join(silent)}"] if silent else []
    data = {
        **to_builtins(summary),
        "fired": summary.fault_count,
        "silent": silent,
        "failed": bool(summary.failing or silent),
    }
    return Reply(code=int(data["failed"]), text="\n".join(lines), data=data)


@contextmanager
def _shown(count: int, context: Context) -> Iterator[Any]:
    """A bar for a person who looks; nothing for anybody else."""
    if context.as_json or not sys.stderr.isatty() or count == 1:
        yield lambda summary: None
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
        yield lambda summary: bar.update(task, completed=summary.seeds, failing=summary.failing)
