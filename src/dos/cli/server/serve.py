"""Serve hooks, MCP, events and the read verbs on this machine.

One process serves a workspace: a unix socket in the state directory for hooks and for agents, and a
port on 127.0.0.1 for browsers and programs that show the token. `dos web` prints the address.
`dos up` starts it by itself, unless `[server] off` is set. It ends at Ctrl-C.
"""

from typing import Annotated

from msgspec import Struct, json, to_builtins

from dos.server.io.serve import Serving, serve
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"stopped": 0, "already-serving": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """How it ends."""

    with_stdin: Annotated[bool, Option(help="end when stdin ends", hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    """Serve until a signal, or until stdin ends."""
    world = context.world

    def tell(ready: Serving) -> None:
        """Print where it serves, once it does."""
        if context.as_json:
            context.print_line(json.encode(to_builtins(ready)).decode())
        else:
            context.print_line(
                f"Serving {world.workspace.root} on {ready.address} (process {ready.pid})."
                " `dos web` prints the address with its token; Ctrl-C ends it."
            )

    serve(world.workspace, world.config.server, on_ready=tell, ends_with_stdin=args.with_stdin)
    return Reply()
