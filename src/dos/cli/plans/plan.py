"""Compare what the plans claim with what git shows.

One row for each unit, or for each given PLAN PHASE pair. On a terminal the page refreshes until
Ctrl-C; into a pipe, with --once or with --json it is printed once.

--tick edits the plan documents: a list item of a landed unit gets its box ticked, a heading or a
table row gets a check mark. Look at the edits with --dry-run first.
"""

import sys
import time
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Annotated

from msgspec import Struct, structs, to_builtins

from dos.backlog.io import landed
from dos.baseline.gate import Baselines
from dos.baseline.io.check import BaselineCommands
from dos.cli.plans.board import Board, Commit, Row, render, row, summary
from dos.config.schema import Config, Plans
from dos.errors import BadInput, GitFailed
from dos.fields import BadValue
from dos.fleet import worker_health
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.machine import process
from dos.text import quote, replace_undecodable, validated_name
from dos.units.io import sources
from dos.units.portfolio import Portfolio
from dos.units.unit import Unit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.listing.table import VERBS
from dos.verify import red_before
from dos.world import World

EXITS = {"reported": 0, "contract_error": 2, "not_permitted": 77}
# The words of --source: those of [plans] source, and the name that dos-kernel has for documents.
SOURCES = {
    "documents": "documents",
    "markdown": "documents",
    "beads": "beads",
    "command": "command",
}
SHORTEST_SECONDS = 0.5  # between two refreshes: each one reads plans, journal and git
COMMITS_SHOWN = 10
# Moves the cursor to the top and clears the terminal.
CLEAR = "\x1b[H\x1b[2J"


