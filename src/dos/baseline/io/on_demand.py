"""Checks the target on demand, as `dos up` does before it starts agents: one who asks beforehand is told the same."""

import os
import time
from collections.abc import Callable, Mapping
from functools import partial

from dos.agents.io import orphans
from dos.agents.io.halt_listener import HaltListener
from dos.baseline.io.check import Baseline, Progress
from dos.config import fix_commands
from dos.config.layout.commands import infer_commands
from dos.doctor.subjects import git, store
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.errors import StoreFailed
from dos.fleet.state.fleet import FleetState
from dos.git import target
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.journal.events.limits import BaselineChecked
from dos.journal.store import Store
from dos.landing import target as targets
from dos.landing.checks import Checks
from dos.lease import Lease
from dos.machine import execute, process
from dos.regions import region
from dos.units.io import sources as units
from dos.units.unit import PlanClaim, ProblemKind, Unit
from dos.verify.baseline import BLIND_ADVICE, CheckResult
from dos.world import World

_STOPS = "`dos up` starts no agent until it passes; it asks you instead."
_UNCHECKED = {
    "baseline": '[workers] baseline is "off", so --deep had nothing to run',
    "isolation": '[workers] isolation is "shared", so --deep had nothing to run: there is no fresh tree to run it in',
    "test": "[workers] test is not set, so --deep had nothing to run",
}


def unchecked_note(world: World) -> list[Finding]:
    """Nothing was run; which setting gives it something to run."""
    key = world.config.workers.unchecked_because
    if not key:
        return []
    why = "Whether the tests pass before agents work, and see the tree they run in, is not known."
    return [note("BASELINE_UNCHECKED", _UNCHECKED[key], why, _enable(world, key))]


def findings_about(world: World, result: CheckResult, units: Mapping[str, Unit]) -> list[Finding]:
    """Of a check that was made; `units` are those whose acceptance commands were probed."""
    if result.fault == "red":
        key = "setup" if result.command == world.config.workers.setup else "test"
        fix = edit_commands(world).for_key("workers", key) if key == "setup" else _fix_test(world)
        return [
            error(
                "BASELINE_RED",
                _with_location(world, key, result.problem),
                _STOPS,
                fix,
                output=result.output,
            )
        ]
    if result.fault == "blind":
        why = f"{BLIND_ADVICE}. Work that breaks the program would land."
        return [
            error(
                "BASELINE_BLIND",
                _with_location(world, "test", result.problem),
                why,
                _fix_test(world),
            )
        ]
    return [
        _cannot_run(world, units[name], why)
        for name, why in result.missing.items()
        if name in units
    ]


def _with_location(world: World, key: str, problem: str) -> str:
    line = world.loaded_config.origins.get(("workers", key))
    return f"{world.workspace.config.name}:{line}: {problem}" if line else problem


def _cannot_run(world: World, unit: Unit, reason: str) -> Finding:
    where = f"{unit.document}:{unit.line}: " if unit.document else ""
    command = unit.acceptance or world.config.workers.acceptance
    what = f"{where}the acceptance command of {unit.name} cannot run on a fresh tree: `{command}`: {reason}"
    why = (
        "Unless the unit itself makes what is missing, its work is never accepted. Let [workers] setup in dos.toml"
        " install it, or correct the command."
    )
    return warning("ACCEPTANCE_CANNOT_RUN", what, why, _edit_acceptance(world, unit))


def _edit_acceptance(world: World, unit: Unit) -> str:
    """Opens what declares the command."""
    if not unit.acceptance:
        return edit_commands(world).for_key("workers", "acceptance")
    if world.config.plans.source == "command" or not unit.document:
        return "dos config get plans.command"
    return fix_commands.edit_command(world.workspace.root / unit.document, unit.line or None)


