"""The journal's store: can it be reached, read and written, and is it in a safe place?"""

import os
import stat
import sys
from functools import lru_cache
from pathlib import Path
from shlex import quote

from msgspec import Struct

from dos.config import fix_commands
from dos.config.toml_text import mask_password, strip_password
from dos.doctor.subjects.finding import Finding, edit_commands, error, git_command, note, warning
from dos.errors import (
    BadInput,
    DosError,
    DriverMissing,
    JournalCorrupt,
    JournalTooNew,
    JournalUnnamed,
    StoreBusy,
    StoreFailed,
    StoreForeign,
    StoreUnreachable,
)
from dos.git.files import is_shallow
from dos.journal.backend import DurabilityNote
from dos.journal.backends.open import embedded_path
from dos.journal.events.envelope import SCHEMA
from dos.journal.store import Store
from dos.machine import filesystem
from dos.text import slug
from dos.world import World

LEADS_NOWHERE = "a link that leads nowhere"
FOLDERS = ("worktrees", "logs", "salvage", "archive")
BESIDE = ("-gate", "-wal", "-shm", "-journal")  # the files that the journal keeps beside its own
SESSIONS_A_WORKER = 2  # one to ask and write, one to listen
SESSIONS_A_SUPERVISOR = 6  # and what a person types meanwhile
SAFE_SQLITE = (3, 51, 3)
_WITHOUT_JOURNAL = (
    "Without the journal nothing can be granted, and nothing that happened can be told."
)


class Journal(Struct, frozen=True, kw_only=True):
    url: str
    path: str | None  # None: it is not a file of this machine
    exists: bool
    reachable: bool
    events: int | None  # None: it could not be read
    schema: int  # of the records, as this dos writes them
    size_bytes: int | None


def journal_facts(world: World) -> Journal:
    url = world.config.store.url
    path = journal_path(world)
    events = _events(world, path)
    return Journal(
        url=mask_password(url) or f"sqlite:{path}",
        path=None if path is None else str(path),
        exists=path is None or _may_exist(path),
        reachable=events is not None,
        events=events,
        schema=SCHEMA,
        size_bytes=None if path is None or events is None else stored_bytes(path),
    )


def _events(world: World, path: Path | None) -> int | None:
    """How many there are; none before the first one was written. None when the journal cannot be read."""
    if path is not None and not _may_exist(path):
        return None if _blocking_entry(path) else 0
    try:
        with open_journal(world).backend.read() as view:
            return view.count(0)
    except (DosError, OSError):
        return None


def _may_exist(path: Path) -> bool:
    try:
        return path.exists()
    except (
        OSError
    ):  # a directory on the way may not be looked into: then something may well be there
        return True


def examine(world: World) -> list[Finding]:
    path = journal_path(world)
    folders = [_not_a_directory(world.workspace.state / name) for name in FOLDERS]
    found = [*_uncertain(world), *filter(None, folders)]
    if path is not None:
        if blocked := _blocking_entry(path):
            return [*found, blocked]
        found += _examine_place(path)
        if not _may_exist(path):
            return found + _sqlite()
    try:
        with open_journal(world).backend.read() as view:
            view.tail(view.last() - 1, 1)
            view.leases()
        found += [*_durability(world), *_sessions(world)]
    except StoreFailed as failure:
        found.append(store_finding(failure, world))
    return found


def open_journal(world: World) -> Store:
    """The journal for reading."""
    found = _open_or_failure(world)
    if isinstance(found, StoreFailed):
        raise found
    return found


@lru_cache(maxsize=1)  # a server that does not answer is waited for once, and not by every subject
def _open_or_failure(world: World) -> Store | StoreFailed:
    """One that has no name, or that may not be looked for, cannot be reached either."""
    try:
        return world.journal
    except StoreFailed as failure:
        return failure
    except BadInput as error:
        return JournalUnnamed(error.message, hint=error.hint)
    except OSError as error:
        return StoreUnreachable(f"{error.filename}: {error.strerror}")


def journal_path(world: World) -> Path | None:
    """Where the embedded store lies; None when the journal is on a server."""
    return embedded_path(world.config.store.url, world.workspace.state)


