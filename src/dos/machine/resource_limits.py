"""Start a program with limits that the kernel enforces: memory, processor, files, time.

A small Python program sets them and becomes the real one. A function between fork and exec could do
that too, but may hang in a process with threads.
"""

import sys
from collections.abc import Sequence

from msgspec import Struct

LAUNCH_FAILED = 127

# Signals get their default meaning back: Python ignores SIGXFSZ, by which the kernel ends a program
# that writes too much, and the alarm could have been blocked. An alarm survives exec, so the
# program ends in time even when nobody is left to end it.
_LAUNCHER = f"""
import os, resource, signal, sys
memory, cpu, size, wall = map(int, sys.argv[1:5])
def limit(kind, soft, hard):
    most = resource.getrlimit(kind)[1]
    if most != resource.RLIM_INFINITY:
        soft = min(soft, most)
        hard = min(hard, most)
    resource.setrlimit(kind, (soft, hard))
for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU, signal.SIGALRM):
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGXFSZ, signal.SIGXCPU, signal.SIGALRM))
limit(resource.RLIMIT_CORE, 0, 0)
limit(resource.RLIMIT_CPU, cpu, cpu + 5)
limit(resource.RLIMIT_FSIZE, size, size)
signal.alarm(wall)
if sys.platform == "linux":
    limit(resource.RLIMIT_AS, memory, memory)
try:
    os.execvp(sys.argv[5], sys.argv[5:])
except OSError as error:
    os.write(2, f"{{sys.argv[5]}}: {{error.strerror}}\\n".encode())
    os._exit({LAUNCH_FAILED})
"""


class ResourceLimits(Struct, frozen=True, kw_only=True):
    """The limits of a program and, each for itself, of the programs that it starts."""

    memory_bytes: int  # of address space; systems other than Linux do not enforce it
    cpu_seconds: int
    file_bytes: int  # of each file that it writes
    wall_seconds: float


def limited(command: Sequence[str], limits: ResourceLimits) -> list[str]:
    """Return the command that runs `command` with limits.

    A program that exceeds one gets no memory, or is ended by SIGXCPU, SIGXFSZ or SIGALRM.
    """
    wall = max(1, int(limits.wall_seconds + 0.999))
    numbers = (limits.memory_bytes, limits.cpu_seconds, limits.file_bytes, wall)
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, numbers), *command]
