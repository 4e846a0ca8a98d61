"""Runs the commands that judge work on exactly the commits that they judge, in check trees.

The acceptance command also runs on the commit below the work: if it passes there too, it does not
tell whether the work was done (`verify/red_before.py`).
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256

from msgspec import Struct, structs

from dos.agents.io.halt_listener import HaltListener
from dos.config.schema import Config
from dos.git.changes import FileChange
from dos.git.repository import Writer
from dos.landing.checks import Checks
from dos.landing.guard.tests_guard import TestsGuard
from dos.landing.trees.check_cache import CheckCache, CheckSubject, environment_digest
from dos.landing.trees.check_tree import CannotCheck, CheckTree, RunCommand
from dos.landing.trees.check_trees import CheckTrees
from dos.lease import Lease
from dos.machine import execute, process
from dos.receipts.io.acceptance import AcceptanceResult
from dos.receipts.receipt import CommandRun
from dos.regions import region
from dos.times import seconds_between
from dos.units.unit import Unit
from dos.workspace import Workspace
from dos.world import World

# On the commit below the work a command may take so many times as long as on the work, and this
# many seconds more: it may wait for what only the work brings.
SLOWER_WITHOUT_WORK = 3
SPARE_SECONDS = 30.0


class BaseResult(Struct, frozen=True, kw_only=True):
    """What the acceptance command said on the commit below the work."""

    commit: str
    tree: str
    result: AcceptanceResult
    with_own_tests: AcceptanceResult = AcceptanceResult()  # there, with the work's tests alone

    @property
    def is_green(self) -> bool:
        """Whether it passed without the work, or with nothing of the work but its tests."""
        return self.result.passed is True or self.needs_only_tests

    @property
    def needs_only_tests(self) -> bool:
        """Whether it passed with nothing of the work but its tests."""
        return self.with_own_tests.passed is True


class CommitChecks:
    """Runs commands on commits, on behalf of a lease."""

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        git: Writer,
        checks: Checks,
        cache: CheckCache | None = None,
    ) -> None:
        self.trees = CheckTrees(workspace, config, git)
        self._git = git
        self._checks = checks
        self._cache = cache or CheckCache()

    def run(self, commit: str, command: str, lease: Lease, *, base: str = "") -> AcceptanceResult:
        """Run a command on a commit, unless it is known to pass; no command is no result.

        `base` is the commit below the work. Raises CannotCheck where no check can be made there
        either; if only the work is the reason, such as a lock file that cannot be installed, that
        is the result.
        """
        if not command:
            return AcceptanceResult()
        subject = self.subject(commit, command)
        known = self._cache.find(subject)
        if known:
            return known
        result = self.run_in_tree(commit, lease, lambda tree: tree.run(command), base=base)
        if result.passed:
            self._cache.record(subject, commit, result)
        return result

    def run_in_tree(
        self,
        commit: str,
        lease: Lease,
        act: Callable[[CheckTree], AcceptanceResult],
        *,
        base: str = "",
    ) -> AcceptanceResult:
        """Lend a check tree of a commit to `act` and return its result; see `run`."""
        try:
            with self.trees.at(commit, self.for_lease(lease), base=base) as tree:
                return act(tree)
        except CannotCheck as error:
            if base and self._is_caused_by_work(base, commit, error):
                detail = self._unpublished_reason(base, commit) or error.problem
                return AcceptanceResult(passed=False, detail=detail)
            raise

    def run_with_files(
        self,
        paths: Sequence[str],
        texts: Mapping[str, str],
        *,
        commit: str,
        command: str,
        lease: Lease,
        base: str,
    ) -> AcceptanceResult:
        """Run a command on a commit that has these paths as its base has them, and these texts."""
        with self.trees.at(commit, self.for_lease(lease), base=base) as tree:
            tree.overlay(paths, base, texts)
            return tree.run(command)

    def run_on_base(
        self, base: str, command: str, lease: Lease, *, after: CommandRun | None = None
    ) -> BaseResult | None:
        """Run an acceptance command on the commit below the work; None without a command.

        `after` is its run on the work: it is given a little more time than that took. A command
        that does not end within it has not passed.
        """
        if not command:
            return None
        subject = self.subject(base, command)
        limit = self._base_limit(after)
        result = self._run_on_base(subject, base, lease, lambda tree: tree.run(command, limit))
        return BaseResult(commit=base, tree=subject.tree, result=result)

    def with_own_tests(
        self,
        before: BaseResult,
        command: str,
        lease: Lease,
        own: Sequence[FileChange],
        *,
        head: str,
        after: CommandRun | None = None,
    ) -> BaseResult:
        """Add what the command says on the commit below with the work's tests, and no more of it.

        `own` are the tests and whatever else of the work judges it, which the head has.
        """
        limit = self._base_limit(after)

        def act(tree: CheckTree) -> AcceptanceResult:
            paths: list[str] = []
            for change in own:
                paths += filter(None, (change.old_path, change.path))
            tree.overlay(paths, head)
            return tree.run(command, limit)

        subject = self.subject(before.commit, command)
        subject = structs.replace(subject, tree=f"{subject.tree}+{_digest_of(own)}")
        result = self._run_on_base(subject, before.commit, lease, act)
        return structs.replace(before, with_own_tests=result)

    def _run_on_base(
        self,
        subject: CheckSubject,
        base: str,
        lease: Lease,
        act: Callable[[CheckTree], AcceptanceResult],
    ) -> AcceptanceResult:
        """Run a command on the commit below the work, unless its result is known."""
        result = self._cache.find(subject, counts_red=True)
        if result is None:
            result = self.run_in_tree(base, lease, act)
            self._cache.record(subject, base, result)
        return result

    def _base_limit(self, after: CommandRun | None) -> float:
        """Return the seconds that a command may take there, by what it took on the work."""
        limit = self._checks.time_limit
        if after is None:
            return limit
        taken = seconds_between(after.started, after.ended)
        return min(limit, SLOWER_WITHOUT_WORK * taken + SPARE_SECONDS)

    def subject(self, commit: str, command: str) -> CheckSubject:
        """Return all that the result of a command on a commit depends on."""
        return CheckSubject(
            host=process.host(),
            command=command,
            tree=self._git.run("rev-parse", f"{commit}^{{tree}}").strip(),
            setup=self.trees.digest(commit),
            environment=environment_digest(
                self._checks.listed_environment() | self.trees.included_stamps()
            ),
            sandbox=self._checks.sandbox,
        )

    def for_lease(self, lease: Lease) -> RunCommand:
        """Return a function that runs a command in a tree under a lease."""

        def run(tree: CheckTree, command: str, seconds: float | None) -> AcceptanceResult:
            return self._checks.run(tree.path, command, lease, seconds, preserved=tree.preserved)

        return run

    def unpublished_submodule(self, base: str, commit: str) -> str:
        """Return a submodule that would land at a commit which no remote has, or an empty text."""
        if not self._git.submodules_between(base, commit):
            return ""
        with self.trees.without_setup(commit) as tree:
            return tree.unpublished_submodule(base)

    def _unpublished_reason(self, base: str, commit: str) -> str:
        submodule = self.unpublished_submodule(base, commit)
        if not submodule:
            return ""
        return f"no remote of the submodule {submodule} has its commit; push it first"

    def _is_caused_by_work(self, base: str, commit: str, error: CannotCheck) -> bool:
        """Whether the work changed what could not be had: a submodule, or the lock files."""
        if error.result is None:
            return bool(self._git.submodules_between(base, commit))
        return self.trees.digest(base) != self.trees.digest(commit)


class _ChecksOutsideARun(CommitChecks):
    """Runs commands on commits that only their time limit ends early."""

    def for_lease(self, lease: Lease) -> RunCommand:
        def run(tree: CheckTree, command: str, seconds: float | None) -> AcceptanceResult:
            return self._checks.run_outside_a_run(
                tree.path,
                command,
                lease,
                self._checks.time_limit if seconds is None else seconds,
                execute.never_stop,
                preserved=tree.preserved,
            )

        return run


def result_outside_a_run(
    world: World, unit: Unit, command: str, *, base: str, head: str, is_fresh: bool
) -> BaseResult | None:
    """Return what a unit's command says without the work between two commits; None without one.

    A recorded result is used unless `is_fresh`; nothing is recorded. Raises CannotCheck if the
    setup fails.
    """
    listen = partial(HaltListener, open_store=lambda: world.journal, is_lost=execute.never_stop)
    checks = Checks(world.workspace, world.config, listen=listen, lease_key="")
    git = Writer(world.workspace.root)
    cache = CheckCache(world.journal, is_fresh=is_fresh, is_read_only=True)
    commit_checks = _ChecksOutsideARun(world.workspace, world.config, git, checks, cache)
    lease = lease_outside_a_run("attest")
    before = commit_checks.run_on_base(base, command, lease)
    if before is None or before.is_green:
        return before
    own = TestsGuard(git).own_judges(unit, base, head, command)
    if not own:
        return before
    return commit_checks.with_own_tests(before, command, lease, own, head=head)


def _digest_of(changes: Sequence[FileChange]) -> str:
    """Return a digest of files as they are after their changes."""
    lines = [
        f"{change.old_path}\0{change.path}\0{change.new_mode}\0{change.new_blob}"
        for change in changes
    ]
    text = "\n".join(sorted(lines))
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def lease_outside_a_run(purpose: str) -> Lease:
    """Return a lease that no journal grants: it only marks the programs that a person starts.

    Its fence grows with time, so the next check ends what a killed one left behind.
    """
    now_ms = time.time_ns() // 1_000_000
    return Lease(
        lane=f"{purpose}/{process.system()}",
        holder=f"{process.host()}:{os.getpid()}",
        host=process.host(),
        ttl_ms=0,
        region=region([]),
        is_lock=True,
        pid=os.getpid(),
        system=process.system(),
        fence=now_ms,
        boot="",
        granted_ms=now_ms,
        beat_ms=now_ms,
        expires_ms=0,
        version=0,
    )
