"""Remove the system service.

A service that runs goes on until it is stopped: --stop does that first, which lets the workers finish what they are at.
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.service import unit_file
from dos.cli.service.unit_file import KINDS
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"removed": 0, "not-installed": 0, "not-ours": 1, "not-stopped": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    dry_run: Annotated[bool, Option(help="only say what would be removed")] = False
    user: Annotated[bool, Option(help="the one for you alone; so it is when nothing is said")] = (
        False
    )
    system: Annotated[bool, Option(help="the one for the whole machine")] = False
    kind: Annotated[
        str, Option(help="what the system has; found out when not given", choices=KINDS)
    ] = ""
    stop: Annotated[bool, Option(help="stop it first")] = False


def run(args: Args, context: Context) -> Reply:
    workspace = context.journal_world.workspace
    service = unit_file.plan_service(workspace, kind=args.kind, user=args.user, system=args.system)
    commands = [" ".join(command) for command in service.after_removal]
    data: dict[str, Any] = {
        "path": str(service.path),
        "kind": service.kind,
        "name": service.name,
        "commands": commands,
    }
    if not service.exists:
        return Reply(text=f"there is no {service.path}", data=data | {"removed": False})
    service.check_ownership()
    if args.dry_run:
        return Reply(text=f"{service.path} would be removed", data=data | {"removed": False})
    if args.stop and (failed := unit_file.run_commands(service.stop)):
        return Reply(code=1, text=f"it is not removed: {failed}", data=data | {"removed": False})
    unit_file.remove(service)
    lines = [f"{service.path} is removed"]
    if not args.stop:
        lines += ["what of it still runs is stopped by:", *(f"  {command}" for command in commands)]
    return Reply(text="\n".join(lines), data=data | {"removed": True})
