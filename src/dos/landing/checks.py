"""Runs the commands that judge work: a unit's acceptance, the workspace's tests, the setup."""

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path

from msgspec import structs

from dos import globs
from dos.agents.io import environment, orphans
from dos.agents.io.candidates import ConfiguredAgent
from dos.agents.io.halt_listener import HaltListener
from dos.agents.io.home import Homes, PrivateHome
from dos.config.schema import Config
from dos.fleet.effects import RunAgent
from dos.git.log import AGENT_ACTION
from dos.landing.walls import LaneWalls
from dos.lease import REGION_VARIABLE, TREE_VARIABLE, Lease
from dos.receipts.io.acceptance import (
    AcceptanceResult,
    DeclaredCommands,
    run_acceptance,
)
from dos.receipts.receipt import Source
from dos.sandbox import refusals
from dos.sandbox.walls import Walls
from dos.text import join_some
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
        self._walls = LaneWalls(workspace, config)

    @cached_property
    def sandbox(self) -> str:
        """What keeps the commands from the rest of the system, for receipts."""
        return self._walls.description

    def listed_environment(self) -> dict[str, str]:
        """Return what every command gets of the user's environment, whatever its home and lane."""
        inherited = environment.inherited_environment(os.environ, self._config)
        untrusted = [self._workspace.homes, self._workspace.worktrees]
        if "PATH" in inherited:
            inherited["PATH"] = environment.trusted_path(inherited["PATH"], untrusted)
        return inherited

    def environment(self, lease: Lease, home: PrivateHome) -> dict[str, str]:
        """Return the variables of a command: those that are listed, its home, the lease's marks."""
        return self.listed_environment() | home.variables | self._lane_variables(lease)

    def git_environment(self, lease: Lease) -> dict[str, str]:
        """Return the variables of git in a lane's repository: those of a command, no secret."""
        own = self._homes.for_git(lease.lane)
        return self.listed_environment() | own | self._lane_variables(lease)

    def agent_environment(
        self, effect: RunAgent, agent: ConfiguredAgent, home: PrivateHome
    ) -> dict[str, str]:
        """Return the variables of an agent: those that are listed, its own keys, its run and unit.

        Git writes the reflog action of every command of the agent down, so that what it does
        outside its worktree is visible.
        """
        inherited = environment.agent_variables(os.environ, self._config, agent.adapter.name, home)
        marks = {
            "DOS_RUN_ID": effect.run_id,
            "DOS_UNIT": effect.unit.name,
            TREE_VARIABLE: effect.worktree.path,
            REGION_VARIABLE: json.dumps(self.region_globs(effect.lease)),
            "GIT_REFLOG_ACTION": f"{AGENT_ACTION}{effect.run_id}",
        }
        return inherited | self._identity | self._lane_variables(effect.lease) | marks

    def region_globs(self, lease: Lease) -> list[str]:
        """Return the globs of a lane from the top of the work tree on."""
        folder = globs.escape_folder(self._workspace.prefix)
        return [f"{folder}{glob}" for glob in lease.region.globs]

    def agent_walls(
        self, effect: RunAgent, agent: ConfiguredAgent, home: PrivateHome
    ) -> Walls | None:
        """Return what an agent may touch; None: whatever its user can."""
        tree = Path(effect.worktree.path)
        return self._walls.for_agent(tree, effect.lease, home, agent)

    def git_walls(self, folder: Path, lease: Lease) -> Walls | None:
        """Return what git inside a lane's repository may touch; None: whatever its user can."""
        return self._walls.for_git(folder, self._homes.git_folder(lease.lane))

    def agent_home(
        self, lease: Lease, agent: ConfiguredAgent
    ) -> AbstractContextManager[PrivateHome]:
        """Return the private home of an agent, which is made when the block is entered."""
        return self._homes.for_agent(
            lease.lane, agent.adapter.name, agent.adapter.vendor, agent.agent.environment
        )

    def remove_abandoned(self) -> None:
        """Remove the temporary folders that agents and checks of killed workers left."""
        self._homes.remove_abandoned()

    def _lane_variables(self, lease: Lease) -> dict[str, str]:
        marks = orphans.mark_variables(str(self._workspace.root), lease, self._lease_key)
        ports = environment.port_block(
            self._lanes,
            lease.lane,
            self._workers.port_base,
            self._workers.ports,
            part=lease.part_number if lease.part_of else None,
        )
        return marks | environment.port_variables(ports)

    @cached_property
    def _homes(self) -> Homes:
        return Homes(
            self._workspace.homes,
            os.environ,
            git_keys=self._workers.git_config,
            files=self._workers.home_files,
        )

    @cached_property
    def _identity(self) -> dict[str, str]:
        return environment.git_identity(os.environ, self._workspace.root)

    def run(
        self,
        tree: Path,
        command: str,
        lease: Lease,
        seconds: float | None = None,
        *,
        preserved: Sequence[str] = (),
    ) -> AcceptanceResult:
        """Run a command and end whatever it leaves behind; no command is no result.

        The default time limit is `[workers] wall_seconds`. What is preserved is afterwards as it
        was before, where walls can do that. Raises Halted when a person stops the run meanwhile.
        """
        if not command:
            return AcceptanceResult()
        limit = self._workers.wall_seconds if seconds is None else seconds
        with self._listen(lease.run_id) as listener:
            result = self._run(tree, command, lease, limit, listener.must_stop, preserved)
        listener.raise_if_halted()
        return result

    @property
    def time_limit(self) -> float:
        """The seconds that a command may take."""
        return self._workers.wall_seconds

    def run_outside_a_run(
        self,
        tree: Path,
        command: str,
        lease: Lease,
        seconds: float,
        stopped: Callable[[], bool],
        *,
        preserved: Sequence[str] = (),
    ) -> AcceptanceResult:
        """Run a command that belongs to no run, so that only `stopped` can end it early."""
        return self._run(tree, command, lease, seconds, stopped, preserved)

    def _run(
        self,
        tree: Path,
        command: str,
        lease: Lease,
        seconds: float,
        stopped: Callable[[], bool],
        preserved: Sequence[str],
    ) -> AcceptanceResult:
        """Run a command in a new home, and end whatever it leaves behind."""
        with self._home(tree, lease) as home:
            variables = self.environment(lease, home)
            walls = self._walls.for_command(tree, lease, home, preserved)
            try:
                result = run_acceptance(
                    tree,
                    command,
                    variables,
                    seconds,
                    stopped,
                    walls=walls,
                )
            finally:  # also when this process is interrupted
                orphans.end_processes(str(self._workspace.root), lease)
        if result.passed is False:
            detail = refusals.name_refusal(result.detail, result.output, walls)
            result = structs.replace(result, detail=detail)
            return _name_withheld(result, environment.withheld_names(os.environ, variables))
        return result

    def _home(self, tree: Path, lease: Lease) -> AbstractContextManager[PrivateHome]:
        """Return the home of a command, by the tree that it runs in.

        In the lane's own repository that is the setup, for the agents. A check tree has caches of
        its own, which go with it.
        """
        if tree.is_relative_to(self._workspace.worktrees):
            return self._homes.for_setup(lease.lane)
        place = None
        if tree.is_relative_to(self._workspace.worktrees.with_name("checks")):
            place = tree.parent
        return self._homes.for_check(lease.lane, place)

    def acceptance(self, unit: Unit) -> str:
        """Return the acceptance command of a unit: its own, else the workspace's."""
        return unit.acceptance or self._workers.acceptance

    def landing_commands(self, unit: Unit, *, rerun_acceptance: bool) -> list[str]:
        """Return the scripts to pass before a landing: the tests, after a rebase acceptance too."""
        commands = [self._workers.test]
        if rerun_acceptance:
            commands.insert(0, self.acceptance(unit))
        return list(filter(None, commands))

    def declared_commands(self, unit: Unit) -> DeclaredCommands:
        """Return the commands that a landing of the unit has to pass, and who declared them."""
        scripts = tuple(filter(None, (self.acceptance(unit), self._workers.test)))
        source = Source.WORKSPACE
        if unit.acceptance:
            source = Source.BOTH if self._workers.test else Source.UNIT
        return DeclaredCommands(scripts=scripts, source=source)


_LEAST_NAME = 4  # shorter names are words of any output


def _name_withheld(result: AcceptanceResult, withheld: list[str]) -> AcceptanceResult:
    """Say of a failed command which of the variables that it names were not passed on to it."""
    run = result.run
    text = "\n".join(result.output)
    if run is not None:
        text += f"\n{run.script}"
    words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
    named = [name for name in withheld if name in words and len(name) >= _LEAST_NAME]
    if not named:
        return result
    why = f"not passed on by [workers] pass_environment: {join_some(named)}"
    return structs.replace(result, detail=f"{result.detail}; {why}")
