"""The fleet at a glance: who keeps it going, who holds what, what landed, what stopped."""

from collections.abc import Mapping, Sequence
from shlex import quote

from msgspec import Struct

from dos.backlog import waiting
from dos.backlog.pickable import Answer, Verdict
from dos.backlog.waiting import Waiting, Waits
from dos.fleet.population.types import PlanRow, SupervisePolicy, SuperviseVerdict
from dos.fleet.state.fleet import FleetState
from dos.lease import Lease
from dos.loop import tokens
from dos.units.unit import Unit

SHOWN = 5  # of what there may be hundreds of


class Supervisor(Struct, frozen=True, kw_only=True):
    host: str
    pid: int | None
    state: str  # running | silent: its lease ran out | gone: its process, by the system's word


class Worker(Struct, frozen=True, kw_only=True):
    lane: str
    holder: str
    run_id: str
    fence: int
    unit: str
    lapsed: bool


class UnitRow(Struct, frozen=True, kw_only=True):
    unit: str
    title: str
    lane: str
    state: str  # landed | working | held | open
    held: str  # why it may not be offered; empty when it may
    held_because: str
    commit: str
    tries: list[str]
    waiting: list[Waiting] = []  # why nobody works on it; the one that clears last comes first


class Stopped(Struct, frozen=True, kw_only=True):
    run_id: str
    lane: str
    stop_reason: str
    needs: str
    reason: str


class View(Struct, frozen=True, kw_only=True):
    supervisors: list[Supervisor]
    workers: list[Worker]
    units: list[UnitRow]
    stopped: list[Stopped]
    salvaged: list[str]  # refs, newest last; then directories with what no ref could hold
    warnings: list[str]


def view(
    fleet: FleetState,
    leases: Sequence[tuple[Lease, bool]],
    units: Sequence[tuple[Unit, str, Verdict]],
    *,
    supervisors: Sequence[Supervisor] = (),
    salvaged: Sequence[str] = (),
    warnings: Sequence[str] = (),
    waits: Mapping[str, Waits] = {},
) -> View:
    """From the folded journal, the leases with whether each has lapsed, the units with their lanes and holds, and what
    each unit waits for."""
    return View(
        supervisors=list(supervisors),
        workers=[
            Worker(
                lane=lease.lane,
                holder=lease.holder,
                run_id=lease.run_id,
                fence=lease.fence,
                unit=fleet.runs[lease.run_id].unit if lease.run_id in fleet.runs else "",
                lapsed=lapsed,
            )
            for lease, lapsed in leases
        ],
        units=[_unit(fleet, *unit, waits.get(unit[0].name, ())) for unit in units],
        stopped=[
            Stopped(
                run_id=run_id,
                lane=run.lane,
                stop_reason=run.stop_reason,
                needs=run.needs,
                reason=run.stop_detail,
            )
            for run_id, run in fleet.runs.items()
            if run.stop_reason
        ][-10:],
        salvaged=list(salvaged),
        warnings=list(warnings),
    )


def _unit(fleet: FleetState, unit: Unit, lane: str, hold: Verdict, waits: Waits) -> UnitRow:
    seen = fleet.units.get(unit.name)
    state = "open"
    if hold.reason in (Answer.SHIPPED, Answer.IN_FLIGHT):
        hold = Verdict(held=False)  # it needs nothing: it is done, or being done
    if seen and seen.landed:
        state = "landed"
    elif hold.held:
        state = "held"
    elif seen and seen.claimed_by:
        state = "working"
    return UnitRow(
        unit=unit.name,
        title=unit.title,
        lane=lane,
        state=state,
        held=hold.reason or "",
        held_because=hold.evidence,
        commit=seen.landed if seen else "",
        tries=seen.tries if seen else [],
        waiting=list(waits),
    )


def render(seen: View) -> str:
    lines = [_supervisor(each) for each in seen.supervisors] or [
        "no supervisor runs; `dos up` starts one"
    ]
    working = [row for row in seen.workers if not row.lapsed]
    landed = [row for row in seen.units if row.state == "landed"]
    lines.append(f"{len(working)} working, {len(landed)} of {len(seen.units)} units landed")
    if working:
        lines += ["", "working:"]
        lines += [
            f"  {row.lane:<14} {row.unit or '(choosing)':<18} {row.holder}  fence {row.fence}"
            for row in working
        ]
    if seen.units:
        lines += ["", "units:"]
        for row in seen.units:
            proof = f"  {row.commit[:9]}" if row.commit else ""
            tried = f"  ({len(row.tries)}x not landed before: {row.tries[-1]})" if row.tries else ""
            held = f"  {row.held}: {row.held_because}" if row.held else ""
            waits = f"  {waiting.describe_waits(row.waiting)}" if row.waiting else held
            lines.append(f"  {row.state:<8} {row.unit:<18} {row.lane:<12}{proof}{waits}{tried}")
    if seen.stopped:
        lines += ["", "last stops:"]
        stops = seen.stopped[-SHOWN:]
        lines += [
            f"  {row.lane:<14} {tokens.words(row.stop_reason)}: {row.reason}; needs {row.needs}"
            for row in stops
        ]
    if seen.salvaged:
        lines += ["", "salvaged work:", *_salvaged(seen.salvaged)]
    if seen.warnings:
        lines += ["", "warnings:", *(f"  {line}" for line in seen.warnings)]
    return "\n".join(lines)


def _supervisor(row: Supervisor) -> str:
    state = {
        "running": "runs",
        "silent": "has not been heard of in its time",
        "gone": "is gone; `dos up` goes on",
    }
    return f"the supervisor on {row.host} (process {row.pid}) {state[row.state]}"


def _salvaged(found: Sequence[str]) -> list[str]:
    lines = [
        f"  git log {each}" if each.startswith("refs/") else f"  ls {each}"
        for each in found[-SHOWN:]
    ]
    if len(found) > SHOWN:
        lines.append(
            f"  and {len(found) - SHOWN} more: git for-each-ref --sort=-creatordate refs/dos/salvage/"
        )
    return lines


def render_population(
    verdict: SuperviseVerdict, policy: SupervisePolicy, handles: Mapping[str, str]
) -> str:
    lines = [
        f"SUPERVISE {verdict.answer}: alive {verdict.alive}/{verdict.target}, admissible {verdict.admissible}",
        verdict.reason,
        *(f"spawn {row.lane}  — run: {launch(policy, row.lane)}" for row in verdict.spawn),
        *(
            f"reap {row.lane} ({row.reason}) — run: dos lease-lane reap --lane {quote(row.lane)}"
            for row in verdict.reap
        ),
        *(f"flag {row.lane} ({row.reason})" for row in verdict.flag),
        *(
            f"propose-halt {row.lane} ({row.reason}) — enact with: {halt(row, handles)}"
            for row in verdict.proposed_halt
        ),
        *(f"hold {row.lane} ({row.reason})" for row in verdict.hold),
        *(f"blocked {row.lane} ({row.reason})" for row in verdict.blocked),
    ]
    return "\n".join(lines)


def launch(policy: SupervisePolicy, lane: str) -> str:
    """As one word: the name of a lane may hold anything that can be printed."""
    return policy.worker_launch_template.replace("{lane}", quote(lane))


def halt(row: PlanRow, handles: Mapping[str, str]) -> str:
    return f"dos halt --handle {quote(handles.get(row.lane, row.lane))} --lane {quote(row.lane)}"
