"""`dos status` and `dos loop` as text and JSON: supervisors, workers, units, stops and plans."""

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from msgspec import Struct, structs

from dos.backlog import waiting
from dos.backlog.pickable import Answer, Verdict
from dos.backlog.waiting import Waiting, Waits
from dos.fleet.population.types import PlanRow, SupervisePolicy, SuperviseVerdict
from dos.fleet.state.fleet import FleetRun, FleetState, UnitState
from dos.fleet.state.live import Pause
from dos.lease import Lease
from dos.loop import tokens
from dos.reasons.table import Needs
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
    claimed: Collection[str] = (),
) -> View:
    """Return what `dos status` shows, without warnings.

    `leases` come with whether each has expired, `units` with their lane and verdict; `waits` says
    what each unit waits for; `claimed` are the units that a live run works on.
    """
    stopped = [_stopped(run_id, run) for run_id, run in fleet.runs.items() if run.stop_reason]
    return View(
        supervisors=list(supervisors),
        workers=[_worker(fleet, lease, lapsed) for lease, lapsed in leases],
        units=[
            _unit(
                fleet.units.get(unit.name, UnitState()),
                unit,
                lane,
                verdict,
                waits=waits.get(unit.name, ()),
                is_claimed=unit.name in claimed,
            )
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


def _unit(
    unit_state: UnitState,
    unit: Unit,
    lane: str,
    verdict: Verdict,
    *,
    waits: Waits,
    is_claimed: bool,
) -> UnitRow:
    """Return the row of a unit: landed, held, worked on, or open.

    A unit whose worker died is open again: the journal still names the run that claimed it.
    """
    if verdict.reason in (Answer.SHIPPED, Answer.IN_FLIGHT):
        verdict = Verdict(held=False)  # it is done, or worked on: nothing holds it
    state = "open"
    if unit_state.landed:
        state = "landed"
    elif verdict.held:
        state = "held"
    elif is_claimed:
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


class Circumstances(Struct, frozen=True, kw_only=True):
    """What the text of `dos status` says besides the view, whose fields are the JSON."""

    exited: Collection[int] = ()  # fences of leases whose process has exited
    waits: Mapping[int, Waits] = {}  # fence -> what the worker, or its agent, waits for
    pauses: Mapping[str, Pause] = {}  # by lane; "": the whole fleet
    asked: Collection[str] = ()  # lanes with an open decision
    died: Mapping[str, int] = {}  # lane -> how many of its workers died, and hold no lease
    failures: Mapping[str, str] = {}  # unit -> why its last attempt failed, without refs


def render(status: View, around: Circumstances = Circumstances()) -> str:
    """Return the text of `dos status`.

    A worker whose process has exited does not work, although its lease is valid until it expires
    or is revoked; neither does one that waits.
    """
    lines = [_supervisor_line(supervisor) for supervisor in status.supervisors]
    if not lines:
        lines = ["no supervisor runs; `dos up` starts one"]
    lines += [_pause_line(lane, pause) for lane, pause in around.pauses.items()]
    groups = _grouped_workers(status.workers, around)
    landed = [row for row in status.units if row.state == "landed"]
    counts = [f"{len(groups['working'])} working"]
    counts += [f"{len(groups[name])} {name}" for name in ("waiting", "exited") if groups[name]]
    counts.append(f"{len(landed)} of {len(status.units)} units landed")
    lines.append(", ".join(counts))
    for name, rows in groups.items():
        if rows:
            lines += ["", _GROUP_TITLES[name]]
            lines += [_worker_line(row, around) for row in rows]
    if around.died:
        lines += ["", "workers that died:"]
        lines += [_died_line(lane, count) for lane, count in around.died.items()]
    if status.units:
        abandoned = {row.unit for row in groups["exited"]}
        lines += ["", "units:"]
        for row in status.units:
            failure = around.failures.get(row.unit, "")
            lines.append(_unit_line(row, failure, worker_exited=row.unit in abandoned))
    if status.stopped:
        lines += ["", "last stops:"]
        lines += [_stop_line(row, around.asked) for row in status.stopped[-SHOWN:]]
    if status.salvaged:
        lines += ["", "saved work:", *_salvaged_lines(status.salvaged)]
    if status.warnings:
        lines += ["", "warnings:", *(f"  {line}" for line in status.warnings)]
    return "\n".join(lines)


_GROUP_TITLES = {
    "working": "working:",
    "waiting": "waiting:",
    "exited": "exited; a supervisor frees their lanes, `dos lease-lane reap` does so now:",
}


def _grouped_workers(workers: Sequence[Worker], around: Circumstances) -> dict[str, list[Worker]]:
    """Return the workers with a valid lease: those that work, wait, and have exited."""
    groups: dict[str, list[Worker]] = {name: [] for name in _GROUP_TITLES}
    for row in workers:
        if row.lapsed:
            continue
        if row.fence in around.exited:
            groups["exited"].append(row)
        elif row.fence in around.waits:
            groups["waiting"].append(row)
        else:
            groups["working"].append(row)
    return groups


def _worker_line(row: Worker, around: Circumstances) -> str:
    """Return the line of a worker: its lane, its unit, its process, and what it waits for."""
    unit = row.unit or "(no unit yet)"
    line = f"  {row.lane:<14} {unit:<18} {row.holder}"
    if row.fence in around.exited:
        return line
    if row.fence in around.waits:
        waits = around.waits[row.fence]
        return f"{line}  {waiting.describe_waits(waits)}" if waits else line
    if {"", row.lane} & around.pauses.keys():
        line += "  (pauses after this unit)"
    return line


def _died_line(lane: str, count: int) -> str:
    workers = plural(count, "worker")
    return f"  {lane:<14} {workers} died without recording a stop; `dos logs {quote(lane)}`"


def _pause_line(lane: str, pause: Pause) -> str:
    """Return who paused what and why, and what ends the pause."""
    what = "the fleet"
    command = "dos resume"
    if lane:
        what = f"lane {lane}"
        command += f" {quote(lane)}"
    why = ""
    if pause.text:
        why = f" ({pause.text})"
    return f"{what} is paused{why}; `{command}` ends the pause"


def _unit_line(row: UnitRow, failure: str, *, worker_exited: bool) -> str:
    """Return the line of a unit: its state, its commit, what it waits for, and past failures."""
    state = row.state
    if worker_exited and state == "open":
        state = "exited"
    line = f"  {state:<8} {row.unit:<18} {row.lane:<12}"
    if row.commit:
        line += f"  {row.commit[:9]}"
    if row.waiting:
        line += f"  {_describe_waits(row.waiting)}"
    elif row.held:
        line += f"  {row.held}: {row.held_because}"
    if row.tries and not any(wait.question for wait in row.waiting):  # the question says it
        line += f"  ({_describe_tries(row, failure)})"
    return line


def _describe_waits(waits: Sequence[Waiting]) -> str:
    """Return what a unit waits for; questions are listed with their ids by `dos decisions`."""
    first, *others = waits
    if first.question:
        first = structs.replace(first, clears_with="dos decisions")
    return waiting.describe_waits([first, *others])


def _describe_tries(row: UnitRow, failure: str) -> str:
    """Return how often the unit failed and, until it landed, why it did so last."""
    failed = plural(len(row.tries), "failed attempt")
    if row.commit or not failure:
        return failed
    return f"{failed}, the last: {failure}"


def _stop_line(row: Stopped, asked: Collection[str]) -> str:
    """Return the line of a stop; that it needs a person is left out once the lane does not."""
    line = f"  {row.lane:<14} {tokens.words(row.stop_reason)}: {row.reason}"
    if row.needs == Needs.OPERATOR and row.lane not in asked:
        return line
    return f"{line}; {tokens.needs_words(row.needs)}"


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
