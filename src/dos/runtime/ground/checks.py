"""The commands that judge work: a unit's acceptance, the workspace's tests, the setup of a new tree."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from dos.config.tables import Config
from dos.records.leases import Lease
from dos.records.receipts import Source
from dos.records.units import Unit
from dos.runtime import leftovers, measuring
from dos.runtime.ground import surroundings
from dos.runtime.ground.halt_listener import HaltListener
from dos.runtime.receipts import landings
from dos.runtime.trees import ports
from dos.sources.history import reflogs
from dos.sources.workspace import Workspace


class Checks:
    def __init__(
        self,
        place: Workspace,
        config: Config,
        *,
        listen: Callable[[str], HaltListener],
        lease_key: str,
    ) -> None:
        self._place = place
        self._config = config
        self._workers = config.workers
        self._lanes = config.roster()
        self._listen = listen
        self._lease_key = lease_key

    def environment(self, lease: Lease) -> dict[str, str]:
        """What is handed on of the user's, and what names this lease."""
        kept = surroundings.handed_on(os.environ, self._config)
        offered = ports.block(self._lanes, lease.lane, self._workers.port_base, self._workers.ports)
        marks = leftovers.marks(str(self._place.root), lease, self._lease_key)
        return kept | marks | ports.environment(offered)

    def agent_environment(self, lease: Lease, run_id: str, unit: str) -> dict[str, str]:
        """The same for an agent, with who commits and what it is at.

        Every git command of the agent writes its reflog action down, so what it does outside of its worktree shows.
        """
        own = {"DOS_RUN_ID": run_id, "DOS_UNIT": unit, "GIT_REFLOG_ACTION": f"{reflogs.AGENT_ACTION}{run_id}"}
        return self.environment(lease) | self._identity | own

    @cached_property
    def _identity(self) -> dict[str, str]:
        return surroundings.identity(os.environ, self._place.root)

    def run(self, tree: Path, command: str, lease: Lease, seconds: float | None = None) -> measuring.Accepted:
        """Raises Halted when a person stops the run meanwhile."""
        if not command:
            return measuring.Accepted()
        limit = self._workers.wall_seconds if seconds is None else seconds
        with self._listen(lease.run_id) as listener:
            answer = measuring.accept(tree, command, self.environment(lease), limit, listener.must_stop)
        leftovers.end(str(self._place.root), lease)
        listener.raise_if_halted()
        return answer

    def run_apart(
        self, tree: Path, command: str, lease: Lease, seconds: float, stopped: Callable[[], bool]
    ) -> measuring.Accepted:
        """For no run: nobody can halt it but whoever says `stopped`."""
        try:
            return measuring.accept(tree, command, self.environment(lease), seconds, stopped)
        finally:  # also when we are interrupted
            leftovers.end(str(self._place.root), lease)

    def acceptance(self, unit: Unit) -> str:
        return unit.acceptance or self._workers.acceptance

    def gate(self, unit: Unit, *, again: bool) -> str:
        """The workspace's tests always; the unit's acceptance again only when its base has changed."""
        commands = [self.acceptance(unit) if again else "", self._workers.test]
        return landings.together([command for command in commands if command])

    def declared(self, unit: Unit) -> landings.Declared:
        scripts = tuple(filter(None, (self.acceptance(unit), self._workers.test)))
        by_unit = Source.BOTH if self._workers.test else Source.UNIT
        return landings.Declared(scripts=scripts, source=by_unit if unit.acceptance else Source.WORKSPACE)
