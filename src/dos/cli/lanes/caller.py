"""Identify the caller of a lane verb and the lease that its options name.

A lease is identified by its fence; lane, owner and loop stamp are other ways to find it.
"""

import os
from typing import Annotated

from msgspec import Struct

from dos import run_ids
from dos.config.schema import Config
from dos.errors import BadInput
from dos.journal import streams
from dos.lanes.io.parts import config_for
from dos.lanes.roster import GLOBAL
from dos.lease import Lease
from dos.machine import process
from dos.machine.process import Identity
from dos.text import comparison_key, did_you_mean, quote, validated_name
from dos.times import now_stamp
from dos.verbs.args import Option
from dos.world import World

MOST_PROCESSES = 1 << 31  # no system has larger pids
LONGEST_TTL_MINUTES = 525_600  # a year


class HeldLeaseArgs(Struct, kw_only=True):
    """The options by which a holder names its lease: lane and owner, or the fence."""

    lane: Annotated[str | None, Option(help="lane that you hold", metavar="LANE")] = None
    owner: Annotated[
        str | None, Option(help="owner name that you took it under", metavar="OWNER")
    ] = None
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    fence: Annotated[int | None, Option(help="only the lease with this fence", metavar="N")] = None

    def find(self, world: World) -> tuple[Lease | None, str, str]:
        """Return the newest lease that fits, with its lane and owner; else those of the options.

        Raises BadInput where the options name no lease at all, or a lane that does not exist.
        """
        lane, owner = validated_holder(self.lane, self.owner, self.fence)
        lease = find_lease(world, lane=lane, owner=owner, loop_ts=self.loop_ts, fence=self.fence)
        if lease is None:
            return None, lane, owner
        return lease, lease.lane, lease.holder


def optional_name(text: str, what: str) -> str:
    """Return the validated name, or "" if the option was not given."""
    if not text:
        return ""
    return validated_name(text, what)


def loop_stamp(text: str) -> str:
    """Return the given loop stamp, validated; the current time if there is none."""
    return optional_name(text, "loop stamp") or now_stamp()


def run_id(text: str) -> str:
    """Return the given run id, else the one that the launcher exported; "" without either.

    Raises BadInput for anything that is not a run id, and says which variable held it.
    """
    if text:
        return run_ids.validated_run_id(text)
    for name in run_ids.LAUNCHER_VARIABLES:
        exported = os.environ.get(name)
        if not exported:
            continue
        try:
            return run_ids.validated_run_id(exported)
        except BadInput as error:
            raise BadInput(
                f"${name}: {error.message}", hint=f"Unset {name}, or give --run-id."
            ) from error
    return ""


def identify_process(pid: int | None) -> Identity | None:
    """Return the process with its start time: a pid alone may belong to another process later.

    Raises BadInput if no such process runs on this host.
    """
    if pid is None:
        return None
    identity = None
    if 0 < pid < MOST_PROCESSES:
        identity = process.identify(pid)
    if identity is None:
        raise BadInput(
            f"no process {pid} runs on this host", hint="Give the worker's pid, or leave --pid out."
        )
    return identity


def ttl_ms(minutes: float | None, config: Config) -> int:
    """Return the lifetime of a lease in milliseconds; without --ttl-minutes, the configured one."""
    if minutes is None:
        return int(config.leases.manual_ttl.total_seconds() * 1000)
    if not 0 < minutes <= LONGEST_TTL_MINUTES:
        raise BadInput(
            f"a lease cannot last {minutes:g} minutes",
            hint=f"Give more than 0 and at most {LONGEST_TTL_MINUTES}.",
        )
    return max(1, int(minutes * 60_000))


def known_lane(world: World, lane: str) -> str:
    """Return the lane's declared name; raises BadInput if it was neither declared nor ever held.

    A part of a repeatable lane is known while a plan declares its unit. If dos.toml has errors,
    its lanes cannot be known and the name is returned as given.
    """
    config = config_for(world, lane)
    declared = config.canonical_lane(lane)
    if declared:
        return declared
    if comparison_key(lane) == GLOBAL or world.loaded_config.problems:
        return lane
    with world.journal.backend.read() as view:
        if view.head(streams.lease(lane)):
            return lane
    raise BadInput(
        f"there is no lane {quote(lane)}: it is not declared and was never held; "
        + did_you_mean(lane, config.known_lanes(), "lanes"),
        hint="`dos man lane` lists the lanes; [lanes] in dos.toml declares them.",
    )


def find_lease(
    world: World, *, lane: str, owner: str = "", loop_ts: str = "", fence: int | None = None
) -> Lease | None:
    """Return the newest lease that fits all of the given options, or None.

    Raises BadInput if no lease fits and the lane's name is unknown.
    """
    lane_key = ""
    if lane:
        lane_key = comparison_key(world.config.canonical_lane(lane) or lane)
    matches = [
        lease
        for lease in world.journal.leases()
        if (not lane_key or comparison_key(lease.lane) == lane_key)
        and (not owner or lease.holder == owner)
        and (not loop_ts or lease.loop_ts == loop_ts)
        and (fence is None or lease.fence == fence)
    ]
    if lane and not matches:
        known_lane(world, lane)
    return max(matches, key=lambda lease: lease.fence, default=None)


def validated_holder(lane: str | None, owner: str | None, fence: int | None) -> tuple[str, str]:
    """Return lane and owner; both are required unless --fence is given.

    An empty option is refused as a name, so that it cannot match every lease.
    """
    missing = []
    if lane is None:
        missing.append("--lane")
    if owner is None:
        missing.append("--owner")
    if fence is None and missing:
        raise BadInput(
            f"{' and '.join(missing)} must say which lease is meant",
            hint="Give --lane and --owner, or --fence.",
        )
    lane_name = ""
    if lane is not None:
        lane_name = validated_name(lane, "lane name")
    owner_name = ""
    if owner is not None:
        owner_name = validated_name(owner, "owner")
    return lane_name, owner_name
