"""Where the agents' logs are: a folder for each lane, a file for each time that an agent was started."""

import re
from pathlib import Path

from msgspec import Struct

from dos.records.names import slug

_NAME = re.compile(r"(RID-[0-9A-Z]{15})-(\d{1,9})\.(\d{1,9})\.log")


class Log(Struct, frozen=True, order=True):
    """In the order in which they were begun: run ids sort by time."""

    run_id: str
    iteration: int
    attempt: int
    path: Path


def of_lane(state: Path, lane: str, run_id: str = "") -> list[Log]:
    """The lane's logs, oldest first; with a run id, only that run's."""
    return _in(state / "logs" / slug(lane), run_id)


def lanes(state: Path) -> list[str]:
    """The folders that hold any, each named by the slug of its lane."""
    folders = sorted((state / "logs").glob("*/"))
    return [folder.name for folder in folders if _in(folder, "")]


def changed_ms(log: Log) -> int | None:
    """When something was last said in it; None when it is gone."""
    try:
        return log.path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None


def _in(folder: Path, run_id: str) -> list[Log]:
    found = (_NAME.fullmatch(path.name) for path in folder.glob(f"{run_id or 'RID-'}*.log"))
    return sorted(Log(name[1], int(name[2]), int(name[3]), folder / name[0]) for name in found if name)
