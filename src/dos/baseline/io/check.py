"""Check the baseline: run setup and test in a fresh tree of a commit without agents' work.

The test runs a second time with the program's files emptied: a test that still passes then does
not test this tree.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, field, structs

from dos.baseline import gate
from dos.baseline.gate import Baselines
from dos.config.schema import Config
from dos.fleet.population.workers import Workers
from dos.git.repository import Reader, Writer
from dos.journal import fold
from dos.journal.events.limits import BaselineChecked
from dos.landing.checks import Checks
from dos.landing.trees.check_tree import CannotCheck, CheckTree
from dos.landing.trees.check_trees import CheckTrees
from dos.lease import Lease
from dos.machine import execute, filesystem, process
from dos.questions.state import Decisions
from dos.receipts.io.acceptance import AcceptanceResult
from dos.text import plural, replace_undecodable
from dos.times import Backoff
from dos.verify import file_kinds, runners
from dos.verify.baseline import NOTHING_TO_EMPTY, CheckOutcome, Subject
from dos.workspace import Workspace

Progress = Callable[[str], None]

TAIL_LINES = 20
LONGEST_LINE = 300
PROBE_SECONDS = 20.0  # for one acceptance command, only to see whether it can start
ALL_PROBES_SECONDS = 60.0
LOCK_PAUSES = Backoff((0.2,))  # in seconds
SLOWER_WITHOUT_SOURCES = 3  # the test on emptied sources may take so many times as long
NOT_EXECUTABLE = 126  # exit codes of a shell
NOT_FOUND = 127
_CANNOT_RUN = ("not found", "No module named", "No such file or directory", "MODULE_NOT_FOUND")


class CheckStopped(Exception):
    """The caller does not need the result any more, so the check ends early."""


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What to check, and for whom."""

    commit: str
    branch: str
    lease: Lease  # marks the programs that the check starts
    acceptance: Mapping[str, str] = {}  # commands by unit, to be probed for missing programs
    failures: int = 0  # earlier failed checks on this host


# Runs a command in a tree within so many seconds.
Accept = Callable[[CheckTree, str, float], AcceptanceResult]


def _unknown_subject(_subject: Subject) -> BaselineChecked | None:
    """The default for `known`: no earlier check is used."""
    return None


class BaselineCommands:
    """The commands that have to pass before agents start, for readers that run none of them."""

    def __init__(self, config: Config, git: Reader) -> None:
        self._workers = config.workers
        self._git = git

    @property
    def is_enabled(self) -> bool:
        """Whether the settings ask for a check and give it something to run."""
        return not self._workers.unchecked_because

    @property
    def test(self) -> str:
        """The test command of [workers]."""
        return self._workers.test

    @property
    def commands(self) -> str:
        """A digest of the commands."""
        text = "\0".join((self._workers.setup, self._workers.test))
        return sha256(text.encode()).hexdigest()[:16]

    def subject(self, commit: str) -> Subject:
        """What a check of this commit on this host is about."""
        tree = self._git.run("rev-parse", f"{commit}^{{tree}}").strip()
        return Subject(host=process.host(), tree=tree, commands=self.commands)


