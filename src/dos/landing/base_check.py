"""Runs an acceptance command on the commit below some work for a person, outside of any run."""

from functools import partial

from dos.agents.io.halt_listener import HaltListener
from dos.git.repository import Writer
from dos.landing.checks import Checks
from dos.landing.commit_checks import BaseResult, CommitChecks, lease_outside_a_run
from dos.landing.guard.tests_guard import TestsGuard
from dos.landing.trees.check_cache import CheckCache
from dos.landing.trees.check_tree import CheckTree, RunCommand
from dos.lease import Lease
from dos.machine import execute
from dos.receipts.io.acceptance import AcceptanceResult
from dos.units.unit import Unit
from dos.world import World


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


def result_before(
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
