"""What is dispatched is the plan of the checkout, what is judged is the committed one: said before
anything starts."""

import subprocess

import pytest
from commanding import git

PLAN = "# Plan\n\n## API1: first\n\n- lane: api\n- class: docs\n"


@pytest.fixture
def planned(workspace):
    (workspace / "docs" / "one-plan.md").write_text(PLAN)
    config = workspace / "dos.toml"
    config.write_text(config.read_text() + '\n[workers]\nagent = "command"\ncommand = ["true"]\n')
    for key, value in (("user.name", "T"), ("user.email", "t@example.com")):
        git("config", key, value, cwd=workspace)
    return workspace


def found(dos):
    findings = dos("doctor", "--json").json["findings"]
    return [finding for finding in findings if finding["kind"] == "PLANS_UNCOMMITTED"]


def test_doctor_names_what_is_not_committed_and_its_fix_commits_just_that(planned, dos):
    (planned / "api" / "mine.txt").write_text("not the plan's")
    git("add", "api/mine.txt", cwd=planned)
    (finding,) = found(dos)
    assert "docs/one-plan.md" in finding["what"] and "dos.toml" in finding["what"]
    assert "judge the work by the committed plan" in finding["why"]
    subprocess.run(finding["fix"], shell=True, check=True, cwd=planned, capture_output=True)
    assert found(dos) == []
    assert sorted(git("show", "--format=", "--name-only", cwd=planned).split()) == [
        "docs/one-plan.md",
        "dos.toml",
    ]
    (planned / "docs" / "one-plan.md").write_text(PLAN + "\nMore.\n")
    assert "docs/one-plan.md has uncommitted changes" in found(dos)[0]["what"]


def test_up_says_so_before_anything_starts_and_how_to_commit(planned, dos, monkeypatch):
    (planned / "docs" / "one-plan.md").write_text(
        "# Plan\n\n## API1: first\n\n- lane: api\n- class: draft\n"
    )
    answer = dos("up", "--until-idle", "--plain")
    assert "docs/one-plan.md, dos.toml have uncommitted changes" in answer.err
    assert "git commit -m 'Update the plan' -- docs/one-plan.md dos.toml" in answer.err


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_plan_on_another_branch_than_the_target_is_told_and_the_fix_brings_it_there(
    planned, dos, is_committed
):
    (planned / "dos.toml").write_text(
        (planned / "dos.toml").read_text() + 'target_branch = "release"\n'
    )
    git("add", "dos.toml", cwd=planned)
    git("commit", "-qm", "Settings", cwd=planned)
    git("branch", "release", cwd=planned)
    here = git("branch", "--show-current", cwd=planned)
    if is_committed:
        git("add", "docs", cwd=planned)
        git("commit", "-qm", "Plan", cwd=planned)
    (finding,) = found(dos)
    assert finding["what"] == "docs/one-plan.md in your checkout differs from branch release"
    subprocess.run(finding["fix"], shell=True, check=True, cwd=planned, capture_output=True)
    assert found(dos) == []
    assert git("branch", "--show-current", cwd=planned) == here
    assert (
        git("show", "release:docs/one-plan.md", cwd=planned)
        == (planned / "docs" / "one-plan.md").read_text()
    )


@pytest.mark.soak
def test_up_names_an_agent_program_that_is_missing_before_it_starts_and_the_question_says_so_too(
    planned, dos
):
    config = planned / "dos.toml"
    config.write_text(config.read_text().replace('["true"]', '["no-such-agent"]'))
    answer = dos("up", "--until-idle", "--plain")
    assert (
        "warning: the agent 'command' starts 'no-such-agent', which is not on the path"
        in answer.err
    )
    (asked,) = dos("decisions", "--json").json
    assert (
        "agent did not start, command did not start: no-such-agent: No such file or directory"
        in asked["reason_text"]
    )


def test_init_ends_with_the_command_or_commits_only_what_it_wrote(planned, dos):
    (planned / "dos.toml").unlink()
    (planned / "api" / "mine.txt").write_text("the user's own")
    git("add", "api/mine.txt", cwd=planned)
    reply = dos("init", "--first-plan")
    assert "git add -- dos.toml docs/first-plan.md && git commit -m 'Add dos.toml'" in reply.out
    (planned / "docs" / "first-plan.md").unlink()
    answer = dos("init", "--force", "--first-plan", "--commit")
    assert answer.code == 0 and "committed dos.toml, docs/first-plan.md as " in answer.out
    assert sorted(git("show", "--format=", "--name-only", cwd=planned).split()) == [
        "docs/first-plan.md",
        "dos.toml",
    ]
    assert "A  api/mine.txt" in git("status", "--porcelain", cwd=planned), (
        "what was staged stays staged"
    )


def test_the_class_that_is_recommended_for_documents_is_one(planned, dos):
    assert dos("plan", "--once", "--json").json["problems"] == []


