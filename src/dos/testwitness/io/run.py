"""Runs the old and the new tests of a commit on the old and the new code.

`witness_tests` mixes the two sides of a commit, runs each mix in a sandbox, and judges the matrix
of outcomes.
"""

import random
import shlex
import time
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.git.repository import Reader
from dos.machine import execute
from dos.testwitness import collection, intended
from dos.testwitness.collection import PLACEHOLDER
from dos.testwitness.intended import Mark
from dos.testwitness.io.change import Change, read_change, relative_paths
from dos.testwitness.io.sandbox import Sandbox
from dos.testwitness.suite import read_output
from dos.testwitness.verdict import (
    Cell,
    IntendedTest,
    Matrix,
    SuiteOutcome,
    SuiteRun,
    Verdict,
    judge_matrix,
    remaining_runs,
)
from dos.unknown import Unknown
from dos.witness.accountability import Accountability

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
    intended: tuple[str, ...] = ()  # old tests that are meant to fail on the new code


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
    change = read_change(git, asked.commit, asked.globs, asked.folder, asked.command)
    if isinstance(change, Unknown):
        hindrance = change.why
    else:
        hindrance = change.hindrance
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
    runs = _CellRuns(change, asked, sandbox)
    matrix = Matrix(
        has_old_tests=_has_old_tests(change, asked),
        has_unmarked_tests=runs.has_unmarked_tests(),
        weakened=change.weakened,
        rung=Accountability.OS_RECORDED,
    )
    while remaining := remaining_runs(matrix, asked.repeat):
        cell = choose(remaining)
        number = len(matrix.runs(cell)) + 1
        progress(f"{cell}, run {number} …")
        run = runs.run(cell, runs.marks if cell is Cell.OLD_NEW else ())
        progress(f"{cell}, run {number}: {run.outcome} after {run.seconds:.1f} s ({run.why})")
        matrix = matrix.with_run(cell, run)
        if cell is Cell.OLD_NEW and runs.marks and run.outcome is not SuiteOutcome.PASS:
            matrix = runs.explain_without_marked(matrix, run)
    if _is_regressive(matrix) or matrix.hindrance or not matrix.has_old_tests:
        return matrix
    marked: list[IntendedTest] = []
    for mark in runs.marks:
        progress(f"{mark.typed}, which is meant to fail, on new code …")
        outcome = runs.run_marked(mark).outcome
        progress(f"{mark.typed}, which is meant to fail, on new code: {outcome}")
        marked.append(IntendedTest(test=mark.typed, outcome=outcome))
    return structs.replace(matrix, intended=tuple(marked))


def _has_old_tests(change: Change, asked: WitnessRequest) -> bool:
    """Whether there are old tests for the command to run."""
    if not change.has_old_tests or _names_new_tests(change, asked):
        return False
    return PLACEHOLDER not in asked.command or bool(change.to_run(Cell.OLD_OLD))


def _is_regressive(matrix: Matrix) -> bool:
    """Whether old tests that are not marked fail on the new code, or did so on the old."""
    cells = [matrix.runs(cell) for cell in matrix.old_row]
    return any(runs and runs[-1].outcome is not SuiteOutcome.PASS for runs in cells)


def _names_new_tests(change: Change, asked: WitnessRequest) -> bool:
    """Whether the command names tests that the commit adds: then there are no old ones to run."""
    return bool(_named_tests(asked, [path for path in change.changed if path not in change.old]))


def _named_tests(asked: WitnessRequest, paths: Sequence[str]) -> list[str]:
    """Return which of some paths the command names."""
    words = asked.command.replace("'", " ").replace('"', " ").split()
    named = {word.partition("::")[0].removeprefix("./") for word in words}
    relative = relative_paths(paths, asked.folder)
    return [path for path, name in zip(paths, relative, strict=True) if name in named]


class _CellRuns:
    """Runs the cells of one commit, each with or without tests that are meant to fail."""

    def __init__(self, change: Change, asked: WitnessRequest, sandbox: Sandbox) -> None:
        self._change = change
        self._asked = asked
        self._sandbox = sandbox
        old_tests = (change.collected | change.runnable) & change.old.keys()
        self.marks = intended.marks(asked.intended, asked.folder, old_tests, asked.command)

    def has_unmarked_tests(self) -> bool:
        """Whether a file of old tests is left that is not marked as a whole."""
        whole = {mark.path for mark in self.marks if mark.is_whole}
        tests = set(self._change.to_run(Cell.OLD_OLD))
        named = set(_named_tests(self._asked, sorted(tests | whole)))
        return not whole or bool((named or tests) - whole)

    def explain_without_marked(self, matrix: Matrix, run: SuiteRun) -> Matrix:
        """Return the matrix with what a run without the marked tests is worth that did not pass.

        The same run on the old code tells: if there is no test in it either, the marked ones are
        all that there are; if it does not pass, the command needs them.
        """
        before = self.run(Cell.OLD_OLD, self.marks)
        if run.tests == 0 and before.tests == 0:
            return structs.replace(matrix, has_unmarked_tests=False, old_tests_new_code=())
        if before.outcome is SuiteOutcome.PASS:
            return matrix
        why = f"without the tests that are meant to fail: {before.outcome} on the old code"
        return structs.replace(matrix, hindrance=f"{why} ({before.why})")

    def run_marked(self, mark: Mark) -> SuiteRun:
        """Run the old tests on the new code with one marked test and without the others.

        They have to pass on the old code without the others: else those are missing, and it is not
        the marked test that fails.
        """
        others = [other for other in self.marks if other != mark]
        run = self.run(Cell.OLD_NEW, others)
        if run.outcome is SuiteOutcome.PASS or not others:
            return run
        before = self.run(Cell.OLD_OLD, others)
        if before.outcome is SuiteOutcome.PASS:
            return run
        return structs.replace(run, outcome=SuiteOutcome.NOT_RUN)

    def run(self, cell: Cell, left_out: Sequence[Mark]) -> SuiteRun:
        """Run the tests of one cell in a fresh tree, without some of them."""
        asked = self._asked
        whole = {mark.path for mark in left_out if mark.is_whole}
        tests = [path for path in self._change.to_run(cell) if path not in whole]
        command = intended.without_tests(_command(asked, tests), left_out)
        tree = self._change.files(cell)
        files = {path: file for path, file in tree.items() if path not in whole}
        ran = self._sandbox.run(files, command, asked.folder, cell.value.replace("_", "-"))
        if ran is None:
            why = f"there is no folder {asked.folder} in it"
            return SuiteRun(outcome=SuiteOutcome.NOT_RUN, why=why)
        if ran.timed_out:
            why = f"no end within {asked.timeout_seconds:g} s"
            return SuiteRun(outcome=SuiteOutcome.NOT_RUN, why=why, seconds=round(ran.seconds, 3))
        return read_output(command, ran.exit_code, ran.lines, ran.seconds)


def _command(asked: WitnessRequest, tests: Sequence[str]) -> str:
    """Return the command with the test files to run; BadInput if they are too many."""
    if PLACEHOLDER not in asked.command:
        return asked.command
    names = collection.arguments(asked.command, relative_paths(tests, asked.folder))
    command = asked.command.replace(PLACEHOLDER, " ".join(map(shlex.quote, names)))
    if len(command) > LONGEST_COMMAND:
        raise BadInput(
            f"the names of {len(tests)} test files do not fit into one command",
            hint=f"Leave {PLACEHOLDER} out, so that all tests are run.",
        )
    return command
