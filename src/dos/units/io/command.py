"""Read units from the output of a program: one JSON object a line.

This is how any tracker can supply units. The program runs in the workspace, with a time limit, and
its output counts only if it exits with 0.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, field, json, structs

from dos.errors import BadInput
from dos.machine import commands
from dos.text import quote
from dos.units.markdown.fields import claim_of_status, tests_may_change
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit
from dos.unknown import Unknown

SHOWN_LINES = 5  # of its error output
NAME = "command"


class UnitLine(Struct, frozen=True, kw_only=True):
    """A unit as a program prints it; unknown keys are ignored."""

    id: str
    plan: str = ""
    title: str = ""
    text: str = ""
    lane: str = ""
    agent: str = ""
    paths: tuple[str, ...] = ()
    acceptance: str = ""
    tests: str = ""  # `may-change`, or nothing
    depends: tuple[str, ...] = ()
    plan_class: str = field(default="", name="class")
    gated: str = ""
    soak_until: str = ""
    status: str = ""


def read(
    root: Path, command: Sequence[str], timeout_seconds: float
) -> tuple[list[Unit], list[Problem]]:
    """The units in the order in which they were printed, and the lines that are none.

    Raises BadInput if the program fails: its output does not count then.
    """
    output = _printed(root, command, timeout_seconds)
    decoder = json.Decoder(UnitLine)
    units: list[Unit] = []
    problems: list[Problem] = []
    for number, line in enumerate(output.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            units.append(_unit(decoder.decode(line), number))
        except (DecodeError, ValidationError, RecursionError, ValueError) as error:
            what = f"not a unit: {error}: {quote(line[:200].decode('utf-8', 'replace'))}"
            problems.append(
                Problem(kind=ProblemKind.UNREADABLE, what=what, document=NAME, line=number)
            )
    return units, problems


def _unit(line: UnitLine, number: int) -> Unit:
    """A printed unit; its plan comes from its id if the program names none.

    `AUTH/AUTH2` is of the plan AUTH, and so is `AUTH2` alone, by its letters. Raises ValueError for
    an empty id.
    """
    plan, _, unit_id = line.id.rpartition("/")
    if not unit_id.strip():
        raise ValueError("its id is empty")
    series = unit_id.rstrip("0123456789.").rstrip("-")
    values = structs.asdict(line)
    del values["status"]
    values["tests_may_change"] = tests_may_change(values.pop("tests"))
    values["plan"] = line.plan or plan or series or unit_id
    values["id"] = unit_id
    values["title"] = line.title or unit_id
    values["claimed"] = PlanClaim.NONE
    if line.status:
        values["claimed"] = claim_of_status(line.status)
    return Unit(**values, document=NAME, line=number)


def _printed(root: Path, command: Sequence[str], timeout_seconds: float) -> bytes:
    """The program's output. Raises BadInput if it cannot be run, takes too long, or fails."""
    called = " ".join(command)
    retry = f"Try it yourself: cd {root} && {called}"
    ran = commands.run(command, root, timeout_seconds)
    if isinstance(ran, Unknown):
        raise BadInput(
            f"[plans] command: {ran.why}",
            hint=f"{retry}\nTo allow more time: dos config set plans.timeout_seconds N",
        )
    if ran.code != 0:
        errors = "\n".join(ran.error_lines[-SHOWN_LINES:]) or "It printed no error."
        raise BadInput(
            f"[plans] command ended with exit code {ran.code}: {quote(called)}\n{errors}",
            hint=retry,
        )
    return ran.output
