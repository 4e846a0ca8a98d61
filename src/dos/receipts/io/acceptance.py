"""Runs the commands that decide whether work is accepted, and describes the runs for a receipt.

Landings and `dos attest` run their commands here, so that a receipt means the same in both cases.
`landing/checks.py` says which commands a landing has to pass.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.machine import execute
from dos.receipts.receipt import CommandRun, Source, combined_digest, command_digest, is_plain_text
from dos.sandbox.walls import Walls
from dos.times import now_stamp
from dos.witness.fact import cannot_fail

OUTPUT_LINES = 40  # of a command, to show what it printed last


class AcceptanceResult(Struct, frozen=True, kw_only=True):
    """The exit code of a command, taken as its verdict."""

    passed: bool | None = None  # None: there was no command
    detail: str = ""
    run: CommandRun | None = None
    output: list[str] = []  # its last lines


AcceptanceCheck = Callable[[str], AcceptanceResult]  # runs the acceptance command on a commit


class DeclaredCommands(Struct, frozen=True, kw_only=True):
    """The commands that a landing has to pass, and who declared them."""

    scripts: tuple[str, ...] = ()
    source: Source = Source.NOBODY


def run_acceptance(
    tree: Path,
    command: str,
    environment: dict[str, str],
    seconds: float,
    stopped: Callable[[], bool] = execute.never_stop,
    walls: Walls | None = None,
) -> AcceptanceResult:
    """Run a shell command in a tree and return its exit code as the verdict.

    It fails when it takes longer than `seconds`; when `stopped` says so it is ended early. `walls`
    say what it may touch.
    """
    started = now_stamp()
    ran = execute.run(
        ["sh", "-c", command],
        cwd=tree,
        environment=environment,
        limits=execute.Limits(wall_seconds=seconds, should_stop=stopped),
        walls=walls,
    )
    exit_code = None
    if not ran.ended_by:
        exit_code = ran.exit_code
    run = CommandRun(
        script=command,
        exit_code=exit_code,
        output_digest=ran.output_digest,
        started=started,
        ended=now_stamp(),
    )
    detail = _describe_end(ran)
    if ran.timed_out:
        detail = f"no answer within {seconds:g} s"
    return AcceptanceResult(
        passed=ran.exit_code == 0 and not ran.timed_out,
        detail=detail,
        run=run,
        output=ran.lines[-OUTPUT_LINES:],
    )


def _describe_end(ran: execute.ProcessResult) -> str:
    """Return the exit code and the last line that the command printed."""
    detail = f"exit {ran.exit_code}"
    for line in reversed(ran.lines):
        if line.strip():
            return f"{detail}, {line.strip()[:200]}"
    return detail


def joined_script(scripts: Sequence[str]) -> str:
    """Return one script that runs all of them in order, up to the first that fails."""
    if len(scripts) == 1:
        return scripts[0]
    return " && ".join(f"( {script} )" for script in scripts)


def can_fail(scripts: Sequence[str]) -> bool:
    """Whether one of the scripts can fail: one that always passes says nothing about a unit."""
    return any(not cannot_fail(("sh", "-c", script)) for script in scripts)


def describe_runs(runs: Sequence[CommandRun]) -> dict[str, Any]:
    """Return the fields of a receipt for commands that ran on one tree, one after the other.

    A script of several lines is named by its digest alone: a receipt holds no line breaks.
    """
    script = joined_script([run.script for run in runs])
    argv = ("sh", "-c", script)
    command: tuple[str, ...] = ()
    surface = "a command of several lines"
    if is_plain_text(script):
        command = argv
        surface = script
    return {
        "command": command,
        "command_digest": command_digest(argv),
        "witness_surface": surface,
        "exit_code": runs[-1].exit_code,
        "output_digest": combined_digest([run.output_digest for run in runs]),
        "started": runs[0].started,
        "ended": runs[-1].ended,
    }
