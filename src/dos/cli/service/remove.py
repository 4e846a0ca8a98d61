"""Remove the system service.

A service that runs continues until it is stopped. --stop stops it first, which lets the workers
finish their work.
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.service import unit_file
from dos.cli.service.unit_file import KINDS
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"removed": 0, "not-installed": 0, "not-ours": 1, "not-stopped": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which service to remove, and whether to stop it."""

    dry_run: Annotated[bool, Option(help="print what would be removed, remove nothing")] = False
    user: Annotated[bool, Option(help="the service of the current user (default)")] = False
    system: Annotated[bool, Option(help="the service of the machine")] = False
    kind: Annotated[str, Option(help="service manager (default: detected)", choices=KINDS)] = ""
    stop: Annotated[bool, Option(help="stop it first")] = False


def run(args: Args, context: Context) -> Reply:
    """Remove the file; a service that is not installed is no error.

    With --stop a service that cannot be stopped is not removed either, so that it can be tried
    again.
    """
    workspace = context.journal_world.workspace
    service = unit_file.plan_service(workspace, kind=args.kind, user=args.user, system=args.system)
    commands = [" ".join(command) for command in service.after_removal]
    data: dict[str, Any] = {
        "path": str(service.path),
        "kind": service.kind,
        "name": service.name,
        "commands": commands,
        "removed": False,
    }
    if not service.exists:
        return Reply(text=f"No service is installed: {service.path} does not exist", data=data)
    service.check_ownership()
    if args.dry_run:
        return Reply(text=f"{service.path} would be removed", data=data)
    if args.stop:
        problem = unit_file.run_commands(service.stop)
        if problem:
            return Reply(code=1, text=f"Not removed: {problem}", data=data)
    unit_file.remove(service)
    lines = [f"{service.path} removed"]
    if not args.stop:
        lines.append("To stop a service that still runs:")
        lines += [f"  {command}" for command in commands]
    return Reply(text="\n".join(lines), data=data | {"removed": True})