class Args(Struct, kw_only=True):
    """Which units to show, how often, and whether to mark the landed ones."""

    pairs: Annotated[
        list[str], Option(help="only these units", metavar="PLAN PHASE", positional=True)
    ] = []
    source: Annotated[
        str, Option(help=f"where units come from: {', '.join(SOURCES)}", metavar="NAME")
    ] = ""
    once: Annotated[bool, Option(help="print once, also on a terminal")] = False
    interval: Annotated[float, Option(help="seconds between two refreshes", metavar="SECONDS")] = (
        5.0
    )
    tick: Annotated[bool, Option(help="mark landed units as shipped in the documents")] = False
    dry_run: Annotated[bool, Option(help="with --tick: show the edits and write nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Print the board once, or refresh it on a terminal until Ctrl-C; with --tick, edit the plans.

    Raises BadInput for options that do not fit together. On a terminal dos.toml is read again for
    each page, so that an edit shows without a restart.
    """
    if args.interval < SHORTEST_SECONDS:
        raise BadInput(
            f"--interval {args.interval:g} is below {SHORTEST_SECONDS:g} s",
            hint=f"Give {SHORTEST_SECONDS:g} or more.",
        )
    if args.source and args.source not in SOURCES:
        raise BadInput(
            f"there is no source {quote(args.source)}", hint=f"Use one of: {', '.join(SOURCES)}."
        )
    if args.dry_run and not args.tick:
        raise BadInput("--dry-run needs --tick", hint="Add --tick.")
    if args.tick:
        return _tick(args, context)
    board = build_board(args, context.world)
    try:
        while not args.once and not context.as_json and sys.stdout.isatty():
            sys.stdout.write(CLEAR + render(board) + "\n")
            sys.stdout.flush()
            time.sleep(args.interval)
            context.reload()
            board = build_board(args, context.world)
    except KeyboardInterrupt:
        return Reply()  # the last frame stays on the screen
    return Reply(text=render(board), data=to_builtins(board), indented=True)


def _tick(args: Args, context: Context) -> Reply:
    """Mark the landed units in the plan documents; raises BadInput if there are none."""
    from dos.cli.plans import ticks  # only --tick needs what writes documents
    from dos.verbs import permission

    # It approves the text that it writes, and only people approve.
    permission.check_permission(VERBS["plan"], args, context, "--tick")

    if SOURCES[args.source or context.world.config.plans.source] != "documents":
        raise BadInput(
            "--tick needs plan documents, and units come from another source here",
            hint="Close the units in that source instead.",
        )
    rows = build_board(args, context.world).phases
    return ticks.tick(context.world, rows, dry_run=args.dry_run)


def build_board(args: Args, world: World) -> Board:
    """Read the plans, the journal and git, and return the page.

    In a document without ids the headings have rows as well: to be shown, not to be worked on.
    """
    config = world.config
    if args.source:
        config = structs.replace(config, plans=_plans(config.plans, SOURCES[args.source]))
    if args.pairs:
        portfolio = _named_units(args.pairs)
    else:
        portfolio = sources.read(world.workspace, config, include_counted=True)
    rows = _rows(portfolio, config, world)
    return Board(
        workspace=str(world.workspace.root),
        now=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        plan_source=_source_name(args, world),
        initialized=world.loaded_config.path is not None,
        phases=rows,
        activity=_activity(world),
        summary=summary(rows),
        problems=[str(problem) for problem in portfolio.problems] + _already_green(world, rows),
    )


def _already_green(world: World, rows: list[Row]) -> list[str]:
    """Return the units whose acceptance passed here before they were done, each in a sentence."""
    checks = fold.current(world.journal, Baselines)[0]
    newest = checks.newest(process.host(), BaselineCommands(world.config, world.git).commands)
    if newest is None or not newest.already_green:
        return []
    unfinished = {f"{row.plan}/{row.phase}" for row in rows if not row.oracle_shipped}
    sentences = []
    for name in newest.already_green:
        if name in unfinished:
            sentences.append(
                f"{name}: {red_before.DOES_NOT_TELL}: the command passes on {newest.branch} already"
            )
    return sentences


def _rows(portfolio: Portfolio, config: Config, world: World) -> list[Row]:
    """Return a row for each unit, with its truth from git and its run from the live leases."""
    state, _ = fold.current(world.journal, FleetState)
    truths = landed.gather(world, [unit.name for unit in portfolio.units], state)
    live = world.journal.leases(lapsed=False)
    held_lanes = set()
    live_runs = set()
    for lease in live:
        held_lanes.add(lease.lane)
        if lease.run_id and not process.holder_has_exited(lease):
            live_runs.add(lease.run_id)
    rows = []
    for unit in portfolio.units:
        lane = _lane(unit, config)
        claimed_by = ""
        if unit.name in state.units:
            claimed_by = state.units[unit.name].claimed_by
        agent = next(iter(config.agent_names(lane, unit.agent)), "")
        rows.append(
            row(
                unit,
                truths[unit.name],
                lane=lane,
                is_held=lane in held_lanes,
                in_flight=claimed_by in live_runs,
                agent=agent,
            )
        )
    return rows


def _source_name(args: Args, world: World) -> str:
    """Return where the units come from, in the words of dos-kernel."""
    if args.pairs:
        return "explicit"
    source = args.source or world.config.plans.source
    if SOURCES[source] == "documents":
        return "markdown"
    return source


def _named_units(words: list[str]) -> Portfolio:
    """Return the units of PLAN PHASE pairs; a word that is left over is a plan without a phase."""
    units = []
    for plan, phase in zip_longest(words[::2], words[1::2]):
        name = validated_name(plan, "plan")
        unit_id = ""
        if phase is not None:
            unit_id = validated_name(phase, "phase")
        units.append(Unit(plan=name, id=unit_id, title=""))
    return Portfolio(units=tuple(units))


def _plans(plans: Plans, source: str) -> Plans:
    """Return [plans] with the source of --source; raises BadInput if that lacks its settings."""
    try:
        return structs.replace(plans, source=source)
    except BadValue as error:
        raise BadInput(error.message, hint=error.hint) from error


def _lane(unit: Unit, config: Config) -> str:
    """Return the lane that would take the unit, or the one it names even if there is none such."""
    return worker_health.lane_of(unit, config) or unit.lane


def _activity(world: World) -> list[Commit]:
    """Return the newest commits; none where git cannot be read, which the rows report."""
    if world.workspace.common is None:
        return []
    try:
        if world.git.commit_of("HEAD") is None:
            return []
        output = world.git.run(
            "log", f"-{COMMITS_SHOWN}", "-z", "--no-show-signature", "--format=%h %s"
        )
    except GitFailed:
        return []
    commits = []
    for record in replace_undecodable(output).split("\0"):
        sha, _, subject = record.partition(" ")
        if sha:
            commits.append(Commit(sha=sha, subject=subject))
    return commits
