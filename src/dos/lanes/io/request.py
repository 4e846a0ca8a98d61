"""The lease that a worker or a supervisor asks for."""

import os

from dos.config.schema import Config
from dos.errors import BadInput
from dos.lease import Request, key_hash
from dos.machine import process
from dos.regions import region


def request(
    config: Config,
    lane: str,
    *,
    run_id: str,
    lease_key: str = "",
    is_lock: bool = False,
    start_sha: str = "",
) -> Request:
    """What a process that renews by itself asks for."""
    me = process.identify(os.getpid())
    name = lane if is_lock else config.canonical_lane(lane)
    if name is None:
        raise BadInput(
            f"there is no lane {lane!r}; the lanes are {', '.join(config.known_lanes())}",
            hint="`dos man lane` lists them; [lanes] in dos.toml declares them.",
        )
    return Request(
        lane=name,
        holder=f"{process.host()}:{os.getpid()}",
        host=process.host(),
        ttl_ms=int(config.leases.ttl_seconds * 1000),
        region=region([]) if is_lock else config.lane_region(name) or region([]),
        kind="lock" if is_lock else "cluster",
        exclusive=not is_lock and config.is_exclusive(name),
        is_lock=is_lock,
        run_id=run_id,
        pid=os.getpid(),
        pid_started=me.started if me else None,
        system=process.system(),
        start_sha=start_sha,
        key_hash=key_hash(lease_key) if lease_key and not is_lock else "",
    )
