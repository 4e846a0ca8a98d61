"""The last checks before a landing: the tests on the commit to land, and the receipt of them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from dos.fleet import effects
from dos.git.repository import Writer
from dos.journal.events.limits import BaselineChecked
from dos.landing import measure
from dos.landing.checks import Checks
from dos.landing.commit_checks import BaseResult, CommitChecks
from dos.landing.guard.tests_guard import TestsGuard
from dos.lease import Lease
from dos.receipts.io import draft
from dos.receipts.io.acceptance import joined_script
from dos.receipts.receipt import CommandRun
from dos.units.unit import Landing, Unit
from dos.verify import red_before, shipped
from dos.verify.policy import Policy
from dos.workspace import Workspace

# The effects that judge the commits of a unit.
UnitEffect = effects.MeasureWork | effects.PrepareLanding
# Takes a commit, its branch and a lease; how the tests fail there without any agent's work.
FindBaselineFault = Callable[[str, str, Lease], BaselineChecked | None]


class LandingGate:
    """Runs what a commit has to pass before the branch moves to it."""

    def __init__(
        self,
        git: Writer,
        checks: Checks,
        commit_checks: CommitChecks,
        *,
        policy: red_before.Policy,
        workspace: Workspace,
        raise_if_halted: Callable[[Lease], None],
        find_baseline_fault: FindBaselineFault,
    ) -> None:
        self._git = git
        self._checks = checks
        self._commit_checks = commit_checks
        self._tests_guard = TestsGuard(git)
        self._policy = policy
        self._workspace = workspace
        self._raise_if_halted = raise_if_halted
        self._find_baseline_fault = find_baseline_fault

    def judge(
        self,
        effect: effects.PrepareLanding,
        ready: Landing,
        commits: Sequence[str],
        why_not_shipped: Callable[[str, str], str],
    ) -> Landing | effects.NotLanded:
        """Check the commit to land, also against the tests of its base; `commits` are the unit's.

        The landing that is returned has its drafted receipt.
        """
        weakened = self._tests_guard.refusal(effect, ready, commits)
        if weakened:
            return weakened
        checked = self.check(effect, ready, why_not_shipped)
        if isinstance(checked, effects.NotLanded):
            return checked
        commands = self._checks.landing_commands(effect.unit, rerun_acceptance=True)
        command = joined_script(list(commands))
        run = partial(
            self._commit_checks.run_with_files,
            commit=ready.commit,
            command=command,
            lease=effect.lease,
            base=ready.base,
        )
        refused = self._tests_guard.base_refusal(effect, ready, command, run)
        self._raise_if_halted(effect.lease)
        return refused or checked

    def check(
        self,
        effect: effects.PrepareLanding,
        ready: Landing,
        why_not_shipped: Callable[[str, str], str],
    ) -> Landing | effects.NotLanded:
        """Run the tests on the commit to land, and return the landing with its drafted receipt.

        After a rebase the acceptance command runs as well, and git has to show the unit again. The
        acceptance command also runs on the commit below, unless that result is known.
        """
        was_rebased = ready.base != effect.worktree.base
        # A landing that a person accepted brings no result of the acceptance command.
        reruns = was_rebased or effect.tests_accepted
        runs = []
        if effect.acceptance_run and not was_rebased:
            runs.append(effect.acceptance_run)
        for command in self._checks.landing_commands(effect.unit, rerun_acceptance=reruns):
            result = self._commit_checks.run(ready.commit, command, effect.lease, base=ready.base)
            if result.passed is False:
                return self._tests_failed(effect, ready, result.detail)
            if result.run:
                runs.append(result.run)
        if was_rebased:
            reason = why_not_shipped(ready.base, ready.commit)
            if reason:
                return effects.NotLanded(
                    reason=f"on top of {ready.branch!r} git does not show it: {reason}"
                )
        after = runs[0] if runs else None
        before = self.result_before(effect, base=ready.base, head=ready.commit, after=after)
        refusal = self.why_not_told_apart(effect, before, base=ready.base, head=ready.commit)
        if refusal:
            return effects.NotLanded(reason=refusal)
        self._raise_if_halted(effect.lease)  # the last moment to stop a landing
        return structs.replace(ready, receipt=self._draft(effect, ready, runs, before))

    def result_before(
        self, effect: UnitEffect, *, base: str, head: str, after: CommandRun | None
    ) -> BaseResult | None:
        """Return what the unit's acceptance command says on the commit below the work.

        If it fails there, it also runs there with the tests of the work: tests that pass without
        the rest of the work tell nothing about it. None where nothing is to be told apart: without
        a command, and for a replan.
        """
        if effect.is_replan:
            return None
        command = self._checks.acceptance(effect.unit)
        before = self._commit_checks.run_on_base(base, command, effect.lease, after=after)
        if before is None or before.is_green:
            return before
        own = self._tests_guard.own_judges(effect.unit, base, head, command)
        if not own:
            return before
        return self._commit_checks.with_own_tests(
            before, command, effect.lease, own, head=head, after=after
        )

    def why_not_told_apart(
        self, effect: UnitEffect, before: BaseResult | None, *, base: str, head: str
    ) -> str:
        """Return why `[landing] require_red` or `[verify] require` refuses the work; else "".

        `before` is the result of `result_before`. A replan has nothing to show.
        """
        if effect.is_replan:
            return ""
        unreachable = shipped.why_unreachable(
            self._required(base, head),
            has_acceptance=before is not None,
            passes_without_work=before is not None and before.is_green,
            needs_only_tests=before is not None and before.needs_only_tests,
        )
        if unreachable:
            return unreachable
        if not self._policy.require_red or before is None or not before.is_green:
            return ""
        command = self._checks.acceptance(effect.unit)
        return red_before.refusal(command, needs_only_tests=before.needs_only_tests)

    def _required(self, base: str, head: str) -> Policy:
        return measure.required_policy(self._workspace, base=base, head=head)

    def _draft(
        self,
        effect: effects.PrepareLanding,
        ready: Landing,
        runs: Sequence[CommandRun],
        before: BaseResult | None,
    ) -> dict[str, Any] | None:
        return draft.draft_receipt(
            self._git,
            ready,
            lane=effect.lease.region,
            region_root=self._workspace.prefix,
            runs=runs,
            declared=self._checks.declared_commands(effect.unit),
            circumstances=self._circumstances(effect, ready, before),
        )

    def _circumstances(
        self, effect: effects.PrepareLanding, ready: Landing, before: BaseResult | None
    ) -> draft.Circumstances:
        """Return what the receipt says besides the result."""
        known = draft.Circumstances(
            setup_digest=self._commit_checks.trees.digest(ready.commit),
            sandbox=self._checks.sandbox,
        )
        made_by = effect.provenance
        if made_by:
            known = structs.replace(
                known, agent=made_by.agent, model=made_by.model, agent_version=made_by.version
            )
        if before is None:
            return known
        tests = red_before.PriorTests()
        if not before.is_green:
            tests = self._prior_tests(effect.unit, ready)
        return structs.replace(
            known,
            base_tree=before.tree,
            base_run=before.result.run,
            tells_apart=not before.is_green,
            prior_tests=tests.are_unchanged,
            red_tests=tests.named,
        )

    def _prior_tests(self, unit: Unit, ready: Landing) -> red_before.PriorTests:
        command = self._checks.acceptance(unit)
        judging = self._tests_guard.judging_files(unit, ready.base, ready.commit, command)
        inline = [path for path, _ in judging.inline]
        return red_before.prior_tests(
            command,
            self._git.paths_of(ready.base),
            self._git.paths_between(ready.base, ready.commit),
            judging=(*judging.own_paths, *inline),
        )

    def _tests_failed(
        self, effect: effects.PrepareLanding, ready: Landing, detail: str
    ) -> effects.NotLanded:
        """Refuse the landing, and tell apart work that is red from a branch that was red before."""
        reason = f"the tests fail on top of {ready.branch!r}: {detail}"
        fault = self._find_baseline_fault(ready.base, effect.worktree.target, effect.lease)
        if fault is None:
            return effects.NotLanded(reason=reason)
        return effects.NotLanded(
            reason=f"{reason}; they fail on it without this work too",
            baseline_failure=fault,
            landing=ready,
        )
