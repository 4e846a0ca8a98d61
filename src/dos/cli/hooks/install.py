"""Wire the hooks of an agent program to dos.

Writes the hooks into the program's settings in this repository: a tool call that would write into a
lane of somebody else is then judged before it happens. Everything else in the file stays. Entries
that dos-kernel wrote are replaced. `dos hooks uninstall` removes the hooks, and `dos hooks test`
tries them with the real program.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks.wiring import HOSTS, chosen_hosts
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"installed": 0, "refused": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which program, and how careful to be."""

    host: Annotated[
        str, Option(help=f"{', '.join(HOSTS)}, or all", positional=True, metavar="HOST")
    ]
    dry_run: Annotated[bool, Option(help="print the file, write nothing")] = False
    force: Annotated[bool, Option(help="also replace entries that you changed")] = False


def run(args: Args, context: Context) -> Reply:
    """Write the hooks into the settings of the program, or of all."""
    from dos import workspace
    from dos.agenthooks.io import wire
    from dos.cli.hooks.report import reply

    hosts = chosen_hosts([args.host])
    place = workspace.find(context.start_directory)
    reports = [wire.install(host, place, force=args.force, dry_run=args.dry_run) for host in hosts]
    return reply(reports, "installed", dry_run=args.dry_run)
