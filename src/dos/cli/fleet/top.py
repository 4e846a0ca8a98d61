"""Watch the lanes: work, waits, landings and cost.

On a terminal it shows events as they happen, until q or Ctrl-C. It only reads: it needs no
supervisor and disturbs none.
"""

import shutil
import sys
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import GitFailed
from dos.report import released_top, top
from dos.report.snapshot import Snapshot
from dos.report.top_view import build_view
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
WIDTH_WITHOUT_A_TERMINAL = 120


class Args(Struct, kw_only=True):
    once: Annotated[bool, Option(help="print it once (default where stdout is no terminal)")] = (
        False
    )


def run(args: Args, context: Context) -> Reply:
    from dos.cli.terminal import refresh

    if _is_interactive(args, context):
        from dos.cli.terminal import screen

        screen.show(context)
        return Reply()
    snapshot = refresh.snapshot_reader(context).read()
    view = build_view(snapshot, refresh.waits_reader(context)())
    if context.as_json:
        data = _released_keys(view, snapshot, context) | top.to_json(view)
        return Reply(data=data, indented=True)
    from dos.cli.terminal.page import plain_text, render_page

    width = shutil.get_terminal_size((WIDTH_WITHOUT_A_TERMINAL, 0)).columns
    name = context.journal_world.workspace.root.name
    return Reply(text=plain_text(render_page(view, width, name=name)), data=top.to_json(view))


def _is_interactive(args: Args, context: Context) -> bool:
    if args.once or context.as_json or context.plain:
        return False
    return sys.stdout.isatty() and sys.stdin.isatty()


def _released_keys(view: top.TopView, snapshot: Snapshot, context: Context) -> dict[str, Any]:
    """Return the keys that `dos top --json` had in dos-kernel."""
    world = context.journal_world
    try:
        log = world.git.run(
            "log", f"--max-count={released_top.ACTIVITY_SHOWN}", "--format=%h %s"
        ).splitlines()
    except GitFailed:
        log = []  # no repository, or nothing committed yet
    return released_top.frame(
        view,
        snapshot,
        workspace=str(world.workspace.root),
        initialized=world.loaded_config.path is not None,
        exclusive=world.config.lanes.exclusive,
        log=log,
    )
