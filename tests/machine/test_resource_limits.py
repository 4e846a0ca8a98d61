"""Limits that the kernel enforces on a program, whatever started it."""

import signal
import subprocess
import sys
import time

import pytest
from msgspec import structs

from dos.machine.resource_limits import LAUNCH_FAILED, ResourceLimits, limited

LIMITS = ResourceLimits(
    memory_bytes=500_000_000, cpu_seconds=60, file_bytes=1_000_000, wall_seconds=60
)


def python(program: str, limits: ResourceLimits) -> "subprocess.CompletedProcess[str]":
    command = limited([sys.executable, "-c", program], limits)
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_program_within_its_limits_runs_as_it_would():
    done = python("import sys; print(sys.stdin.read()); sys.exit(3)", LIMITS)
    assert (done.returncode, done.stdout) == (3, "\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_memory_beyond_the_limit_is_not_given():
    done = python("x = bytes(1_000_000_000)", LIMITS)
    assert done.returncode == 1 and "MemoryError" in done.stderr


def test_a_file_beyond_the_limit_ends_the_program(tmp_path):
    path = tmp_path / "file"
    words = ["dd", "if=/dev/zero", f"of={path}", "bs=100k", "count=100"]
    done = subprocess.run(limited(words, LIMITS), capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGXFSZ and path.stat().st_size <= LIMITS.file_bytes


def test_processor_time_and_wall_time_end_the_program():
    done = python("while True: pass", structs.replace(LIMITS, cpu_seconds=1))
    assert done.returncode == -signal.SIGXCPU
    began = time.monotonic()
    done = python("import time; time.sleep(100)", structs.replace(LIMITS, wall_seconds=0.1))
    assert done.returncode == -signal.SIGALRM and time.monotonic() - began < 60


def test_a_program_that_does_not_exist_says_so():
    done = subprocess.run(limited(["no-such-program"], LIMITS), capture_output=True, text=True)
    assert done.returncode == LAUNCH_FAILED and "no-such-program" in done.stderr
