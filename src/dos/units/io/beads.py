"""Read units from an issue tracker that keeps its issues as JSON lines: `.beads/*.jsonl`.

An issue states the fields of a unit as labels such as `lane:api`, or in its description as a plan
document does. Priority decides the order, `blocks` the dependencies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, convert, json

from dos.errors import BadInput
from dos.units.markdown import fields
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit

# What a status of the tracker claims about the unit; any other status claims nothing.
CLAIMS = {
    "closed": PlanClaim.SHIPPED,
    "blocked": PlanClaim.BLOCKED,
    "deferred": PlanClaim.BLOCKED,
    "open": PlanClaim.OPEN,
    "in_progress": PlanClaim.OPEN,
    "hooked": PlanClaim.OPEN,
}
GONE = ("tombstone", "pinned")
# Issues of these types contain other issues, or nothing to do.
NO_WORK = ("epic", "message", "molecule", "merge-request")
LOWEST_PRIORITY = 2  # of an issue that states none


class Issue(Struct, kw_only=True):
    """An issue as the tracker writes it; unknown keys are ignored."""

    id: str
    title: str
    description: str = ""
    design: str = ""
    acceptance_criteria: str = ""
    status: str = "open"
    priority: int = LOWEST_PRIORITY
    issue_type: str = "task"
    labels: list[str] | None = None
    dependencies: list[Any] | None = None


def read(root: Path, where: str) -> tuple[list[Unit], list[Problem]]:
    """Every issue that is work, the most urgent first, and the lines that cannot be read.

    Raises BadInput if there is no file of issues.
    """
    found: list[tuple[int, Unit]] = []
    problems: list[Problem] = []
    for path in _files(root, where):
        if path.is_relative_to(root):
            name = str(path.relative_to(root))
        else:
            name = str(path)
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as error:
            problems.append(_unreadable(f"it cannot be read: {error.strerror}", name))
            continue
        for number, line in enumerate(lines, 1):
            if line.strip():
                found += _read_line(line, name, number, problems)
    found.sort(key=_priority)
    return [unit for _, unit in found], problems


def _priority(entry: tuple[int, Unit]) -> int:
    """The sort key: 0 is the most urgent."""
    return entry[0]


def _unreadable(what: str, document: str, line: int = 0) -> Problem:
    """The problem of a file or a line that is no issue."""
    return Problem(kind=ProblemKind.UNREADABLE, what=what, document=document, line=line)


def _files(root: Path, where: str) -> list[Path]:
    """The files of issues: the one that is named, or those in the folder."""
    path = root / where
    if path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
    else:
        files = []
    if not files:
        raise BadInput(
            f"[plans] beads is {where!r}, and there are no issues",
            hint="dos config set plans.beads PATH",
        )
    return files


def _read_line(
    line: bytes, document: str, number: int, problems: list[Problem]
) -> Iterator[tuple[int, Unit]]:
    """Yield the unit of a line with its priority, if it is an issue to work on."""
    try:
        record = json.decode(line)
        if not isinstance(record, dict) or "title" not in record:
            return  # a comment, a deletion: not every line of the folder is an issue
        issue = convert({key: value for key, value in record.items() if value is not None}, Issue)
    except (DecodeError, ValidationError, RecursionError) as error:
        problems.append(_unreadable(f"not an issue: {error}", document, number))
        return
    if issue.status in GONE or issue.issue_type in NO_WORK:
        return
    unit = _unit(issue, document, number)
    if unit.unparseable:
        what = f"unit {unit.name}: {unit.unparseable}"
        kind = ProblemKind.KEY_MISTYPED
        problems.append(Problem(kind=kind, what=what, document=document, line=number))
    yield issue.priority, unit


def _unit(issue: Issue, document: str, line: int) -> Unit:
    """An issue as a unit. Fields in its description win over its labels."""
    labels = dict(label.split(":", 1) for label in issue.labels or () if ":" in label)
    stated: dict[str, str] = {}
    prose = []
    mistyped = ""
    for text in issue.description.split("\n"):
        if field := fields.parse_field(text):
            stated[field[0]] = field[1]
            continue
        if not mistyped and (near := fields.find_mistyped_key(text)):
            mistyped = fields.describe_mistyped_key(*near)
        prose.append(text)
    parts = ["\n".join(prose).strip(), issue.design.strip()]
    if issue.acceptance_criteria.strip():
        parts.append(f"Accepted when:\n\n{issue.acceptance_criteria.strip()}")
    values = {**labels, **stated}
    return Unit(
        plan=labels.get("plan") or issue.id.rpartition("-")[0] or "beads",
        id=issue.id,
        title=issue.title.strip() or issue.id,
        text="\n\n".join(part for part in parts if part),
        lane=values.get("lane", "").strip(),
        agent=fields.stated_text(values, "agent"),
        paths=fields.split_list(values.get("paths", "")),
        acceptance=values.get("acceptance", ""),
        tests_may_change=fields.tests_may_change(values.get("tests", "")),
        depends=tuple(dict.fromkeys(_blockers(issue))),
        plan_class=values.get("class", "").strip(),
        gated=fields.stated_text(values, "gated"),
        soak_until=fields.stated_text(values, "soak"),
        claimed=CLAIMS.get(issue.status, PlanClaim.NONE),
        unparseable=mistyped,
        document=document,
        line=line,
    )


def _blockers(issue: Issue) -> Iterator[str]:
    """The issues that have to be done first; relations of other types do not block."""
    for dependency in issue.dependencies or ():
        if isinstance(dependency, str):
            yield dependency
            continue
        if not isinstance(dependency, dict) or dependency.get("type", "blocks") != "blocks":
            continue
        if dependency.get("issue_id") not in (None, issue.id):
            continue
        name = dependency.get("depends_on_id") or dependency.get("id")
        if isinstance(name, str):
            yield name
