"""The hooks of agent programs: which are wired to dos, and which their programs would skip."""

from dos.agenthooks.io.install import State
from dos.agenthooks.io.wire import GEMINI_TRUST, look
from dos.agenthooks.wiring import HOSTS
from dos.doctor.subjects.finding import Finding, warning
from dos.world import World

_SKIPPED = {
    "codex": "Codex runs no hook that it does not trust, and does not say so.",
    "gemini": (
        "Gemini CLI runs hooks only in a folder that you trust, and never with --skip-trust."
        f" {GEMINI_TRUST}=true in its environment trusts the folder."
    ),
}


def states(world: World) -> dict[str, dict[str, object]]:
    """Return the state and the wired events of each program, for the report."""
    found: dict[str, dict[str, object]] = {}
    for name, host in HOSTS.items():
        state, events = look(host, world.workspace)
        found[name] = {"state": state or State.DRIFTED, "events": events}
    return found


def examine(world: World) -> list[Finding]:
    """Return a finding for each program whose hooks are there and would not all run."""
    findings = []
    for name, host in HOSTS.items():
        state, _ = look(host, world.workspace)
        if state is State.DRIFTED:
            findings.append(
                warning(
                    "HOOKS_DRIFTED",
                    f"the hooks in {host.file} are not those that this version of dos writes",
                    f"Some of what agents do in {name} is not judged before it happens.",
                    f"dos hooks install {name}",
                )
            )
        elif state is State.UNTRUSTED:
            findings.append(
                warning(
                    "HOOKS_UNTRUSTED",
                    f"{name} skips the hooks in {host.file}",
                    _SKIPPED[name],
                    f"dos hooks install {name}",
                )
            )
    return findings
