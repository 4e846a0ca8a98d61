"""Runs a command on a tree and takes its exit code for the answer."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.machine import execute
from dos.receipts.receipt import CommandRun
from dos.times import now_stamp

OUTPUT_LINES = 40  # of a command, for whoever asks what it said


class AcceptanceResult(Struct, frozen=True, kw_only=True):
    passed: bool | None = None  # None: there was no command
    detail: str = ""
    run: CommandRun | None = None
    output: list[str] = []  # its last lines


AcceptanceCheck = Callable[[Path], AcceptanceResult]


def run_acceptance(
    tree: Path,
    command: str,
    environment: dict[str, str],
    seconds: float,
    stopped: Callable[[], bool] = execute.never_stop,
) -> AcceptanceResult:
    """Run a command on a tree and take its exit code for the answer."""
    started, limits = now_stamp(), execute.Limits(wall_seconds=seconds)
    ran = execute.run(
        ["sh", "-c", command], cwd=tree, environment=environment, limits=limits, should_stop=stopped
    )
    code = None if ran.ended_by else ran.exit_code
    output = ran.lines[-OUTPUT_LINES:]
    run = CommandRun(
        script=command,
        exit_code=code,
        output_digest=ran.output_digest,
        started=started,
        ended=now_stamp(),
    )
    if ran.timed_out:
        return AcceptanceResult(
            passed=False, detail=f"no answer within {seconds:g} s", run=run, output=output
        )
    said = next((line.strip() for line in reversed(ran.lines) if line.strip()), "")
    detail = f"exit {ran.exit_code}" + (f", {said[:200]}" if said else "")
    return AcceptanceResult(passed=ran.exit_code == 0, detail=detail, run=run, output=output)