class Baseline(BaselineCommands):
    """Runs the commands in a check tree that it makes anew; later checks use it as it is then."""

    def __init__(self, workspace: Workspace, config: Config, git: Writer, checks: Checks) -> None:
        super().__init__(config, git)
        self._trees = CheckTrees(workspace, config, git)
        self._workspace = workspace
        self._checks = checks

    def blocking_question(self, watch: fold.Watch, host: str) -> str:
        """The id of the question that keeps agents from starting on a host; empty: none does."""
        if not self.is_enabled:
            return ""
        return gate.blocking_question(watch.state(Baselines), watch.state(Decisions), host)

    def check(
        self,
        request: CheckRequest,
        *,
        stopped: Callable[[], bool],
        known: Callable[[Subject], BaselineChecked | None] = _unknown_subject,
        progress: Progress = execute.ignore_line,
    ) -> BaselineChecked | None:
        """Check a commit, one check at a time on a host; None when `stopped` ended it.

        `known` may answer instead, once it is this check's turn. `progress` is told what is run.
        """
        subject = self.subject(request.commit)
        try:
            with self._alone(stopped, progress):
                found = known(subject)
                if found:
                    return found
                progress(f"making a fresh tree of {request.branch} ({request.commit[:9]})")
                accept = self._accept(request.lease, stopped)
                run = _CheckRun(self._workers, self._trees, accept, progress)
                answer = run.judge(request.commit, request.acceptance)
        except CheckStopped:
            return None
        ordinal = 0
        if not answer.is_good:
            ordinal = request.failures + 1
        return BaselineChecked(
            **structs.asdict(subject),
            **structs.asdict(answer),
            branch=request.branch,
            commit=request.commit,
            ordinal=ordinal,
        )

    def _accept(self, lease: Lease, stopped: Callable[[], bool]) -> Accept:
        """A function that runs a command in a tree, and raises CheckStopped once it is stopped."""

        def accept(tree: CheckTree, command: str, seconds: float) -> AcceptanceResult:
            answer = self._checks.run_outside_a_run(
                tree.path, command, lease, seconds, stopped, preserved=tree.preserved
            )
            if stopped():
                raise CheckStopped
            return answer

        return accept

    @property
    def _gate(self) -> Path:
        """The file that whoever checks on this host has locked."""
        return self._workspace.worktrees.with_name("baseline.gate")

    @contextmanager
    def _alone(self, stopped: Callable[[], bool], progress: Progress) -> Iterator[None]:
        """Wait until no other check runs on this host. Raises CheckStopped."""
        is_waiting = False

        def gives_up() -> bool:
            nonlocal is_waiting
            if not is_waiting:
                progress("waiting for another check on this host to end")
                is_waiting = True
            return stopped()

        self._gate.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(self._gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if not filesystem.lock_file(opened, gives_up=gives_up, pauses=LOCK_PAUSES):
                raise CheckStopped
            yield
        finally:
            os.close(opened)


class _Probes(Struct, kw_only=True):
    """What acceptance commands say before the work is done."""

    missing: dict[str, str] = field(default_factory=dict)  # unit -> why its command cannot run
    green: list[str] = field(default_factory=list)  # units whose command passes already


class _CheckRun:
    """One check, in a check tree that is made anew for it."""

    def __init__(
        self, workers: Workers, trees: CheckTrees, accept: Accept, progress: Progress
    ) -> None:
        self._workers = workers
        self._trees = trees
        self._accept = accept
        self._progress = progress
        self._running = "setup"  # what runs next, for the progress

    def judge(self, commit: str, acceptance: Mapping[str, str]) -> CheckOutcome:
        """Run setup, test and probes, then the test on emptied sources."""
        began = time.monotonic()
        try:
            with self._trees.at(commit, self._run_in, fresh=True) as tree:
                tree.raise_if_incomplete()
                return self._judge(tree, acceptance, began)
        except CannotCheck as error:
            if error.result:
                return _failed(self._workers.setup, error.result, began)
            return CheckOutcome(
                command="git submodule update --init", passed=False, reason=error.problem
            )

    def _judge(self, tree: CheckTree, acceptance: Mapping[str, str], began: float) -> CheckOutcome:
        workers = self._workers
        test = self._run(tree, "the test", workers.test, workers.wall_seconds)
        if test.passed is False:
            return _failed(workers.test, test, began)
        test_seconds = time.monotonic() - began
        probes = self._probe(tree, acceptance)
        tree.reset()
        blanked = self._empty(tree)
        return CheckOutcome(
            command=workers.test,
            passed=True,
            reason=test.detail,
            blanked=blanked,
            sees_tree=self._sees_tree(tree, blanked, test_seconds),
            seconds=round(time.monotonic() - began, 3),
            missing=probes.missing,
            already_green=probes.green,
        )

    def _sees_tree(self, tree: CheckTree, blanked: int, test_seconds: float) -> bool | None:
        """Whether the test fails on emptied sources; None when there were none to empty."""
        if not blanked:
            self._progress(f"the test passes; {NOTHING_TO_EMPTY}")
            return None
        most = min(self._workers.wall_seconds, SLOWER_WITHOUT_SOURCES * test_seconds + 60)
        emptied = f"the test with {plural(blanked, 'source file')} emptied"
        return self._run(tree, emptied, self._workers.test, most).passed is False

    def _run(self, tree: CheckTree, what: str, command: str, seconds: float) -> AcceptanceResult:
        """Run a command in a check tree, and report its start and its end."""
        self._running = what
        return tree.run(command, seconds)

    def _run_in(self, tree: CheckTree, command: str, seconds: float | None) -> AcceptanceResult:
        """Run a command, and report its start and its end unless it is a probe."""
        what = self._running
        limit = self._workers.wall_seconds if seconds is None else seconds
        if not what:
            return self._accept(tree, command, limit)
        self._progress(f"running {what}: {' '.join(command.split())} (at most {limit:.0f} s)")
        began = time.monotonic()
        answer = self._accept(tree, command, limit)
        ended = "failed"
        if answer.passed:
            ended = "passed"
        self._progress(f"{what} {ended} after {time.monotonic() - began:.1f} s")
        return answer

    def _probe(self, tree: CheckTree, acceptance: Mapping[str, str]) -> _Probes:
        """Whether acceptance commands can run here, and whether they pass already, by unit.

        That such a command fails is expected before the work is done.
        """
        if acceptance:
            commands = plural(len(set(acceptance.values())), "acceptance command")
            self._progress(
                f"probing {commands} for missing programs (at most {ALL_PROBES_SECONDS:g} s)"
            )
        self._running = ""
        probes = _Probes()
        answers: dict[str, AcceptanceResult] = {}
        deadline = time.monotonic() + ALL_PROBES_SECONDS
        for unit, command in acceptance.items():
            if command not in answers and time.monotonic() < deadline:
                answers[command] = tree.run(command, PROBE_SECONDS)
            answer = answers.get(command, AcceptanceResult())
            if answer.passed:
                probes.green.append(unit)
            why = cannot_run(answer)
            if why:
                probes.missing[unit] = why
        return probes

    def _empty(self, check_tree: CheckTree) -> int:
        """Replace the program's files by placeholders, and return how many there were."""
        tree = check_tree.path
        tracked = [path for path in check_tree.git.paths_of("HEAD") if (tree / path).is_file()]
        emptied = 0
        runner = runners.runner_text(self._workers.test, tracked, lambda path: _read(tree / path))
        for path in file_kinds.files_to_empty(tracked, runner):
            file = tree / path
            if not file.is_symlink() and file.stat().st_size:
                file.write_text(file_kinds.placeholder_text(path))
                emptied += 1
        return emptied


def cannot_run(answer: AcceptanceResult) -> str:
    """Why a command could not run at all; empty: it ran, whatever its result."""
    if answer.run is None or answer.run.exit_code in (0, None):
        return ""
    message = ""
    for line in reversed(answer.output):
        if any(phrase in line for phrase in _CANNOT_RUN):
            message = line
            break
    if answer.run.exit_code in (NOT_EXECUTABLE, NOT_FOUND) or "No module named" in message:
        return message.strip() or answer.detail
    return ""


def _read(path: Path) -> str:
    """Return the text of a file; empty when there is none."""
    if not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def _failed(command: str, answer: AcceptanceResult, began: float) -> CheckOutcome:
    """The outcome of a command that failed, with the end of its output."""
    output = [replace_undecodable(line)[:LONGEST_LINE] for line in answer.output[-TAIL_LINES:]]
    seconds = round(time.monotonic() - began, 3)
    return CheckOutcome(
        command=command, passed=False, reason=answer.detail, output=output, seconds=seconds
    )
