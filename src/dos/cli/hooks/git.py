"""Let git refuse commits that an agent makes outside its lane.

`install` adds a pre-commit and a reference-transaction hook to this repository and its worktrees;
existing hooks keep running. `remove` restores what was there. Commits of people are never refused:
only agents of a fleet carry the fence of a lease. Agents can switch hooks off, so their work is
measured again before it lands.
"""

import os
import sys
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:
    from dos.hooks.install import Hook, HooksDirectory

EXITS = {"in_place": 0, "missing": 1, "contract_error": 2, "refused": 5}
ACTIONS = ("install", "status", "remove", "check")


class Args(Struct, kw_only=True):
    """What to do with the hooks; `check` is what an installed hook calls."""

    action: Annotated[
        str,
        Option(
            help="install, status or remove; hooks call `check`",
            positional=True,
            choices=ACTIONS,
        ),
    ]
    hook: Annotated[str, Option(help="hook that calls `check`", positional=True, hidden=True)] = ""
    dry_run: Annotated[bool, Option(help="show what would be done, do nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Install, show or remove the hooks, or answer one of them."""
    if args.action == "check":
        return _check(args.hook)
    from dos import workspace
    from dos.hooks import install

    if args.hook:
        raise BadInput(
            f"{quote(args.hook)} is one word too many", hint=f"dos hooks git {args.action}"
        )
    found = install.find_directory(workspace.find(context.start_directory))
    before = install.inspect_hooks(found.directory)
    after = before
    if args.action == "install":
        install.check_usable(before)
        if not args.dry_run:
            after = install.install(found.directory)
    elif args.action == "remove" and not args.dry_run:
        after = install.remove(found.directory)
    return _reply(args, found, before, after)


def _check(hook: str) -> Reply:
    """Answer an installed hook: exit code 5 makes git refuse the commit or the ref update."""
    from dos.hooks import check
    from dos.hooks.install import HOOKS, REFUSED

    if hook not in HOOKS:
        raise BadInput(
            f"there is no check for the hook {quote(hook)}",
            hint=f"The hooks are {', '.join(HOOKS)}.",
        )
    updates = ""
    if hook != "pre-commit":
        updates = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    refusal = check.check(hook, updates, os.environ)
    if refusal:
        return Reply(code=REFUSED, stderr=str(refusal))
    return Reply()


def _reply(args: Args, found: "HooksDirectory", before: "list[Hook]", after: "list[Hook]") -> Reply:
    """Return the state of each hook; `status` fails unless all of them are in place."""
    from dos.hooks.install import HookState

    ready = all(hook.state is HookState.IN_PLACE for hook in after)
    failed = any(hook.state is HookState.REPLACED for hook in after)
    next_action = ""
    if args.action == "status":
        failed = not ready
        if not ready:
            next_action = "dos hooks git install"
    lines = [f"hooks of this repository and its worktrees: {found.directory}"]
    if found.configured:
        lines.append("core.hooksPath points there; in other repositories these hooks do nothing")
    rows = []
    for old, new in zip(before, after, strict=True):
        lines.append(f"  {new.path.name}: {_describe(args, old, new)}")
        rows.append(_row(old, new))
    data = {
        "action": args.action,
        "dry_run": args.dry_run,
        "directory": str(found.directory),
        "hooks": rows,
    }
    return Reply(code=int(failed), text="\n".join(lines), data=data, next_action=next_action)


def _row(old: "Hook", new: "Hook") -> dict[str, str]:
    """Return one hook for JSON: its state before and now, and the earlier hook that it calls."""
    from dos.hooks.install import HookState

    chains_to = ""
    if new.foreign and new.state in (HookState.IN_PLACE, HookState.OUTDATED):
        chains_to = str(new.previous)
    return {
        "name": new.path.name,
        "path": str(new.path),
        "state": new.state,
        "before": old.state,
        "chains_to": chains_to,
    }


def _describe(args: Args, old: "Hook", new: "Hook") -> str:
    """Return what was or would be done to one hook, or its state."""
    from dos.hooks.install import HookState

    if new.state is HookState.REPLACED:
        return f"another program overwrote it; the hook before it is {new.previous}"
    if args.action == "remove":
        return _describe_removal(args, old)
    if args.action == "install" and old.state is not HookState.IN_PLACE:
        if args.dry_run:
            return "would be installed" + _chained(old)
        return "installed" + _chained(old)
    if new.state is HookState.MISSING:
        return "not installed"
    if new.state is HookState.IN_PLACE:
        return "installed" + _chained(new)
    return "installed by another version or for another Python"


def _describe_removal(args: Args, old: "Hook") -> str:
    """Return what was or would be removed of one hook."""
    from dos.hooks.install import HookState

    if old.state is HookState.MISSING:
        return "was not installed"
    verb = "would be removed" if args.dry_run else "removed"
    if old.foreign:
        verb += ", and the earlier hook restored"
    return verb


def _chained(hook: "Hook") -> str:
    """Return a note where an earlier hook keeps running."""
    if not hook.foreign:
        return ""
    return f"; the earlier hook runs with it ({hook.previous.name})"
