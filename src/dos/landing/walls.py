"""The walls of a lane's programs: of its agent, of its checks, and of the git inside it."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import structs

import dos
from dos.agents.homes import programs
from dos.agents.io import candidates, environment
from dos.agents.io.candidates import ConfiguredAgent
from dos.agents.io.home import PrivateHome
from dos.config.schema import Config
from dos.git.files import object_folders, submodule_objects
from dos.lease import Lease
from dos.sandbox import build, describe
from dos.sandbox.io.probe import probe
from dos.sandbox.io.programs import command_folders, program_folders
from dos.sandbox.walls import Walls
from dos.workspace import Workspace

NOT_WALLED = "none"  # what receipts say where [sandbox] is off


class LaneWalls:
    """Makes the walls that `[sandbox]` asks for; every answer is None where it is off."""

    def __init__(self, workspace: Workspace, config: Config) -> None:
        self._workspace = workspace
        self._config = config
        self._settings = config.sandbox

    @property
    def description(self) -> str:
        """What is active around the programs of this host, for receipts and the check cache."""
        if not self._settings.is_on:
            return NOT_WALLED
        return describe.describe_system(self._settings, probe())

    def for_agent(
        self,
        tree: Path,
        lease: Lease,
        home: PrivateHome,
        agent: ConfiguredAgent,
    ) -> Walls | None:
        """Return the walls of an agent. What a program of the user's needs to read is not known."""
        if not self._settings.is_on:
            return None
        command = agent.settings.command or (agent.adapter.program,)
        folders = self._folders(tree, lease, home, agent.agent.environment)
        folders = structs.replace(
            folders, programs=(*folders.programs, *command_folders(command, Path.home()))
        )
        return self._build(folders, home, is_known=agent.adapter.name in programs.KNOWN)

    def for_command(
        self, tree: Path, lease: Lease, home: PrivateHome, preserved: Sequence[str] = ()
    ) -> Walls | None:
        """Return the walls of a check or a setup: the code under test is as good as its agent."""
        if not self._settings.is_on:
            return None
        names = self._config.agent_names(lease.lane)
        agents = [candidates.configured_agent(self._config, name) for name in names]
        is_known = bool(agents) and all(agent.adapter.name in programs.KNOWN for agent in agents)
        folders = self._folders(tree, lease, home, home.variables)
        objects = (*folders.objects, *self._objects_of_submodules(tree))
        folders = structs.replace(folders, preserved=tuple(preserved), objects=objects)
        return self._build(folders, home, is_known=is_known)

    def for_git(self, folder: Path, home: Path) -> Walls | None:
        """Return the walls of git inside a lane's repository, which runs the agent's filters.

        What git reads is known whatever the agent is. Of servers it needs those of submodules.
        Walls of dos, also where agents are started by a program of the user's: in that one the
        Python of dos may not exist.
        """
        if not self._settings.is_on:
            return None
        folders = build.Folders(
            lane=str(folder),
            tmp=str(home),
            home=str(home),
            user_home=str(Path.home()),
            programs=self._programs({}),
            readable=(),
            objects=(*self._objects(), *self._modules()),
            hidden=self._hidden,
            serves=False,
            connect=_ports_of_addresses(os.environ),
        )
        settings = structs.replace(self._settings, reads="listed")
        if settings.program and probe().has_files:
            settings = structs.replace(settings, program=(), level="auto")
        return build.build(settings, probe(), folders)

    def _build(self, folders: build.Folders, home: PrivateHome, *, is_known: bool) -> Walls | None:
        """Build walls; where the program `is_known`, what it reads can be listed."""
        if is_known:
            logins = tuple(str(path) for path in home.logins)
            folders = structs.replace(folders, readable=logins)
        return build.build(self._settings, probe(), folders)

    def _folders(
        self, tree: Path, lease: Lease, home: PrivateHome, variables: Mapping[str, str]
    ) -> build.Folders:
        """Return the folders and ports of a program with these variables."""
        workers = self._config.workers
        return build.Folders(
            lane=str(tree),
            tmp=str(home.temporary),
            home=str(home.folder),
            user_home=str(Path.home()),
            writable=(str(home.cache), *self._shared_repository(tree)),
            programs=self._programs(home.variables),
            objects=self._objects(),
            hidden=self._hidden,
            ports=environment.port_block(
                self._config.roster(),
                lease.lane,
                workers.port_base,
                workers.ports,
                part=lease.part_number if lease.part_of else None,
            ),
            connect=_ports_of_addresses({**os.environ, **variables}),
            closed=_ports([self._config.store.url]),  # of the journal
        )

    @property
    def _hidden(self) -> tuple[str, ...]:
        """The state of dos, and what other lanes have: the folder around all of it."""
        return (str(self._workspace.state), str(self._workspace.worktrees.parent))

    def _shared_repository(self, tree: Path) -> tuple[str, ...]:
        """Return git's directory where all lanes work in the user's checkout."""
        common = self._workspace.common
        if common and tree == self._workspace.tree:
            return (str(common),)
        return ()

    def _programs(self, variables: Mapping[str, str]) -> tuple[str, ...]:
        """Return the folders of programs, and of the Python and the package that dos runs with.

        The variables are those of a home: they name toolchains where their installers put them.
        """
        # The folder around the package: Python looks through it for the package's name.
        own = (sys.prefix, sys.base_prefix, str(Path(dos.__file__).parents[1]))
        return (*program_folders({**variables, **os.environ}, Path.home()), *own)

    def _objects(self) -> tuple[str, ...]:
        """Return what a lane's repository reads of the user's: objects, and no settings.

        Large files (LFS) are kept beside the objects; git-lfs finds them by the alternates.
        """
        common = self._workspace.common
        if common is None:
            return ()
        objects = object_folders(common)
        return tuple(map(str, (*objects, *(folder.parent / "lfs" for folder in objects))))

    def _objects_of_submodules(self, tree: Path) -> tuple[str, ...]:
        """Return the objects of the submodules of a check tree, which are beside it."""
        if not tree.is_relative_to(self._workspace.worktrees.with_name("checks")):
            return ()
        return tuple(map(str, submodule_objects(tree.parent / "git" / "modules")))

    def _modules(self) -> tuple[str, ...]:
        """Return the repositories of the user's submodules, from which those of a lane are made."""
        common = self._workspace.common
        return (str(common / "modules"),) if common else ()


def _ports_of_addresses(variables: Mapping[str, str]) -> tuple[int, ...]:
    """Return the ports in addresses that variables hold: of a proxy, or of a provider."""
    return _ports(
        value for value in variables.values() if value.startswith(("http://", "https://"))
    )


def _ports(urls: Iterable[str]) -> tuple[int, ...]:
    """Return the ports that addresses name."""
    ports = set()
    for url in urls:
        try:
            port = urlsplit(url).port
        except ValueError:
            continue
        if port:
            ports.add(port)
    return tuple(sorted(ports))
