"""Runs the workspace's setup and test in a fresh tree of a commit that no agent has touched, and empties it once."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, json, structs

from dos.agents.io import orphans
from dos.baseline import gate
from dos.baseline.gate import Baselines
from dos.config.schema import Config
from dos.fleet.population.policy import Workers
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
PROBE_SECONDS = 20.0  # for one acceptance command: it is only seen whether it can be started
ALL_PROBES_SECONDS = 60.0
LOCK_PAUSES = Backoff((0.2,))  # in seconds
SLOWER_WITHOUT_SOURCES = (
    3  # so much longer than before may the test take on emptied sources, and a minute
)
NOT_EXECUTABLE, NOT_FOUND = 126, 127
_CANNOT_RUN = ("not found", "No module named", "No such file or directory", "MODULE_NOT_FOUND")
# What a test command runs in turn, by their names at the top of a tree.
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
    """Whoever wanted to know does not any more."""


class BaselineCommands:
    """The commands that have to pass before anybody works, for those who only ask whether they did."""

    def __init__(self, config: Config, git: Reader) -> None:
        self._workers = config.workers
        self._git = git

    @property
    def is_enabled(self) -> bool:
        return not self._workers.unchecked_because

    @property
    def test(self) -> str:
        return self._workers.test

    @property
    def commands(self) -> str:
        """A digest of what is run."""
        return sha256("\0".join((self._workers.setup, self._workers.test)).encode()).hexdigest()[
            :16
        ]

    def subject(self, commit: str) -> Subject:
        tree = self._git.run("rev-parse", f"{commit}^{{tree}}").strip()
        return Subject(host=process.host(), tree=tree, commands=self.commands)


class Baseline(BaselineCommands):
    def __init__(self, workspace: Workspace, config: Config, git: Writer, checks: Checks) -> None:
        super().__init__(config, git)
        self._writer = git
        self._workspace = workspace
        self._checks = checks

    def blocking_question(self, watch: fold.Watch, host: str) -> str:
        """The question that keeps agents from starting on a host; empty: none does."""
        if not self.is_enabled:
            return ""
        return gate.blocking_question(watch.state(Baselines), watch.state(Decisions), host)

    def check(
        self,
        commit: str,
        branch: str,
        lease: Lease,
        *,
        stopped: Callable[[], bool],
        acceptance: Mapping[str, str] = {},
        failures: int = 0,
        known: Callable[[Subject], BaselineChecked | None] = lambda subject: None,
        progress: Progress = execute.ignore_line,
    ) -> BaselineChecked | None:
        """None when it was stopped. One process of a host at a time; `known` is asked once it is our turn.

        `acceptance` are commands by unit, to be probed for programs that are missing. `progress` is told what is run.
        """
        subject = self.subject(commit)
        try:
            with self._alone(stopped, progress):
                if found := known(subject):
                    return found
                progress(f"making a fresh tree of {branch} ({commit[:9]})")
                with self._fresh(commit) as inside:
                    run = _CheckRun(
                        self._workers,
                        inside,
                        self._checks,
                        lease,
                        stopped=stopped,
                        fetched=self._fetched,
                        progress=progress,
                    )
                    answer = run.judge(acceptance)
        except CheckStopped:
            return None
        return BaselineChecked(
            **structs.asdict(subject),
            **structs.asdict(answer),
            branch=branch,
            commit=commit,
            ordinal=0 if answer.is_good else failures + 1,
        )

    @property
    def _fetched(self) -> Path:
        return (self._workspace.common or self._workspace.state) / "modules"

    @property
    def _folder(self) -> Path:
        return self._workspace.worktrees.with_name("baseline")

    @contextmanager
    def _alone(self, stopped: Callable[[], bool], progress: Progress) -> Iterator[None]:
        """One check at a time on this host. Raises Stopped when nobody wants to know any more."""
        waits = False

        def gives_up() -> bool:
            nonlocal waits
            if not waits:
                progress("waiting for another check on this host to end")
                waits = True
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
        """A worktree with nothing in it but the commit. It is ours alone, so nothing in it is anybody's work."""
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
        checks: Checks,
        lease: Lease,
        *,
        stopped: Callable[[], bool],
        fetched: Path,
        progress: Progress,
    ) -> None:
        self._workers = workers
        self._inside = inside
        self._checks = checks
        self._lease = lease
        self._stopped = stopped
        self._fetched = fetched
        self._progress = progress

    def judge(self, acceptance: Mapping[str, str]) -> CheckOutcome:
        workers = self._workers
        began = time.monotonic()
        problem = worktree_files.check_out_submodules(self._inside, self._fetched)
        if workers.setup:
            setup = self._run("setup", workers.setup, workers.setup_seconds)
            if setup.passed is False:
                return _failed(workers.setup, setup, began)
            problem = problem and worktree_files.check_out_submodules(self._inside, self._fetched)
        if problem:
            return CheckOutcome(command="git submodule update --init", passed=False, reason=problem)
        test = self._run("the test", workers.test, workers.wall_seconds)
        if test.passed is False:
            return _failed(workers.test, test, began)
        test_seconds = time.monotonic() - began
        missing = self._probe(acceptance)
        blanked = self._empty()
        sees = None
        if blanked:
            most = min(workers.wall_seconds, SLOWER_WITHOUT_SOURCES * test_seconds + 60)
            emptied = f"the test with {plural(blanked, 'source file')} emptied"
            sees = self._run(emptied, workers.test, most).passed is False
        else:
            self._progress(f"the test passes; {NOTHING_TO_EMPTY}")
        return CheckOutcome(
            command=workers.test,
            passed=True,
            reason=test.detail,
            blanked=blanked,
            sees_tree=sees,
            seconds=round(time.monotonic() - began, 3),
            missing=missing,
        )

    def _run(self, what: str, command: str, seconds: float) -> AcceptanceResult:
        """The same, told before and after."""
        self._progress(f"running {what}: {' '.join(command.split())} (at most {seconds:.0f} s)")
        began = time.monotonic()
        answer = self._accept(command, seconds)
        self._progress(
            f"{what} {'passed' if answer.passed else 'failed'} after {time.monotonic() - began:.1f} s"
        )
        return answer

    def _accept(self, command: str, seconds: float) -> AcceptanceResult:
        answer = self._checks.run_outside_a_run(
            self._inside.tree, command, self._lease, seconds, self._stopped
        )
        if self._stopped():
            raise CheckStopped
        return answer

    def _probe(self, acceptance: Mapping[str, str]) -> dict[str, str]:
        """Of the units whose acceptance command cannot run here, why. That it fails is expected before the work."""
        missing: dict[str, str] = {}
        answers: dict[str, str] = {}
        if acceptance:
            commands = plural(len(set(acceptance.values())), "acceptance command")
            self._progress(
                f"probing {commands} for missing programs (at most {ALL_PROBES_SECONDS:g} s)"
            )
        deadline = time.monotonic() + ALL_PROBES_SECONDS
        for unit, command in acceptance.items():
            if command not in answers and time.monotonic() < deadline:
                answers[command] = cannot_run(self._accept(command, PROBE_SECONDS))
            if why := answers.get(command):
                missing[unit] = why
        return missing

    def _empty(self) -> int:
        """Empty the program's files; how many there were."""
        tree = self._inside.tree
        tracked = [path for path in self._inside.paths_of("HEAD") if (tree / path).is_file()]
        found = file_kinds.files_to_empty(tracked, _runner(tree, self._workers.test, tracked))
        written = [
            path
            for path in found
            if not (tree / path).is_symlink() and (tree / path).stat().st_size
        ]
        for path in written:
            (tree / path).write_text(file_kinds.placeholder_text(path))
        return len(written)


