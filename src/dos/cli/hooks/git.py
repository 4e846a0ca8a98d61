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
    action: Annotated[
        str,
        Option(
            help="install, status or remove; the hooks ask `check`",
            positional=True,
            choices=ACTIONS,
        ),
    ]
    hook: Annotated[str, Option(help="which hook asks `check`", positional=True, hidden=True)] = ""
    dry_run: Annotated[bool, Option(help="say what would be done, and do nothing")] = False


def run(args: Args, context: Context) -> Reply:
    if args.action == "check":
        return _check(args.hook)
    from dos import workspace
    from dos.hooks import install

    if args.hook:
        raise BadInput(
            f"{quote(args.hook)} is one word too many", hint=f"dos hooks git {args.action}"
        )
    place = install.find_directory(workspace.find(context.start_directory))
    before = install.inspect_hooks(place.directory)
    after = before
    if args.action == "install":
        install.check_usable(before)
        after = before if args.dry_run else install.install(place.directory)
    elif args.action == "remove" and not args.dry_run:
        after = install.remove(place.directory)
    return _said(args, place, before, after)


def _check(hook: str) -> Reply:
    from dos.hooks import check
    from dos.hooks.install import HOOKS, REFUSED

    if hook not in HOOKS:
        raise BadInput(
            f"there is no check for the hook {quote(hook)}",
            hint=f"The hooks are {', '.join(HOOKS)}.",
        )
    said = (
        "" if hook == "pre-commit" else sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    )
    refused = check.check(hook, said, os.environ)
    return Reply(code=REFUSED, stderr=str(refused)) if refused else Reply()


def _said(args: Args, place: "HooksDirectory", before: "list[Hook]", after: "list[Hook]") -> Reply:
    from dos.hooks.install import HookState

    ready = all(hook.state is HookState.IN_PLACE for hook in after)
    failed = (
        not ready
        if args.action == "status"
        else any(hook.state is HookState.REPLACED for hook in after)
    )
    lines = [f"hooks of this repository and its worktrees: {place.directory}"]
    if place.configured:
        lines.append(
            "core.hooksPath leads there; other repositories that use it are not asked anything"
        )
    lines += [_line(args, *pair) for pair in zip(before, after, strict=True)]
    rows = [
        {
            "name": hook.path.name,
            "path": str(hook.path),
            "state": hook.state,
            "before": was.state,
            "chains_to": str(hook.previous)
            if hook.foreign and hook.state in (HookState.IN_PLACE, HookState.OUTDATED)
            else "",
        }
        for was, hook in zip(before, after, strict=True)
    ]
    return Reply(
        code=int(failed),
        text="\n".join(lines),
        data={
            "action": args.action,
            "dry_run": args.dry_run,
            "directory": str(place.directory),
            "hooks": rows,
        },
        next_action="dos hooks git install" if args.action == "status" and not ready else "",
    )


def _line(args: Args, was: "Hook", now: "Hook") -> str:
    from dos.hooks.install import HookState

    name, would = now.path.name, "would be " if args.dry_run else ""
    if now.state is HookState.REPLACED:
        return (
            f"  {name}: another program wrote over it; what was there before it is {now.previous}"
        )
    if args.action == "remove":
        back = (
            f", and {'would give' if args.dry_run else 'gave'} back what was there"
            if was.foreign
            else ""
        )
        return (
            f"  {name}: was not there"
            if was.state is HookState.MISSING
            else f"  {name}: {would}taken out{back}"
        )
    chained = f"; {now.previous.name}, which was there, runs with it" if now.foreign else ""
    if args.action == "install" and was.state is not HookState.IN_PLACE:
        kept = f"; {was.previous.name}, which was there, runs with it" if was.foreign else ""
        return f"  {name}: {would}put in{kept}"
    if now.state is HookState.MISSING:
        return f"  {name}: not there"
    return (
        f"  {name}: in place{chained}"
        if now.state is HookState.IN_PLACE
        else f"  {name}: of another version or Python"
    )
