"""Check the workspace and show a fix for each problem.

It works on a broken dos.toml, too: the errors of the file are findings. Without --fix nothing is
changed, and --fix does only what is safe: it revokes leases whose process has exited, and removes
the records of worktrees that no longer exist.

--deep runs [workers] setup and test in a fresh tree of the target branch, then the test once more
with all source files emptied, which must fail, and checks that the acceptance commands of open
units can be started. It takes as long as they take. `dos up` does the same before it starts agents,
and skips it where --deep has passed.
"""

import sys
from typing import Annotated

from msgspec import Struct, structs

from dos.doctor import examine, facts, view
from dos.doctor.subjects import finding, runtime_hooks, server, store
from dos.doctor.subjects.finding import Finding, note
from dos.errors import BadInput, DosError
from dos.verbs import lookup
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, colour_wanted, stdout_is_utf8
from dos.verbs.listing.table import VERBS
from dos.verbs.output import print_stderr
from dos.workspace import Workspace
from dos.world import World

EXITS = {"reported": 0, "findings": 1, "contract_error": 2, "not_permitted": 77}


class Args(Struct, kw_only=True):
    """What to check besides, and whether to repair."""

    check: Annotated[bool, Option(help="exit 1 for any finding above a note")] = False
    fix: Annotated[bool, Option(help="repair what is safe to repair, and show it")] = False
    deep: Annotated[
        bool, Option(help="also run setup and test in a fresh tree, and probe acceptance commands")
    ] = False
    dry_run: Annotated[bool, Option(help="with --fix: show what it would do, change nothing")] = (
        False
    )


def run(args: Args, context: Context) -> Reply:
    """Examine the workspace and return the findings, each with its fix.

    With --fix the repairs are made first, so that the findings show what is left. The exit code is
    1 only with --check: without, findings are a report and not a failure.
    """
    if args.dry_run and not args.fix:
        raise BadInput("--dry-run needs --fix", hint="Use: dos doctor --fix --dry-run")
    for flag, is_given in (("--deep", args.deep), ("--fix", args.fix)):
        if is_given:
            from dos.verbs import permission

            # A passed check lets agents start, and a repair changes what they are judged by.
            permission.check_permission(VERBS["doctor"], args, context, flag)
    world = context.lenient_world
    repairs = None
    if args.fix:
        repairs = examine.repair(world, lambda: context.journal, dry_run=args.dry_run)
    more: dict[str, examine.Examiner] = {}
    if args.deep:
        more["baseline"] = _baseline(context)
    more["waiting"] = _waiting  # after the baseline: one that passes holds no unit
    prefix = finding.cd_prefix(world)
    findings = []
    for entry in examine.examine(world, more):
        if not entry.fix.startswith(prefix):  # some checks have done so
            entry = structs.replace(entry, fix=prefix + entry.fix)
        findings.append(entry)
    report = view.Report(
        facts=facts.gather(world),
        config=world.config,
        findings=findings,
        repairs=repairs,
        git_hooks=_git_hooks(world.workspace),
        runtime_hooks=runtime_hooks.states(world),
        server=server.state(world),
    )
    code = int(args.check and bool(report.gating))
    next_action = "dos up"
    if report.gating:
        next_action = report.gating[0].fix
    if context.as_json:
        # Reads the exit codes of every verb, which only JSON shows.
        data = view.document(report, lookup.all_exit_codes())
        return Reply(code=code, data=data, next_action=next_action)
    text = view.render(report, unicode=stdout_is_utf8(), colour=colour_wanted())
    return Reply(code=code, text=text, next_action=next_action)


def _waiting(world: World) -> list[Finding]:
    """Return a note for each thing that only a person can clear.

    These are the waits that `dos status` and `dos decisions` show as well.
    """
    from dos.fleet.io.reader import FleetReader

    if not world.workspace.state.exists():
        return []
    store.open_journal(world)  # raises for a journal that another examiner has reported
    notes = []
    for wait in FleetReader(world).waits().all_waits():
        if wait.needs_person:
            why = "No worker starts on it until this is cleared."
            if wait.is_left_to_person:
                why = "No worker starts on it until you run this; ignore it if you want it left."
            notes.append(note("WAITING", f"{wait.subject}: {wait}", why, wait.clears_with))
    return notes


def _baseline(context: Context) -> examine.Examiner:
    """Return the examiner of --deep, which shows its progress on a terminal."""
    from dos.baseline.io import on_demand

    is_watched = sys.stderr.isatty() and not context.as_json

    def show_progress(line: str) -> None:
        if is_watched:
            one_line = line.replace("\n", " ")
            print_stderr(f"dos doctor: {one_line}")

    def examine_baseline(world: World) -> list[Finding]:
        return on_demand.examine(world, lambda: context.journal, show_progress)

    return examine_baseline


def _git_hooks(workspace: Workspace) -> str:
    """Return the states of the installed git hooks; "" where none is installed."""
    from dos.hooks import install

    try:
        directory = install.find_directory(workspace).directory
        hooks = install.inspect_hooks(directory)
    except DosError:
        return ""  # no repository, so no hooks
    states = {hook.state for hook in hooks}
    if states == {install.HookState.MISSING}:
        return ""
    return ", ".join(sorted(states)).replace("_", " ")
