"""The wall clock: what people read in the journal, and what reset times are compared with."""

import shutil
import time
from datetime import UTC, datetime

from dos.config.edit import with_sudo
from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, error, warning
from dos.errors import StoreFailed
from dos.times import utc_stamp
from dos.world import World

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
