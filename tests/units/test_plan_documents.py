"""Plan documents as files: which are read, in which order, and which are unreadable."""

import os

import pytest

from dos.config.schema import Config, Lanes, Paths
from dos.errors import BadInput
from dos.units.io import documents, sources
from dos.units.unit import ProblemKind
from dos.workspace import find

GLOB = "docs/**/*-plan.md"


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "dos.toml").touch()
    return find(tmp_path)


def written(workspace, **plans):
    for name, text in plans.items():
        (workspace.root / "docs" / f"{name}-plan.md").write_text(text)


def test_documents_are_read_in_the_order_of_their_names_and_the_first_unit_wins(workspace):
    written(workspace, b="## X U1: later\n", a="## X U1: earlier\n## U2: own\n")
    found = sources.read(workspace, Config())
    assert [(unit.name, unit.title) for unit in found.units] == [
        ("X/U1", "earlier"),
        ("A/U2", "own"),
    ]
    assert [str(problem) for problem in found.problems] == [
        "docs/b-plan.md:1: unit X/U1 is declared in docs/a-plan.md:1 already"
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe\0## U1: odd\n", b"## U1: x\n\0"])
def test_a_document_that_is_not_text_is_a_problem_and_not_an_error(workspace, data):
    (workspace.root / "docs" / "x-plan.md").write_bytes(data)
    found = sources.read(workspace, Config())
    assert found.units == ()
    assert [(problem.kind, problem.document) for problem in found.problems] == [
        (ProblemKind.UNREADABLE, "docs/x-plan.md")
    ]


def test_bytes_that_are_not_utf8_do_not_hide_the_units_around_them(workspace):
    (workspace.root / "docs" / "x-plan.md").write_bytes(b"caf\xe9\n## U1: caf\xe9\n")
    (unit,) = sources.read(workspace, Config()).units
    assert unit.title == "caf\N{REPLACEMENT CHARACTER}"


def test_what_is_no_file_is_passed_over_without_waiting_for_it(workspace):
    (workspace.root / "docs" / "a-plan.md").mkdir()
    os.mkfifo(workspace.root / "docs" / "b-plan.md")
    (workspace.root / "docs" / "c-plan.md").symlink_to("nowhere")
    assert sources.read(workspace, Config()).units == ()


def test_the_work_trees_of_agents_hold_no_plans(workspace):
    inside = workspace.root / ".dos" / "worktrees" / "api" / "docs"
    inside.mkdir(parents=True)
    (inside / "x-plan.md").write_text("## U1: copy\n")
    assert documents.plan_paths(workspace.root, "**/*-plan.md") == []


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_document_that_may_not_be_read_is_a_problem(workspace):
    written(workspace, a="## U1: x\n")
    (workspace.root / "docs" / "a-plan.md").chmod(0)
    assert "Permission denied" in str(sources.read(workspace, Config()).problems[0])


@pytest.mark.parametrize("glob", ["/etc/*.md", ""])
def test_a_pattern_for_no_files_is_an_error_that_says_what_to_type(workspace, glob):
    with pytest.raises(BadInput, match="plans_glob") as raised:
        documents.plan_paths(workspace.root, glob)
    assert "dos config unset paths.plans_glob" in raised.value.hint


def test_a_file_that_grows_beyond_all_measure_is_not_read(workspace, monkeypatch):
    monkeypatch.setattr(documents, "LARGEST_BYTES", 10)
    written(workspace, a="## U1: x and more\n")
    assert "larger than 10 bytes" in str(sources.read(workspace, Config()).problems[0])


def test_lanes_are_checked_by_any_name_that_leads_to_one(workspace):
    lanes = Lanes(concurrent=("api",), trees={"api": ("api/**",)}, aliases={"backend": "api"})
    written(
        workspace, a="## U1: x\n- lane: API\n## U2: y\n- lane: backend\n## U3: z\n- lane: web\n"
    )
    found = sources.read(workspace, Config(lanes=lanes))
    assert [problem.what for problem in found.problems] == [
        "unit A/U3 names the lane 'web', which is not declared"
    ]


def test_headings_that_only_count_are_shown_and_never_offered(workspace):
    written(workspace, a="## 1. Background\n## 2. Design\n")
    assert sources.read(workspace, Config()).units == ()
    assert [
        unit.name for unit in sources.read(workspace, Config(), include_counted=True).units
    ] == [
        "A/1",
        "A/2",
    ]


def test_the_glob_of_the_configuration_is_used(workspace):
    (workspace.root / "PLAN.md").write_text("## U1: x\n")
    assert [
        unit.name
        for unit in sources.read(workspace, Config(paths=Paths(plans_glob="PLAN.md"))).units
    ] == ["PLAN/U1"]
