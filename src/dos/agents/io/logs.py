"""The logs of workers and agents: a folder for each lane, and in it no more runs than are to be kept."""

import re
from pathlib import Path

from msgspec import Struct

from dos.fleet.effects import RunAgent
from dos.lease import Lease
from dos.machine.execute import OLDER
from dos.text import slug

RUN_ID_LENGTH = 19
STARTS_KEPT = 100  # of one run: a worker may live for weeks
LARGEST_SUPERVISOR_LOG = 10_000_000


def agent_log(state: Path, started: RunAgent) -> Path:
    return (
        _folder(state, started.run_lease.lane)
        / f"{started.run_id}-{started.iteration}.{started.attempt}.log"
    )


def worker_log(state: Path, lane: str, run_id: str) -> Path:
    return _folder(state, lane) / f"{run_id}.worker.log"


def supervisor_log(state: Path) -> Path:
    """One for all of them; when it has grown large, it is put aside and another is begun."""
    log = state / "logs" / "supervisor.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LARGEST_SUPERVISOR_LOG:
        log.replace(log.with_suffix(".1.log"))
    return log


def prune_lane(state: Path, lease: Lease, keep: float | None) -> None:
    """Remove the logs of the lane's oldest runs; never those of the run that lives, nor of the one before it."""
    if keep is None:
        return
    runs: dict[str, list[Path]] = {}
    for log in _folder(state, lease.lane).glob("RID-*.log"):
        runs.setdefault(log.name[:RUN_ID_LENGTH], []).append(log)
    runs.pop(lease.run_id, None)
    newest = sorted(runs.values(), key=lambda files: max(map(_modified_at, files)), reverse=True)
    for log in (log for files in newest[max(1, int(keep) - 1) :] for log in files):
        log.unlink(missing_ok=True)


def prune_run(state: Path, lane: str, run_id: str) -> None:
    """Remove the logs of a run's oldest agents."""
    starts: dict[str, list[Path]] = {}
    for log in _folder(state, lane).glob(f"{run_id}-*.log"):
        starts.setdefault(log.name.removesuffix(".log").removesuffix(OLDER), []).append(log)
    newest = sorted(starts.values(), key=lambda files: max(map(_modified_at, files)), reverse=True)
    for log in (log for files in newest[STARTS_KEPT:] for log in files):
        log.unlink(missing_ok=True)


def _folder(state: Path, lane: str) -> Path:
    folder = state / "logs" / slug(lane)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _modified_at(log: Path) -> float:
    return log.stat().st_mtime


_NAME = re.compile(r"(RID-[0-9A-Z]{15})-(\d{1,9})\.(\d{1,9})\.log")


class Log(Struct, frozen=True, order=True):
    """In the order in which they were begun: run ids sort by time."""

    run_id: str
    iteration: int
    attempt: int
    path: Path


def lane_logs(state: Path, lane: str, run_id: str = "") -> list[Log]:
    """The lane's logs, oldest first; with a run id, only that run's."""
    return _logs_in(state / "logs" / slug(lane), run_id)


def lanes_with_logs(state: Path) -> list[str]:
    """The folders that hold any, each named by the slug of its lane."""
    folders = sorted((state / "logs").glob("*/"))
    return [folder.name for folder in folders if _logs_in(folder, "")]


def modified_ms(log: Log) -> int | None:
    """When something was last said in it; None when it is gone."""
    try:
        return log.path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None


def _logs_in(folder: Path, run_id: str) -> list[Log]:
    found = (_NAME.fullmatch(path.name) for path in folder.glob(f"{run_id or 'RID-'}*.log"))
    return sorted(
        Log(name[1], int(name[2]), int(name[3]), folder / name[0]) for name in found if name
    )