@pytest.mark.parametrize(
    ("line", "key"),
    [("- gate: legal", "gated"), ("- lanes: api", "lane"), ("- **Pahts**: api/**", "paths"),
     ("* acceptence: `x`", "acceptance"),
     ("- soak untill: 2030-01-01", "soak until"), ("- Depend: API2", "depends"),
     ("- staus: done", "status")],
)  # fmt: skip
def test_a_mistyped_key_is_a_problem_with_its_place_and_holds_its_unit(planned, dos, line, key):
    document = planned / "docs" / "one-plan.md"
    document.write_text(
        f"# Plan\n\n## API1: first\n\n- lane: api\n{line}\n\n## API2: second\n\n- lane: api\n"
    )
    (problem,) = dos("plan", "--once", "--json").json["problems"]
    assert problem.startswith("docs/one-plan.md:6: unit ONE/API1: ")
    assert f"did you mean `{key}:`?" in problem
    held = dos("pickable", "API1", "--json")
    assert (held.code, held.json["reason"], "docs/one-plan.md:6" in held.json["evidence"]) == (
        24,
        "UNPARSEABLE",
        True,
    )
    assert dos("pickable", "API2").code == 0, "and no other unit"
    rows = {row["unit"]: row for row in dos("status", "--json").json["units"]}
    assert (rows["ONE/API1"]["state"], rows["ONE/API2"]["state"]) == ("held", "open")


@pytest.mark.parametrize(
    "line",
    [
        "- name: the new one",
        "- auth: by token",
        "- note: take care",
        "- see https://example.com",
        "- base: main",
        "- class: a class of the program that is written anew",
        "- returns: an error",
        "lane: in prose",
    ],
)
def test_a_label_of_prose_is_no_mistyped_key(planned, dos, line):
    document = planned / "docs" / "one-plan.md"
    document.write_text(f"# Plan\n\n## API1: first\n\n- lane: api\n\nWhat to do:\n\n{line}\n")
    assert dos("plan", "--once", "--json").json["problems"] == []
    assert dos("pickable", "API1").code == 0


@pytest.mark.parametrize(
    ("heading", "problems"),
    [
        (
            "## B1 second",
            [
                (
                    "docs/one-plan.md:8: the heading states `lane:` and declares no unit; "
                    "write `B1: second`"
                )
            ],
        ),
        ("## API2 second", []),  # of the series of API1
        ("## Notes on lanes", []),
        ("##", []),
    ],
)
def test_a_heading_that_reads_as_a_unit_and_declares_none_is_told(planned, dos, heading, problems):
    (planned / "docs" / "one-plan.md").write_text(
        f"{PLAN}\n{heading}\n\n- lane: api\n- paths: api/**\n"
    )
    assert dos("plan", "--once", "--json").json["problems"] == problems


@pytest.mark.parametrize(
    ("lines", "kind", "said"),
    [
        ("- paths: docs/a.md, api/x.py\n", "UNIT_PATHS_OUTSIDE_LANE",
            "names docs/a.md, which can never lie"),
        ("- acceptance: `no-such-program --all`\n", "UNIT_ACCEPTANCE_PROGRAM_MISSING",
            "'no-such-program'"),
        ("- acceptance: `CI=1 .venv/bin/pytest`\n", "UNIT_ACCEPTANCE_PROGRAM_MISSING",
            "'.venv/bin/pytest'"),
    ],
)  # fmt: skip
def test_a_unit_that_can_never_be_done_is_flagged_by_plan_and_doctor(
    planned, dos, lines, kind, said
):
    (planned / "docs" / "one-plan.md").write_text(
        f"# Plan\n\n## API1: first\n\n- lane: api\n{lines}"
    )
    (problem,) = dos("plan", "--once", "--json").json["problems"]
    assert problem.startswith("docs/one-plan.md:3: ") and said in problem
    assert kind in [finding["kind"] for finding in dos("doctor", "--json").json["findings"]]


@pytest.mark.parametrize(
    "lines",
    ["- paths: api/**, api/new/x.py\n", "- acceptance: `test -s api/a.txt && git log`\n",
     "- acceptance: `./new-script.sh`\n", "- acceptance: `cd api && whatever`\n",
     "- acceptance: `$RUNNER x`\n", "- acceptance: `A=1 sh -c 'x'`\n"],
)  # fmt: skip
def test_what_may_yet_be_done_is_not(planned, dos, lines):
    (planned / "docs" / "one-plan.md").write_text(
        f"# Plan\n\n## API1: first\n\n- lane: api\n{lines}"
    )
    assert dos("plan", "--once", "--json").json["problems"] == []


def test_init_says_how_to_begin_a_plan_where_there_is_none(planned, dos):
    assert "--first-plan" not in dos("init", "--force").out
    (planned / "docs" / "one-plan.md").unlink()
    assert (
        "plans   docs/**/*-plan.md: no plan yet; `dos init --first-plan` writes"
        in dos("init", "--force").out
    )
    assert "there is none yet" not in dos("init", "--force", "--first-plan").out


def test_init_names_the_lanes_of_plans_that_it_did_not_find(planned, dos):
    assert "does not declare" not in dos("init", "--force").out
    plan = "# Plan\n\n## ONE1: first\n\n- lane: cart\n\n## ONE2: second\n\n- lane: api\n"
    (planned / "docs" / "one-plan.md").write_text(plan)
    said = dos("init", "--force").out
    assert "; they name lanes that dos.toml does not declare: cart. Declare them under" in said
    findings = dos("doctor", "--json").json["findings"]
    (found,) = [each for each in findings if each["kind"] == "UNIT_LANE_UNKNOWN"]
    assert "declare the lane under [lanes] of dos.toml" in found["why"]
