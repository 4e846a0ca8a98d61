"""`dos status` and `dos loop` as text and JSON: supervisors, workers, units, stops and plans."""

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from msgspec import Struct

from dos.backlog import waiting
from dos.backlog.pickable import Answer, Verdict
from dos.backlog.waiting import Waiting, Waits
from dos.fleet.population.types import PlanRow, SupervisePolicy, SuperviseVerdict
from dos.fleet.state.fleet import FleetRun, FleetState, UnitState
from dos.lease import Lease
from dos.loop import tokens
from dos.text import plural
from dos.units.unit import Unit

SHOWN = 5  # of lists that may be long
STOPS_KEPT = 10


class Supervisor(Struct, frozen=True, kw_only=True):
    """A supervisor of this workspace, on any host."""

    host: str
    pid: int | None
    state: str  # running | silent: its lease expired | gone: its process has exited


class Worker(Struct, frozen=True, kw_only=True):
    """A lease on a lane, and the unit that its run works on."""

    lane: str
    holder: str
    run_id: str
    fence: int
    unit: str
    lapsed: bool


class UnitRow(Struct, frozen=True, kw_only=True):
    """A declared unit."""

    unit: str
    title: str
    lane: str
    state: str  # landed | working | held | open
    held: str  # why it may not be offered; empty when it may
    held_because: str
    commit: str
    tries: list[str]
    waiting: list[Waiting] = []  # why no worker is on it; the one that clears last comes first


class Stopped(Struct, frozen=True, kw_only=True):
    """A run that has stopped."""

    run_id: str
    lane: str
    stop_reason: str
    needs: str
    reason: str


class View(Struct, frozen=True, kw_only=True):
    """What `dos status` shows."""

    supervisors: list[Supervisor]
    workers: list[Worker]
    units: list[UnitRow]
    stopped: list[Stopped]
    salvaged: list[str]  # refs, newest last, then directories of files that fit in no ref
    warnings: list[str]


def view(
    fleet: FleetState,
    leases: Sequence[tuple[Lease, bool]],
    units: Sequence[tuple[Unit, str, Verdict]],
    *,
    supervisors: Sequence[Supervisor] = (),
    salvaged: Sequence[str] = (),
    waits: Mapping[str, Waits] = {},
) -> View:
    """Return what `dos status` shows, without warnings.

    `leases` come with whether each has expired, `units` with their lane and verdict; `waits` says
    what each unit waits for.
    """
    stopped = [_stopped(run_id, run) for run_id, run in fleet.runs.items() if run.stop_reason]
    return View(
        supervisors=list(supervisors),
        workers=[_worker(fleet, lease, lapsed) for lease, lapsed in leases],
        units=[
            _unit(fleet, unit, lane, verdict, waits.get(unit.name, ()))
            for unit, lane, verdict in units
        ],
        stopped=stopped[-STOPS_KEPT:],
        salvaged=list(salvaged),
        warnings=[],
    )


def _worker(fleet: FleetState, lease: Lease, lapsed: bool) -> Worker:
    run = fleet.runs.get(lease.run_id)
    return Worker(
        lane=lease.lane,
        holder=lease.holder,
        run_id=lease.run_id,
        fence=lease.fence,
        unit=run.unit if run else "",
        lapsed=lapsed,
    )


def _stopped(run_id: str, run: FleetRun) -> Stopped:
    return Stopped(
        run_id=run_id,
        lane=run.lane,
        stop_reason=run.stop_reason,
        needs=run.needs,
        reason=run.stop_detail,
    )


def _unit(fleet: FleetState, unit: Unit, lane: str, verdict: Verdict, waits: Waits) -> UnitRow:
    """Return the row of a unit: landed, held, worked on, or open."""
    unit_state = fleet.units.get(unit.name, UnitState())
    if verdict.reason in (Answer.SHIPPED, Answer.IN_FLIGHT):
        verdict = Verdict(held=False)  # it is done, or worked on: nothing holds it
    state = "open"
    if unit_state.landed:
        state = "landed"
    elif verdict.held:
        state = "held"
    elif unit_state.claimed_by:
        state = "working"
    return UnitRow(
        unit=unit.name,
        title=unit.title,
        lane=lane,
        state=state,
        held=verdict.reason or "",
        held_because=verdict.evidence,
        commit=unit_state.landed,
        tries=unit_state.tries,
        waiting=list(waits),
    )


