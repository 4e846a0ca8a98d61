"""Units from an issue tracker that keeps its issues as JSON lines beside the code: `.beads/*.jsonl`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, convert, json

from dos.errors import BadInput
from dos.units.markdown import fields
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit

CLAIMS = {
    "closed": PlanClaim.SHIPPED,
    "blocked": PlanClaim.BLOCKED,
    "deferred": PlanClaim.BLOCKED,
    "open": PlanClaim.OPEN,
    "in_progress": PlanClaim.OPEN,
    "hooked": PlanClaim.OPEN,
}
GONE = ("tombstone", "pinned")
NO_WORK = (
    "epic",
    "message",
    "molecule",
    "merge-request",
)  # they hold other issues, or nothing to do
LOWEST_PRIORITY = 2  # of an issue that does not say


class Issue(Struct, kw_only=True):
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
    """Every issue that is work, the most urgent first."""
    found: list[tuple[int, Unit]] = []
    problems: list[Problem] = []
    for path in _files(root, where):
        name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as error:
            problems.append(
                Problem(
                    kind=ProblemKind.UNREADABLE,
                    what=f"it cannot be read: {error.strerror}",
                    document=name,
                )
            )
            continue
        for number, line in enumerate(lines, 1):
            if line.strip():
                found += _read_line(line, name, number, problems)
    found.sort(key=lambda each: each[0])
    return [unit for _, unit in found], problems


def _files(root: Path, where: str) -> list[Path]:
    place = root / where
    if place.is_file():
        return [place]
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else []
    if not files:
        raise BadInput(
            f"[plans] beads is {where!r}, and there are no issues",
            hint="dos config set plans.beads PATH",
        )
    return files


def _read_line(
    line: bytes, name: str, number: int, problems: list[Problem]
) -> Iterator[tuple[int, Unit]]:
    try:
        record = json.decode(line)
        if not isinstance(record, dict) or "title" not in record:
            return  # a comment, a deletion: not every line of the folder is an issue
        issue = convert({key: value for key, value in record.items() if value is not None}, Issue)
    except (DecodeError, ValidationError, RecursionError) as error:
        problems.append(
            Problem(
                kind=ProblemKind.UNREADABLE,
                what=f"not an issue: {error}",
                document=name,
                line=number,
            )
        )
        return
    if issue.status not in GONE and issue.issue_type not in NO_WORK:
        unit = _unit(issue, name, number)
        if unit.unparseable:
            what = f"unit {unit.name}: {unit.unparseable}"
            problems.append(
                Problem(kind=ProblemKind.KEY_MISTYPED, what=what, document=name, line=number)
            )
        yield issue.priority, unit


def _unit(issue: Issue, document: str, line: int) -> Unit:
    labels = dict(label.split(":", 1) for label in issue.labels or () if ":" in label)
    stated: dict[str, str] = {}
    prose = []
    slip = ""
    for text in issue.description.split("\n"):
        if field := fields.parse_field(text):
            stated[field[0]] = field[1]
            continue
        if not slip and (near := fields.find_mistyped_key(text)):
            slip = f"`{near[0]}:` is no key of a unit; did you mean `{near[1]}:`?"
        prose.append(text)
    parts = ["\n".join(prose).strip(), issue.design.strip()]
    if issue.acceptance_criteria.strip():
        parts.append(f"Accepted when:\n\n{issue.acceptance_criteria.strip()}")
    said = {**labels, **stated}
    return Unit(
        plan=labels.get("plan") or issue.id.rpartition("-")[0] or "beads",
        id=issue.id,
        title=issue.title.strip() or issue.id,
        text="\n\n".join(part for part in parts if part),
        lane=said.get("lane", "").strip(),
        agent=fields.stated_text(said, "agent"),
        paths=fields.split_list(said.get("paths", "")),
        acceptance=said.get("acceptance", ""),
        depends=tuple(dict.fromkeys(_blockers(issue))),
        plan_class=said.get("class", "").strip(),
        gated=fields.stated_text(said, "gated"),
        soak_until=fields.stated_text(said, "soak"),
        claimed=CLAIMS.get(issue.status, PlanClaim.NONE),
        unparseable=slip,
        document=document,
        line=line,
    )


def _blockers(issue: Issue) -> Iterator[str]:
    """The issues that have to be done first; relations of any other kind hold nothing up."""
    for each in issue.dependencies or ():
        if isinstance(each, str):
            yield each
        elif (
            isinstance(each, dict)
            and each.get("type", "blocks") == "blocks"
            and each.get("issue_id") in (None, issue.id)
        ):
            name = each.get("depends_on_id") or each.get("id")
            if isinstance(name, str):
                yield name
