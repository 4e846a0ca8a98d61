"""Writes a packet: the page, the prompts and the dispositions, each whole or not at all, under one number."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, StaleDispositionContract
from dos.loop import gate
from dos.packets import prompts
from dos.packets.packet import Packet, encode_dispositions
from dos.packets.prompts import Shippable
from dos.text import quote


def prompts_path(packet: Path) -> Path:
    """Where the prompts of a packet are: `next-up-2026-01-31-1.md` has them in `next-up-2026-01-31-1.prompts.json`."""
    return (
        packet
        if packet.name.endswith(".prompts.json")
        else packet.with_name(f"{packet.stem}.prompts.json")
    )


def assert_packet_shippable(path: Path | str, rendered_pick_count: int) -> Shippable:
    """By what the disk holds now. `path` is the packet or its prompts."""
    try:
        found = prompts_path(Path(path)).read_bytes()
    except (OSError, ValueError):
        found = None
    return prompts.shippable(found, rendered_pick_count)


MOST_A_DAY = 10_000


class PacketFiles(Struct, frozen=True, kw_only=True):
    tag: str
    packet: Path
    prompts: Path
    dispositions: Path


def write_packet(
    directory: Path, packet: Packet, date: str, render: Callable[[str], str]
) -> PacketFiles:
    """`render` gives the page for a tag. The page comes last: who sees it finds the files it speaks of."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _ignore(directory)
        files = _claim(directory, packet, date)
        _put(files.prompts, prompts.encode_prompts(packet.picks))
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


def _claim(directory: Path, packet: Packet, date: str) -> PacketFiles:
    """The first number of the day that nobody has: two writers never share one."""
    for number in range(1, MOST_A_DAY):
        tag = f"{date}-{number}"
        files = PacketFiles(
            tag=tag,
            packet=directory / f"next-up-{tag}.md",
            prompts=directory / f"next-up-{tag}.prompts.json",
            dispositions=directory / f".dispositions-{tag}.json",
        )
        if not files.packet.exists() and _put(
            files.dispositions, encode_dispositions(packet, tag), only_new=True
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


LARGEST_FILE = 16 << 20
_NAME = re.compile(r"\.dispositions-(?P<tag>.+)\.json")


def read_dispositions(path: Path) -> gate.Packet:
    """The race is looked for first: who lost it wrote no picks, or half of them."""
    named = _NAME.fullmatch(path.name)
    if named and _race(path.with_name(f".race-{named['tag']}.json")):
        return gate.Packet(raced=True)
    return gate.Packet(picks=gate.dispositions(_read(path), str(path)))


def _race(path: Path) -> bool:
    try:
        return path.is_file() and gate.is_race(path.read_bytes()[:LARGEST_FILE])
    except OSError:
        return False  # nothing that can be read says that there was one


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            what = "is not a file" if path.exists() else "does not exist"
            raise StaleDispositionContract(
                f"{path} {what}", hint="Give the path of a .dispositions-TAG.json file."
            )
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise StaleDispositionContract(
                f"{path} has {size} bytes", hint=f"At most {LARGEST_FILE} are read."
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StaleDispositionContract(
            f"{quote(str(path))}: {why}", hint="Give the path of a readable file."
        ) from error
