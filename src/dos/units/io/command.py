"""Units from any program: what it prints, one JSON object a line."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, field, json, structs

from dos.errors import BadInput
from dos.machine import commands
from dos.text import quote
from dos.units.markdown.fields import claim_of_status
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit
from dos.unknown import Unknown

SHOWN_LINES = 5  # of what it complained about
NAME = "command"


class UnitLine(Struct, frozen=True, kw_only=True):
    """What a program says about a unit; more keys are let through."""

    id: str
    plan: str = ""
    title: str = ""
    text: str = ""
    lane: str = ""
    agent: str = ""
    paths: tuple[str, ...] = ()
    acceptance: str = ""
    depends: tuple[str, ...] = ()
    plan_class: str = field(default="", name="class")
    gated: str = ""
    soak_until: str = ""
    status: str = ""


def read(
    root: Path, command: Sequence[str], timeout_seconds: float
) -> tuple[list[Unit], list[Problem]]:
    """The units in the order in which they were printed. A program that fails has printed nothing."""
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
    plan, _, unit_id = line.id.rpartition("/")
    if not unit_id.strip():
        raise ValueError("its id is empty")
    known = structs.asdict(line)
    del known["status"]
    known |= {
        "plan": line.plan or plan or unit_id.rstrip("0123456789.").rstrip("-") or unit_id,
        "id": unit_id,
        "title": line.title or unit_id,
        "claimed": claim_of_status(line.status) if line.status else PlanClaim.NONE,
    }
    return Unit(**known, document=NAME, line=number)


def _printed(root: Path, command: Sequence[str], timeout_seconds: float) -> bytes:
    called = " ".join(command)
    ran = commands.run(command, root, timeout_seconds)
    if isinstance(ran, Unknown):
        hint = f"Try it yourself: cd {root} && {called}\nIts time: dos config set plans.timeout_seconds N"
        raise BadInput(f"[plans] command: {ran.why}", hint=hint)
    if ran.code != 0:
        said = "\n".join(ran.error_lines[-SHOWN_LINES:]) or "and said nothing"
        raise BadInput(
            f"[plans] command ended with exit code {ran.code}: {quote(called)}\n{said}",
            hint=f"Try it yourself: cd {root} && {called}",
        )
    return ran.output
