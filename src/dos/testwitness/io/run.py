"""Tries the old and the new tests of a commit on the old and on the new code, until it can be said what they prove."""

import random
import shlex
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from dos.errors import BadInput
from dos.git.repository import Reader
from dos.machine import execute
from dos.testwitness import suite
from dos.testwitness import verdict as tested
from dos.testwitness.io import matrix as changed_tests
from dos.testwitness.io.matrix import Change, relative_paths
from dos.testwitness.io.sandbox import Sandbox
from dos.testwitness.verdict import Cell, Matrix, SuiteOutcome, SuiteRun, Verdict
from dos.unknown import Unknown
from dos.witness.accountability import Accountability

PLACEHOLDER = "{tests}"  # in a command: the test files to run
LONGEST_COMMAND = 100_000  # the system takes no longer word
Progress = Callable[[str], None]
Choose = Callable[[Sequence[Cell]], Cell]


class WitnessRequest(Struct, frozen=True, kw_only=True):
    commit: str
    command: str
    folder: str = (
        ""  # from the top of the repository: where the command is run, and where the globs begin
    )
    globs: tuple[str, ...] = ()  # which files are tests; none: go by their names
    timeout_seconds: float = 300.0
    repeat: int = 2
    keep: bool = False


class WitnessResult(Struct, frozen=True, kw_only=True):
    change: Change | Unknown
    matrix: Matrix
    verdict: Verdict
    network: str = ""  # off or on; empty: nothing was run
    kept: str = ""  # the folder that is left


def witness_tests(
    git: Reader,
    asked: WitnessRequest,
    told: Progress = lambda line: None,
    choose: Choose = random.SystemRandom().choice,
) -> WitnessResult:
    change = changed_tests.read_change(git, asked.commit, asked.globs, asked.folder)
    hindrance = change.why if isinstance(change, Unknown) else change.hindrance
    if isinstance(change, Unknown) or hindrance:
        matrix = Matrix(hindrance=hindrance, rung=Accountability.OS_RECORDED)
        return WitnessResult(change=change, matrix=matrix, verdict=tested.judge_matrix(matrix))
    with (
        execute.exit_on_signals(),
        Sandbox(
            git, moment=int(time.time()), timeout_seconds=asked.timeout_seconds, keep=asked.keep
        ) as sandbox,
    ):
        matrix = _run_matrix(change, asked, sandbox, told, choose)
        return WitnessResult(
            change=change,
            matrix=matrix,
            verdict=tested.judge_matrix(matrix),
            network="off" if sandbox.network_off else "on",
            kept=str(sandbox.home) if asked.keep else "",
        )


def _run_matrix(
    change: Change, asked: WitnessRequest, sandbox: Sandbox, told: Progress, choose: Choose
) -> Matrix:
    """The order of the runs is drawn by lot: a test that counts how often it was called is not to know it."""
    seen = Matrix(
        has_old_tests=change.has_old_tests and not _names_new_tests(change, asked),
        weakened=change.weakened,
        rung=Accountability.OS_RECORDED,
    )
    while left := tested.remaining_runs(seen, asked.repeat):
        cell = choose(left)
        number = len(seen.runs(cell)) + 1
        told(f"{cell}, run {number} …")
        run = _run_cell(change, asked, sandbox, cell)
        told(f"{cell}, run {number}: {run.outcome} after {run.seconds:.1f} s ({run.why})")
        seen = seen.with_run(cell, run)
    return seen


def _names_new_tests(change: Change, asked: WitnessRequest) -> bool:
    """Whether the command is about tests that were not there before: then there are no old ones to run."""
    added = relative_paths(
        [path for path in change.changed if path not in change.old], asked.folder
    )
    words = asked.command.replace("'", " ").replace('"', " ").split()
    return any(word.partition("::")[0].removeprefix("./") in added for word in words)


def _command(change: Change, asked: WitnessRequest, cell: Cell) -> str:
    if PLACEHOLDER not in asked.command:
        return asked.command
    names = relative_paths(change.to_run(cell), asked.folder)
    made = asked.command.replace(PLACEHOLDER, " ".join(map(shlex.quote, names)))
    if len(made) > LONGEST_COMMAND:
        raise BadInput(
            f"the names of {len(names)} test files do not fit into one command",
            hint=f"Leave {PLACEHOLDER} out, so that all tests are run.",
        )
    return made


def _run_cell(change: Change, asked: WitnessRequest, sandbox: Sandbox, cell: Cell) -> SuiteRun:
    made = _command(change, asked, cell)
    ran = sandbox.run(change.files(cell), made, asked.folder, cell.value.replace("_", "-"))
    if ran is None:
        return SuiteRun(
            outcome=SuiteOutcome.NOT_RUN, why=f"there is no folder {asked.folder} in it"
        )
    if ran.timed_out:
        why = f"no end within {asked.timeout_seconds:g} s"
        return SuiteRun(outcome=SuiteOutcome.NOT_RUN, why=why, seconds=round(ran.seconds, 3))
    return suite.read_output(made, ran.exit_code, ran.lines, ran.seconds)
