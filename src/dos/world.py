"""World: read access to a workspace, its configuration, its journal and its repository."""

from functools import cache, cached_property
from pathlib import Path
from typing import Self

from dos import workspace
from dos.config.load import LoadedConfig, load
from dos.config.schema import Config
from dos.errors import BadInput
from dos.git.repository import Reader
from dos.journal.backends.open import BUSY_SECONDS, embedded_path, open_store, workspaces
from dos.journal.store import Store
from dos.unknown import Unknown
from dos.workspace import Workspace


class World:
    """Everything that can be read of a workspace. Nothing can be changed through it.

    Each part is read at its first use, because most verbs need only some of them.
    """

    def __init__(self, start: Path, *, lenient: bool = False, config: Config | None = None) -> None:
        """Look at the workspace that holds `start`. With a `config`, dos.toml is not read."""
        self.start = start
        self._lenient = lenient
        self._config = config

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    @cached_property
    def workspace(self) -> Workspace:
        """The directories of the workspace."""
        return workspace.find(self.start)

    @cached_property
    def loaded_config(self) -> LoadedConfig:
        """The configuration, with its file and what is wrong with it."""
        if self._config is not None:
            return LoadedConfig(config=self._config, path=None)
        return load(self.workspace.root, lenient=self._lenient)

    @property
    def config(self) -> Config:
        """The configuration alone."""
        return self.loaded_config.config

    @cached_property
    def git(self) -> Reader:
        """Read-only git in the work tree of the caller."""
        return Reader(self.workspace.tree)

    @cached_property
    def journal(self) -> Store:
        """The journal, for reading. Without one it reads as empty, and none is created."""
        url = self.config.store.url
        path = embedded_path(url, self.workspace.state)
        if path and not path.exists():
            url = "memory:"
        return open_journal(self.workspace, url, read_only=True)

    def close(self) -> None:
        """Close the journal, if it was opened."""
        if "journal" in self.__dict__:
            self.journal.close()


def open_journal(
    workspace: Workspace,
    url: str,
    *,
    actor: str = "",
    read_only: bool = False,
    busy_seconds: float = BUSY_SECONDS,
) -> Store:
    """Open the journal of a workspace, creating it unless `read_only`. Raises StoreFailed."""
    name = ""
    if url.startswith("postgres"):
        name = workspace_id(workspace, url)
    return open_store(
        url,
        state_directory=workspace.state,
        workspace_id=name,
        actor=actor,
        read_only=read_only,
        busy_seconds=busy_seconds,
    )


@cache  # walking a long history takes time, and a store is opened again after each failure
def workspace_id(workspace: Workspace, url: str) -> str:
    """Return the name of a repository's journal on a server, which all its clones share.

    It is made of the remote and the first commit. A shallow clone lacks the first commit, and takes
    the one journal that the store holds for its remote. Raises BadInput when that is not certain.
    """
    git = Reader(workspace.tree)
    remote = git.remote()
    root = git.root_commit()
    if not isinstance(root, Unknown):
        return f"{remote}#{root}"
    if not remote:
        raise BadInput(
            f"{workspace.tree} has no name for its journal in PostgreSQL:"
            f" it has no remote, and {root.why}",
            hint="Give it a first commit, or a remote: git remote add origin URL",
        )
    known = workspaces(url, f"{remote}#")
    if len(known) == 1:
        return known[0]
    count = f"{len(known)} journals" if known else "no journal"
    raise BadInput(
        f"{workspace.tree} has no name for its journal in PostgreSQL:"
        f" {root.why}, and the store holds {count} for {remote}",
        hint=f"git -C {workspace.tree} fetch --unshallow; a new repository needs a first commit",
    )
