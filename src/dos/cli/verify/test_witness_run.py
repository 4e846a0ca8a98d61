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
from dos.journal.events.proofs import TestWitnessed
from dos.machine import process
from dos.testwitness.io.recorded import TYPED
from dos.testwitness.io.run import WitnessRequest, WitnessResult, witness_tests
from dos.testwitness.verdict import Answer, Cell, Runs
from dos.text import join_some, replace_undecodable, validated_name
from dos.units.io import sources
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
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
LONGEST_SECONDS = 86_400
MOST_RUNS = 20
LONGEST_COMMAND = 10_000


class Args(Struct, kw_only=True):
    commit: Annotated[
        str, Option(help="the commit; it is compared with its first parent", metavar="REF")
    ] = "HEAD"
    cmd: Annotated[str, Option(help="what runs the tests, in a shell", metavar="COMMAND")] = ""
    paths: Annotated[
        list[str], Option(help="which files are tests; else by their names", metavar="GLOB")
    ] = []
    timeout: Annotated[float, Option(help="for each run", metavar="SECONDS")] = 300.0
    repeat: Annotated[int, Option(help="how often the deciding runs are made", metavar="N")] = 2
    unit: Annotated[
        str, Option(help="what the commit is for; what is seen is written down", metavar="UNIT")
    ] = ""
    record: Annotated[bool, Option(help="write down what is seen, also without a unit")] = False
    keep: Annotated[
        bool, Option(help="leave the folders in which the tests ran, and say where")
    ] = False


def run(args: Args, context: Context) -> Reply:
    _check(args)
    workspace = context.world.workspace
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.root} is not in a git repository", hint="cd into one, or give --workspace."
        )
    sha = commits.resolve_commit(context.world.git, args.commit)
    unit = (
        sources.resolve_unit_name(context.policy_world, validated_name(args.unit, "unit"))
        if args.unit
        else ""
    )
    command, command_from = _command(args, context, unit or _trailer(sha, context))
    if args.record or unit:
        _open_journal(context)  # now, and not when the tests have run for an hour
    asked = WitnessRequest(
        commit=sha,
        command=command,
        folder=_folder(workspace),
        globs=tuple(args.paths),
        timeout_seconds=args.timeout,
        repeat=args.repeat,
        keep=args.keep,
    )
    seen = witness_tests(
        context.world.git,
        asked,
        told=lambda line: None if context.as_json else context.warn(line),
    )
    data = _data(asked, seen, command_from) | {"unit": unit}
    recorded, complaint = _record(context, data, seen) if args.record or unit else (None, "")
    return Reply(
        code=EXITS[seen.verdict.answer],
        text=_text(asked, seen, command_from),
        data=data | {"recorded": recorded},
        next_action="" if seen.verdict.answer is Answer.ABSTAIN else NEXT[seen.verdict.answer],
        stderr=complaint,
    )


def _check(args: Args) -> None:
    if not 0 < args.timeout <= LONGEST_SECONDS:
        raise BadInput(
            f"--timeout is {args.timeout:g}",
            hint=f"Give seconds, above 0 and up to {LONGEST_SECONDS}.",
        )
    if not 1 <= args.repeat <= MOST_RUNS:
        raise BadInput(f"--repeat is {args.repeat}", hint=f"Give a number from 1 to {MOST_RUNS}.")
    if args.cmd:
        validated_name(
            args.cmd.replace("\n", " ").replace("\t", " "), "command", longest=LONGEST_COMMAND
        )


def _folder(workspace: Workspace) -> str:
    """Where dos.toml is, from the top of the repository; a linked worktree goes by the main one's, at the top."""
    return workspace.prefix.rstrip("/")


def _command(args: Args, context: Context, unit: str) -> tuple[str, str]:
    """What to run, and who said so."""
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
        "nothing says how the tests are run",
        hint="Give --cmd, or write it down: dos config set workers.test 'COMMAND'",
    )


def _trailer(sha: str, context: Context) -> str:
    """The unit that the commit itself names, when it is one of the plans'."""
    said = context.world.git.run(
        "log", "-1", "--format=%(trailers:key=Unit,valueonly)", sha
    ).split()
    known = (
        {unit.name for unit in sources.read(context.world.workspace, context.policy).units}
        if len(said) == 1
        else ()
    )
    return said[0] if said and said[0] in known else ""