def store_finding(failure: StoreFailed, world: World) -> Finding:
    """What stands between a reader and the journal."""
    path = journal_path(world)
    if path is not None and (blocked := _blocking_entry(path)):
        return blocked
    match failure:
        case JournalTooNew():
            fix = f"{quote(sys.executable)} -m pip install --upgrade dispatch-os"
            return error("STORE_TOO_NEW", str(failure), _WITHOUT_JOURNAL, fix)
        case JournalCorrupt() if path is not None:
            why = f"{_WITHOUT_JOURNAL} Stop the fleet first. The damaged files are kept, and a new journal begins."
            return error("STORE_DAMAGED", str(failure), why, _new_journal_command(world, path))
        case JournalCorrupt():
            return error("STORE_DAMAGED", str(failure), _WITHOUT_JOURNAL, "dos journal check")
        case StoreBusy():
            return error(
                "STORE_BUSY",
                str(failure),
                _WITHOUT_JOURNAL,
                "ps -eo pid,stat,etime,args | grep '[d]os'",
            )
    if path is not None and (closed := _read_only(path)):
        return closed
    if path is None:
        fix = _server_command(failure, world)
    elif isinstance(failure, StoreForeign):
        fix = fix_commands.move_aside_command(path)
    else:
        fix = f"ls -la {quote(str(path.parent))}"
    return error(
        "STORE_UNREACHABLE", str(failure), f"{_WITHOUT_JOURNAL} {failure.hint}".rstrip(), fix
    )


def _server_command(failure: StoreFailed, world: World) -> str:
    if isinstance(failure, JournalUnnamed) and is_shallow(world.workspace):
        return git_command(world, "fetch --unshallow")
    if isinstance(failure, DriverMissing):
        return f"{quote(sys.executable)} -m pip install 'dispatch-os[postgres]'"
    return edit_commands(world).for_key("store", "url")


def _new_journal_command(world: World, path: Path) -> str:
    """Everything of the journal is moved away, and with it what git knows of its leases: their numbers begin again."""
    kept = (path.parent / f"damaged-{number}" for number in range(1, 1000))
    place = quote(str(next(folder for folder in kept if not folder.exists())))
    fences = git_command(world, "for-each-ref --format='delete %(refname)' refs/dos/fence")
    moved = f"mkdir {place} && mv {quote(str(path))}* {place}"
    return (
        f"{moved} && {fences} | {git_command(world, 'update-ref --stdin')}"
        if world.workspace.common
        else moved
    )


def _blocking_entry(path: Path) -> Finding | None:
    """Something that is not what the journal needs in its place. Readers pass over some of it; no writer can."""
    for folder in reversed(path.parents):
        if found := _not_a_directory(folder):
            return found
    for place in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, PermissionError):
            continue
        if stat.S_ISLNK(mode) and not place.exists():
            return _blocked(place, LEADS_NOWHERE, "a file")
        if not stat.S_ISLNK(mode) and not stat.S_ISREG(mode):
            return _blocked(
                place, "a directory" if stat.S_ISDIR(mode) else "no plain file", "a file"
            )
    return None


def _not_a_directory(folder: Path) -> Finding | None:
    if not os.path.lexists(folder) or folder.is_dir():
        return None
    return _blocked(folder, LEADS_NOWHERE if folder.is_symlink() else "a file", "a directory")


def _blocked(place: Path, found: str, needed: str) -> Finding:
    why = "Nothing can be written there. It is only moved; if a disk is to be mounted there, mount it instead."
    return error(
        "STATE_BLOCKED",
        f"{place} is {found}, and dos needs {needed} there",
        why,
        fix_commands.move_aside_command(place),
    )


def _uncertain(world: World) -> list[Finding]:
    if not any(problem.key[:1] in ((), ("store",)) for problem in world.loaded_config.problems):
        return []
    what = "which journal is meant cannot be read from dos.toml; the one in the default place was looked at"
    return [
        note(
            "STORE_UNCERTAIN",
            what,
            "Another one may be in use.",
            edit_commands(world).for_key("store"),
        )
    ]


