"""What can be read: the workspace, its configuration, its journal, git. A World cannot change anything."""

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
    def __init__(self, start: Path, *, lenient: bool = False, config: Config | None = None) -> None:
        """With a `config`, that counts, and nobody reads dos.toml."""
        self.start = start
        self._lenient = lenient
        self._config = config

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    @cached_property
    def workspace(self) -> Workspace:
        return workspace.find(self.start)

    @cached_property
    def loaded_config(self) -> LoadedConfig:
        if self._config is not None:
            return LoadedConfig(config=self._config, path=None)
        return load(self.workspace.root, lenient=self._lenient)

    @property
    def config(self) -> Config:
        return self.loaded_config.config

    @cached_property
    def git(self) -> Reader:
        return Reader(self.workspace.tree)

    @cached_property
    def journal(self) -> Store:
        """The journal, for reading: a workspace without one reads as empty, and none is made."""
        url = self.config.store.url
        path = embedded_path(url, self.workspace.state)
        if path and not path.exists():
            url = "memory:"
        return open_journal(self.workspace, url, read_only=True)

    def close(self) -> None:
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
    return open_store(
        url,
        state_directory=workspace.state,
        workspace_id=workspace_id(workspace, url) if url.startswith("postgres") else "",
        actor=actor,
        read_only=read_only,
        busy_seconds=busy_seconds,
    )


@cache  # a long history takes a while to walk, and a store is opened anew after each failure
def workspace_id(workspace: Workspace, url: str) -> str:
    """What every clone of one repository shares: its remote and its first commit.

    A shallow clone does not have the first commit: it goes by the one journal that the store holds for its remote.
    """
    git = Reader(workspace.tree)
    remote, root = git.remote(), git.root_commit()
    if not isinstance(root, Unknown):
        return f"{remote}#{root}"
    if not remote:
        raise BadInput(
            f"{workspace.tree} has no name for its journal in PostgreSQL: it has no remote, and {root.why}",
            hint="Give it a first commit, or a remote: git remote add origin URL",
        )
    known = workspaces(url, f"{remote}#")
    if len(known) == 1:
        return known[0]
    found = f"the store holds {len(known)} journals" if known else "the store holds no journal"
    raise BadInput(
        f"{workspace.tree} has no name for its journal in PostgreSQL: {root.why}, and {found} for {remote}",
        hint=f"git -C {workspace.tree} fetch --unshallow; a new repository needs a first commit",
    )
