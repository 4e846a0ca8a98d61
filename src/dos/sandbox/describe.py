"""Say what walls are active, what is missing, and what that means."""

from dos.sandbox.settings import Sandbox
from dos.sandbox.support import FILES_ABI, SCOPES_ABI, Support
from dos.sandbox.walls import Walls

OFF = "off"
NONE = "none"


def describe_walls(walls: Walls | None) -> str:
    """What is active around a program, such as `landlock abi 7, seccomp, namespaces`.

    Receipts and reports have this text.
    """
    if walls is None:
        return OFF
    if walls.program:
        return f"program {walls.program[0]}"
    return _join(walls.landlock_abi, seccomp=walls.seccomp, namespaces=walls.namespaces) or NONE


def _join(landlock_abi: int, *, seccomp: bool, namespaces: bool) -> str:
    parts = []
    if landlock_abi:
        parts.append(f"landlock abi {landlock_abi}")
    if seccomp:
        parts.append("seccomp")
    if namespaces:
        parts.append("namespaces")
    return ", ".join(parts)


def describe_system(settings: Sandbox, support: Support) -> str:
    """What walls programs of this workspace get here, for `dos up`, `dos doctor` and the report."""
    if settings.program:
        return f"program {settings.program[0]}"
    if settings.level == "off":
        return OFF
    if support.system == "darwin":
        return "sandbox-exec (untested)"
    active = _join(
        support.landlock_abi if support.has_files else 0,
        seccomp=support.seccomp,
        namespaces=support.namespaces and settings.level != "landlock",
    )
    return "; ".join((active or NONE, *_exceptions(settings, support)))


def _exceptions(settings: Sandbox, support: Support) -> list[str]:
    """What is open although the sandbox is on, in few words."""
    if not support.has_files:
        return ["files outside of the lane are not protected by Landlock"]
    exceptions = []
    if settings.reads == "all":
        exceptions.append("agents read every file")
    if support.has_ports and settings.network == "open":
        exceptions.append("every TCP port is open")
    return exceptions


def refusal(support: Support) -> str:
    """Why `required` walls cannot be had, and what to do; empty: they can."""
    if support.has_files and support.seccomp:
        return ""
    missing = support.landlock_missing
    if support.has_files:
        missing = support.seccomp_missing
    return (
        f'[sandbox] level is "required", and this system cannot enforce it: {missing}.'
        " Use Linux 6.2 or newer with Landlock among its security modules"
        " (lsm=landlock,… on the kernel's command line),"
        " or run: dos config set sandbox.level auto"
    )


def gaps(settings: Sandbox, support: Support) -> tuple[str, ...]:
    """What the active walls leave open on this system, a sentence each; none when they are off."""
    if not settings.is_on or settings.program:
        return ()
    sentences = [*_missing(support)]
    if not support.namespaces and settings.level != "landlock":
        sentences.append(
            f"No namespaces ({support.namespaces_missing}): an agent can change modes and times"
            " of your files, lock them, and lower the priority of your processes."
        )
    if settings.reads == "all":
        sentences.append(
            'reads = "all": an agent can read every file that you can read, and a read handle on'
            " the state folder is enough to hold its lock for ever."
        )
    if support.has_ports and settings.network == "open":
        sentences.append('network = "open": an agent can connect to every port of this machine.')
    return tuple(sentences)


def _missing(support: Support) -> list[str]:
    """What the kernel lacks."""
    sentences = []
    if not support.has_files:
        sentences.append(
            f"No Landlock ({support.landlock_missing}): an agent can change and remove"
            " every file that you can change, unless namespaces are active."
        )
    elif not support.has_ports:
        sentences.append(
            f"Landlock has version {support.landlock_abi} here: TCP ports are open to agents."
        )
    if FILES_ABI <= support.landlock_abi < SCOPES_ABI:
        sentences.append(
            f"Landlock has version {support.landlock_abi} here: an agent can stop or kill your"
            " processes, unless namespaces are active."
        )
    if not support.seccomp:
        sentences.append(
            f"No seccomp filter ({support.seccomp_missing}): an agent can end your processes"
            " through their resource limits."
        )
    return sentences


def leaves_sockets_open(settings: Sandbox, support: Support) -> bool:
    """Whether an agent can open the named unix sockets that its user can open."""
    if not settings.is_on or settings.program:
        return False
    return not support.has_named_sockets and settings.sockets == "open"
