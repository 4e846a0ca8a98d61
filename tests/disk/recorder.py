"""Runs programs on a recording disk: their changes to one directory are logged, and can be made to
fail.

    run(argv, disk_dir, log, shim=build_shim(tmp))
    for image in crash_images(read_log(log), random.Random(seed), per_point=4):
        # Open what a power cut left, and look for everything in image.acks.
        image.write_to(fresh_directory)

A program acknowledges by writing a line to a file named ACK in the directory. One log is one disk:
between two runs on the same log nobody else may change the directory.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from patience import PATIENCE

from disk.images import Image, crash_images, final_image
from disk.operations import Kind, Operation, counted, read_log, start_log

__all__ = [
    "Fault",
    "Image",
    "Kind",
    "Operation",
    "build_shim",
    "counted",
    "crash_images",
    "environment",
    "final_image",
    "read_log",
    "run",
]

Fault = Literal["enospc", "eio", "short", "kill", "kill-after"]

SOURCE = Path(__file__).with_name("shim.c")


def build_shim(tmp: Path) -> Path | None:
    """The compiled recorder, or None where there is no C compiler or no Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    shim = tmp / "shim.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", str(SOURCE), "-o", str(shim), "-ldl"], check=True
    )
    return shim


def environment(
    disk_dir: Path,
    log: Path,
    *,
    shim: Path,
    fail: Fault | None = None,
    at: int | None = None,
    fail_for: int | None = None,
) -> dict[str, str]:
    """The variables that put a process on the recording disk; begins the log when there is none
    yet.

    The count towards `at` runs over all processes that share the log, and starts again with each
    call.
    """
    disk_dir, log = disk_dir.resolve(), log.resolve()
    if log.is_relative_to(disk_dir):
        raise ValueError(f"{log}: the log must lie outside the directory it records, {disk_dir}")
    start_log(log, disk_dir)
    preloaded = [str(shim), *filter(None, [os.environ.get("LD_PRELOAD")])]
    variables = {"LD_PRELOAD": ":".join(preloaded), "DISK_DIR": str(disk_dir), "DISK_LOG": str(log)}
    if fail is not None:
        variables["DISK_FAIL"] = fail
    if at is not None:
        variables["DISK_AT"] = str(at)
    if fail_for is not None:
        variables["DISK_FAIL_FOR"] = str(fail_for)
    return variables


def run(
    argv: Sequence[str],
    disk_dir: Path,
    log: Path,
    fail: Fault | None = None,
    at: int | None = None,
    env: Mapping[str, str] | None = None,
    *,
    shim: Path,
    fail_for: int | None = None,
    timeout_seconds: float = PATIENCE,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end on the recording disk; what it printed and its exit code are for the
    caller to judge."""
    disk = environment(disk_dir, log, shim=shim, fail=fail, at=at, fail_for=fail_for)
    return subprocess.run(
        list(argv),
        env={**os.environ, **(env or {}), **disk},
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
