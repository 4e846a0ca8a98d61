"""Units from an issue tracker's files, and from what a program prints."""

import os
import sys
import time

import pytest
from msgspec import json
from patience import PATIENCE

from dos.config.schema import Config, Lanes, Plans
from dos.errors import BadInput
from dos.machine import commands, process
from dos.units.io import sources
from dos.units.policy import DeclaredUnit
from dos.units.unit import PlanClaim, ProblemKind, Unit
from dos.workspace import find

LANES = Lanes(concurrent=("api",), trees={"api": ("api/**",)})


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "dos.toml").touch()
    return find(tmp_path)


def from_beads(workspace, *issues, where=".beads", name="issues.jsonl"):
    (workspace.root / ".beads").mkdir(exist_ok=True)
    lines = [issue if isinstance(issue, bytes) else json.encode(issue) for issue in issues]
    (workspace.root / ".beads" / name).write_bytes(b"\n".join(lines))
    return sources.read(workspace, Config(lanes=LANES, plans=Plans(source="beads", beads=where)))


def from_command(workspace, script, **more):
    plans = Plans(source="command", command=(sys.executable, "-c", script), **more)
    return sources.read(workspace, Config(lanes=LANES, plans=plans))


def test_issues_are_units_and_the_urgent_come_first(workspace):
    portfolio = from_beads(
        workspace,
        {"id": "bd-2", "title": "later", "status": "open", "priority": 3},
        {
            "id": "bd-1",
            "title": "sooner",
            "description": "Do it.\n- acceptance: `make test`\n- paths: api/a.py",
            "acceptance_criteria": "It works.",
            "status": "blocked",
            "priority": 0,
            "labels": ["lane:api", "class:draft", "tests:may-change", "urgent"],
            "dependencies": [
                {"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "blocks"},
                {"issue_id": "bd-1", "depends_on_id": "bd-9", "type": "related"},
                {"issue_id": "bd-7", "depends_on_id": "bd-8", "type": "blocks"},
            ],
            "created_at": "2026-01-01T00:00:00Z",
        },
        {"id": "bd-3", "title": "in the middle"},
    )
    first = portfolio.units[0]
    assert [unit.name for unit in portfolio.units] == ["bd/bd-1", "bd/bd-3", "bd/bd-2"]
    assert (first.lane, first.plan_class, first.acceptance, first.paths) == (
        "api",
        "draft",
        "make test",
        ("api/a.py",),
    )
    assert first.text == "Do it.\n\nAccepted when:\n\nIt works."
    assert [unit.tests_may_change for unit in portfolio.units] == [True, False, False]
    assert first.depends == ("bd/bd-2",)
    assert (first.document, first.line) == (".beads/issues.jsonl", 2)
    assert [unit.claimed for unit in portfolio.units] == [
        PlanClaim.BLOCKED,
        PlanClaim.OPEN,
        PlanClaim.OPEN,
    ]
    assert portfolio.problems == ()


@pytest.mark.parametrize(
    ("status", "claim"),
    [("closed", "shipped"), ("in_progress", "open"), ("deferred", "blocked"), ("odd", "")],
)
def test_the_status_of_an_issue_is_its_claim(workspace, status, claim):
    (unit,) = from_beads(workspace, {"id": "bd-1", "title": "x", "status": status}).units
    assert unit.claimed == claim


def test_what_is_no_work_is_passed_over(workspace):
    portfolio = from_beads(
        workspace,
        {"id": "bd-1", "title": "a whole", "issue_type": "epic"},
        {"id": "bd-2", "title": "gone", "status": "tombstone"},
        {"id": "bd-3", "comment": "no title"},
        b"",
        b"[]",
    )
    assert (portfolio.units, portfolio.problems) == ((), ())


def test_a_line_that_is_no_issue_is_a_problem_with_its_place(workspace):
    portfolio = from_beads(
        workspace,
        b"{",
        {"id": 3, "title": "x"},
        {"id": "bd-1", "title": "x", "labels": None},
        b"\xff\xfe",
    )
    assert [unit.id for unit in portfolio.units] == ["bd-1"]
    assert [str(problem).partition(": ")[0] for problem in portfolio.problems] == [
        ".beads/issues.jsonl:1",
        ".beads/issues.jsonl:2",
        ".beads/issues.jsonl:4",
    ]
    assert {problem.kind for problem in portfolio.problems} == {ProblemKind.UNREADABLE}


def test_one_file_can_be_named(workspace):
    from_beads(workspace, {"id": "bd-1", "title": "x"}, name="other.jsonl")
    portfolio = from_beads(workspace, {"id": "bd-2", "title": "y"}, where=".beads/other.jsonl")
    assert [unit.id for unit in portfolio.units] == ["bd-1"]


@pytest.mark.parametrize("where", ["nowhere", "dos.toml/x", "empty"])
def test_a_place_without_issues_is_an_error(workspace, where):
    (workspace.root / "empty").mkdir()
    with pytest.raises(BadInput, match="no issues") as raised:
        sources.read(workspace, Config(plans=Plans(source="beads", beads=where)))
    assert "dos config set plans.beads" in raised.value.hint


def test_a_program_prints_units_and_they_keep_their_order(workspace):
    lines = [
        {
            "id": "AUTH2",
            "plan": "AUTH",
            "title": "b",
            "lane": "api",
            "depends": ["AUTH1"],
            "class": "draft",
            "tests": "may-change",
            "more": 1,
        },
        {
            "id": "AUTH/AUTH1",
            "title": "a",
            "text": "Do it.",
            "paths": ["api/a"],
            "status": "done",
            "gated": "by me",
        },
        {"id": "BILL-3.1"},
    ]
    first, *more = [f"print({json.encode(line).decode()!r})" for line in lines]
    portfolio = from_command(workspace, "; ".join([first, "print()", *more]))
    assert [(unit.name, unit.title, unit.line) for unit in portfolio.units] == [
        ("AUTH/AUTH2", "b", 1),
        ("AUTH/AUTH1", "a", 3),
        ("BILL/BILL-3.1", "BILL-3.1", 4),
    ]
    second, first, last = portfolio.units
    assert (second.lane, second.plan_class, second.depends) == ("api", "draft", ("AUTH/AUTH1",))
    assert (first.text, first.paths, first.claimed, first.gated) == (
        "Do it.",
        ("api/a",),
        PlanClaim.SHIPPED,
        "by me",
    )
    assert last.claimed == PlanClaim.NONE
    assert [unit.tests_may_change for unit in portfolio.units] == [True, False, False]
    assert portfolio.problems == ()


def test_a_table_of_settings_lets_tests_change():
    unit = Unit(plan="A", id="A1", title="x")
    assert DeclaredUnit(tests="may-change").complete(unit).tests_may_change
    assert not DeclaredUnit().complete(unit).tests_may_change


@pytest.mark.parametrize(
    "line", ["{", "[]", "3", '{"title": "no id"}', '{"id": " "}', '{"id": 3}', '{"id": "A/"}']
)
def test_a_line_that_is_no_unit_is_a_problem_and_the_others_count(workspace, line):
    portfolio = from_command(workspace, f'print({line!r}); print(\'{{"id": "A1"}}\')')
    assert [unit.id for unit in portfolio.units] == ["A1"]
    assert str(portfolio.problems[0]).startswith("command:1: not a unit")


def test_it_runs_at_the_root_of_the_workspace_without_a_git_of_somebody_elses(
    workspace, monkeypatch
):
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    script = (
        "import os, json; title = os.getcwd() + str(os.environ.get('GIT_DIR'));"
        " print(json.dumps({'id': 'A1', 'title': title}))"
    )
    assert (
        from_command(workspace, script).units[0].title == f"{os.path.realpath(workspace.root)}None"
    )


def test_a_program_that_fails_is_an_error_that_shows_what_it_said(workspace):
    script = (
        'import sys; print(\'{"id": "A1"}\');'
        " print('the tracker is down', file=sys.stderr); sys.exit(3)"
    )
    with pytest.raises(BadInput, match="exit code 3") as raised:
        from_command(workspace, script)
    assert "the tracker is down" in raised.value.message
    assert raised.value.hint


def test_a_program_that_is_not_there_is_an_error(workspace):
    with pytest.raises(BadInput, match="cannot be started"):
        sources.read(workspace, Config(plans=Plans(source="command", command=("no-such-program",))))


def test_a_program_that_hangs_is_ended_with_all_that_it_started(workspace):
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
        "open('child', 'w').write(str(child.pid)); time.sleep(300)"
    )
    with pytest.raises(BadInput, match="did not end within 2 s"):
        from_command(workspace, script, timeout_seconds=2)
    child = int((workspace.root / "child").read_text())
    deadline = (
        time.monotonic() + PATIENCE
    )  # the system takes its time between the signal and the end
    while process.identify(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.identify(child) is None


def test_a_program_that_prints_without_end_does_not_fill_our_memory(workspace, monkeypatch):
    monkeypatch.setattr(commands, "LARGEST_BYTES", 1000)
    with pytest.raises(BadInput, match="printed 2,001 bytes"):
        from_command(workspace, "print('x' * 2000)")
