"""Opens the store that a URL names: SQLite in the state directory, PostgreSQL, or memory.

Each backend is imported when it is chosen: a verb on an embedded journal loads no database driver.
"""

import os
import sys
from pathlib import Path

from dos.errors import BadInput, StoreUnreachable
from dos.journal.backend import Backend
from dos.journal.store import Store
from dos.machine.filesystem import network_type_in_mounts
from dos.times import Clock

BUSY_SECONDS = 30.0  # how long a process that runs a fleet waits for the write lock


def open_store(
    url: str,
    *,
    state_directory: Path,
    workspace_id: str,
    actor: str = "",
    read_only: bool = False,
    clock: Clock | None = None,
    busy_seconds: float = BUSY_SECONDS,
) -> Store:
    """Open the store of a URL; without one, the SQLite file in the state directory.

    PostgreSQL uses its own clock, whatever is given here. Raises BadInput for an unknown kind of
    URL, and a StoreFailed when the store cannot be opened.
    """
    scheme, colon, rest = url.partition(":")
    backend: Backend
    match scheme + colon:
        case "memory:" if not rest:
            from dos.journal.backends.memory import MemoryBackend

            backend = MemoryBackend(clock=clock)
        case "postgresql:" | "postgres:" if rest.startswith("//"):
            from dos.journal.backends.postgres import PostgresBackend

            backend = PostgresBackend(
                url, workspace=workspace_id, read_only=read_only, busy_seconds=busy_seconds
            )
        case "" | "sqlite:" if path := embedded_path(url, state_directory):
            backend = _embedded(path, clock, read_only=read_only, busy_seconds=busy_seconds)
        case _:
            raise BadInput(
                f"the store URL starts with {scheme[:20]!r}, and no such store is known",
                hint="Use postgresql://USER@HOST/DATABASE, sqlite:PATH or memory:,"
                " or leave `[store] url` out.",
            )
    return Store(backend, actor=actor)


def workspaces(url: str, prefix: str) -> list[str]:
    """Return the workspaces in a shared store whose names begin with a prefix."""
    from dos.journal.backends.postgres import known_workspaces

    return known_workspaces(url, prefix)


def embedded_path(url: str, state_directory: Path) -> Path | None:
    """Return the file of an embedded store; None for other kinds of stores."""
    if not url:
        return state_directory / "state.db"
    scheme, _, rest = url.partition(":")
    if scheme != "sqlite" or not rest:
        return None
    return state_directory / rest


def _embedded(path: Path, clock: Clock | None, *, read_only: bool, busy_seconds: float) -> Backend:
    """Open a SQLite file. Raises StoreUnreachable on a network file system.

    Two hosts that mount one directory share neither the locks nor the memory that SQLite needs.
    """
    from dos.journal.backends.sqlite import SqliteBackend

    if sys.platform == "linux":
        kind = network_type_in_mounts(Path(os.path.realpath(path)), _mounts())
        if kind:
            raise StoreUnreachable(
                f"{path} is on a network file system ({kind}), where SQLite loses writes",
                hint="Set `[store] url` in dos.toml: postgresql://… for many hosts,"
                " or sqlite:PATH on a local disk.",
            )
    return SqliteBackend(path, clock=clock, read_only=read_only, busy_seconds=busy_seconds)


def _mounts() -> str:
    return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
