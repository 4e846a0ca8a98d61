"""Run a commit's tests with and without its change.

The old and the new tests run on the old and on the new code, each time in a fresh directory outside
the work tree, without network where the system allows it. The command is the unit's acceptance,
else [workers] test, else [workers] acceptance; `{tests}` in it stands for the test files. The
result is recorded only with --record or --unit.
"""

from typing import Annotated, Any

from msgspec import Struct, convert, to_builtins

from dos.cli.verify.test_witness import NEXT
from dos.errors import BadInput, StoreBusy, StoreFailed, WorkspaceMissing
from dos.git import commits
from dos.git.objects import SUBMODULE
from dos.journal import streams
from dos.journal.events.runs import TestWitnessed
from dos.machine import process
from dos.testwitness.io.recorded import TYPED
from dos.testwitness.io.run import WitnessRequest, WitnessResult, witness_tests
from dos.testwitness.verdict import Answer, Cell, IntendedTest, Runs, SuiteOutcome
from dos.text import join_some, replace_undecodable, validated_name
from dos.units.io import sources
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.listing.table import VERBS
from dos.workspace import Workspace

EXITS = {
    "DISCRIMINATES": 0,
    "contract_error": 2,
    "VACUOUS": 3,
    "UNSATISFIED": 4,
    "REGRESSIVE": 5,
    "ABSTAIN": 6,
    "unknown": 7,
    "FLAKY": 8,
}
LONGEST_SECONDS = 86_400  # of one run of the tests
MOST_RUNS = 20
LONGEST_COMMAND = 10_000


class Args(Struct, kw_only=True):
    """The commit, its tests, and what to record."""

    commit: Annotated[str, Option(help="commit, compared with its first parent", metavar="REF")] = (
        "HEAD"
    )
    cmd: Annotated[str, Option(help="shell command that runs the tests", metavar="COMMAND")] = ""
    paths: Annotated[
        list[str], Option(help="test files (default: by their names)", metavar="GLOB")
    ] = []
    intended: Annotated[
        list[str],
        Option(
            help="old test that is meant to fail now; can be repeated",
            metavar="PATH[::TEST]",
            repeatable=True,
        ),
    ] = []
    timeout: Annotated[float, Option(help="time limit of each run", metavar="SECONDS")] = 300.0
    repeat: Annotated[int, Option(help="repetitions of the deciding runs", metavar="N")] = 2
    unit: Annotated[str, Option(help="unit of the commit; records the result", metavar="UNIT")] = ""
    record: Annotated[bool, Option(help="record the result, also without a unit")] = False
    keep: Annotated[bool, Option(help="keep the test directories and print their path")] = False


def run(args: Args, context: Context) -> Reply:
    """Run the tests of a commit in a sandbox, print the matrix, and record it where asked.

    The work tree is not touched. A result that cannot be recorded is a warning: the tests have run,
    and their verdict stays the answer. Raises BadInput for options out of range or if no command
    is configured.
    """
    _check(args)
    workspace = context.world.workspace
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.root} is not in a git repository", hint="cd into one, or give --workspace."
        )
    sha = commits.resolve_commit(context.world.git, args.commit)
    unit = ""
    if args.unit:
        name = validated_name(args.unit, "unit")
        unit = sources.resolve_unit_name(context.policy_world, name)
    command, command_from = _command(args, context, unit or _trailer(sha, context))
    records = args.record or bool(unit)
    if records and args.intended:
        from dos.verbs import permission

        # A recorded mark takes a failing test out of the judgement of the work.
        permission.check_permission(VERBS["test-witness run"], args, context, "--intended")
    if records:
        _open_journal(context)  # a failure is reported now, not after the tests have run
    request = WitnessRequest(
        commit=sha,
        command=command,
        folder=_folder(workspace),
        globs=tuple(args.paths),
        timeout_seconds=args.timeout,
        repeat=args.repeat,
        keep=args.keep,
        intended=tuple(args.intended),
    )

    def report(line: str) -> None:
        if not context.as_json:
            context.warn(line)

    result = witness_tests(context.world.git, request, progress=report)
    data = _data(request, result, command_from) | {"unit": unit}
    position: int | None = None
    warning = ""
    if records:
        position, warning = _record(context, data, result)
    next_action = ""
    if result.verdict.answer is not Answer.ABSTAIN:
        next_action = NEXT[result.verdict.answer]
    return Reply(
        code=EXITS[result.verdict.answer],
        text=_text(request, result, command_from),
        data=data | {"recorded": position},
        next_action=next_action,
        stderr=warning,
    )


