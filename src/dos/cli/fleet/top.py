"""Watch the lanes: work, waits, landings and cost.

On a terminal it shows events as they happen, until q or Ctrl-C. It only reads: it needs no
supervisor and disturbs none.
"""

import shutil
import sys
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import BadInput, GitFailed
from dos.report import top
from dos.report.top import Snapshot
from dos.report.top_builder import build_view
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
WIDTH_WITHOUT_A_TERMINAL = 120
SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 86_400.0


class Args(Struct, kw_only=True):
    """Whether to print once instead of drawing again and again."""

    once: Annotated[bool, Option(help="print it once (default where stdout is no terminal)")] = (
        False
    )
    interval: Annotated[
        float,
        Option(help="seconds between two frames where nothing happens", metavar="SECONDS"),
    ] = 1.0


def run(args: Args, context: Context) -> Reply:
    """Draw the fleet on a terminal until q; elsewhere, or with --once, print it once.

    JSON has the keys of dos-kernel beside those of this version.
    """
    if not SHORTEST_SECONDS <= args.interval <= LONGEST_SECONDS:
        raise BadInput(
            f"--interval {args.interval:g} is not between {SHORTEST_SECONDS:g} and"
            f" {LONGEST_SECONDS:g} s",
            hint="For example: --interval 5",
        )
    if _is_interactive(args, context):
        from dos.cli.terminal import screen

        screen.show(context, args.interval)
        return Reply()
    from dos.report.io.snapshot import FleetWatch

    snapshot, waits = FleetWatch(context.journal_world).look()
    view = build_view(snapshot, waits)
    if context.as_json:
        data = _released_keys(view, snapshot, context) | top.to_json(view)
        return Reply(data=data, indented=True)
    from dos.cli.terminal.top_page import plain_text, render_page

    width = shutil.get_terminal_size((WIDTH_WITHOUT_A_TERMINAL, 0)).columns
    world = context.journal_world
    text = plain_text(render_page(view, width, name=world.workspace.root.name))
    if world.missing_config:
        text = f"{world.missing_config}\n{text}"
    return Reply(text=text, data=top.to_json(view))


def released_frame(context: Context) -> dict[str, Any]:
    """Return the frame that `dos top --json` printed in dos-kernel."""
    from dos.report.io.snapshot import FleetWatch

    snapshot, waits = FleetWatch(context.journal_world).look()
    return _released_keys(build_view(snapshot, waits), snapshot, context)


def _is_interactive(args: Args, context: Context) -> bool:
    """Whether a person sits at a terminal that can be drawn on and read from."""
    if args.once or context.as_json or context.plain:
        return False
    return sys.stdout.isatty() and sys.stdin.isatty()


def _released_keys(view: top.TopView, snapshot: Snapshot, context: Context) -> dict[str, Any]:
    """Return the keys that `dos top --json` had in dos-kernel."""
    world = context.journal_world
    try:
        log = world.git.run(
            "log", f"--max-count={top.ACTIVITY_SHOWN}", "--format=%h %s"
        ).splitlines()
    except GitFailed:
        log = []  # no repository, or nothing committed yet
    return top.released_keys(
        view,
        snapshot,
        workspace=str(world.workspace.root),
        initialized=world.loaded_config.path is not None,
        exclusive=world.config.lanes.exclusive,
        log=log,
    )
