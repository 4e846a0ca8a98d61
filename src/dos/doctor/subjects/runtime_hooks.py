"""The hooks of agent programs: which are wired to dos, and which their programs would skip.

What `dos hooks test` showed last is part of it, with the version that it tried.
"""

from shlex import quote

from dos.agenthooks.io.install import State
from dos.agenthooks.io.wire import GEMINI_TRUST, FoundHooks, look
from dos.agenthooks.wiring import HOSTS
from dos.conformance.hook_trial import Result
from dos.conformance.io import results
from dos.conformance.io.results import LastResult
from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, note, warning
from dos.errors import DosError
from dos.world import World

_SKIPPED = {
    "codex": "Codex runs no hook that it does not trust, and does not say so.",
    "gemini": (
        "Gemini CLI runs hooks only in a folder that you trust, and never with --skip-trust."
        f" {GEMINI_TRUST}=true in its environment trusts the folder."
    ),
}


def states(world: World) -> dict[str, dict[str, object]]:
    """Return the state and the wired events of each program, for the report.

    `tested` is the last result of `dos hooks test` in this workspace; None where there is none.
    """
    found: dict[str, dict[str, object]] = {}
    for name, host in HOSTS.items():
        hooks = look(host, world.workspace)
        found[name] = {
            "state": hooks.state,
            "events": list(hooks.events),
            "tested": _as_data(_last_result(world, name)),
        }
    return found


def _last_result(world: World, name: str) -> LastResult | None:
    """What the journal says; None where it cannot be read, which is another finding."""
    try:
        return results.last(store.open_journal(world), results.HOOKS, name)
    except (DosError, OSError):
        return None


def _as_data(last: LastResult | None) -> dict[str, object] | None:
    if last is None:
        return None
    return {
        "result": last.result,
        "version": last.version,
        "reason": last.reason,
        "at": last.at,
    }


def examine(world: World) -> list[Finding]:
    """Return a finding for each program whose hooks are there and would not all run."""
    findings = []
    for name, host in HOSTS.items():
        hooks = look(host, world.workspace)
        state = hooks.state
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
        elif state is State.UNREADABLE:
            findings.append(_unreadable(name, hooks))
        findings += _examine_result(world, name, state)
    return findings


def _unreadable(name: str, hooks: FoundHooks) -> Finding:
    """Return the finding for settings that dos cannot read; a warning where they call dos."""
    why = f"dos cannot edit the file; `dos hooks install {name}` prints what to add by hand."
    make = note
    if hooks.names_dos:
        why = f"It is not known whether {name} asks dos before its agents write. {why}"
        make = warning
    return make("HOOKS_UNREADABLE", hooks.problem, why, f"cat {quote(hooks.path)}")


def _examine_result(world: World, name: str, state: State) -> list[Finding]:
    """Return a finding where the hooks are installed and the last test showed that they fail."""
    last = _last_result(world, name)
    if last is None or state in (State.UNREADABLE, State.NOT_WIRED):
        return []
    if last.result not in (Result.INERT, Result.FAILED):
        return []
    return [
        warning(
            f"HOOKS_{last.result}",
            f"in the last test of the hooks, {name} {last.version} did not obey them",
            f"{last.reason[:1].upper()}{last.reason[1:]}.",
            f"dos hooks test {name}",
        )
    ]
