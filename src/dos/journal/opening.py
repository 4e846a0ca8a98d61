"""Opens the store that a URL names."""

from pathlib import Path

from dos.journal.clock import Clock
from dos.journal.store import Store


def open_store(
    url: str,
    *,
    state_directory: Path,
    workspace_id: str,
    actor: str = "",
    read_only: bool = False,
    clock: Clock | None = None,
) -> Store:
    if url == "memory:":
        from dos.journal.backends.memory import MemoryBackend

        return Store(MemoryBackend(clock=clock), actor=actor)
    from dos.journal.backends.sqlite import SqliteBackend

    return Store(SqliteBackend(state_directory / "state.db", clock=clock, read_only=read_only), actor=actor)