def cannot_run(answer: AcceptanceResult) -> str:
    """Why a command could not be run at all; empty: it ran, whatever it said."""
    code = answer.run.exit_code if answer.run else 0
    if code in (0, None):
        return ""
    told = next(
        (line for line in reversed(answer.output) if any(word in line for word in _CANNOT_RUN)), ""
    )
    if code in (NOT_EXECUTABLE, NOT_FOUND) or "No module named" in told:
        return told.strip() or answer.detail
    return ""


def _runner(tree: Path, command: str, tracked: list[str]) -> str:
    """The test command, with the text of what it runs in turn: the files that it names must stay."""
    texts = [command, *(_read(tree / name) for name in _RUNNERS), *_scripts(tree / "package.json")]
    for path in tracked:
        if path.rpartition(".")[2] in file_kinds.SHELL and file_kinds.is_named_by_runner(
            path, "\n".join(texts)
        ):
            texts.append(_read(tree / path))
    return "\n".join(texts)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _scripts(package: Path) -> list[str]:
    """What `npm test` and the like run; not the files that the package is made of."""
    try:
        scripts = json.decode(_read(package) or "{}")["scripts"]
        return [str(script) for script in scripts.values()]
    except (DecodeError, KeyError, AttributeError, TypeError):
        return []


def _failed(command: str, answer: AcceptanceResult, began: float) -> CheckOutcome:
    output = [replace_undecodable(line)[:LONGEST_LINE] for line in answer.output[-TAIL_LINES:]]
    seconds = round(time.monotonic() - began, 3)
    return CheckOutcome(
        command=command, passed=False, reason=answer.detail, output=output, seconds=seconds
    )