def _fix_test(world: World) -> str:
    """Gives a fresh tree what the test needs: by the setup that the repository's files suggest, if there is none."""
    workers, suggested = world.config.workers, infer_commands(world.workspace.root).setup
    if not workers.setup and suggested:
        return fix_commands.set_command(("workers", "setup"), suggested)
    return edit_commands(world).for_key("workers", "setup" if workers.setup else "test")


def _enable(world: World, key: str) -> str:
    if key == "test":
        suggested = infer_commands(world.workspace.root).test
        return (
            fix_commands.set_command(("workers", "test"), suggested)
            if suggested
            else edit_commands(world).for_key("workers", "test")
        )
    return fix_commands.set_command(
        ("workers", key), {"baseline": "auto", "isolation": "worktree"}[key]
    )


MARK = "doctor/"  # among the names of lanes, by which what a command leaves behind is found


def examine(world: World, open_journal: Callable[[], Store], progress: Progress) -> list[Finding]:
    """What is wrong with the target, after it was checked in a fresh tree.

    A result that lets agents start is written down, so that `dos up` need not check it again; any other is only told.
    """
    if not git.is_usable(world) or world.loaded_config.problems:
        return []  # what is wrong there is a finding already
    if not_checked := unchecked_note(world):
        return not_checked
    probed = _probed(world)
    with execute.exit_on_signals():
        result = _check(world, probed, progress)
    if result is None:
        return []  # there is no target; that is a finding already
    found = findings_about(world, result, probed)
    if result.is_good:
        try:
            key = f"doctor/{os.getpid()}.{time.time_ns()}"
            open_journal().record(streams.baseline(result.host), result, key=key)
        except StoreFailed as failure:
            found.append(store.store_finding(failure, world))
    return found


def _check(world: World, probed: dict[str, Unit], progress: Progress) -> BaselineChecked | None:
    place, config = world.workspace, world.config
    repository = Writer(place.root)
    branch = target.branch(config, repository)
    commit = targets.open_target(repository, config.workers.remote).newest(branch) if branch else ""
    if not branch or not commit:
        return None
    listen = partial(HaltListener, open_store=lambda: world.journal, is_lost=execute.never_stop)
    checks = Checks(place, config, listen=listen, lease_key="")
    marked = _check_lease()
    try:
        return Baseline(place, config, repository, checks).check(
            commit,
            branch,
            marked,
            stopped=execute.never_stop,
            acceptance={name: checks.acceptance(unit) for name, unit in probed.items()},
            progress=progress,
        )
    finally:
        orphans.end_processes(str(place.root), marked)


def _probed(world: World) -> dict[str, Unit]:
    """The units that are still to be done and have an acceptance command, by name.

    Not those of which the plan alone tells that its program is missing: that is a finding of its own.
    """
    portfolio = units.read(world.workspace, world.config)
    known = fold.current(world.journal, FleetState)[0].units
    landed = {name for name, unit in known.items() if unit.landed}
    found = {
        (problem.document, problem.line)
        for problem in portfolio.problems
        if problem.kind is ProblemKind.ACCEPTANCE_PROGRAM_MISSING
    }
    return {
        unit.name: unit
        for unit in portfolio.units
        if (unit.acceptance or world.config.workers.acceptance)
        and unit.claimed != PlanClaim.SHIPPED
        and unit.name not in landed
        and (unit.document, unit.line) not in found
    }


def _check_lease() -> Lease:
    """Nobody grants it and it holds nothing: what the commands start is found by its name and its number.

    The number grows with time, so that what a check left that was killed is ended by the next one. Of two at once, one
    waits for the other before it starts anything.
    """
    now_ms = time.time_ns() // 1_000_000
    return Lease(
        lane=f"{MARK}{process.system()}",
        holder=f"{process.host()}:{os.getpid()}",
        host=process.host(),
        ttl_ms=0,
        region=region([]),
        is_lock=True,
        pid=os.getpid(),
        system=process.system(),
        fence=now_ms,
        boot="",
        granted_ms=now_ms,
        beat_ms=now_ms,
        expires_ms=0,
        version=0,
    )