def render(status: View, exited: Collection[int] = ()) -> str:
    """Return the text of `dos status`.

    `exited` are the fences of the leases whose process has exited: their workers do not work,
    although their leases are valid until they expire or are revoked.
    """
    lines = [_supervisor_line(supervisor) for supervisor in status.supervisors]
    if not lines:
        lines = ["no supervisor runs; `dos up` starts one"]
    valid = [row for row in status.workers if not row.lapsed]
    working = [row for row in valid if row.fence not in exited]
    gone = [row for row in valid if row.fence in exited]
    landed = [row for row in status.units if row.state == "landed"]
    counts = [f"{len(working)} working"]
    if gone:
        counts.append(f"{len(gone)} exited")
    counts.append(f"{len(landed)} of {len(status.units)} units landed")
    lines.append(", ".join(counts))
    if working:
        lines += ["", "working:"]
        lines += map(_worker_line, working)
    if gone:
        lines += ["", "exited; a supervisor frees their lanes, `dos lease-lane reap` does so now:"]
        lines += map(_worker_line, gone)
    if status.units:
        abandoned = {row.unit for row in gone}
        lines += ["", "units:"]
        lines += [_unit_line(row, row.unit in abandoned) for row in status.units]
    if status.stopped:
        lines += ["", "last stops:"]
        lines += map(_stop_line, status.stopped[-SHOWN:])
    if status.salvaged:
        lines += ["", "salvaged work:", *_salvaged_lines(status.salvaged)]
    if status.warnings:
        lines += ["", "warnings:", *(f"  {line}" for line in status.warnings)]
    return "\n".join(lines)


def _worker_line(row: Worker) -> str:
    unit = row.unit or "(choosing)"
    return f"  {row.lane:<14} {unit:<18} {row.holder}  fence {row.fence}"


def _unit_line(row: UnitRow, worker_exited: bool) -> str:
    """Return the line of a unit: its state, its commit, what it waits for, and past failures."""
    state = row.state
    if worker_exited and state == "working":
        state = "exited"
    line = f"  {state:<8} {row.unit:<18} {row.lane:<12}"
    if row.commit:
        line += f"  {row.commit[:9]}"
    if row.waiting:
        line += f"  {waiting.describe_waits(row.waiting)}"
    elif row.held:
        line += f"  {row.held}: {row.held_because}"
    if row.tries:
        failed = plural(len(row.tries), "failed attempt")
        line += f"  ({failed}, the last: {row.tries[-1]})"
    return line


def _stop_line(row: Stopped) -> str:
    reason = f"{tokens.words(row.stop_reason)}: {row.reason}"
    return f"  {row.lane:<14} {reason}; {tokens.needs_words(row.needs)}"


def _supervisor_line(row: Supervisor) -> str:
    states = {
        "running": "runs",
        "silent": "has not renewed its lease in time",
        "gone": "has exited; `dos up` starts another",
    }
    return f"the supervisor on {row.host} (process {row.pid}) {states[row.state]}"


def _salvaged_lines(salvaged: Sequence[str]) -> list[str]:
    """Return the commands that show the newest saved work."""
    lines = []
    for where in salvaged[-SHOWN:]:
        command = "git log" if where.startswith("refs/") else "ls"
        lines.append(f"  {command} {where}")
    more = len(salvaged) - SHOWN
    if more > 0:
        lines.append(f"  and {more} more: dos salvage list")
    return lines


def render_population(
    verdict: SuperviseVerdict, policy: SupervisePolicy, handles: Mapping[str, str]
) -> str:
    """Return the text of a population plan, a line for each row with the command that enacts it."""
    counts = f"alive {verdict.alive}/{verdict.target}, admissible {verdict.admissible}"
    lines = [f"SUPERVISE {verdict.answer}: {counts}", verdict.reason]
    for row in verdict.spawn:
        lines.append(f"spawn {row.lane}  — run: {launch(policy, row.lane)}")
    for row in verdict.reap:
        command = f"dos lease-lane reap --lane {quote(row.lane)}"
        lines.append(f"reap {row.lane} ({row.reason}) — run: {command}")
    lines += [f"flag {row.lane} ({row.reason})" for row in verdict.flag]
    for row in verdict.proposed_halt:
        lines.append(f"propose-halt {row.lane} ({row.reason}) — enact with: {halt(row, handles)}")
    lines += [f"hold {row.lane} ({row.reason})" for row in verdict.hold]
    lines += [f"blocked {blocked.lane} ({blocked.reason})" for blocked in verdict.blocked]
    return "\n".join(lines)


def launch(policy: SupervisePolicy, lane: str) -> str:
    """Return the command that launches a worker; the lane's name is quoted as one word."""
    return policy.worker_launch_template.replace("{lane}", quote(lane))


def halt(row: PlanRow, handles: Mapping[str, str]) -> str:
    """Return the command that stops the worker of a row."""
    handle = quote(handles.get(row.lane, row.lane))
    return f"dos halt --handle {handle} --lane {quote(row.lane)}"
