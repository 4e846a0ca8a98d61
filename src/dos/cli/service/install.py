"""Install a system service that runs `dos up`.

The service survives a logout, a crash of the supervisor and a restart of the machine. A file for
systemd or launchd is written; with --start it is started, too. Workers keep running when the
service stops, and the next start finds them. The plans and settings on disk are approved now,
because a start by the system approves nothing.
"""

import os
from typing import Annotated, Any

from msgspec import Struct

from dos.approval.io import approve
from dos.cli.service import unit_file
from dos.cli.service.unit_file import KINDS
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"installed": 0, "shown": 0, "not-ours": 1, "not-started": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """For whom to install, with which service manager, and whether to start it."""

    dry_run: Annotated[bool, Option(help="print the file, write nothing")] = False
    user: Annotated[bool, Option(help="install for the current user (default)")] = False
    system: Annotated[bool, Option(help="install for the machine, run as the owner")] = False
    kind: Annotated[str, Option(help="service manager (default: detected)", choices=KINDS)] = ""
    target: Annotated[
        int | None, Option(help="number of workers (default: [supervise] target)", metavar="N")
    ] = None
    start: Annotated[bool, Option(help="also start it")] = False


def run(args: Args, context: Context) -> Reply:
    """Write the file and approve what is on disk; with --start also start the service.

    A file that is there with the same content is not written again. The exit code is 1 where the
    service could not be started; the file stays then.
    """
    workspace = context.policy_world.workspace
    journal = approve.journal_mark(context.policy.store.url)
    service = unit_file.plan_service(
        workspace,
        kind=args.kind,
        user=args.user,
        system=args.system,
        target=args.target,
        journal=journal,
    )
    commands = [" ".join(command) for command in service.start]
    data: dict[str, Any] = {
        "path": str(service.path),
        "kind": service.kind,
        "name": service.name,
        "file": service.text,
        "started": False,
        "commands": commands,
    }
    if args.dry_run:
        service.check_ownership()
        text = f"{service.path} would contain:\n\n{service.text}"
        return Reply(text=text, data=data | {"written": False})
    data["written"] = unit_file.write(service)
    outcome = "unchanged"
    if data["written"]:
        outcome = "written"
    lines = [f"{service.path} {outcome}"]
    not_approved = _approve(context)
    if not_approved:
        lines.append(not_approved)
    if args.start:
        problem = unit_file.run_commands(service.start)
        lines.append(f"not started: {problem}" if problem else "started")
        return Reply(
            code=1 if problem else 0,
            text="\n".join(lines),
            data=data | {"started": not problem},
        )
    when = "login"
    if service.system:
        when = "boot"
    lines.append(f"To start it now and at every {when}:")
    lines += [f"  {command}" for command in commands]
    if service.kind == "systemd" and not service.system:
        lines += ["To keep it running while you are logged out:", "  loginctl enable-linger"]
    return Reply(text="\n".join(lines), data=data, next_action=commands[-1])


def _approve(context: Context) -> str:
    """Approve the plans and settings on disk; return why not, where they are not approved.

    The system starts the service and approves nothing, so the person who installs it does. Root
    does not approve for another owner, who could not open a journal that root created.
    """
    workspace = context.world.workspace
    owner = workspace.root.stat().st_uid
    if owner != os.geteuid():
        return (
            "The plans and dos.toml are not approved: commit them, or run `dos up` once as the"
            " owner of the workspace"
        )
    approve.approve(workspace, context.world.loaded_config, context.journal, by=actor())
    return ""
