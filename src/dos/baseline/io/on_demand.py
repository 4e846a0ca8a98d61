"""Check the baseline for `dos doctor --deep`, with the same result that `dos up` would get.

The findings name the line of dos.toml that sets the failing command, and a command that fixes it.
"""

import os
import time
from collections.abc import Callable, Mapping
from functools import partial

from dos.agents.io import orphans
from dos.agents.io.halt_listener import HaltListener
from dos.baseline.io.check import Baseline, CheckRequest, Progress
from dos.config import fix_commands
from dos.config.layout.commands import infer_commands
from dos.doctor.subjects import git, store
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.errors import StoreFailed
from dos.fleet.state.fleet import FleetState
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.journal.events.limits import BaselineChecked
from dos.journal.store import Store
from dos.landing.checks import Checks
from dos.landing.commit_checks import lease_outside_a_run
from dos.landing.target import open_target
from dos.machine import execute
from dos.text import join_some
from dos.units.io import sources
from dos.units.unit import PlanClaim, ProblemKind, Unit
from dos.verify.baseline import BLIND_ADVICE, CheckResult
from dos.world import World

_STOPS = "`dos up` starts no agent until it passes; it asks you instead."
_UNCHECKED = {
    "baseline": '[workers] baseline is "off", so --deep had nothing to run',
    "isolation": '[workers] isolation is "shared", so --deep had nothing to run:'
    " there is no fresh tree to run it in",
    "test": "[workers] test is not set, so --deep had nothing to run",
}


def unchecked_note(world: World) -> list[Finding]:
    """The note that nothing was run, with the setting that would change it; empty: there is one."""
    key = world.config.workers.unchecked_because
    if not key:
        return []
    why = "Whether the tests pass before agents work, and see the tree they run in, is not known."
    return [note("BASELINE_UNCHECKED", _UNCHECKED[key], why, _enable(world, key))]


def findings_about(world: World, result: CheckResult, units: Mapping[str, Unit]) -> list[Finding]:
    """The findings of a check. `units` are those whose acceptance commands were probed.

    A failing or blind test is reported alone; otherwise each acceptance command that cannot run is.
    """
    if result.fault == "red":
        key = "test"
        fix = _fix_test(world)
        if result.command == world.config.workers.setup:
            key = "setup"
            fix = edit_commands(world).for_key("workers", "setup")
        what = _with_location(world, key, result.problem)
        return [error("BASELINE_RED", what, _STOPS, fix, output=result.output)]
    if result.fault == "blind":
        what = _with_location(world, "test", result.problem)
        why = f"{BLIND_ADVICE}. Work that breaks the program would land."
        return [error("BASELINE_BLIND", what, why, _fix_test(world))]
    findings = []
    for name, reason in result.missing.items():
        if name in units:
            findings.append(_cannot_run(world, units[name], reason))
    return [*findings, *_passing_already(world, result, units)]


def _with_location(world: World, key: str, problem: str) -> str:
    """The problem with the line of dos.toml that sets the command.

    A command that dos.toml does not set has no line, and the problem is returned as it is.
    """
    line = world.loaded_config.origins.get(("workers", key))
    if not line:
        return problem
    return f"{world.workspace.config.name}:{line}: {problem}"


def _cannot_run(world: World, unit: Unit, reason: str) -> Finding:
    """The finding that an acceptance command cannot start on a fresh tree."""
    location = ""
    if unit.document:
        location = f"{unit.document}:{unit.line}: "
    command = unit.acceptance or world.config.workers.acceptance
    what = (
        f"{location}the acceptance command of {unit.name} cannot run on a fresh tree:"
        f" `{command}`: {reason}"
    )
    why = (
        "Unless the unit itself makes what is missing, its work is never accepted. Let [workers]"
        " setup in dos.toml install it, or correct the command."
    )
    return warning("ACCEPTANCE_CANNOT_RUN", what, why, _edit_acceptance(world, unit))


def _passing_already(world: World, result: CheckResult, units: Mapping[str, Unit]) -> list[Finding]:
    """A finding for each acceptance command that passes before the units are done."""
    by_command: dict[str, list[Unit]] = {}
    for name in result.already_green:
        if name in units:
            command = units[name].acceptance or world.config.workers.acceptance
            by_command.setdefault(command, []).append(units[name])
    findings = []
    for command, passing in by_command.items():
        findings.append(_passes_already(world, " ".join(command.split()), passing))
    return findings


