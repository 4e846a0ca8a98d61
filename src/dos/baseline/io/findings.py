"""What a check of the target means for whoever is about to start a fleet: findings of the doctor."""

from collections.abc import Mapping

from dos.config import edit
from dos.config.layout.commands import infer_commands
from dos.doctor.subjects.finding import Finding, editing, error, note, warning
from dos.units.unit import Unit
from dos.verify.baseline import BLIND_ADVICE, Result
from dos.world import World

_STOPS = "`dos up` starts no agent until it passes; it asks you instead."
_UNCHECKED = {
    "baseline": '[workers] baseline is "off", so --deep had nothing to run',
    "isolation": '[workers] isolation is "shared", so --deep had nothing to run: there is no fresh tree to run it in',
    "test": "[workers] test is not set, so --deep had nothing to run",
}


def unchecked(world: World) -> list[Finding]:
    """Nothing was run; which setting gives it something to run."""
    key = world.config.workers.unchecked_because
    if not key:
        return []
    why = "Whether the tests pass before agents work, and see the tree they run in, is not known."
    return [note("BASELINE_UNCHECKED", _UNCHECKED[key], why, _given(world, key))]


def findings(world: World, result: Result, units: Mapping[str, Unit]) -> list[Finding]:
    """Of a check that was made; `units` are those whose acceptance commands were probed."""
    if result.fault == "red":
        key = "setup" if result.command == world.config.workers.setup else "test"
        fix = editing(world).at("workers", key) if key == "setup" else _prepared(world)
        return [
            error(
                "BASELINE_RED",
                _located(world, key, result.problem),
                _STOPS,
                fix,
                output=result.output,
            )
        ]
    if result.fault == "blind":
        why = f"{BLIND_ADVICE}. Work that breaks the program would land."
        return [
            error("BASELINE_BLIND", _located(world, "test", result.problem), why, _prepared(world))
        ]
    return [
        _cannot_run(world, units[name], why)
        for name, why in result.missing.items()
        if name in units
    ]


def _located(world: World, key: str, problem: str) -> str:
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
    return warning("ACCEPTANCE_CANNOT_RUN", what, why, _declared(world, unit))


def _declared(world: World, unit: Unit) -> str:
    """Opens what declares the command."""
    if not unit.acceptance:
        return editing(world).at("workers", "acceptance")
    if world.config.plans.source == "command" or not unit.document:
        return "dos config get plans.command"
    return edit.edit(world.workspace.root / unit.document, unit.line or None)


def _prepared(world: World) -> str:
    """Gives a fresh tree what the test needs: by the setup that the repository's files suggest, if there is none."""
    workers, suggested = world.config.workers, infer_commands(world.workspace.root).setup
    if not workers.setup and suggested:
        return edit.put(("workers", "setup"), suggested)
    return editing(world).at("workers", "setup" if workers.setup else "test")


def _given(world: World, key: str) -> str:
    if key == "test":
        suggested = infer_commands(world.workspace.root).test
        return (
            edit.put(("workers", "test"), suggested)
            if suggested
            else editing(world).at("workers", "test")
        )
    return edit.put(("workers", key), {"baseline": "auto", "isolation": "worktree"}[key])
