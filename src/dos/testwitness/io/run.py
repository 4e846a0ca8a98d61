"""Runs the old and the new tests of a commit on the old and the new code."""

import random
import shlex
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from dos.errors import BadInput
from dos.git.repository import Reader
from dos.machine import execute
from dos.testwitness.io.matrix import Change, read_change, relative_paths
from dos.testwitness.io.sandbox import Sandbox
from dos.testwitness.suite import read_output
from dos.testwitness.verdict import (
    Cell,
    Matrix,
    SuiteOutcome,
    SuiteRun,
    Verdict,
    judge_matrix,
    remaining_runs,
)
from dos.unknown import Unknown
from dos.witness.accountability import Accountability

PLACEHOLDER = "{tests}"  # in a command: the test files to run
LONGEST_COMMAND = 100_000  # characters; the system accepts no longer argument
Progress = Callable[[str], None]
Choose = Callable[[Sequence[Cell]], Cell]


class WitnessRequest(Struct, frozen=True, kw_only=True):
    """The commit whose tests are to be tried, and how to run them."""

    commit: str
    command: str
    folder: str = ""  # from the top of the repository: where the command runs and globs start
    globs: tuple[str, ...] = ()  # which files are tests; none: by their names
    timeout_seconds: float = 300.0
    repeat: int = 2
    keep: bool = False


class WitnessResult(Struct, frozen=True, kw_only=True):
    """What the runs showed."""

    change: Change | Unknown
    matrix: Matrix
    verdict: Verdict
    network: str = ""  # off or on; empty: nothing was run
    kept: str = ""  # the folder that is left


def _silent(_line: str) -> None:
    """Report no progress."""


def witness_tests(
    git: Reader,
    asked: WitnessRequest,
    progress: Progress = _silent,
    choose: Choose = random.SystemRandom().choice,
) -> WitnessResult:
    """Run the tests of a commit in a sandbox and judge what they show about its change.

    Nothing is run where the commit cannot be measured. With `asked.keep`, the trees are left.
    """
    change = read_change(git, asked.commit, asked.globs, asked.folder)
    hindrance = change.why if isinstance(change, Unknown) else change.hindrance
    if isinstance(change, Unknown) or hindrance:
        matrix = Matrix(hindrance=hindrance, rung=Accountability.OS_RECORDED)
        return WitnessResult(change=change, matrix=matrix, verdict=judge_matrix(matrix))
    moment = int(time.time())
    with (
        execute.exit_on_signals(),
        Sandbox(
            git, moment=moment, timeout_seconds=asked.timeout_seconds, keep=asked.keep
        ) as sandbox,
    ):
        matrix = _run_matrix(change, asked, sandbox, progress, choose)
        return WitnessResult(
            change=change,
            matrix=matrix,
            verdict=judge_matrix(matrix),
            network="off" if sandbox.network_off else "on",
            kept=str(sandbox.home) if asked.keep else "",
        )


def _run_matrix(
    change: Change, asked: WitnessRequest, sandbox: Sandbox, progress: Progress, choose: Choose
) -> Matrix:
    """Run cells until a verdict is possible.

    Their order is random: a test that counts its calls must not know which cell it is in.
    """
    matrix = Matrix(
        has_old_tests=change.has_old_tests and not _names_new_tests(change, asked),
        weakened=change.weakened,
        rung=Accountability.OS_RECORDED,
    )
    while remaining := remaining_runs(matrix, asked.repeat):
        cell = choose(remaining)
        number = len(matrix.runs(cell)) + 1
        progress(f"{cell}, run {number} …")
        run = _run_cell(change, asked, sandbox, cell)
        progress(f"{cell}, run {number}: {run.outcome} after {run.seconds:.1f} s ({run.why})")
        matrix = matrix.with_run(cell, run)
    return matrix


def _names_new_tests(change: Change, asked: WitnessRequest) -> bool:
    """Whether the command names tests that the commit adds: then there are no old ones to run."""
    new_tests = [path for path in change.changed if path not in change.old]
    added = relative_paths(new_tests, asked.folder)
    words = asked.command.replace("'", " ").replace('"', " ").split()
    return any(word.partition("::")[0].removeprefix("./") in added for word in words)


def _command(change: Change, asked: WitnessRequest, cell: Cell) -> str:
    """Return the command with the test files of a cell; BadInput if they are too many."""
    if PLACEHOLDER not in asked.command:
        return asked.command
    names = relative_paths(change.to_run(cell), asked.folder)
    command = asked.command.replace(PLACEHOLDER, " ".join(map(shlex.quote, names)))
    if len(command) > LONGEST_COMMAND:
        raise BadInput(
            f"the names of {len(names)} test files do not fit into one command",
            hint=f"Leave {PLACEHOLDER} out, so that all tests are run.",
        )
    return command


def _run_cell(change: Change, asked: WitnessRequest, sandbox: Sandbox, cell: Cell) -> SuiteRun:
    """Run the tests of one cell in a fresh tree."""
    command = _command(change, asked, cell)
    name = cell.value.replace("_", "-")
    ran = sandbox.run(change.files(cell), command, asked.folder, name)
    if ran is None:
        why = f"there is no folder {asked.folder} in it"
        return SuiteRun(outcome=SuiteOutcome.NOT_RUN, why=why)
    if ran.timed_out:
        why = f"no end within {asked.timeout_seconds:g} s"
        return SuiteRun(outcome=SuiteOutcome.NOT_RUN, why=why, seconds=round(ran.seconds, 3))
    return read_output(command, ran.exit_code, ran.lines, ran.seconds)
