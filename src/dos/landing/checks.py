"""The commands that judge work: a unit's acceptance, the workspace's tests, the setup of a new tree."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from dos.agents.io import environment as ports
from dos.agents.io import environment as surroundings
from dos.agents.io import orphans
from dos.agents.io.halt_listener import HaltListener
from dos.config.schema import Config
from dos.git.log import AGENT_ACTION
from dos.lease import Lease
from dos.receipts.io import draft
from dos.receipts.io.acceptance import AcceptanceResult, run_acceptance
from dos.receipts.receipt import Source
from dos.units.unit import Unit
from dos.workspace import Workspace


class Checks:
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
        """What is handed on of the user's, and what names this lease."""
        kept = surroundings.inherited_environment(os.environ, self._config)
        offered = ports.port_block(
            self._lanes, lease.lane, self._workers.port_base, self._workers.ports
        )
        marks = orphans.mark_variables(str(self._workspace.root), lease, self._lease_key)
        return kept | marks | ports.port_variables(offered)

    def agent_environment(self, lease: Lease, run_id: str, unit: str) -> dict[str, str]:
        """The same for an agent, with who commits and what it is at.

        Every git command of the agent writes its reflog action down, so what it does outside of its worktree shows.
        """
        own = {
            "DOS_RUN_ID": run_id,
            "DOS_UNIT": unit,
            "GIT_REFLOG_ACTION": f"{AGENT_ACTION}{run_id}",
        }
        return self.environment(lease) | self._identity | own

    @cached_property
    def _identity(self) -> dict[str, str]:
        return surroundings.git_identity(os.environ, self._workspace.root)

    def run(
        self, tree: Path, command: str, lease: Lease, seconds: float | None = None
    ) -> AcceptanceResult:
        """Raises Halted when a person stops the run meanwhile."""
        if not command:
            return AcceptanceResult()
        limit = self._workers.wall_seconds if seconds is None else seconds
        with self._listen(lease.run_id) as listener:
            answer = run_acceptance(
                tree, command, self.environment(lease), limit, listener.must_stop
            )
        orphans.end_processes(str(self._workspace.root), lease)
        listener.raise_if_halted()
        return answer

    def run_outside_a_run(
        self, tree: Path, command: str, lease: Lease, seconds: float, stopped: Callable[[], bool]
    ) -> AcceptanceResult:
        """For no run: nobody can halt it but whoever says `stopped`."""
        try:
            return run_acceptance(tree, command, self.environment(lease), seconds, stopped)
        finally:  # also when we are interrupted
            orphans.end_processes(str(self._workspace.root), lease)

    def acceptance(self, unit: Unit) -> str:
        return unit.acceptance or self._workers.acceptance

    def landing_command(self, unit: Unit, *, rerun_acceptance: bool) -> str:
        """The workspace's tests always; the unit's acceptance again only when its base has changed."""
        commands = [self.acceptance(unit) if rerun_acceptance else "", self._workers.test]
        return draft.joined_script([command for command in commands if command])

    def declared_commands(self, unit: Unit) -> draft.DeclaredCommands:
        scripts = tuple(filter(None, (self.acceptance(unit), self._workers.test)))
        by_unit = Source.BOTH if self._workers.test else Source.UNIT
        return draft.DeclaredCommands(
            scripts=scripts, source=by_unit if unit.acceptance else Source.WORKSPACE
        )
