"""Check the workspace and show a fix for each problem.

It works on a broken dos.toml too: what is wrong with the file is a finding. Nothing is changed without --fix, and
--fix does only what cannot hurt: it revokes leases whose processes are gone and forgets worktrees that are not there.

--deep runs [workers] setup and test in a fresh tree of the target branch, then the test once more with all source files
emptied, which it has to notice, and tries whether the acceptance commands of open units can be started. It takes as
long as they take. `dos up` does the same before it starts agents, and does not repeat it where --deep found all well.
"""

import sys
from typing import Annotated

from msgspec import Struct, structs

from dos.doctor import examine, facts, view
from dos.doctor.subjects import finding, store
from dos.doctor.subjects.finding import Finding, note
from dos.errors import BadInput, DosError
from dos.verbs import catalog
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, colour_wanted, stdout_is_utf8
from dos.verbs.output import print_stderr
from dos.verbs.table import VERBS
from dos.workspace import Workspace
from dos.world import World

EXITS = {"reported": 0, "findings": 1, "contract_error": 2, "not_permitted": 77}


class Args(Struct, kw_only=True):
    check: Annotated[bool, Option(help="exit 1 when anything above a note was found")] = False
    fix: Annotated[
        bool, Option(help="put right what can be put right safely, and say what was done")
    ] = False
    deep: Annotated[
        bool, Option(help="also run setup and test in a fresh tree, and probe acceptance commands")
    ] = False
    dry_run: Annotated[bool, Option(help="with --fix: only say what would be done")] = False


def run(args: Args, context: Context) -> Reply:
    if args.dry_run and not args.fix:
        raise BadInput(
            "--dry-run says what --fix would do, and --fix is not there",
            hint="dos doctor --fix --dry-run",
        )
    if args.deep:
        from dos.verbs import permission

        permission.check_permission(
            VERBS["doctor"], args, context, "--deep"
        )  # what it finds lets agents start
    world = context.lenient_world
    repairs = None
    if args.fix:
        repairs = examine.repair(world, lambda: context.journal, dry_run=args.dry_run)
    begin = finding.cd_prefix(world)
    more: dict[str, examine.Examiner] = {}
    if args.deep:
        more["baseline"] = _baseline(context)
    more["waiting"] = _waiting  # after the check: what it found to pass holds nobody
    findings = [
        structs.replace(found, fix=begin + found.fix) for found in examine.examine(world, more)
    ]
    report = view.Report(
        facts=facts.gather(world),
        config=world.config,
        findings=findings,
        repairs=repairs,
        git_hooks=_git_hooks(world.workspace),
    )
    return Reply(
        code=int(args.check and bool(report.gating)),
        text=""
        if context.as_json
        else view.render(report, unicode=stdout_is_utf8(), colour=colour_wanted()),
        # Every verb is loaded for its exit codes: only those who read them wait for that.
        data=view.document(report, catalog.all_exit_codes()) if context.as_json else None,
        next_action=report.gating[0].fix if report.gating else "dos up",
    )


def _waiting(world: World) -> list[Finding]:
    """What only a person clears before somebody works again."""
    from dos.fleet.io.reader import FleetReader

    if not world.workspace.state.exists():
        return []
    store.open_journal(world)  # one that cannot be read was told of, and is not asked again
    found = FleetReader(world).waits().all_waits()
    why = "Nobody works on it until then."
    return [
        note("WAITING", f"{each.subject}: {each}", why, each.clears_with)
        for each in found
        if each.needs_person
    ]


def _baseline(context: Context) -> examine.Examiner:
    from dos.baseline.io import on_demand

    is_watched = sys.stderr.isatty() and not context.as_json

    def progress(line: str) -> None:
        if is_watched:
            print_stderr(f"dos doctor: {line.replace(chr(10), ' ')}")

    return lambda world: on_demand.examine(world, lambda: context.journal, progress)


def _git_hooks(workspace: Workspace) -> str:
    from dos.hooks import install as installing

    try:
        hooks = installing.inspect_hooks(installing.find_directory(workspace).directory)
    except DosError:
        return ""  # where there could be none, there is none
    states = {hook.state for hook in hooks}
    return (
        ""
        if states == {installing.HookState.MISSING}
        else ", ".join(sorted(states)).replace("_", " ")
    )
