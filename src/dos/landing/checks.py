"""Runs the commands that judge work: a unit's acceptance, the workspace's tests, the setup."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from dos.agents.io import environment, orphans
from dos.agents.io.halt_listener import HaltListener
from dos.config.schema import Config
from dos.git.log import AGENT_ACTION
from dos.lease import Lease
from dos.receipts.io.acceptance import (
    AcceptanceResult,
    DeclaredCommands,
    joined_script,
    run_acceptance,
)
from dos.receipts.receipt import Source
from dos.units.unit import Unit
from dos.workspace import Workspace


class Checks:
    """Runs commands on behalf of a lease, with its environment, until they end or are halted."""

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        *,
        listen: Callable[[str], HaltListener],
        lease_key: str,
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._workers = config.workers
        self._lanes = config.roster()
        self._listen = listen
        self._lease_key = lease_key

    def environment(self, lease: Lease) -> dict[str, str]:
        """Return the variables of a command: the user's, the lane's ports and the lease's marks."""
        passed_on = environment.inherited_environment(os.environ, self._config)
        marks = orphans.mark_variables(str(self._workspace.root), lease, self._lease_key)
        ports = environment.port_block(
            self._lanes, lease.lane, self._workers.port_base, self._workers.ports
        )
        return passed_on | marks | environment.port_variables(ports)

    def agent_environment(self, lease: Lease, run_id: str, unit: str) -> dict[str, str]:
        """Return the variables of an agent: those of a command, its identity, run and unit.

        Git writes the reflog action of every command of the agent down, so that what it does
        outside its worktree is visible.
        """
        own = {
            "DOS_RUN_ID": run_id,
            "DOS_UNIT": unit,
            "GIT_REFLOG_ACTION": f"{AGENT_ACTION}{run_id}",
        }
        return self.environment(lease) | self._identity | own

    @cached_property
    def _identity(self) -> dict[str, str]:
        return environment.git_identity(os.environ, self._workspace.root)

    def run(
        self, tree: Path, command: str, lease: Lease, seconds: float | None = None
    ) -> AcceptanceResult:
        """Run a command and end whatever it leaves behind; no command is no result.

        The default time limit is `[workers] wall_seconds`. Raises Halted when a person stops the
        run meanwhile.
        """
        if not command:
            return AcceptanceResult()
        limit = self._workers.wall_seconds if seconds is None else seconds
        with self._listen(lease.run_id) as listener:
            result = run_acceptance(
                tree, command, self.environment(lease), limit, listener.must_stop
            )
        orphans.end_processes(str(self._workspace.root), lease)
        listener.raise_if_halted()
        return result

    def run_outside_a_run(
        self, tree: Path, command: str, lease: Lease, seconds: float, stopped: Callable[[], bool]
    ) -> AcceptanceResult:
        """Run a command that belongs to no run, so that only `stopped` can end it early."""
        try:
            return run_acceptance(tree, command, self.environment(lease), seconds, stopped)
        finally:  # also when this process is interrupted
            orphans.end_processes(str(self._workspace.root), lease)

    def acceptance(self, unit: Unit) -> str:
        """Return the acceptance command of a unit: its own, else the workspace's."""
        return unit.acceptance or self._workers.acceptance

    def landing_command(self, unit: Unit, *, rerun_acceptance: bool) -> str:
        """Return the script to pass before a landing: the tests, after a rebase acceptance too."""
        commands = [self._workers.test]
        if rerun_acceptance:
            commands.insert(0, self.acceptance(unit))
        return joined_script(list(filter(None, commands)))

    def declared_commands(self, unit: Unit) -> DeclaredCommands:
        """Return the commands that a landing of the unit has to pass, and who declared them."""
        scripts = tuple(filter(None, (self.acceptance(unit), self._workers.test)))
        source = Source.WORKSPACE
        if unit.acceptance:
            source = Source.BOTH if self._workers.test else Source.UNIT
        return DeclaredCommands(scripts=scripts, source=source)
