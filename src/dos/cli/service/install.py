"""Install a system service that runs `dos up`.

A file for systemd, or for launchd, is written; nothing is started unless --start says so. Workers outlive the service:
whoever starts it again finds them. The plans and the settings that are on disk now are approved: a start by the system
approves nothing.
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
    dry_run: Annotated[bool, Option(help="show the file, and write nothing")] = False
    user: Annotated[bool, Option(help="for you alone; so it is when nothing is said")] = False
    system: Annotated[bool, Option(help="for the whole machine, as the owner of the workspace")] = (
        False
    )
    kind: Annotated[
        str, Option(help="what the system has; found out when not given", choices=KINDS)
    ] = ""
    target: Annotated[
        int | None, Option(help="how many workers; [supervise] target when not given", metavar="N")
    ] = None
    start: Annotated[bool, Option(help="and start it")] = False


def run(args: Args, context: Context) -> Reply:
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
    data: dict[str, Any] = {
        "path": str(service.path),
        "kind": service.kind,
        "name": service.name,
        "file": service.text,
    }
    commands = [" ".join(command) for command in service.start]
    if args.dry_run:
        service.check_ownership()
        text = f"{service.path} would be:\n\n{service.text}"
        return Reply(
            text=text, data=data | {"written": False, "started": False, "commands": commands}
        )
    written = unit_file.write(service)
    unapproved = _approve(context)
    data |= {"written": written, "started": False, "commands": commands}
    lines = [f"{service.path} " + ("is written" if written else "is as it should be")]
    lines += [unapproved] if unapproved else []
    if args.start:
        failed = unit_file.run_commands(service.start)
        lines.append(f"it could not be started: {failed}" if failed else "it is started")
        return Reply(
            code=1 if failed else 0, text="\n".join(lines), data=data | {"started": not failed}
        )
    lines += [
        "to start it, now and at every login:"
        if not service.system
        else "to start it, now and at every boot:"
    ]
    lines += [f"  {command}" for command in commands]
    if service.kind == "systemd" and not service.system:
        lines += ["to let it run while nobody is logged in:", "  loginctl enable-linger"]
    return Reply(text="\n".join(lines), data=data, next_action=commands[-1])


def _approve(context: Context) -> str:
    """The system will start it, and approves nothing: whoever installs it is the person who does.

    Not root for somebody else: the owner could not open a journal that root has made.
    """
    workspace = context.world.workspace
    owner = workspace.root.stat().st_uid
    if owner != os.geteuid():
        return "the plans and dos.toml are not approved: commit them, or run `dos up` once as the owner of the workspace"
    approve.approve(workspace, context.world.loaded_config, context.journal, by=actor())
    return ""
