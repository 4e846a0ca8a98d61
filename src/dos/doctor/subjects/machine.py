"""This machine: its disk and clock, the installed packages, and the key that signs receipts.

Each section below is a subject with a function that reads, and where it helps a `judge_` function
that decides on values alone, so that tests need no full disk and no wrong clock.
"""

import re
import shutil
import sys
import time
from contextlib import closing
from importlib import metadata
from pathlib import Path
from shlex import quote

from dos.config.fix_commands import with_sudo
from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.doctor.subjects.store import stored_bytes
from dos.errors import BadInput, StoreFailed
from dos.journal.backends.open import embedded_path
from dos.machine import filesystem
from dos.machine.filesystem import FreeSpace
from dos.receipts.io import keys
from dos.times import format_duration, format_local_time, utc_datetime
from dos.world import World

# The disk

SCARCE_BYTES = 1_000_000_000  # below it, a warning
LAST_BYTES = 100_000_000  # below it, an error
SCARCE_FILES = 10_000  # some file systems run out of these first
LARGE_JOURNAL_BYTES = 256_000_000


def examine_disk(world: World) -> list[Finding]:
    """Return what is wrong with the disk of the state directory: a full one stops every worker."""
    state = world.workspace.state
    return [*judge_disk(filesystem.free_space(state), state), *_examine_journal_size(world)]


def judge_disk(space: FreeSpace, path: Path) -> list[Finding]:
    """Return what is wrong with the free space of the disk that holds `path`."""
    findings = []
    fix = f"du -xh {quote(str(filesystem.nearest_existing(path)))} | sort -h | tail"
    if space.free_bytes < SCARCE_BYTES:
        severity = error if space.free_bytes < LAST_BYTES else warning
        what = f"only {format_bytes(space.free_bytes)} are free on the disk of {path}"
        why = "When it is full, no event can be written and every worker stops."
        findings.append(severity("DISK_LOW", what, why, fix))
    if space.free_files is not None and space.free_files < SCARCE_FILES:
        what = f"the disk of {path} has room for {space.free_files:,} more files"
        why = "A worktree has as many files as the repository."
        findings.append(warning("DISK_FILES_LOW", what, why, fix))
    return findings


def format_bytes(count: int) -> str:
    """Return a size as people read it, such as `1.5 GB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _examine_journal_size(world: World) -> list[Finding]:
    """A note when the embedded journal has grown large."""
    path = embedded_path(world.config.store.url, world.workspace.state)
    if path is None or stored_bytes(path) < LARGE_JOURNAL_BYTES:
        return []
    used = _used_bytes(path)
    if used < LARGE_JOURNAL_BYTES:
        return []
    what = f"the journal holds {format_bytes(used)}"
    why = (
        "Events that are superseded and older than [retention] journal_max_age_days"
        " can be archived and removed."
    )
    return [note("JOURNAL_LARGE", what, why, "dos journal compact")]


def _used_bytes(path: Path) -> int:
    """The size of the journal's content: removed events leave unused pages in the file."""
    import sqlite3

    tables = "pragma_page_count, pragma_freelist_count, pragma_page_size"
    query = f"SELECT (page_count - freelist_count) * page_size FROM {tables}"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute(query).fetchone()[0])
    except sqlite3.Error:  # why it cannot be read is a finding about the store
        return 0


# The clock

FIRST_YEAR = 2024  # the software is younger than any year before
TOLERATED_MS = 2_000
# Commands that set the clock from the network, by the program that each needs.
_CLOCK_COMMANDS = {
    "timedatectl": "timedatectl set-ntp true",
    "chronyc": "chronyc makestep",
    "ntpdate": "ntpdate pool.ntp.org",
    "sntp": "sntp -sS pool.ntp.org",
}