def _open_journal(context: Context) -> None:
    try:
        context.journal.last()
    except StoreBusy as error:  # its own exit code means something else here
        raise StoreFailed(error.message, hint=error.hint) from error


def _record(context: Context, data: dict[str, Any], seen: WitnessResult) -> tuple[int | None, str]:
    """Where the answer was written; or why it was not, which does not change what was seen."""
    if isinstance(seen.change, Unknown):
        return None, "nothing was run, and nothing is written down"
    cells = {cell.value: [run.outcome.value for run in seen.matrix.runs(cell)] for cell in Cell}
    more = {"cells": cells, "runner": process.host(), "network": seen.network}
    try:
        return context.journal.record(
            streams.witness(seen.change.commit), convert(data | more, TestWitnessed)
        ).pos, ""
    except StoreFailed as error:
        return None, f"warning: it is not written down: {error.message}"


def _data(asked: WitnessRequest, seen: WitnessResult, command_from: str) -> dict[str, Any]:
    change = None if isinstance(seen.change, Unknown) else seen.change
    verdict: dict[str, Any] = to_builtins(seen.verdict)
    return verdict | {
        "reason": replace_undecodable(seen.verdict.reason),
        "commit": asked.commit,
        "parent": change.parent if change else None,
        "tree": change.tree if change else None,
        "command": asked.command,
        "command_from": command_from,
        "cells": {cell.value: to_builtins(seen.matrix.runs(cell)) for cell in Cell},
        "tests": {
            "changed": list(map(replace_undecodable, change.changed)) if change else [],
            "deleted": list(map(replace_undecodable, change.deleted)) if change else [],
        },
        "weakened": list(map(replace_undecodable, seen.matrix.weakened)),
        "network": seen.network or None,
        "limits": _limits(asked, seen),
        "kept": seen.kept or None,
    }


def _limits(asked: WitnessRequest, seen: WitnessResult) -> list[str]:
    """What should be known of an answer beside the answer."""
    if isinstance(seen.change, Unknown) or not seen.network:
        return []
    files = {**seen.change.old, **seen.change.new}
    empty = [
        f"submodule {replace_undecodable(path)} is empty"
        for path, file in files.items()
        if file.mode == SUBMODULE
    ]
    harness = join_some(seen.change.harness(asked.command))
    changed = (
        [f"the change also touches how tests are run: {replace_undecodable(harness)}"]
        if harness
        else []
    )
    return [
        *changed,
        *empty,
        *(["the network could not be cut off"] if seen.network == "on" else []),
    ]


def _text(asked: WitnessRequest, seen: WitnessResult, command_from: str) -> str:
    lines = [f"{seen.verdict.answer}  {replace_undecodable(seen.verdict.reason)}"]
    if seen.network:
        lines += ["", f"  {'':<12}{'old code':<14}new code"]
        for tests, cells in (
            ("old", (Cell.OLD_OLD, Cell.OLD_NEW)),
            ("new", (Cell.NEW_OLD, Cell.NEW_NEW)),
        ):
            row = "".join(f"{_shown(seen.matrix.runs(cell)):<14}" for cell in cells)
            lines.append(f"  {tests + ' tests':<12}{row}".rstrip())
        lines += [
            "",
            f"  {asked.commit[:12]}: {asked.command} ({command_from}); network {seen.network}",
        ]
    lines += (
        [f"  weakened: {replace_undecodable(join_some(seen.matrix.weakened))}"]
        if seen.matrix.weakened
        else []
    )
    lines += [f"  {limit}" for limit in _limits(asked, seen)]
    lines += [f"  the folders are in {seen.kept}"] if seen.kept else []
    return "\n".join(lines)


def _shown(runs: Runs) -> str:
    said = [run.outcome.value for run in runs]
    if len(set(said)) > 1:
        return "/".join(said)
    return (f"{said[0]} ×{len(said)}" if len(said) > 1 else said[0]) if said else "-"
