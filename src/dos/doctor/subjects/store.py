"""The journal's store: it can be reached, read and written, and it is in a safe place.

The store is a file of SQLite in the state directory, or a database on a PostgreSQL server. Fixes
never delete a journal: they move what is in the way, so that its content can be looked at.
"""

import os
import stat
import sys
from functools import lru_cache
from pathlib import Path
from shlex import quote

from dos.config import fix_commands
from dos.config.toml_text import strip_password
from dos.doctor.subjects.finding import Finding, edit_commands, error, git_command, note, warning
from dos.errors import (
    BadInput,
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
from dos.journal.store import Store
from dos.machine import filesystem
from dos.text import slug
from dos.world import World

DANGLING_LINK = "a dangling symbolic link"
FOLDERS = ("worktrees", "logs", "salvage", "archive")
BESIDE = ("-gate", "-wal", "-shm", "-journal")  # the files that the journal keeps beside its own
SESSIONS_PER_WORKER = 2  # one to read and write, one to listen
SESSIONS_PER_SUPERVISOR = 6  # with those of the verbs that a person types meanwhile
SAFE_SQLITE = (3, 51, 3)
_WITHOUT_JOURNAL = "Without the journal no lease can be granted and no history can be shown."


def examine(world: World) -> list[Finding]:
    """Return what keeps the journal from being read and written safely."""
    path = journal_path(world)
    folders = [_not_a_directory(world.workspace.state / name) for name in FOLDERS]
    findings = [*_uncertain_url(world), *filter(None, folders)]
    if path is not None:
        blocked = blocking_entry(path)
        if blocked is not None:
            return [*findings, blocked]
        findings += _examine_place(path)
        if not may_exist(path):
            return findings + _examine_sqlite()
    try:
        with open_journal(world).backend.read() as view:
            view.tail(view.last() - 1, 1)
            view.leases()
        findings += [*_examine_durability(world), *_examine_sessions(world)]
    except StoreFailed as failure:
        findings.append(store_finding(failure, world))
    return findings


def open_journal(world: World) -> Store:
    """Return the journal for reading. Raises StoreFailed when it cannot be used."""
    opened = _open_or_failure(world)
    if isinstance(opened, StoreFailed):
        raise opened
    return opened


@lru_cache(maxsize=1)  # a server that does not answer is waited for once, not by every subject
def _open_or_failure(world: World) -> Store | StoreFailed:
    """The journal, or why it cannot be opened. A journal without a name counts as unreachable."""
    try:
        return world.journal
    except StoreFailed as failure:
        return failure
    except BadInput as failure:
        return JournalUnnamed(failure.message, hint=failure.hint)
    except OSError as failure:
        return StoreUnreachable(f"{failure.filename}: {failure.strerror}")


def journal_path(world: World) -> Path | None:
    """Return the file of the embedded store. None: the journal is on a server."""
    return embedded_path(world.config.store.url, world.workspace.state)


def may_exist(path: Path) -> bool:
    """Whether the file exists, or lies in a directory that cannot be searched."""
    try:
        return path.exists()
    except OSError:
        return True


def stored_bytes(path: Path) -> int:
    """Return the size of the store's files, with SQLite's log beside it; 0 if there is none."""
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return sum(file.stat().st_size for file in files if os.access(file, os.F_OK))


def store_finding(failure: StoreFailed, world: World) -> Finding:
    """Return the finding on a journal that cannot be used, with the command that helps.

    What is wrong with the file or its folder comes first: it explains most failures to open.
    """
    path = journal_path(world)
    if path is not None:
        blocked = blocking_entry(path)
        if blocked is not None:
            return blocked
    match failure:
        case JournalTooNew():
            fix = f"{quote(sys.executable)} -m pip install --upgrade dispatch-os"
            return error("STORE_TOO_NEW", str(failure), _WITHOUT_JOURNAL, fix)
        case JournalCorrupt() if path is not None:
            why = (
                f"{_WITHOUT_JOURNAL} Stop the fleet first."
                " The damaged files are kept, and a new journal is started."
            )
            return error("STORE_DAMAGED", str(failure), why, _new_journal_command(world, path))
        case JournalCorrupt():
            return error("STORE_DAMAGED", str(failure), _WITHOUT_JOURNAL, "dos journal check")
        case StoreBusy():
            fix = "ps -eo pid,stat,etime,args | grep '[d]os'"
            return error("STORE_BUSY", str(failure), _WITHOUT_JOURNAL, fix)
    if path is not None:
        read_only = _read_only(path)
        if read_only is not None:
            return read_only
    why = f"{_WITHOUT_JOURNAL} {failure.hint}".rstrip()
    return error("STORE_UNREACHABLE", str(failure), why, _reach_command(failure, world, path))


def _reach_command(failure: StoreFailed, world: World, path: Path | None) -> str:
    """A command that makes the journal reachable, or that shows what is in its place."""
    if path is None:
        return _server_command(failure, world)
    if isinstance(failure, StoreForeign):
        return fix_commands.move_aside_command(path)
    return f"ls -la {quote(str(path.parent))}"


def _server_command(failure: StoreFailed, world: World) -> str:
    """A command that names the journal, installs the driver, or opens the URL setting."""
    if isinstance(failure, JournalUnnamed) and is_shallow(world.workspace):
        return git_command(world, "fetch --unshallow")
    if isinstance(failure, DriverMissing):
        return f"{quote(sys.executable)} -m pip install 'dispatch-os[postgres]'"
    return edit_commands(world).for_key("store", "url")


def _new_journal_command(world: World, path: Path) -> str:
    """A command that moves the journal away, and deletes the fences of its leases from git.

    The fences have to go, because the numbers of a new journal start again.
    """
    number = 1
    while (path.parent / f"damaged-{number}").exists():
        number += 1
    folder = quote(str(path.parent / f"damaged-{number}"))
    move = f"mkdir {folder} && mv {quote(str(path))}* {folder}"
    if world.workspace.common is None:
        return move
    fences = git_command(world, "for-each-ref --format='delete %(refname)' refs/dos/fence")
    return f"{move} && {fences} | {git_command(world, 'update-ref --stdin')}"


def blocking_entry(path: Path) -> Finding | None:
    """Return a finding on the first entry in the journal's place that is not what it needs.

    Readers ignore some of these; no writer can.
    """
    for folder in reversed(path.parents):
        blocked = _not_a_directory(folder)
        if blocked is not None:
            return blocked
    for file in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
        blocked = _not_a_file(file)
        if blocked is not None:
            return blocked
    return None


def _not_a_file(path: Path) -> Finding | None:
    """The error for an entry in the place of one of the journal's files."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, PermissionError):
        return None
    if stat.S_ISLNK(mode) and not path.exists():
        return _blocked(path, DANGLING_LINK, "a file")
    if stat.S_ISLNK(mode) or stat.S_ISREG(mode):
        return None
    if stat.S_ISDIR(mode):
        return _blocked(path, "a directory", "a file")
    return _blocked(path, "not a regular file", "a file")


def _not_a_directory(folder: Path) -> Finding | None:
    """The error for an entry in the place of a folder that dos needs."""
    if not os.path.lexists(folder) or folder.is_dir():
        return None
    kind = DANGLING_LINK if folder.is_symlink() else "a file"
    return _blocked(folder, kind, "a directory")


def _blocked(path: Path, kind: str, needed: str) -> Finding:
    """The error for an entry in the way. The fix only moves it, because it may be wanted."""
    what = f"{path} is {kind}, and dos needs {needed} there"
    why = (
        "Nothing can be written there. The command only moves it;"
        " if a disk belongs there, mount it instead."
    )
    return error("STATE_BLOCKED", what, why, fix_commands.move_aside_command(path))


def _uncertain_url(world: World) -> list[Finding]:
    """A note when errors in dos.toml hide which journal is in use."""
    store_keys = ((), ("store",))
    if not any(problem.key[:1] in store_keys for problem in world.loaded_config.problems):
        return []
    what = "the URL of the journal cannot be read from dos.toml; the default place was examined"
    fix = edit_commands(world).for_key("store")
    return [note("STORE_UNCERTAIN", what, "Another journal may be in use.", fix)]


def _examine_place(path: Path) -> list[Finding]:
    """Whether the folder of the journal can be written, and has reliable locks."""
    findings = []
    read_only = _read_only(path)
    if read_only is not None:
        findings.append(read_only)
    if not os.access(filesystem.nearest_existing(path.parent), os.X_OK):
        return findings
    kind = filesystem.network_filesystem(path)
    if kind:
        what = f"{path.parent} is on a network file system ({kind})"
        why = (
            "Its locks are not reliable: two workers could get one lane. If several machines"
            " work here, set [store] url to a PostgreSQL database that all of them reach."
        )
        fix = fix_commands.set_command(("store", "url"), f"sqlite:{_local_path(path)}")
        findings.append(error("STORE_ON_NETWORK", what, why, fix))
    return findings


def _read_only(path: Path) -> Finding | None:
    """The error for the first file or folder of the journal that this user cannot write."""
    folder = filesystem.nearest_existing(path.parent)
    for place in (folder, path, path.with_name(f"{path.name}-gate")):
        if os.access(place, os.F_OK) and not os.access(place, os.W_OK):
            what = f"this user cannot write {place}"
            why = "No lease can be taken and no event recorded."
            return error("STORE_READ_ONLY", what, why, _make_writable_command(folder))
    return None


def _local_path(path: Path) -> Path:
    """A place for the journal on a disk of this machine, as far as there is one."""
    state_home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    home = state_home
    for candidate in (state_home, Path("/var/tmp")):
        if not filesystem.network_filesystem(candidate):
            home = candidate
            break
    return home / "dos" / slug(str(path.parent)) / path.name


def _make_writable_command(folder: Path) -> str:
    """A command that makes a folder writable, by remounting its disk if that is read-only."""
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        mount = f'"$(df --output=target {quote(str(folder))} | tail -n 1)"'
        return fix_commands.with_sudo(f"mount -o remount,rw {mount}")
    return fix_commands.make_readable_command(folder)


def _examine_durability(world: World) -> list[Finding]:
    """What the server, or this version of SQLite, can lose in a crash."""
    durability_notes = getattr(open_journal(world).backend, "durability_notes", None)
    if durability_notes is None:
        return _examine_sqlite()
    return [_server_note(durability, world) for durability in durability_notes()]


def _examine_sessions(world: World) -> list[Finding]:
    """Whether the server allows as many sessions as the fleet would open.

    An embedded store has no sessions to run out of.
    """
    room = getattr(open_journal(world).backend, "room", None)
    if room is None:
        return []
    allowed, _ = room()
    workers = world.config.supervise.target
    needed = SESSIONS_PER_WORKER * workers + SESSIONS_PER_SUPERVISOR
    if needed <= allowed:
        return []
    fitting = max(1, (allowed - SESSIONS_PER_SUPERVISOR) // SESSIONS_PER_WORKER)
    return [
        warning(
            "STORE_SESSIONS",
            f"the server allows {allowed} sessions, and {workers} workers with their supervisor"
            f" open up to {needed}",
            "A worker without a free session waits instead of working.",
            f"dos config set supervise.target {fitting}",
        )
    ]


def _examine_sqlite() -> list[Finding]:
    """A note on SQLite versions with a known defect in checkpoints."""
    import sqlite3

    if sqlite3.sqlite_version_info >= SAFE_SQLITE:
        return []
    safe = ".".join(map(str, SAFE_SQLITE))
    return [
        note(
            "SQLITE_OLD",
            f"SQLite is {sqlite3.sqlite_version}; before {safe} two writers that meet in a"
            " checkpoint can damage a file",
            "The journal is safe: its writers and checkpoints wait for one lock.",
            "dos journal check",
        )
    ]


def _server_note(durability: DurabilityNote, world: World) -> Finding:
    """A server setting as a warning if acknowledged events can be lost, else as a note."""
    fix = _server_setting_command(durability.setting, world.config.store.url)
    if durability.loses:
        why = "Events that the journal acknowledged can be lost."
        return warning("STORE_DURABILITY", durability.text, why, fix)
    return note("STORE_DURABILITY", durability.text, "No acknowledged event can be lost.", fix)


def _server_setting_command(setting: str, url: str) -> str:
    """A command that corrects the setting, or that shows where the server keeps its files."""
    psql = f"psql {quote(strip_password(url))}"
    if setting == "synchronous_commit":
        return f"{psql} -c 'ALTER ROLE CURRENT_USER SET synchronous_commit = on'"
    if setting in ("fsync", "full_page_writes"):
        return f'{psql} -c "ALTER SYSTEM SET {setting} = on" -c "SELECT pg_reload_conf()"'
    if setting == "synchronous_standby_names":
        change = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
        return f'{psql} -c "{change}" -c "SELECT pg_reload_conf()"'
    return f"{psql} -c 'SHOW data_directory'"
