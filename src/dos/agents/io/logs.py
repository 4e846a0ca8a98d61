"""The logs of workers and agents: one folder a lane, with a limited number of runs.

The folder of a lane is `logs/SLUG` in the state directory; names begin with the run id, so they
sort by time.
"""

import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from dos.fleet.effects import RunAgent
from dos.journal.settings import beyond_limit
from dos.lease import Lease
from dos.machine.streams import OLDER
from dos.text import slug

RUN_ID_LENGTH = 19
STARTS_KEPT = 100  # of one run, which may live for weeks
LARGEST_SUPERVISOR_LOG = 10_000_000
_OF_WORKER = ".worker.log"
_FAILURES = ("error: ", "Traceback ")
_NAME = re.compile(r"(RID-[0-9A-Z]{15})-(\d{1,9})\.(\d{1,9})\.log")


def agent_log(state: Path, started: RunAgent) -> Path:
    """The log of one start of an agent. Creates the folder."""
    name = f"{started.run_id}-{started.iteration}.{started.attempt}.log"
    return _folder(state, started.run_lease.lane) / name


def worker_log(state: Path, lane: str, run_id: str) -> Path:
    """The log of a worker. Creates the folder."""
    return _folder(state, lane) / f"{run_id}{_OF_WORKER}"


def supervisor_log(state: Path) -> Path:
    """The one log of all supervisors. A large one is moved aside, and a new one is begun."""
    return _lasting_log(state, "supervisor.log")


def server_log(state: Path) -> Path:
    """The one log of all servers that supervisors start, kept as that of the supervisors."""
    return _lasting_log(state, "server.log")


def _lasting_log(state: Path, name: str) -> Path:
    log = state / "logs" / name
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LARGEST_SUPERVISOR_LOG:
        log.replace(log.with_suffix(".1.log"))
    return log


def prune_lane(state: Path, lease: Lease, keep: float | None) -> None:
    """Delete the logs of the lane's oldest runs, so that `keep` runs are left; None: delete none.

    The logs of the live run, and of the one before it, always stay.
    """
    if keep is None:
        return
    runs = _runs_in(_folder(state, lease.lane))
    runs.pop(lease.run_id, None)
    for logs in _oldest(runs, max(1, int(keep) - 1)):
        delete(logs)


def old_runs(
    state: Path, keep: float | None, live: Collection[str]
) -> tuple[list[list[Path]], int]:
    """Return the logs of each of the oldest runs of all lanes, and the number of runs that stay.

    Each lane keeps `keep` runs, among them the live ones and one more. None: all stay.
    """
    old: list[list[Path]] = []
    kept = 0
    for folder in sorted((state / "logs").glob("*/")):
        runs = _runs_in(folder)
        ended = {run: logs for run, logs in runs.items() if run not in live}
        found: list[list[Path]] = []
        if keep is not None:
            found = _oldest(ended, max(1, int(keep) - len(runs) + len(ended)))
        old += found
        kept += len(runs) - len(found)
    return old, kept


def _runs_in(folder: Path) -> dict[str, list[Path]]:
    """The logs of a lane's folder, by run."""
    runs: dict[str, list[Path]] = {}
    for log in folder.glob("RID-*.log"):
        runs.setdefault(log.name[:RUN_ID_LENGTH], []).append(log)
    return runs


def prune_run(state: Path, lane: str, run_id: str) -> None:
    """Delete the logs of a run's oldest agents, so that `STARTS_KEPT` are left."""
    starts: dict[str, list[Path]] = {}
    for log in _folder(state, lane).glob(f"{run_id}-*.log"):
        start = log.name.removesuffix(".log").removesuffix(OLDER)
        starts.setdefault(start, []).append(log)
    for logs in _oldest(starts, STARTS_KEPT):
        delete(logs)


def _oldest(groups: dict[str, list[Path]], keep: int) -> list[list[Path]]:
    """The groups of logs that changed longest ago, which leave `keep`."""
    changed = {}
    for name, logs in groups.items():
        changed[name] = max(log.stat().st_mtime for log in logs)
    return [groups[name] for name in beyond_limit(changed, keep)]


def delete(logs: list[Path]) -> None:
    """Delete the logs; one that is gone already is no error."""
    for log in logs:
        log.unlink(missing_ok=True)


def _folder(state: Path, lane: str) -> Path:
    """The log folder of a lane. Creates it."""
    folder = state / "logs" / slug(lane)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Log(Struct, frozen=True, order=True):
    """The log of one start. Logs sort by the time they were begun, because run ids do."""

    run_id: str
    iteration: int
    attempt: int
    path: Path


def lane_logs(state: Path, lane: str, run_id: str = "") -> list[Log]:
    """The agent logs of a lane, oldest first; with a run id, only that run's."""
    return _logs_in(state / "logs" / slug(lane), run_id)


class FailedStart(Struct, frozen=True):
    """What a worker printed that failed before it started an agent."""

    run_id: str
    path: Path
    lines: tuple[str, ...]


def failed_start(state: Path, lane: str, run_id: str = "") -> FailedStart | None:
    """The newest worker of a lane, where it failed before it started an agent; else None."""
    folder = state / "logs" / slug(lane)
    newest = max(folder.glob(f"{run_id or 'RID-'}*{_OF_WORKER}"), default=None)
    if newest is None or _logs_in(folder, newest.name.removesuffix(_OF_WORKER)):
        return None
    try:
        lines = newest.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None  # old logs are removed
    if not any(line.startswith(_FAILURES) for line in lines):
        return None
    return FailedStart(newest.name.removesuffix(_OF_WORKER), newest, tuple(lines))


def lanes_with_logs(state: Path) -> list[str]:
    """The lanes that have agent logs, each by the slug of its name."""
    folders = sorted((state / "logs").glob("*/"))
    return [folder.name for folder in folders if _logs_in(folder, "")]


def modified_ms(log: Log) -> int | None:
    """When the log was last written; None when it is gone."""
    try:
        return log.path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None


def _logs_in(folder: Path, run_id: str) -> list[Log]:
    """The agent logs of a folder, oldest first."""
    logs = []
    for path in folder.glob(f"{run_id or 'RID-'}*.log"):
        name = _NAME.fullmatch(path.name)
        if name:
            logs.append(Log(name[1], int(name[2]), int(name[3]), path))
    return sorted(logs)
