"""Write the files of a packet, each whole or not at all, and read its dispositions.

A packet has a number of its day. Its dispositions are written first and take that number; the
page is written last, so that it never refers to a file that is missing.
"""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, StaleDispositionContract
from dos.journal.settings import beyond_limit
from dos.loop import gate
from dos.packets import sidecar
from dos.packets.packet import Packet, encode_dispositions
from dos.packets.sidecar import Shippable
from dos.text import quote

MOST_A_DAY = 10_000
LARGEST_FILE = 16 << 20  # bytes
# The files of a packet; those of dos-kernel may have two more.
_OF_PACKET = re.compile(
    r"(?:next-up-|\.(?:dispositions|race|verdict)-)(?P<tag>\d{4}-\d\d-\d\d-\d+)"
    r"(?:\.md|\.prompts\.json|\.json)"
)
_NAME = re.compile(r"\.dispositions-(?P<tag>.+)\.json")


class PacketFiles(Struct, frozen=True, kw_only=True):
    """The files of one packet."""

    tag: str
    packet: Path
    prompts: Path
    dispositions: Path


def prompts_path(packet: Path) -> Path:
    """The prompts file of a packet: `next-up-1.md` has `next-up-1.prompts.json`."""
    if packet.name.endswith(".prompts.json"):
        return packet
    return packet.with_name(f"{packet.stem}.prompts.json")


def assert_packet_shippable(path: Path | str, rendered_pick_count: int) -> Shippable:
    """Decide by the disk whether a packet may be used. `path` is the packet or its prompts.

    A file that cannot be read counts as missing, and so refuses a packet that has picks.
    """
    try:
        content = prompts_path(Path(path)).read_bytes()
    except (OSError, ValueError):
        return sidecar.shippable(None, rendered_pick_count)
    return sidecar.shippable(content, rendered_pick_count)


def write_packet(
    directory: Path, packet: Packet, date: str, render: Callable[[str], str]
) -> PacketFiles:
    """Write the files of a packet and return their paths.

    `render` gives the page for a tag. The page is written last, so that whoever sees it finds the
    other files. Raises BadInput when they cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _ignore(directory)
        files = _claim(directory, packet, date)
        _put(files.prompts, sidecar.encode_prompts(packet.picks))
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


def old_packets(directory: Path, keep: float | None) -> tuple[list[list[Path]], int]:
    """Return the files of each packet that is older than the newest `keep`, and the number of
    packets that stay. None: all stay. Files of other names are never among them."""
    packets: dict[str, list[Path]] = {}
    changed: dict[str, float] = {}
    for path in sorted(directory.glob("*")) if directory.is_dir() else []:
        name = _OF_PACKET.fullmatch(path.name)
        if name and path.is_file() and not path.is_symlink():
            packets.setdefault(name["tag"], []).append(path)
            changed[name["tag"]] = max(changed.get(name["tag"], 0.0), path.stat().st_mtime)
    old = [packets[tag] for tag in beyond_limit(changed, keep)]
    return old, len(packets) - len(old)


def delete_packet(files: list[Path]) -> None:
    """Delete the files of a packet, the page first, so that it never refers to a missing file."""
    for path in sorted(files, key=lambda path: path.suffix != ".md"):
        path.unlink(missing_ok=True)


def _claim(directory: Path, packet: Packet, date: str) -> PacketFiles:
    """Take the first free number of the day by writing the dispositions.

    Only one of two concurrent writers can create that file.
    """
    for number in range(1, MOST_A_DAY):
        tag = f"{date}-{number}"
        files = PacketFiles(
            tag=tag,
            packet=directory / f"next-up-{tag}.md",
            prompts=directory / f"next-up-{tag}.prompts.json",
            dispositions=directory / f".dispositions-{tag}.json",
        )
        if files.packet.exists():
            continue
        if _put(files.dispositions, encode_dispositions(packet, tag), only_new=True):
            return files
    raise BadInput(
        f"there are {MOST_A_DAY} packets of {date} in {directory}", hint="Remove old ones."
    )


def _put(path: Path, data: bytes, *, only_new: bool = False) -> bool:
    """Write a file atomically. False when `only_new` and the file exists already."""
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
    """Keep packets below `.dos` out of `git status`: they are notes for one day."""
    for folder in (directory, *directory.parents):
        if folder.name == ".dos":
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            return


def read_dispositions(path: Path) -> gate.Packet:
    """The dispositions file of a packet, for the gate. Raises StaleDispositionContract.

    A race marker beside it counts first: the writer that lost a race wrote no picks, or only some.
    """
    name = _NAME.fullmatch(path.name)
    if name and _is_race(path.with_name(f".race-{name['tag']}.json")):
        return gate.Packet(raced=True)
    return gate.Packet(picks=gate.dispositions(_read(path), str(path)))


def _is_race(path: Path) -> bool:
    """Whether a race marker says that another writer won."""
    try:
        return path.is_file() and gate.is_race(path.read_bytes()[:LARGEST_FILE])
    except OSError:
        return False  # an unreadable marker proves no race


def _read(path: Path) -> bytes:
    """The content of a dispositions file. Raises StaleDispositionContract when there is none."""
    try:
        if not path.exists():
            raise _unusable(path, "does not exist")
        if not path.is_file():
            raise _unusable(path, "is not a file")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise StaleDispositionContract(
                f"{path} has {size} bytes", hint=f"At most {LARGEST_FILE} are read."
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StaleDispositionContract(
            f"{quote(str(path))}: {why}", hint="Give the path of a readable file."
        ) from error


def _unusable(path: Path, problem: str) -> StaleDispositionContract:
    return StaleDispositionContract(
        f"{path} {problem}", hint="Give the path of a .dispositions-TAG.json file."
    )
