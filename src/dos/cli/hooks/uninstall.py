"""Remove the hooks of dos from an agent program.

Where nobody else changed the settings since `dos hooks install`, the file is again what it was
before, byte for byte. Otherwise only the entries of dos are taken out.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks.wiring import HOSTS, chosen_hosts
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"removed": 0, "refused": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which program, and how careful to be."""

    host: Annotated[
        str, Option(help=f"{', '.join(HOSTS)}, or all", positional=True, metavar="HOST")
    ]
    dry_run: Annotated[bool, Option(help="print the file, write nothing")] = False
    force: Annotated[bool, Option(help="also change a file outside of the repository")] = False


def run(args: Args, context: Context) -> Reply:
    """Take the hooks out of the settings of the program, or of all."""
    from dos import workspace
    from dos.agenthooks.io import wire
    from dos.cli.hooks.report import reply

    hosts = chosen_hosts([args.host])
    place = workspace.find(context.start_directory)
    reports = [
        wire.uninstall(host, place, force=args.force, dry_run=args.dry_run) for host in hosts
    ]
    return reply(reports, "removed", dry_run=args.dry_run)
