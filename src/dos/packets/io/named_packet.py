"""What became of each pick of a packet, by the files beside it."""

import re
from pathlib import Path

from dos.errors import StaleDispositionContract
from dos.loop import gate
from dos.loop.gate import Packet
from dos.text import quote

LARGEST_FILE = 16 << 20
_NAME = re.compile(r"\.dispositions-(?P<tag>.+)\.json")


def gather(path: Path) -> Packet:
    """The race is looked for first: who lost it wrote no picks, or half of them."""
    named = _NAME.fullmatch(path.name)
    if named and _race(path.with_name(f".race-{named['tag']}.json")):
        return Packet(raced=True)
    return Packet(picks=gate.dispositions(_read(path), str(path)))


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