def examine_clock(world: World) -> list[Finding]:
    """Return what is wrong with the wall clock."""
    return judge_clock(time.time_ns() // 1_000_000, _newest_event_ms(world))


def judge_clock(now_ms: int, newest_ms: int | None) -> list[Finding]:
    """Return a finding if the clock is before this software was written, or before an event."""
    now = utc_datetime(now_ms)
    if now.year < FIRST_YEAR:
        what = f"the clock of this machine is in the year {now.year}"
        why = "Run ids sort by time, and the end of a usage limit is compared with the clock."
        return [error("CLOCK_UNSET", what, why, _set_clock_command())]
    if newest_ms is not None and newest_ms - now_ms > TOLERATED_MS:
        behind = format_duration((newest_ms - now_ms) / 1000)
        what = (
            f"the clock is at {format_local_time(now, now, seconds=True)},"
            f" {behind} before the newest event of the journal"
        )
        why = "One of the two is wrong. Leases do not depend on it; times in reports do."
        return [warning("CLOCK_BEHIND", what, why, _set_clock_command())]
    return []


def _set_clock_command() -> str:
    """A command that sets the clock, or that at least shows it."""
    for program, words in _CLOCK_COMMANDS.items():
        if shutil.which(program):
            return with_sudo(words)
    return "date"


def _newest_event_ms(world: World) -> int | None:
    """The time of the newest event. None: there is none, or the journal cannot be read."""
    try:
        journal = store.open_journal(world)
        newest = journal.tail(journal.last() - 1, 1)
    except StoreFailed:
        return None  # the store's own finding says why; the year can be judged without it
    if not newest:
        return None
    return newest[0].at_ms


# Installed packages

OUR_PACKAGE = "dispatch-os"
OUR_NAME = "dos"
_OWNED = re.compile(rf'^"?(?:\.{{1,2}}/)*{OUR_NAME}/', re.MULTILINE)


def examine_packages(_world: World) -> list[Finding]:
    """Return an error when another package installs the import or the command `dos` too.

    dos-kernel is one: in one environment the two overwrite each other's files.
    """
    others = sorted(owners_of_our_names() - {OUR_PACKAGE})
    if not others:
        return []
    python = quote(sys.executable)
    return [
        error(
            "PACKAGES_CLASH",
            f"{', '.join(others)} is installed beside {OUR_PACKAGE} in {sys.prefix}:"
            f" both own the import and the command `{OUR_NAME}`",
            "The one that was installed last overwrote files of the other, and uninstalling"
            " either removes them.",
            f"{python} -m pip uninstall --yes {' '.join(map(quote, others))}"
            f" && {python} -m pip install --force-reinstall --no-deps {OUR_PACKAGE}",
        )
    ]


def owners_of_our_names() -> set[str]:
    """Return the distributions that install the package or the command `dos`, normalised."""
    scripts = metadata.entry_points(group="console_scripts", name=OUR_NAME)
    names = {script.dist.name for script in scripts if script.dist}
    for distribution in metadata.distributions():
        # Read as text: in a large environment `distribution.files` takes a tenth of a second.
        record = distribution.read_text("RECORD") or distribution.read_text("installed-files.txt")
        if _OWNED.search(record or ""):
            names.add(distribution.name)
    return {name.lower().replace("_", "-") for name in names}


# The key that signs receipts

UNSIGNED = "RECEIPTS_UNSIGNED"
UNSIGNED_WHY = "Units still land, but their receipts prove nothing to others."


def examine_receipt_key(world: World) -> list[Finding]:
    """Return why receipts cannot be signed. A missing key is fine: the first landing makes one."""
    try:
        path = keys.own_key()
        if path.exists():
            keys.check_private_key(path, world.workspace)
    except BadInput as failure:
        return [warning(UNSIGNED, failure.message, UNSIGNED_WHY, failure.hint)]
    if path.suffix != ".pub" and not keys.cryptography_installed():
        install = f"{quote(sys.executable)} -m pip install 'cryptography>=42'"
        return [note(UNSIGNED, keys.cryptography_missing().message, UNSIGNED_WHY, install)]
    return []
