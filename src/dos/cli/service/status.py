"""Show whether the system service is installed and running."""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.service import unit_file
from dos.cli.service.unit_file import KINDS
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"installed": 0, "not-installed": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which service to ask about."""

    user: Annotated[bool, Option(help="the service of the current user (default)")] = False
    system: Annotated[bool, Option(help="the service of the machine")] = False
    kind: Annotated[str, Option(help="service manager (default: detected)", choices=KINDS)] = ""


def run(args: Args, context: Context) -> Reply:
    """Reply with the path of the file and the state that the service manager reports."""
    workspace = context.journal_world.workspace
    service = unit_file.plan_service(workspace, kind=args.kind, user=args.user, system=args.system)
    data: dict[str, Any] = {"path": str(service.path), "kind": service.kind, "name": service.name}
    if not service.exists:
        return Reply(
            code=1,
            text=f"No service is installed: {service.path} does not exist",
            data=data | {"installed": False, "running": ""},
            next_action="dos service install",
        )
    service.check_ownership()
    state = unit_file.service_state(service)
    return Reply(
        text=f"{service.path} is installed; state: {state or 'unknown'}",
        data=data | {"installed": True, "running": state},
    )
