"""Writes a packet: the page, the prompts and the dispositions, each whole or not at all, under one number."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.packets import markdown, prompts
from dos.packets.packet import Packet
from dos.packets.prompts import Shippable


def sidecar(packet: Path) -> Path:
    """Where the prompts of a packet are: `next-up-2026-01-31-1.md` has them in `next-up-2026-01-31-1.prompts.json`."""
    return (
        packet
        if packet.name.endswith(".prompts.json")
        else packet.with_name(f"{packet.stem}.prompts.json")
    )


def assert_packet_shippable(path: Path | str, rendered_pick_count: int) -> Shippable:
    """By what the disk holds now. `path` is the packet or its prompts."""
    try:
        found = sidecar(Path(path)).read_bytes()
    except (OSError, ValueError):
        found = None
    return prompts.shippable(found, rendered_pick_count)


MOST_A_DAY = 10_000


class Written(Struct, frozen=True, kw_only=True):
    tag: str
    packet: Path
    prompts: Path
    dispositions: Path


def write(directory: Path, packet: Packet, date: str, render: Callable[[str], str]) -> Written:
    """`render` gives the page for a tag. The page comes last: who sees it finds the files it speaks of."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _ignore(directory)
        files = _claim(directory, packet, date)
        _put(files.prompts, prompts.written(packet.picks))
        _put(files.packet, render(files.tag).encode())
    except OSError as error:
        raise BadInput(
            f"the packet cannot be written to {directory}: {error.strerror}",
            hint="Check [paths] next_packets: dos config get paths.next_packets",
        ) from error
    answer = assert_packet_shippable(files.packet, len(packet.picks))
    if answer.refuse:
        raise BadInput(f"{files.prompts}: {answer.reason}", hint="Write the packet again.")
    return files


def _claim(directory: Path, packet: Packet, date: str) -> Written:
    """The first number of the day that nobody has: two writers never share one."""
    for number in range(1, MOST_A_DAY):
        tag = f"{date}-{number}"
        files = Written(
            tag=tag,
            packet=directory / f"next-up-{tag}.md",
            prompts=directory / f"next-up-{tag}.prompts.json",
            dispositions=directory / f".dispositions-{tag}.json",
        )
        if not files.packet.exists() and _put(
            files.dispositions, markdown.dispositions(packet, tag), only_new=True
        ):
            return files
    raise BadInput(
        f"there are {MOST_A_DAY} packets of {date} in {directory}", hint="Remove old ones."
    )


def _put(path: Path, data: bytes, *, only_new: bool = False) -> bool:
    """False: somebody else has put a file there."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        if only_new:
            path.hardlink_to(name)
        else:
            Path(name).replace(path)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink(missing_ok=True)
    return True


def _ignore(directory: Path) -> None:
    """Packets are notes for today: a folder of our own stays out of `git status`, itself included."""
    home = next((place for place in (directory, *directory.parents) if place.name == ".dos"), None)
    if home and not (home / ".gitignore").exists():
        (home / ".gitignore").write_text("*\n", encoding="utf-8")
