"""A block of ports for each lane, so that two agents that start a server each do not meet."""

from collections.abc import Sequence
from hashlib import sha256

from dos.errors import BadInput

LAST_PORT = 65_535
OTHER_LANES = 100  # blocks for those that are not declared: further up, the system gives ports away by itself


def block(lanes: Sequence[str], lane: str, base: int, count: int) -> range:
    """The lane's ports: by its place among the lanes; one that is not among them gets a block behind all of theirs."""
    if count <= 0:
        return range(base, base)
    blocks = (LAST_PORT + 1 - base) // count
    if lane in lanes:
        place = list(lanes).index(lane)
    else:
        others = max(1, min(OTHER_LANES, blocks - len(lanes)))
        place = len(lanes) + int.from_bytes(sha256(lane.encode("utf-8", "surrogatepass")).digest()[:8]) % others
    if place >= blocks:
        raise BadInput(
            f"lane {lane!r} would get ports beyond {LAST_PORT}: {count} for each lane from {base} on are enough for"
            f" {blocks} lanes, and it is number {place + 1}",
            hint="Lower workers.ports or workers.port_base: dos config set workers.ports 5",
        )
    return range(base + place * count, base + (place + 1) * count)


def environment(ports: range) -> dict[str, str]:
    return {"DOS_PORT_BASE": str(ports.start), "DOS_PORT_COUNT": str(len(ports))} if ports else {}
