"""Units from any program: what it prints, one JSON object a line."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import DecodeError, Struct, ValidationError, field, json

from dos.errors import BadInput
from dos.plans.documents import claims
from dos.records.names import shown
from dos.records.units import Claim, Problem, Trouble, Unit

LARGEST_BYTES = 64_000_000
SHOWN_LINES, LONGEST_TAIL = 5, 4000  # of what it complained about
NAME = "command"


class Line(Struct, frozen=True, kw_only=True):
    """What a program says about a unit; more keys are let through."""

    id: str
    plan: str = ""
    title: str = ""
    text: str = ""
    lane: str = ""
    paths: list[str] = []
    acceptance: str = ""
    depends: list[str] = []
    plan_class: str = field(default="", name="class")
    gated: str = ""
    soak_until: str = ""
    status: str = ""


def read(root: Path, command: Sequence[str], timeout_seconds: float) -> tuple[list[Unit], list[Problem]]:
    """The units in the order in which they were printed. A program that fails has printed nothing."""
    output = _printed(root, command, timeout_seconds)
    decoder = json.Decoder(Line)
    units: list[Unit] = []
    problems: list[Problem] = []
    for number, line in enumerate(output.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            units.append(_unit(decoder.decode(line), number))
        except (DecodeError, ValidationError, RecursionError, ValueError) as error:
            what = f"not a unit: {error}: {shown(line[:200].decode('utf-8', 'replace'))}"
            problems.append(Problem(kind=Trouble.UNREADABLE, what=what, document=NAME, line=number))
    return units, problems


def _unit(line: Line, number: int) -> Unit:
    plan, _, unit_id = line.id.rpartition("/")
    if not unit_id.strip():
        raise ValueError("its id is empty")
    return Unit(
        plan=line.plan or plan or unit_id.rstrip("0123456789.").rstrip("-") or unit_id,
        id=unit_id,
        title=line.title or unit_id,
        text=line.text,
        lane=line.lane,
        paths=tuple(line.paths),
        acceptance=line.acceptance,
        depends=tuple(line.depends),
        plan_class=line.plan_class,
        gated=line.gated,
        soak_until=line.soak_until,
        claimed=claims.status(line.status) if line.status else Claim.NONE,
        document=NAME,
        line=number,
    )


def _printed(root: Path, command: Sequence[str], timeout_seconds: float) -> bytes:
    """Through files: a program that prints without end must not fill our memory."""
    called = " ".join(command)
    with TemporaryFile() as output, TemporaryFile() as complaints:
        code = _run(root, command, timeout_seconds, output, complaints)
        if code != 0:
            said = _tail(complaints) or "and said nothing"
            raise BadInput(
                f"[plans] command ended with exit code {code}: {shown(called)}\n{said}",
                hint=f"Try it yourself: cd {root} && {called}",
            )
        if (size := output.seek(0, os.SEEK_END)) > LARGEST_BYTES:
            raise BadInput(f"[plans] command printed {size:,} bytes", hint=f"At most {LARGEST_BYTES:,} are read.")
        output.seek(0)
        return output.read()


def _tail(complaints: IO[bytes]) -> str:
    size = complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, size - LONGEST_TAIL))
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return "\n".join(lines[-SHOWN_LINES:])


def _run(root: Path, command: Sequence[str], timeout_seconds: float, output: IO[bytes], complaints: IO[bytes]) -> int:
    called = " ".join(command)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        child = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise BadInput(
            f"[plans] command cannot be started: {shown(called)}: {error}", hint="dos config get plans.command"
        ) from error
    with child:
        try:
            child.wait(timeout_seconds)
        except subprocess.TimeoutExpired as error:
            _end(child)
            raise BadInput(
                f"[plans] command did not end within {timeout_seconds:g} s: {shown(called)}",
                hint="Make it faster, or: dos config set plans.timeout_seconds N",
            ) from error
    return child.returncode


def _end(child: "subprocess.Popen[bytes]") -> None:
    """With everything it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
