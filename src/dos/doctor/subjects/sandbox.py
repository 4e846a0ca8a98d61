"""The sandbox: what walls agents get on this machine, and what those leave open."""

import os
import shlex
from pathlib import Path

from dos.agents.homes.programs import KNOWN
from dos.doctor.subjects import agents
from dos.doctor.subjects.finding import Finding, cd_prefix, error, note, warning
from dos.sandbox import describe
from dos.sandbox.build import expanded
from dos.sandbox.io import programs, sockets
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support
from dos.text import join_some
from dos.world import World

# Folders that are empty or private in namespaces, with all sockets below them.
_HIDDEN = ("/run/", "/var/run/", "/tmp/", "/var/tmp/", "/dev/shm/")


def examine(world: World) -> list[Finding]:
    """Return what the sandbox leaves open here, and what keeps it from working."""
    settings = world.config.sandbox
    if settings.program:
        return _examine_program(world)
    if settings.level == "off":
        return _examine_off(world)
    support = probe()
    findings = judge(settings, support, cd_prefix(world))
    if settings.reads == "listed" and support.has_files:
        findings += _examine_reads(world)
    findings += _examine_paths(world)
    if describe.leaves_sockets_open(settings, support):
        found = sockets.open_sockets()
        findings += judge_sockets(settings, support, found, cd_prefix(world))
    return findings


def judge(settings: Sandbox, support: Support, prefix: str) -> list[Finding]:
    """Return an error where required walls cannot be had, else what the walls leave open."""
    why = describe.refusal(support)
    if settings.level == "required" and why:
        fix = f"{prefix}dos config set sandbox.level auto"
        return [error("SANDBOX_UNAVAILABLE", why, "No agent and no check is started.", fix)]
    active = describe.describe_system(settings, support)
    severity = note
    if not support.has_files and not support.namespaces:
        severity = warning
    return [
        severity(
            "SANDBOX_GAP", sentence, f"Active here: {active}.", f"{prefix}dos config show sandbox"
        )
        for sentence in describe.gaps(settings, support)
    ]


def judge_sockets(
    settings: Sandbox, support: Support, found: dict[str, str], prefix: str
) -> list[Finding]:
    """Return a note that names the sockets that an agent can open."""
    in_namespaces = support.namespaces and settings.level != "landlock"
    reachable = []
    for path, meaning in found.items():
        if in_namespaces and path.startswith(_HIDDEN) and not _is_listed(path, settings):
            continue
        reachable.append(f"{path} ({meaning})" if meaning else path)
    if not reachable:
        return []
    return [
        note(
            "SANDBOX_SOCKETS",
            f"agents can open the sockets of other programs: {join_some(reachable)}",
            "What such a program does for you it does for an agent. Landlock closes them from"
            " Linux 7.1 on.",
            f"{prefix}dos config set sandbox.sockets none",
        )
    ]


def _examine_reads(world: World) -> list[Finding]:
    """A note on agents that read everything, because dos does not know what they need."""
    config = world.config
    unknown = []
    for name in agents.agents_in_use(world):
        configured = config.agents.get(name)
        adapter = (configured.adapter if configured else "") or name
        if adapter not in KNOWN:
            unknown.append(name)
    if not unknown:
        return []
    return [
        note(
            "SANDBOX_GAP",
            f"dos does not know which folders these agents need: {join_some(unknown)}",
            "They, and the checks of their lanes, can read every file that you can read.",
            f"{cd_prefix(world)}dos config show sandbox",
        )
    ]


def _examine_paths(world: World) -> list[Finding]:
    """What is wrong with listed paths: one does not exist, or holds the repository or the home."""
    settings = world.config.sandbox
    home = str(Path.home())
    findings = []
    for key, paths in (("writable", settings.writable), ("readable", settings.readable)):
        for path, expansion in zip(paths, expanded(paths, home), strict=True):
            if not os.path.lexists(expansion):
                findings.append(_missing_path(key, path, expansion, cd_prefix(world)))
    root = world.workspace.root
    for path, expansion in zip(settings.writable, expanded(settings.writable, home), strict=True):
        if any(own.is_relative_to(os.path.realpath(expansion)) for own in (root, Path(home))):
            findings.append(_wide_path(path, cd_prefix(world)))
    return findings


def _missing_path(key: str, path: str, expansion: str, prefix: str) -> Finding:
    what = f"[sandbox] {key} names {path}, which does not exist"
    why = "It is left out: agents and checks cannot use it, and cannot create it."
    fix = f"{prefix}dos config show sandbox"
    if key == "writable":
        fix = f"mkdir -p {shlex.quote(expansion)}"
    return warning("SANDBOX_PATH_MISSING", what, why, fix)


def _wide_path(path: str, prefix: str) -> Finding:
    what = f"[sandbox] writable names {path}, which holds your repository or your home"
    why = "Agents can change your files and settings there, and what you run later as yourself."
    return note("SANDBOX_PATH_WIDE", what, why, f"{prefix}dos config unset sandbox.writable")


def _is_listed(path: str, settings: Sandbox) -> bool:
    """Whether the settings keep a socket visible, by its own path or by a folder above it."""
    listed = expanded((*settings.readable, *settings.writable), str(Path.home()))
    return any(Path(path).is_relative_to(above) for above in listed)


def _examine_program(world: World) -> list[Finding]:
    """An error where the user's own sandbox is not installed."""
    what = programs.missing_program(world.config.sandbox)
    if not what:
        return []
    return [
        error(
            "SANDBOX_PROGRAM_MISSING",
            what,
            "No agent and no check can be started.",
            f"{cd_prefix(world)}dos config unset sandbox.program",
        )
    ]


def _examine_off(world: World) -> list[Finding]:
    """A note where somebody switched the sandbox off."""
    return [
        note(
            "SANDBOX_OFF",
            "the sandbox is off",
            "Agents and checks can do everything that you can do.",
            f"{cd_prefix(world)}dos config unset sandbox.level",
        )
    ]
