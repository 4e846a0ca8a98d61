"""Start an agent program with the hooks and tools of dos.

For your own session: `dos guard -- claude`. Everything is passed by the program's own options, so
no file in the repository changes. The program takes the place of dos, and its exit code is the
answer. `dos hooks install` and `dos init --mcp` wire a program for good.
"""

import os
import shlex
import shutil
import sys
from typing import Annotated, NoReturn

from msgspec import Struct, to_builtins

from dos.agenthooks import guard
from dos.agenthooks.guard import Caller, Launch, Wishes
from dos.agenthooks.io.own_command import dos_command, local_caller
from dos.mcp.hosts import HOSTS
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2, "not-found": 127}


class Args(Struct, kw_only=True):
    """The program, and what it is given."""

    command: Annotated[
        list[str],
        Option(help="program and its arguments, after --", metavar="COMMAND", positional=True),
    ] = []
    no_mcp: Annotated[bool, Option(help="without the MCP server of dos")] = False
    strict_mcp: Annotated[bool, Option(help="without any other MCP server")] = False
    verify_on_stop: Annotated[bool, Option(help="refuse a stop whose claims are not in git")] = (
        False
    )
    claim_prompt: Annotated[bool, Option(help="ask the agent to claim the units it did")] = False
    print_config: Annotated[bool, Option(help="show how it would start, and start nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Replace this process by the program, or show how it would be started."""
    wishes = Wishes(
        mcp=not args.no_mcp,
        strict_mcp=args.strict_mcp,
        verify_on_stop=args.verify_on_stop,
        claim_prompt=args.claim_prompt,
    )
    launch = guard.plan(args.command, wishes, _caller)
    if args.print_config:
        return Reply(data=to_builtins(launch), text=_text(launch), indented=True)
    program = shutil.which(launch.argv[0])
    if program is None:
        return Reply(
            code=EXITS["not-found"], stderr=f"error: there is no program {quote(launch.argv[0])}"
        )
    for note in launch.notes:
        context.warn(f"note: {note}")
    sys.stdout.flush()
    sys.stderr.flush()
    return _become(program, launch)


def _become(program: str, launch: Launch) -> NoReturn:
    """Replace this process by the program."""
    os.execve(program, launch.argv, {**os.environ, **launch.environment})


def _caller(host: str) -> Caller:
    """Return what a host needs to know of this dos."""
    dos = dos_command()
    plugin = ""
    if host == "opencode":
        plugin = _plugin(dos)
    return Caller(
        hooks=local_caller(dos),
        server=HOSTS[host].entry(dos),
        plugin=plugin,
        environment=dict(os.environ),
    )


def _plugin(dos: str) -> str:
    """Return the path of the plugin of opencode, which calls this dos; written where it differs."""
    from hashlib import sha256
    from pathlib import Path

    from dos.agenthooks.io.install import plugin_text
    from dos.machine.filesystem import write_whole

    text = plugin_text(dos).encode()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
    path = cache / "dos" / "guard" / f"{sha256(text).hexdigest()[:16]}.js"
    if not path.is_file() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    return str(path)


def _text(launch: Launch) -> str:
    lines = [f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()]
    return "\n".join([*lines, shlex.join(launch.argv), *(f"note: {note}" for note in launch.notes)])
