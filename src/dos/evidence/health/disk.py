"""The disk under the state directory: a full one stops every worker at once."""

from pathlib import Path
from shlex import quote

from dos.evidence.health.finding import Finding, error, note, warning
from dos.journal.opening import embedded_path
from dos.sources import filesystems
from dos.sources.filesystems import Room
from dos.sources.world import World

SCARCE_BYTES = 1_000_000_000
LAST_BYTES = 100_000_000
SCARCE_FILES = 10_000
LARGE_JOURNAL_BYTES = 256_000_000


def examine(world: World) -> list[Finding]:
    state = world.workspace.state
    return [*judge(filesystems.room(state), state), *_journal(world)]


def judge(room: Room, place: Path) -> list[Finding]:
    found = []
    fix = f"du -xh {quote(str(filesystems.existing(place)))} | sort -h | tail"
    if room.free_bytes < SCARCE_BYTES:
        level = error if room.free_bytes < LAST_BYTES else warning
        what = f"{sized(room.free_bytes)} are left on the disk of {place}"
        found.append(level("DISK_LOW", what, "Without room no event can be written, and every worker stops.", fix))
    if room.free_files is not None and room.free_files < SCARCE_FILES:
        what = f"{room.free_files:,} more files fit on the disk of {place}"
        found.append(warning("DISK_FILES_LOW", what, "A worktree has as many files as the repository.", fix))
    return found


def sized(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def stored_bytes(path: Path) -> int:
    """The store's own files, the log beside it included."""
    beside = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return sum(each.stat().st_size for each in beside if each.is_file())


def _journal(world: World) -> list[Finding]:
    path = embedded_path(world.config.store.url, world.workspace.state)
    size = 0 if path is None else stored_bytes(path)
    if size < LARGE_JOURNAL_BYTES:
        return []
    what = f"the journal has {sized(size)}"
    return [note("JOURNAL_LARGE", what, "What is superseded can be archived and removed.", "dos journal compact")]
