"""Answer the tool-call and session hooks of an agent program.

This version has no opinion at these moments: it reads the event, prints nothing, and the agent
continues. Settings that dos-kernel wrote for Claude Code, Codex, Gemini CLI and Cursor can stay in
place. The exit code is 0 in every case but one: 2 if a person runs it on a terminal, where there is
no event. Input that cannot be read is reported on stderr.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli import hook_event
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The agent program, and options that settings written by dos-kernel may contain."""

    dialect: Annotated[str, Option(help="agent program, as for `hook stop`", metavar="NAME")] = (
        "claude-code"
    )
    # Accepted and ignored.
    handler: Annotated[str, Option(hidden=True)] = ""
    session_id: Annotated[str, Option(hidden=True)] = ""
    max_markers: Annotated[str, Option(hidden=True)] = ""
    loop: Annotated[bool, Option(hidden=True)] = False
    reset: Annotated[bool, Option(hidden=True)] = False
    debug: Annotated[bool, Option(hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    """Read the event and reply with nothing, which lets the agent continue."""
    hook_event.check_dialect(args.dialect)
    hook_event.read_event()
    # Raises if --workspace names no directory: such settings are reported even though unused here.
    _ = context.start_directory
    return Reply()