def _passes_already(world: World, command: str, passing: list[Unit]) -> Finding:
    """The finding about one command; it is a warning only where it keeps work from landing."""
    first = passing[0]
    location = ""
    if first.acceptance and first.document:
        location = f"{first.document}:{first.line}: "
    named = join_some([unit.name for unit in passing])
    what = f"{location}`{command}` passes before the work is done, as acceptance of {named}"
    fix = _edit_acceptance(world, first)
    does_not_tell = "It does not tell whether the work was done"
    if world.config.landing.require_red:
        why = f"{does_not_tell}, and [landing] require_red refuses such work."
        return warning("ACCEPTANCE_ALREADY_PASSES", what, why, fix)
    why = f"{does_not_tell}: the unit can land, and is never called witnessed."
    return note("ACCEPTANCE_ALREADY_PASSES", what, why, fix)


def _edit_acceptance(world: World, unit: Unit) -> str:
    """The command that opens the declaration of a unit's acceptance command."""
    if not unit.acceptance:
        return edit_commands(world).for_key("workers", "acceptance")
    if world.config.plans.source == "command" or not unit.document:
        return "dos config get plans.command"
    return fix_commands.edit_command(world.workspace.root / unit.document, unit.line or None)


def _fix_test(world: World) -> str:
    """The command that prepares a fresh tree for the test.

    Without a setup it sets the one that the repository's files suggest.
    """
    if world.config.workers.setup:
        return edit_commands(world).for_key("workers", "setup")
    suggested = infer_commands(world.workspace.root).setup
    if suggested:
        return fix_commands.set_command(("workers", "setup"), suggested)
    return edit_commands(world).for_key("workers", "test")


def _enable(world: World, key: str) -> str:
    """The command that lets `--deep` run something, by the setting that prevents it."""
    if key != "test":
        value = {"baseline": "auto", "isolation": "worktree"}[key]
        return fix_commands.set_command(("workers", key), value)
    suggested = infer_commands(world.workspace.root).test
    if suggested:
        return fix_commands.set_command(("workers", "test"), suggested)
    return edit_commands(world).for_key("workers", "test")


MARK = "doctor"  # the first word of the lane name that marks programs of such a check


def examine(world: World, open_journal: Callable[[], Store], progress: Progress) -> list[Finding]:
    """Check the target in a fresh tree, and return what is wrong with it.

    A result that lets agents start is recorded, so that `dos up` need not check again. A failure
    is only returned.
    """
    if not git.is_usable(world) or world.loaded_config.problems:
        return []  # what is wrong there is a finding already
    unchecked = unchecked_note(world)
    if unchecked:
        return unchecked
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
    """The result for the target's newest commit; None when there is no target."""
    workspace = world.workspace
    config = world.config
    repository = Writer(workspace.root)
    branch = repository.target_branch(config.workers.target_branch)
    if not branch:
        return None
    commit = open_target(repository, config.workers.remote).newest(branch)
    if not commit:
        return None
    listen = partial(HaltListener, open_store=lambda: world.journal, is_lost=execute.never_stop)
    checks = Checks(workspace, config, listen=listen, lease_key="")
    lease = lease_outside_a_run(MARK)
    request = CheckRequest(
        commit=commit,
        branch=branch,
        lease=lease,
        acceptance={name: checks.acceptance(unit) for name, unit in probed.items()},
    )
    baseline = Baseline(workspace, config, repository, checks)
    try:
        return baseline.check(request, stopped=execute.never_stop, progress=progress)
    finally:
        orphans.end_processes(str(workspace.root), lease)


def _probed(world: World) -> dict[str, Unit]:
    """The unfinished units with an acceptance command, by name.

    Units whose plan alone shows that the program is missing are left out: the doctor has another
    finding for those.
    """
    portfolio = sources.read(world.workspace, world.config)
    states = fold.current(world.journal, FleetState)[0].units
    found_before = set()
    for problem in portfolio.problems:
        if problem.kind is ProblemKind.ACCEPTANCE_PROGRAM_MISSING:
            found_before.add((problem.document, problem.line))
    probed = {}
    for unit in portfolio.units:
        state = states.get(unit.name)
        is_done = unit.claimed == PlanClaim.SHIPPED or bool(state and state.landed)
        has_command = bool(unit.acceptance or world.config.workers.acceptance)
        if has_command and not is_done and (unit.document, unit.line) not in found_before:
            probed[unit.name] = unit
    return probed
