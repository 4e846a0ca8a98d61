"""Runs the old and the new tests of a commit on the old and the new code.

`read_change` finds what a commit changed in tests and code; `witness_tests` mixes the two sides,
runs each mix in a sandbox, and judges the matrix of outcomes.
"""

import os
import random
import shlex
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from dos.audit import weakening
from dos.audit.weakening import TestChange
from dos.errors import BadInput
from dos.git.objects import Objects, TreeEntry
from dos.git.repository import Reader
from dos.machine import execute
from dos.regions import lane_holds, region
from dos.testwitness import suite
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

Files = dict[str, TreeEntry]


class Change(Struct, frozen=True, kw_only=True):
    """A commit against its first parent. Paths are from the top of the repository."""

    commit: str
    parent: str
    tree: str
    old: Files
    new: Files
    tests: frozenset[str]  # on either side, with all that only tests need
    runnable: frozenset[str]  # those of them that a test runner can be given
    weakened: tuple[str, ...] = ()  # tests that the change itself weakens

    @property
    def changed(self) -> list[str]:
        """The tests that are new or changed."""
        return sorted(_touched(self.old, self.new) & self.tests & self.new.keys())

    @property
    def deleted(self) -> list[str]:
        """The tests that are gone."""
        return sorted(self.tests & self.old.keys() - self.new.keys())

    @property
    def hindrance(self) -> str:
        """Why nothing can be measured, or an empty text.

        It takes a changed test and changed code: only then can a test fail without the change.
        """
        if not self.changed:
            return "it adds no test, and changes none"
        if _touched(self.old, self.new) <= self.tests:
            return "it changes nothing but tests: there is no old code to try them on"
        return ""

    @property
    def has_old_tests(self) -> bool:
        """Whether the parent has tests that can be run."""
        return bool(self.runnable & self.old.keys())

    def files(self, cell: Cell) -> Files:
        """Return the tree of a cell: its code from one side, its tests from the other."""
        code = self.old
        if cell.new_code:
            code = self.new
        tests = self.old
        if cell.new_tests:
            tests = self.new
        tree = {path: file for path, file in code.items() if path not in self.tests}
        tree |= {path: file for path, file in tests.items() if path in self.tests}
        return tree

    def to_run(self, cell: Cell) -> list[str]:
        """Return the files for the runner: of the new tests the changed ones, if it can run any."""
        if cell.new_tests:
            changed = [path for path in self.changed if path in self.runnable]
            return changed or sorted(self.runnable & self.new.keys())
        return sorted(self.runnable & self.old.keys())

    def harness(self, command: str) -> list[str]:
        """Return the changed files besides tests that decide how the tests run."""
        others = _touched(self.old, self.new) - self.tests
        return sorted(path for path in others if suite.is_harness(path, command))


def read_change(
    git: Reader, sha: str, globs: Sequence[str] = (), folder: str = ""
) -> Change | Unknown:
    """Return what a commit changed, or why it cannot be compared with its parent.

    With globs, which start at the folder, only files that match them are tests.
    """
    with Objects(git) as objects:
        commit = objects.commit(sha)
        if commit is None:
            return Unknown(f"{sha} is not here")
        if not commit.parents:
            return Unknown("it has no parent: there is no code without it")
        parent = objects.commit(commit.parents[0])
        if parent is None:
            name = commit.parents[0][:9]
            return Unknown(f"its parent {name} is not here: the history is cut off")
        old = dict(objects.files(parent.tree))
        new = dict(objects.files(commit.tree))
        weakened = weakening.find(list(_test_changes(objects, old, new)))
    is_test: Callable[[str], bool] = suite.is_test
    if globs:
        is_test = _matching(globs, folder)
    tests = frozenset(filter(is_test, old.keys() | new.keys()))
    runnable = frozenset(filter(suite.is_runnable, tests))
    if globs and not runnable:
        runnable = tests
    return Change(
        commit=commit.sha,
        parent=parent.sha,
        tree=commit.tree,
        old=old,
        new=new,
        tests=tests,
        runnable=runnable,
        weakened=tuple(map(str, weakened)),
    )


def _touched(old: Files, new: Files) -> set[str]:
    """Return the paths that were added, changed or removed."""
    return {path for path, _ in old.items() ^ new.items()}


def _test_changes(objects: Objects, old: Files, new: Files) -> Iterator[TestChange]:
    """Yield the contents of changed files in which tests could be weakened."""
    for path in sorted(_touched(old, new)):
        if weakening.is_watched(path):
            yield TestChange(
                path=path, old=_text(objects, old.get(path)), new=_text(objects, new.get(path))
            )


def _text(objects: Objects, file: TreeEntry | None) -> str | None:
    """Return the text of a regular file, or None."""
    if file is None or not stat.S_ISREG(file.mode):
        return None
    content = objects.blob(file.sha)
    if content is None:
        return None
    return content.decode("utf-8", "replace")


def relative_paths(paths: Sequence[str], folder: str) -> list[str]:
    """Return the paths relative to a folder; one that starts with a dash must not be an option."""
    relative = []
    for path in paths:
        name = path
        if folder:
            name = os.path.relpath(path, folder)
        if name.startswith("-"):
            name = f"./{name}"
        relative.append(name)
    return relative


def _matching(globs: Sequence[str], folder: str) -> Callable[[str], bool]:
    """Return a function that says whether a path, from the top of the tree, matches the globs."""
    root = ""
    if folder:
        root = f"{folder}/"
    return partial(lane_holds, region(globs), root=root)


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
