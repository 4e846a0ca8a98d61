"""The disk under the state directory: a full one stops every worker at once."""

import os
from contextlib import closing
from pathlib import Path
from shlex import quote

from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.journal.backends.open import embedded_path
from dos.machine import filesystem
from dos.machine.filesystem import Room
from dos.world import World

SCARCE_BYTES = 1_000_000_000
LAST_BYTES = 100_000_000
SCARCE_FILES = 10_000
LARGE_JOURNAL_BYTES = 256_000_000


def examine_disk(world: World) -> list[Finding]:
    state = world.workspace.state
    return [*judge_disk(filesystem.room(state), state), *_examine_journal_size(world)]


def judge_disk(room: Room, place: Path) -> list[Finding]:
    found = []
    fix = f"du -xh {quote(str(filesystem.existing(place)))} | sort -h | tail"
    if room.free_bytes < SCARCE_BYTES:
        level = error if room.free_bytes < LAST_BYTES else warning
        what = f"{format_bytes(room.free_bytes)} are left on the disk of {place}"
        found.append(
            level(
                "DISK_LOW",
                what,
                "Without room no event can be written, and every worker stops.",
                fix,
            )
        )
    if room.free_files is not None and room.free_files < SCARCE_FILES:
        what = f"{room.free_files:,} more files fit on the disk of {place}"
        found.append(
            warning("DISK_FILES_LOW", what, "A worktree has as many files as the repository.", fix)
        )
    return found


def format_bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def stored_bytes(path: Path) -> int:
    """The store's own files, the log beside it included."""
    beside = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return sum(each.stat().st_size for each in beside if os.access(each, os.F_OK))


def _examine_journal_size(world: World) -> list[Finding]:
    path = embedded_path(world.config.store.url, world.workspace.state)
    if (
        path is None
        or stored_bytes(path) < LARGE_JOURNAL_BYTES
        or (held := _held_bytes(path)) < LARGE_JOURNAL_BYTES
    ):
        return []
    why = "What is superseded and older than [retention] journal_max_age_days can be archived and removed."
    return [
        note("JOURNAL_LARGE", f"the journal holds {format_bytes(held)}", why, "dos journal compact")
    ]


def _held_bytes(path: Path) -> int:
    """What was removed leaves room in the file, which is not given back to the disk."""
    import sqlite3

    tables = ", ".join(f"pragma_{name}" for name in ("page_count", "freelist_count", "page_size"))
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return int(
                connection.execute(
                    f"SELECT (page_count - freelist_count) * page_size FROM {tables}"
                ).fetchone()[0]
            )
    except sqlite3.Error:  # why it cannot be read is a finding about the store
        return 0
