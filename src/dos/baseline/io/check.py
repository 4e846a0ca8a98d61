"""Check the baseline: run setup and test in a fresh tree of a commit without agents' work.

The test runs a second time with the program's files emptied: a test that still passes then does
not test this tree.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, Struct, json, structs

from dos.agents.io import orphans
from dos.baseline import gate
from dos.baseline.gate import Baselines
from dos.config.schema import Config
from dos.fleet.population.workers import Workers
from dos.git.repository import Reader, Writer
from dos.journal import fold
from dos.journal.events.limits import BaselineChecked
from dos.landing import worktree, worktree_files
from dos.landing.checks import Checks
from dos.lease import Lease
from dos.machine import execute, filesystem, process
from dos.questions.state import Decisions
from dos.receipts.io.acceptance import AcceptanceResult
from dos.text import plural, replace_undecodable
from dos.times import Backoff
from dos.verify import file_kinds
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
# Files at the top of a tree that name what a test command runs.
_RUNNERS = (
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "tox.ini",
    "noxfile.py",
)


class CheckStopped(Exception):
    """The caller does not need the result any more, so the check ends early."""


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What to check, and for whom."""

    commit: str
    branch: str
    lease: Lease  # marks the programs that the check starts
    acceptance: Mapping[str, str] = {}  # commands by unit, to be probed for missing programs
    failures: int = 0  # earlier failed checks on this host


