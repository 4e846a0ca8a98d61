"""The wall clock: what people read in the journal, and what reset times are compared with."""

import sys
import time
from datetime import UTC, datetime

from dos.errors import StoreFailed
from dos.evidence.health.finding import Finding, error, warning
from dos.journal.lines import second_stamp
from dos.sources.world import World

FIRST_YEAR = 2024  # no machine with this software was ever in an earlier one
TOLERATED_MS = 2_000


def examine(world: World) -> list[Finding]:
    return judge(time.time_ns() // 1_000_000, _newest_ms(world))


def judge(now_ms: int, newest_ms: int | None) -> list[Finding]:
    fix = "sudo sntp -sS time.apple.com" if sys.platform == "darwin" else "sudo timedatectl set-ntp true"
    if datetime.fromtimestamp(now_ms / 1000, UTC).year < FIRST_YEAR:
        why = "Run ids sort by time, and a usage limit's reset time is compared with it."
        return [error("CLOCK_UNSET", f"the clock says {second_stamp(now_ms)}", why, fix)]
    if newest_ms is not None and newest_ms - now_ms > TOLERATED_MS:
        what = f"the clock says {second_stamp(now_ms)}, and the newest event is of {second_stamp(newest_ms)}"
        why = "One of the two is wrong. Leases are not touched by it; times in reports are."
        return [warning("CLOCK_BEHIND", what, why, fix)]
    return []


def _newest_ms(world: World) -> int | None:
    try:
        journal = world.journal
        newest = journal.tail(journal.last() - 1, 1)
    except StoreFailed:
        return None  # the store's own finding says why; the year can be judged without it
    return newest[0].at_ms if newest else None