def _examine_place(path: Path) -> list[Finding]:
    found = [closed] if (closed := _read_only(path)) else []
    if os.access(filesystem.nearest_existing(path.parent), os.X_OK) and (
        kind := filesystem.network_filesystem(path)
    ):
        what = f"{path.parent} is on a network file system ({kind})"
        why = (
            "Its locks cannot be relied on: two workers could get one lane."
            " If several machines work here, [store] url has to name a PostgreSQL database that all of them reach."
        )
        found.append(
            error(
                "STORE_ON_NETWORK",
                what,
                why,
                fix_commands.set_command(("store", "url"), f"sqlite:{_local_path(path)}"),
            )
        )
    return found


def _read_only(path: Path) -> Finding | None:
    folder = filesystem.nearest_existing(path.parent)
    for place in (folder, path, path.with_name(f"{path.name}-gate")):
        if os.access(place, os.F_OK) and not os.access(place, os.W_OK):
            what = f"{place} cannot be written by this user"
            return error(
                "STORE_READ_ONLY",
                what,
                "No lease can be taken and no event recorded.",
                _make_writable_command(folder),
            )
    return None


def _local_path(path: Path) -> Path:
    """A place of this user's on a disk of this machine, as far as there is one."""
    homes = (
        Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"),
        Path("/var/tmp"),
    )
    home = next((home for home in homes if not filesystem.network_filesystem(home)), homes[0])
    return home / "dos" / slug(str(path.parent)) / path.name


def _make_writable_command(place: Path) -> str:
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return fix_commands.with_sudo(
            f'mount -o remount,rw "$(df --output=target {quote(str(place))} | tail -n 1)"'
        )
    return fix_commands.make_readable_command(place)


def _durability(world: World) -> list[Finding]:
    notes = getattr(open_journal(world).backend, "durability_notes", None)
    return _sqlite() if notes is None else [_server_note(found, world) for found in notes()]


def _sessions(world: World) -> list[Finding]:
    """Of a server that has fewer sessions to give than the fleet would take."""
    room = getattr(open_journal(world).backend, "room", None)
    if room is None:
        return []
    most, _ = room()
    workers = world.config.supervise.target
    wanted = SESSIONS_A_WORKER * workers + SESSIONS_A_SUPERVISOR
    if wanted <= most:
        return []
    fits = max(1, (most - SESSIONS_A_SUPERVISOR) // SESSIONS_A_WORKER)
    return [
        warning(
            "STORE_SESSIONS",
            f"the server allows {most} sessions, and {workers} workers with their supervisor take up to {wanted}",
            "Whoever finds no free session waits for one, and workers that wait do not work.",
            f"dos config set supervise.target {fits}",
        )
    ]


def _sqlite() -> list[Finding]:
    import sqlite3

    if sqlite3.sqlite_version_info >= SAFE_SQLITE:
        return []
    return [
        note(
            "SQLITE_OLD",
            f"SQLite is {sqlite3.sqlite_version}; before {'.'.join(map(str, SAFE_SQLITE))} two writers that meet in a"
            " checkpoint can damage a file",
            "Safe here: writers and checkpoints queue at one lock, so that they never meet.",
            "dos journal check",
        )
    ]


def _server_note(found: DurabilityNote, world: World) -> Finding:
    fix = _server_setting_command(found.setting, world.config.store.url)
    if found.loses:
        return warning(
            "STORE_DURABILITY", found.text, "What the journal acknowledged can be lost.", fix
        )
    return note("STORE_DURABILITY", found.text, "Nothing that was acknowledged is lost by it.", fix)


def _server_setting_command(setting: str, url: str) -> str:
    """Puts right what the note is about where a setting does; else shows where the server keeps its files."""
    psql = f"psql {quote(strip_password(url))}"
    if setting == "synchronous_commit":
        return f"{psql} -c 'ALTER ROLE CURRENT_USER SET synchronous_commit = on'"
    if setting in ("fsync", "full_page_writes"):
        return f'{psql} -c "ALTER SYSTEM SET {setting} = on" -c "SELECT pg_reload_conf()"'
    if setting == "synchronous_standby_names":
        change = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
        return f'{psql} -c "{change}" -c "SELECT pg_reload_conf()"'
    return f"{psql} -c 'SHOW data_directory'"


def stored_bytes(path: Path) -> int:
    """The store's own files, the log beside it included."""
    beside = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return sum(each.stat().st_size for each in beside if os.access(each, os.F_OK))