Accept = Callable[[str, float], AcceptanceResult]  # runs a command within so many seconds


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
    """Runs the commands in a worktree of its own, which it removes afterwards."""

    def __init__(self, workspace: Workspace, config: Config, git: Writer, checks: Checks) -> None:
        super().__init__(config, git)
        self._writer = git
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
                with self._fresh(request.commit) as inside:
                    accept = self._accept(inside.tree, request.lease, stopped)
                    run = _CheckRun(self._workers, inside, self._fetched, accept, progress)
                    answer = run.judge(request.acceptance)
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

    def _accept(self, tree: Path, lease: Lease, stopped: Callable[[], bool]) -> Accept:
        """A function that runs a command in a tree, and raises CheckStopped once it is stopped."""

        def accept(command: str, seconds: float) -> AcceptanceResult:
            answer = self._checks.run_outside_a_run(tree, command, lease, seconds, stopped)
            if stopped():
                raise CheckStopped
            return answer

        return accept

    @property
    def _fetched(self) -> Path:
        """Where the repository keeps the submodules that it fetched."""
        return (self._workspace.common or self._workspace.state) / "modules"

    @property
    def _folder(self) -> Path:
        """The worktree of checks on this host."""
        return self._workspace.worktrees.with_name("baseline")

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

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(
            self._folder.with_name("baseline.gate"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
        )
        try:
            if not filesystem.lock_file(opened, gives_up=gives_up, pauses=LOCK_PAUSES):
                raise CheckStopped
            yield
        finally:
            os.close(opened)

    @contextmanager
    def _fresh(self, commit: str) -> Iterator[Writer]:
        """A worktree of the commit alone. Only checks use it, so it holds no work to save."""
        self._remove()
        inside = Writer(self._folder)
        try:
            worktree.add(self._writer, self._workspace.state, self._folder, commit)
            inside.run("checkout", "--quiet", "--force", "--detach", commit)
            worktree_files.copy_included_files(self._git, inside)
            yield inside
        finally:
            self._remove()

    def _remove(self) -> None:
        """Remove the worktree, after a git command that may still work in it."""
        if not self._folder.exists():
            return
        orphans.wait_for_git(self._folder)
        self._writer.run_once("worktree", "remove", "--force", "--force", str(self._folder))
        if self._folder.exists():
            shutil.rmtree(self._folder)


class _CheckRun:
    """One check in one fresh tree."""

    def __init__(
        self,
        workers: Workers,
        inside: Writer,
        fetched: Path,
        accept: Accept,
        progress: Progress,
    ) -> None:
        self._workers = workers
        self._inside = inside
        self._fetched = fetched  # where the repository keeps its submodules
        self._accept = accept
        self._progress = progress

    def judge(self, acceptance: Mapping[str, str]) -> CheckOutcome:
        """Run setup, test and probes, then the test on emptied sources."""
        workers = self._workers
        began = time.monotonic()
        problem = worktree_files.check_out_submodules(self._inside, self._fetched)
        if workers.setup:
            setup = self._run("setup", workers.setup, workers.setup_seconds)
            if setup.passed is False:
                return _failed(workers.setup, setup, began)
            if problem:  # setup may have fetched what was missing
                problem = worktree_files.check_out_submodules(self._inside, self._fetched)
        if problem:
            return CheckOutcome(command="git submodule update --init", passed=False, reason=problem)
        test = self._run("the test", workers.test, workers.wall_seconds)
        if test.passed is False:
            return _failed(workers.test, test, began)
        test_seconds = time.monotonic() - began
        missing = self._probe(acceptance)
        blanked = self._empty()
        return CheckOutcome(
            command=workers.test,
            passed=True,
            reason=test.detail,
            blanked=blanked,
            sees_tree=self._sees_tree(blanked, test_seconds),
            seconds=round(time.monotonic() - began, 3),
            missing=missing,
        )

    def _sees_tree(self, blanked: int, test_seconds: float) -> bool | None:
        """Whether the test fails on emptied sources; None when there were none to empty."""
        if not blanked:
            self._progress(f"the test passes; {NOTHING_TO_EMPTY}")
            return None
        most = min(self._workers.wall_seconds, SLOWER_WITHOUT_SOURCES * test_seconds + 60)
        emptied = f"the test with {plural(blanked, 'source file')} emptied"
        return self._run(emptied, self._workers.test, most).passed is False

    def _run(self, what: str, command: str, seconds: float) -> AcceptanceResult:
        """Run a command, and report its start and its end."""
        self._progress(f"running {what}: {' '.join(command.split())} (at most {seconds:.0f} s)")
        began = time.monotonic()
        answer = self._accept(command, seconds)
        ended = "failed"
        if answer.passed:
            ended = "passed"
        self._progress(f"{what} {ended} after {time.monotonic() - began:.1f} s")
        return answer

    def _probe(self, acceptance: Mapping[str, str]) -> dict[str, str]:
        """Why acceptance commands cannot run here, by unit.

        That such a command fails is expected before the work is done.
        """
        if acceptance:
            commands = plural(len(set(acceptance.values())), "acceptance command")
            self._progress(
                f"probing {commands} for missing programs (at most {ALL_PROBES_SECONDS:g} s)"
            )
        missing: dict[str, str] = {}
        answers: dict[str, str] = {}
        deadline = time.monotonic() + ALL_PROBES_SECONDS
        for unit, command in acceptance.items():
            if command not in answers and time.monotonic() < deadline:
                answers[command] = cannot_run(self._accept(command, PROBE_SECONDS))
            why = answers.get(command)
            if why:
                missing[unit] = why
        return missing

    def _empty(self) -> int:
        """Replace the program's files by placeholders, and return how many there were."""
        tree = self._inside.tree
        tracked = [path for path in self._inside.paths_of("HEAD") if (tree / path).is_file()]
        emptied = 0
        for path in file_kinds.files_to_empty(tracked, _runner(tree, self._workers.test, tracked)):
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


def _runner(tree: Path, command: str, tracked: list[str]) -> str:
    """The test command with the text of the files that it runs: files named there must stay."""
    texts = [command]
    texts += [_read(tree / name) for name in _RUNNERS]
    texts += _scripts(tree / "package.json")
    for path in tracked:
        is_shell = path.rpartition(".")[2] in file_kinds.SHELL
        if is_shell and file_kinds.is_named_by_runner(path, "\n".join(texts)):
            texts.append(_read(tree / path))
    return "\n".join(texts)


def _read(path: Path) -> str:
    """Return the text of a file; empty when there is none."""
    if not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def _scripts(package: Path) -> list[str]:
    """The scripts of a package.json, which `npm test` and the like run."""
    try:
        scripts = json.decode(_read(package) or "{}")["scripts"]
        return [str(script) for script in scripts.values()]
    except (DecodeError, KeyError, AttributeError, TypeError):
        return []


def _failed(command: str, answer: AcceptanceResult, began: float) -> CheckOutcome:
    """The outcome of a command that failed, with the end of its output."""
    output = [replace_undecodable(line)[:LONGEST_LINE] for line in answer.output[-TAIL_LINES:]]
    seconds = round(time.monotonic() - began, 3)
    return CheckOutcome(
        command=command, passed=False, reason=answer.detail, output=output, seconds=seconds
    )