def _check(args: Args) -> None:
    """Raise BadInput for a timeout, a number of runs or a command that cannot be used."""
    if not 0 < args.timeout <= LONGEST_SECONDS:
        raise BadInput(
            f"--timeout {args.timeout:g} is not between 0 and {LONGEST_SECONDS} seconds",
            hint="For example: --timeout 300",
        )
    if not 1 <= args.repeat <= MOST_RUNS:
        raise BadInput(
            f"--repeat {args.repeat} is not between 1 and {MOST_RUNS}",
            hint="For example: --repeat 2",
        )
    if args.cmd:
        validated_name(
            args.cmd.replace("\n", " ").replace("\t", " "), "command", longest=LONGEST_COMMAND
        )


def _folder(workspace: Workspace) -> str:
    """Return the folder of dos.toml, relative to the top of the repository."""
    return workspace.prefix.rstrip("/")


def _command(args: Args, context: Context, unit: str) -> tuple[str, str]:
    """Return the command and where it comes from; raises BadInput if none is configured.

    Where it comes from is recorded: a command that was typed for the run proves nothing later.
    """
    if args.cmd:
        return args.cmd, TYPED
    workers = context.policy.workers
    if unit:
        declared = sources.find_unit(
            sources.read(context.world.workspace, context.policy).units, unit
        )
        if declared and declared.acceptance:
            return declared.acceptance, f"{declared.document}:{declared.line}"
    for name, command in (("test", workers.test), ("acceptance", workers.acceptance)):
        if command:
            return command, f"dos.toml [workers] {name}"
    raise BadInput(
        "no test command is configured",
        hint="Give --cmd, or configure it: dos config set workers.test 'COMMAND'",
    )


def _trailer(sha: str, context: Context) -> str:
    """Return the unit of the commit's `Unit:` trailer, if a plan declares it; else "".

    Its acceptance command is then the default. The result is not recorded for the unit by that.
    """
    names = context.world.git.run(
        "log", "-1", "--format=%(trailers:key=Unit,valueonly)", sha
    ).split()
    if len(names) != 1:
        return ""
    for unit in sources.read(context.world.workspace, context.policy).units:
        if unit.name == names[0]:
            return unit.name
    return ""


def _open_journal(context: Context) -> None:
    """Read from the journal once, to fail early; raises StoreFailed if it cannot be opened."""
    try:
        context.journal.last()
    except StoreBusy as error:  # its exit code 4 means UNSATISFIED here
        raise StoreFailed(error.message, hint=error.hint) from error


def _record(
    context: Context, data: dict[str, Any], result: WitnessResult
) -> tuple[int | None, str]:
    """Record the result and return its position; or None and why it could not be recorded."""
    if isinstance(result.change, Unknown):
        return None, "no test was run, so nothing is recorded"
    outcomes = {}
    for cell in Cell:
        outcomes[cell.value] = [run.outcome.value for run in result.matrix.runs(cell)]
    intended = [mark.test for mark in result.matrix.intended if mark.fails]
    more = {
        "intended": intended,
        "cells": outcomes,
        "runner": process.host(),
        "network": result.network,
    }
    witnessed = convert(data | more, TestWitnessed)
    try:
        event = context.journal.record(streams.witness(result.change.commit), witnessed)
    except StoreFailed as error:
        return None, f"warning: the result was not recorded: {error.message}"
    return event.pos, ""


