"""The environment: variables that look needed, and that agents and checks do not get."""

import os
import re
from collections.abc import Iterable, Mapping

from dos.agents.homes import variables
from dos.agents.io.environment import inherited_environment
from dos.config.fix_commands import set_command
from dos.doctor.subjects import plans
from dos.doctor.subjects.finding import Finding, cd_prefix, note, warning
from dos.errors import DosError
from dos.text import join_some
from dos.world import World

_NAME = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_OWN = ("DOS_*",)  # what dos itself sets


def examine(world: World) -> list[Finding]:
    """Return the variables that commands name, and those of databases, that are withheld."""
    return judge(
        os.environ,
        inherited_environment(os.environ, world.config),
        _commands(world),
        world.config.workers.pass_environment,
        cd_prefix(world),
    )


def judge(
    given: Mapping[str, str],
    passed: Mapping[str, str],
    commands: Iterable[str],
    named: tuple[str, ...],
    prefix: str,
) -> list[Finding]:
    """A warning for variables that a command names, and a note for those of databases.

    `passed` is what checks get of `given`, and `named` is `[workers] pass_environment`.
    """
    withheld = {name for name in given if name not in passed and not variables.matches(name, _OWN)}
    used = {name for command in commands for name in _NAME.findall(command)} & withheld
    services = {name for name in withheld - used if variables.matches(name, variables.SERVICES)}
    why = "Agents and checks get a list of variables: docs/fleet.md, What an agent gets."
    findings = []
    if used:
        what = f"commands name variables that they do not get: {join_some(sorted(used))}"
        fix = f"{prefix}{_pass_command(named, used)}"
        findings.append(warning("VARIABLE_WITHHELD", what, why, fix))
    if services:
        what = f"checks do not get these variables of databases: {join_some(sorted(services))}"
        fix = f"{prefix}{_pass_command(named, services)}"
        findings.append(note("DATABASE_WITHHELD", what, why, fix))
    return findings


def _pass_command(named: tuple[str, ...], more: Iterable[str]) -> str:
    """The command that passes on more variables, besides those that are named already."""
    return set_command(("workers", "pass_environment"), [*named, *sorted(more)])


def _commands(world: World) -> list[str]:
    """The commands of dos.toml and of all units, as far as they can be read."""
    workers = world.config.workers
    commands = [workers.setup, workers.test, workers.acceptance]
    try:
        commands += [unit.acceptance for unit in plans.all_units(world)]
    except (DosError, OSError):
        pass  # the subject of plans says what is wrong
    return commands
