"""The disk under the state directory: a full one stops every worker at once."""

import re
import shutil
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
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
from dos.times import utc_stamp
from dos.world import World

SCARCE_BYTES = 1_000_000_000
LAST_BYTES = 100_000_000
SCARCE_FILES = 10_000
LARGE_JOURNAL_BYTES = 256_000_000


def examine_disk(world: World) -> list[Finding]:
    state = world.workspace.state
    return [*judge_disk(filesystem.free_space(state), state), *_examine_journal_size(world)]


def judge_disk(room: FreeSpace, place: Path) -> list[Finding]:
    found = []
    fix = f"du -xh {quote(str(filesystem.nearest_existing(place)))} | sort -h | tail"
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


FIRST_YEAR = 2024  # no machine with this software was ever in an earlier one
TOLERATED_MS = 2_000
# The program that sets the clock by the network, where there is one.
_SETTERS = {
    "timedatectl": "timedatectl set-ntp true",
    "chronyc": "chronyc makestep",
    "ntpdate": "ntpdate pool.ntp.org",
    "sntp": "sntp -sS pool.ntp.org",
}


def examine_clock(world: World) -> list[Finding]:
    return judge_clock(time.time_ns() // 1_000_000, _newest_event_ms(world))


def judge_clock(now_ms: int, newest_ms: int | None) -> list[Finding]:
    fix = next(
        (with_sudo(words) for program, words in _SETTERS.items() if shutil.which(program)), "date"
    )
    if datetime.fromtimestamp(now_ms / 1000, UTC).year < FIRST_YEAR:
        why = "Run ids sort by time, and a usage limit's reset time is compared with it."
        return [error("CLOCK_UNSET", f"the clock says {utc_stamp(now_ms)}", why, fix)]
    if newest_ms is not None and newest_ms - now_ms > TOLERATED_MS:
        what = (
            f"the clock says {utc_stamp(now_ms)}, and the newest event is of {utc_stamp(newest_ms)}"
        )
        why = "One of the two is wrong. Leases are not touched by it; times in reports are."
        return [warning("CLOCK_BEHIND", what, why, fix)]
    return []


def _newest_event_ms(world: World) -> int | None:
    try:
        journal = store.open_journal(world)
        newest = journal.tail(journal.last() - 1, 1)
    except StoreFailed:
        return None  # the store's own finding says why; the year can be judged without it
    return newest[0].at_ms if newest else None


OUR_PACKAGE = "dispatch-os"
OUR_NAME = "dos"
_OWNED = re.compile(rf'^"?(?:\.{{1,2}}/)*{OUR_NAME}/', re.MULTILINE)


def examine_packages(world: World) -> list[Finding]:
    others = sorted(owners_of_our_names() - {OUR_PACKAGE})
    if not others:
        return []
    names = ", ".join(others)
    python = quote(sys.executable)
    return [
        error(
            "PACKAGES_CLASH",
            f"{names} is installed beside {OUR_PACKAGE} in {sys.prefix}: both own the import and the command `{OUR_NAME}`",
            "Whichever was installed last wrote over files of the other, and uninstalling one removes them.",
            f"{python} -m pip uninstall --yes {' '.join(map(quote, others))}"
            f" && {python} -m pip install --force-reinstall --no-deps {OUR_PACKAGE}",
        )
    ]


def owners_of_our_names() -> set[str]:
    """The distributions that install a package or a command of our name, by their normalised names."""
    found = {
        each.dist.name
        for each in metadata.entry_points(group="console_scripts", name=OUR_NAME)
        if each.dist
    }
    for each in metadata.distributions():
        # As text: of a large environment the list that `each.files` makes takes a tenth of a second.
        if _OWNED.search(each.read_text("RECORD") or each.read_text("installed-files.txt") or ""):
            found.add(each.name)
    return {name.lower().replace("_", "-") for name in found}


UNSIGNED = "RECEIPTS_UNSIGNED"
UNSIGNED_WHY = "Units land all the same, with a receipt that proves nothing to others."


def examine_receipt_key(world: World) -> list[Finding]:
    """A key that is not there is none: the first landing makes it."""
    try:
        path = keys.own_key()
        if path.exists():
            keys.check_private_key(path, world.workspace)
    except BadInput as error:
        return [warning(UNSIGNED, error.message, UNSIGNED_WHY, error.hint)]
    if path.suffix != ".pub" and not keys.cryptography_installed():
        install = f"{quote(sys.executable)} -m pip install 'cryptography>=42'"
        return [note(UNSIGNED, keys.cryptography_missing().message, UNSIGNED_WHY, install)]
    return []
