"""World: read access to a workspace, its configuration, its journal and its repository."""

from functools import cache, cached_property
from pathlib import Path
from typing import Self

import msgspec
from msgspec import structs

from dos import workspace
from dos.config import schema
from dos.config.load import LoadedConfig, Problem, load, read_text
from dos.config.schema import Config
from dos.errors import BadInput, ConfigInvalid
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

    @property
    def missing_config(self) -> str:
        """That there is no dos.toml, and what creates one; empty where there is one."""
        if self._config is not None or self.loaded_config.path is not None:
            return ""
        return f"no dos.toml in {self.workspace.root}; `dos init` creates one"

    def use_store_of_broken_config(self) -> None:
        """Replace the settings of a dos.toml that is not TOML by its [store] and defaults.

        An error in the policy must not keep a worker from releasing its lane, and for that only
        [store] is needed. Settings that could be read are kept. Raises ConfigInvalid when it is not
        certain which store the file names.
        """
        loaded = self.loaded_config
        store = _store_named_in(loaded, self.workspace)
        if store != loaded.config.store:
            self.loaded_config = structs.replace(loaded, config=Config(store=store))

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


def _store_named_in(loaded: LoadedConfig, workspace: Workspace) -> schema.Store:
    """Return [store] of a dos.toml with errors. Raises ConfigInvalid when that is not certain."""
    for problem in loaded.problems:
        if problem.key[:1] == ("store",):
            raise _store_unknown(problem)
    if loaded.text or not loaded.problems:
        return loaded.config.store  # the problems are in other tables, or there is no file
    store = _store_of_broken_text(read_text(workspace.config) or "")
    if store is None:
        raise _store_unknown(loaded.problems[0])
    # A truncated file may have named another store, so the store has to exist.
    journal = embedded_path(store.url, workspace.state)
    if journal is not None and not journal.exists():
        raise _store_unknown(loaded.problems[0])
    return store


def _store_of_broken_text(text: str) -> schema.Store | None:
    """[store] of a text that is not TOML as a whole. None: it has one that cannot be read alone."""
    import re  # only a broken dos.toml needs these
    import tomllib

    # Where the table starts: as a header, as a dotted key, or as an inline table.
    starts = re.findall(r"""^[ \t]*[\[ \t]*["']?store["']?[ \t]*[].=]""", text, re.MULTILINE)
    if not starts:
        return schema.Store()
    header = re.search(r"^[ \t]*\[[ \t]*store[ \t]*\][ \t]*(#.*)?\r?$", text, re.MULTILINE)
    if header is None or len(starts) > 1:
        return None
    body = text[header.end() :]
    next_header = re.search(r"^[ \t]*\[", body, re.MULTILINE)
    if next_header:
        body = body[: next_header.start()]
    try:
        return msgspec.convert(tomllib.loads(body), schema.Store)
    except (ValueError, msgspec.ValidationError):
        return None


def _store_unknown(problem: Problem) -> ConfigInvalid:
    """The error for a problem that hides which store is meant."""
    return ConfigInvalid(str(problem), hint=problem.hint or "`dos lint` shows what is wrong.")
