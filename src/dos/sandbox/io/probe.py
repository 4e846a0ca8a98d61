"""Find out what walls this system can put up: each is tried in a process of its own."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from msgspec import structs, to_builtins

from dos.sandbox.io.start import MODULES_OF_PROBE, bare_command
from dos.sandbox.support import EPHEMERAL, FILES_ABI, Support
from dos.sandbox.walls import Walls

SECONDS = 30.0
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


@cache
def probe() -> Support:
    """What this system supports. Asked once in a process: it takes as long as a small program."""
    if sys.platform != "linux":
        missing = f"{sys.platform} does not have it"
        return Support(
            system=sys.platform,
            landlock_missing=missing,
            seccomp_missing=missing,
            namespaces_missing=missing,
        )
    walls = to_builtins(Walls(writable=("/dev/null",), scoped=True))
    with bare_command(MODULES_OF_PROBE, {"walls": walls}) as (command, orders):
        try:
            ran = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                cwd="/",  # a folder below /run or /dev/shm does not exist in namespaces
                pass_fds=(orders,),
                timeout=SECONDS,
                check=False,
            )
            support = _read_report(ran.stdout.decode("utf-8", "replace"))
        except subprocess.TimeoutExpired:
            support = _read_report("")
    return structs.replace(support, ephemeral_ports=_ephemeral_ports())


def _read_report(text: str) -> Support:
    """The report of the probe: the version of Landlock, then what is missing, a line each."""
    lines = text.split("\n")
    if len(lines) != 4 or not lines[0].isdigit():
        why = "the probe of the kernel failed"
        return Support(landlock_missing=why, seccomp_missing=why, namespaces_missing=why)
    version, landlock, seccomp, namespaces = lines
    abi = int(version)
    if landlock:
        abi = 0
    elif abi < FILES_ABI:
        landlock = f"its version {abi} lets any file be emptied; version {FILES_ABI} is needed"
    return Support(
        landlock_abi=abi,
        landlock_missing=landlock,
        seccomp=not seccomp,
        seccomp_missing=seccomp,
        namespaces=not namespaces,
        namespaces_missing=namespaces,
    )


def _ephemeral_ports() -> tuple[int, int]:
    """The ports that the kernel hands out to programs that ask for any."""
    try:
        first, last = map(int, _PORT_RANGE.read_text().split())
    except (OSError, ValueError):
        return EPHEMERAL
    return first, last
