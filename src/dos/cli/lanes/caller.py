"""Identify the caller of a lane verb and the lease that its options name."""

import os
import time

from dos import run_ids
from dos.config.schema import Config
from dos.errors import BadInput
from dos.journal import streams
from dos.lanes.roster import GLOBAL
from dos.lease import Lease
from dos.machine import process as processes
from dos.machine.process import Identity
from dos.text import comparison_key, did_you_mean, quote, validated_name
from dos.times import utc_stamp
from dos.world import World

MOST_PROCESSES = 1 << 31
LONGEST_TTL_MINUTES = 525_600


def now_stamp() -> str:
    return utc_stamp(time.time_ns() // 1_000_000)


def loop_stamp(given: str) -> str:
    """The loop's stamp; now, where the caller has none."""
    return validated_name(given, "loop stamp") if given else now_stamp()


def run_id(given: str) -> str:
    """The run that is named, else the one that a launcher exported; empty without either."""
    if given:
        return run_ids.validated_run_id(given)
    for name in ("CID_RUN_ID", "DISPATCH_RUN_ID"):
        if exported := os.environ.get(name):
            try:
                return run_ids.validated_run_id(exported)
            except BadInput as error:
                raise BadInput(
                    f"${name}: {error.message}", hint=f"Unset {name}, or give --run-id."
                ) from error
    return ""


def identify_process(pid: int | None) -> Identity | None:
    """The process whose end is to free the lane. A pid alone is none: the next process may have it."""
    if pid is None:
        return None
    found = processes.identify(pid) if 0 < pid < MOST_PROCESSES else None
    if found is None:
        raise BadInput(
            f"no process {pid} runs on this host", hint="Give the worker's pid, or leave --pid out."
        )
    return found


def ttl_ms(minutes: float | None, config: Config) -> int:
    if minutes is None:
        return int(config.leases.manual_ttl.total_seconds() * 1000)
    if not 0 < minutes <= LONGEST_TTL_MINUTES:
        raise BadInput(
            f"a lease cannot last {minutes:g} minutes",
            hint=f"Give more than 0 and at most {LONGEST_TTL_MINUTES}.",
        )
    return max(1, int(minutes * 60_000))


def known_lane(world: World, lane: str) -> str:
    """The lane as it is declared. A name that nobody declared and nobody ever held can only be a mistake."""
    config = world.config
    if found := config.canonical_lane(lane):
        return found
    if (
        comparison_key(lane) == GLOBAL or world.loaded_config.problems
    ):  # what a broken file declares, nobody knows
        return lane
    with world.journal.backend.read() as view:
        if view.head(streams.lease(lane)):
            return lane
    raise BadInput(
        f"there is no lane {quote(lane)}: nobody declared it, and nobody ever held it; "
        + did_you_mean(lane, config.known_lanes(), "lanes"),
        hint="`dos man lane` lists the lanes; [lanes] in dos.toml declares them.",
    )


def find_lease(
    world: World, *, lane: str, owner: str = "", loop_ts: str = "", fence: int | None = None
) -> Lease | None:
    """The newest lease that fits everything that was given; an error where the lane's name can only be a mistake."""
    wanted = comparison_key(world.config.canonical_lane(lane) or lane) if lane else ""
    fits = [
        lease
        for lease in world.journal.leases()
        if (not wanted or comparison_key(lease.lane) == wanted)
        and (not owner or lease.holder == owner)
        and (not loop_ts or lease.loop_ts == loop_ts)
        and (fence is None or lease.fence == fence)
    ]
    if lane and not fits:
        known_lane(world, lane)
    return max(fits, key=lambda lease: lease.fence, default=None)


def validated_holder(lane: str | None, owner: str | None, fence: int | None) -> tuple[str, str]:
    """Lane and owner as a holder gives them: both, unless the fence says it all. An empty one is never everybody."""
    if fence is None and (lane is None or owner is None):
        missing = " and ".join(
            flag for flag, given in (("--lane", lane), ("--owner", owner)) if given is None
        )
        raise BadInput(
            f"{missing} must say which lease is meant", hint="Give --lane and --owner, or --fence."
        )
    return (
        "" if lane is None else validated_name(lane, "lane name"),
        "" if owner is None else validated_name(owner, "owner"),
    )
