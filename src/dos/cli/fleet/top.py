"""Watch the lanes: work, waits, landings and cost.

On a terminal it goes on until q or Ctrl-C, and shows what happens as it happens. It only reads: no supervisor is needed
for it, and none is disturbed.
"""

import shutil
import sys
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import GitFailed
from dos.report import released_top, top
from dos.report.snapshot import Snapshot
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
WIDTH_WITHOUT_A_TERMINAL = 120


class Args(Struct, kw_only=True):
    once: Annotated[bool, Option(help="show it once; so it is wherever stdout is no terminal")] = (
        False
    )


def run(args: Args, context: Context) -> Reply:
    from dos.cli.terminal import refresh

    if (
        not (args.once or context.as_json or context.plain)
        and sys.stdout.isatty()
        and sys.stdin.isatty()
    ):
        from dos.cli.terminal import screen

        screen.show(context)
        return Reply()
    looked = refresh.snapshot_reader(context).read()
    seen = top.build_view(looked, refresh.waits_reader(context)())
    if context.as_json:
        return Reply(data=_released(seen, looked, context) | top.to_json(seen), indented=True)
    from dos.cli.terminal.page import plain_text, render_page

    width = shutil.get_terminal_size((WIDTH_WITHOUT_A_TERMINAL, 0)).columns
    return Reply(
        text=plain_text(render_page(seen, width, name=context.journal_world.workspace.root.name)),
        data=top.to_json(seen),
    )


def _released(view: top.TopView, seen: Snapshot, context: Context) -> dict[str, Any]:
    """What dos-kernel printed, for those who read that."""
    world = context.journal_world
    try:
        log = world.git.run(
            "log", f"--max-count={released_top.ACTIVITY_SHOWN}", "--format=%h %s"
        ).splitlines()
    except GitFailed:
        log = []  # no repository, or nothing committed yet
    return released_top.frame(
        view,
        seen,
        workspace=str(world.workspace.root),
        initialized=world.loaded_config.path is not None,
        exclusive=world.config.lanes.exclusive,
        log=log,
    )
