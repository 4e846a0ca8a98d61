"""Packets as files: did the prompts that a packet shows reach the disk?"""

from pathlib import Path

from dos.plans.packets import prompts
from dos.plans.packets.prompts import Shippable


def sidecar(packet: Path) -> Path:
    """Where the prompts of a packet are: `next-up-2026-01-31-1.md` has them in `next-up-2026-01-31-1.prompts.json`."""
    return packet if packet.name.endswith(".prompts.json") else packet.with_name(f"{packet.stem}.prompts.json")


def assert_packet_shippable(path: Path | str, rendered_pick_count: int) -> Shippable:
    """By what the disk holds now. `path` is the packet or its prompts."""
    try:
        found = sidecar(Path(path)).read_bytes()
    except (OSError, ValueError):
        found = None
    return prompts.shippable(found, rendered_pick_count)