def _data(request: WitnessRequest, result: WitnessResult, command_from: str) -> dict[str, Any]:
    """Return the result as JSON, from which the journal's event is made as well.

    Paths may be bytes that are not UTF-8; they are made storable here.
    """
    parent = None
    tree = None
    changed: list[str] = []
    deleted: list[str] = []
    if not isinstance(result.change, Unknown):
        parent = result.change.parent
        tree = result.change.tree
        changed = list(map(replace_undecodable, result.change.changed))
        deleted = list(map(replace_undecodable, result.change.deleted))
    verdict: dict[str, Any] = to_builtins(result.verdict)
    return verdict | {
        "reason": replace_undecodable(result.verdict.reason),
        "commit": request.commit,
        "parent": parent,
        "tree": tree,
        "command": request.command,
        "command_from": command_from,
        "cells": {cell.value: to_builtins(result.matrix.runs(cell)) for cell in Cell},
        "tests": {"changed": changed, "deleted": deleted},
        "weakened": list(map(replace_undecodable, result.matrix.weakened)),
        "intended": [
            {"test": mark.test, "outcome": mark.outcome.value, "fails": mark.fails}
            for mark in result.matrix.intended
        ],
        "network": result.network or None,
        "limits": _limits(request, result),
        "kept": result.kept or None,
    }


def _limits(request: WitnessRequest, result: WitnessResult) -> list[str]:
    """Return what limits the meaning of the verdict."""
    if isinstance(result.change, Unknown) or not result.network:
        return []
    limits = []
    harness = join_some(result.change.harness(request.command))
    if harness:
        limits.append(f"the change also touches how tests are run: {replace_undecodable(harness)}")
    files = {**result.change.old, **result.change.new}
    for path, file in files.items():
        if file.mode == SUBMODULE:
            limits.append(f"submodule {replace_undecodable(path)} is empty")
    if result.network == "on":
        limits.append("the network could not be cut off")
    return limits


def _text(request: WitnessRequest, result: WitnessResult, command_from: str) -> str:
    """Return the verdict, the matrix if tests were run, and what limits the verdict's meaning."""
    lines = [f"{result.verdict.answer}  {replace_undecodable(result.verdict.reason)}"]
    if result.network:
        lines += [
            "",
            f"  {'':<12}{'old code':<14}new code",
            _matrix_row("old tests", result, Cell.OLD_OLD, Cell.OLD_NEW),
            _matrix_row("new tests", result, Cell.NEW_OLD, Cell.NEW_NEW),
            "",
            (
                f"  {request.commit[:12]}: {request.command} ({command_from}); "
                f"network {result.network}"
            ),
        ]
    if result.matrix.weakened:
        lines.append(f"  weakened: {replace_undecodable(join_some(result.matrix.weakened))}")
    lines += map(_describe_mark, result.matrix.intended)
    lines += [f"  {limit}" for limit in _limits(request, result)]
    if result.kept:
        lines.append(f"  the test directories are in {result.kept}")
    return "\n".join(lines)


def _describe_mark(mark: IntendedTest) -> str:
    if mark.fails:
        return f"  intended: {mark.test} fails on the new code"
    if mark.outcome is SuiteOutcome.NOT_RUN:
        return f"  intended: {mark.test} could not be run on its own"
    return f"  unused mark: {mark.test} does not fail on the new code"


def _matrix_row(title: str, result: WitnessResult, old_code: Cell, new_code: Cell) -> str:
    old = _describe_runs(result.matrix.runs(old_code))
    new = _describe_runs(result.matrix.runs(new_code))
    return f"  {title:<12}{old:<14}{new:<14}".rstrip()


def _describe_runs(runs: Runs) -> str:
    """Return `pass`, `pass ×2`, `pass/fail` for runs that differ, or `-` for none."""
    outcomes = [run.outcome.value for run in runs]
    if not outcomes:
        return "-"
    if len(set(outcomes)) > 1:
        return "/".join(outcomes)
    if len(outcomes) > 1:
        return f"{outcomes[0]} ×{len(outcomes)}"
    return outcomes[0]
