"""`dos test-witness` and `dos test-witness run`, as they are typed."""

import itertools

import pytest
from commanding import git, in_process

from dos.testwitness.io import recorded
from dos.testwitness.verdict import SPELLINGS
from dos.world import World

pytestmark = pytest.mark.sampled(3)

PASSING = "grep -q new code/it"


@pytest.fixture
def changed(dos, workspace):
    """A commit with a test that is red without it."""
    for files in (
        {"code/it": "old", "tests/test_it.sh": "true"},
        {"code/it": "new", "tests/test_it.sh": PASSING},
    ):
        for name, text in files.items():
            (workspace / name).parent.mkdir(exist_ok=True)
            (workspace / name).write_text(f"{text}\n")
        git("add", "--all", cwd=workspace)
        git("commit", "--quiet", "--message", "change", cwd=workspace)
    return git("rev-parse", "HEAD", cwd=workspace).strip()


@pytest.mark.parametrize(
    ("baseline", "candidate", "code"),
    [
        ("pass", "pass", 3), ("pass", "fail", 5), ("pass", "error", 5),
        ("fail", "pass", 6), ("fail", "fail", 4), ("fail", "error", 4),
        ("error", "pass", 6), ("error", "fail", 4), ("error", "error", 4),
        ("not-run", "pass", 6), ("pass", "not-run", 6), ("notrun", "notrun", 6),
        ("passed", "passed", 3), ("passed", "failed", 5), ("errored", "failed", 4),
    ],
)  # fmt: skip
def test_told_outcomes_exit_with_their_answer(dos, state, baseline, candidate, code):
    answer = dos("test-witness", "--baseline", baseline, "--candidate", candidate, "--json")
    assert answer.code == code
    assert answer.json["evidence"]["rung"] == "AGENT_AUTHORED" and not answer.json["witnesses"]
    assert (
        dos("test-witness", "--baseline", baseline, "--candidate", candidate, "--forgeable").code
        == 6
    )
    assert not state.exists()


def test_no_words_make_a_told_test_a_witness(dos):
    for baseline, candidate in itertools.product(SPELLINGS, SPELLINGS):
        assert dos("test-witness", f"--baseline={baseline}", f"--candidate={candidate}").code != 0


def test_nothing_told_is_nothing_known(dos):
    assert dos("test-witness").code == 6
    assert dos("test-witness", "--baseline", "green").code == 2
    assert dos("test-witness", "rnu").code == 2


def test_a_run_answers_with_its_table_and_writes_nothing_down(dos, state, changed):
    answer = dos("test-witness", "run", "--cmd", "sh tests/test_it.sh", "--repeat", "1")
    assert answer.code == 0 and answer.out.startswith("DISCRIMINATES")
    rows = [
        line.split()
        for line in answer.out.splitlines()
        if " tests " in line and line.startswith("  ")
    ]
    assert rows == [["old", "tests", "pass", "pass"], ["new", "tests", "fail", "pass"]]
    assert "new tests on old code, run 1: fail" in answer.err
    assert not state.exists()


@pytest.mark.soak
def test_a_run_says_everything_in_json_and_nothing_beside_it(dos, changed):
    answer = dos("test-witness", "run", "--commit", changed[:12], "--cmd", "sh {tests}", "--json")
    reply = answer.json
    assert answer.code == 0 and answer.err == ""
    assert reply["verdict"] == "DISCRIMINATES" and reply["witnesses"] and reply["assert_level"]
    assert (
        reply["commit"] == changed
        and reply["command"] == "sh {tests}"
        and reply["command_from"] == "--cmd"
    )
    assert (
        reply["network"] in ("off", "on") and reply["weakened"] == [] and reply["recorded"] is None
    )
    assert reply["tests"] == {"changed": ["tests/test_it.sh"], "deleted": []}
    assert {cell: [run["outcome"] for run in runs] for cell, runs in reply["cells"].items()} == {
        "old_tests_old_code": ["pass"],
        "old_tests_new_code": ["pass"],
        "new_tests_old_code": ["fail", "fail"],
        "new_tests_new_code": ["pass", "pass"],
    }


def test_a_change_of_how_tests_are_run_is_named(dos, workspace, changed):
    (workspace / "Makefile").write_text("test:\n\tsh tests/test_it.sh\n")
    (workspace / "tests" / "test_it.sh").write_text("test -e Makefile\n")
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "run", cwd=workspace)
    answer = dos("test-witness", "run", "--cmd", "sh {tests}", "--repeat", "1", "--json")
    assert answer.json["limits"][0] == "the change also touches how tests are run: Makefile"


def test_the_workspace_says_how_it_is_tested(dos, workspace, changed):
    assert dos("test-witness", "run").code == 2
    assert dos("config", "set", "workers.test", "sh tests/test_it.sh").code == 0
    answer = dos("test-witness", "run", "--json", "--repeat", "1")
    assert answer.code == 0 and answer.json["command_from"] == "dos.toml [workers] test"
    (workspace / "docs" / "a-plan.md").write_text(
        "## AUTH1: log in\n- lane: api\n- acceptance: `false`\n"
    )
    answer = dos("test-witness", "run", "--json", "--repeat", "1", "--unit", "AUTH1")
    assert answer.code == 6 and answer.json["command"] == "false"
    assert answer.json["command_from"].startswith("docs/a-plan.md:")


@pytest.mark.soak
def test_a_measured_witness_is_found_by_its_commit_newest_first(dos, workspace, changed):
    words = ("test-witness", "run", "--repeat", "1", "--json")
    dos("config", "set", "workers.test", "sh tests/test_it.sh")
    first = dos(*words, "--record")
    second = dos(*words, "--unit", "AUTH/AUTH1", "--cmd", "false")
    assert first.json["recorded"] < second.json["recorded"]
    with World(workspace) as world:
        newest, oldest = recorded.records_for_commit(world, changed)
        assert recorded.records_for_commit(world, "0" * 40) == []
    assert (oldest.verdict, oldest.witnesses, oldest.is_bound, oldest.unit) == (
        "DISCRIMINATES",
        True,
        True,
        "",
    )
    assert (newest.verdict, newest.witnesses, newest.is_bound, newest.unit) == (
        "ABSTAIN",
        False,
        False,
        "AUTH/AUTH1",
    )
    assert oldest.tree == git("rev-parse", f"{changed}^{{tree}}", cwd=workspace).strip()
    assert oldest.rung == "OS_RECORDED" and oldest.network in ("off", "on")
    assert dos("journal", "check").code == 0


@pytest.fixture
def repriced(dos, workspace):
    """A commit that changes what an old test asks for, and says so in its plan and its test."""
    test = "for each in tests/test_*.sh; do sh $each || exit 1; done"
    dos("config", "set", "workers.test", test)
    for word in ("old", "new"):
        (workspace / "code").mkdir(exist_ok=True)
        (workspace / "tests").mkdir(exist_ok=True)
        (workspace / "code" / "it").write_text(f"{word}\n")
        (workspace / "tests" / "test_it.sh").write_text(f"grep -q {word} code/it\n")
        (workspace / "tests" / "test_kept.sh").write_text("test -s code/it\n")
        (workspace / "tests" / "test_more.sh").write_text("test -d code\n")
        git("add", "--all", cwd=workspace)
        git("commit", "--quiet", "--message", f"AUTH1: say {word}", cwd=workspace)
    return git("rev-parse", "HEAD", cwd=workspace).strip()


def test_a_regression_can_be_marked_as_intended_and_is_named_wherever_it_counts(
    dos, workspace, repriced
):
    words = ("test-witness", "run", "--repeat", "1", "--record")
    assert dos(*words).code == 5
    answer = dos(*words, "--intended", "tests/test_it.sh", "--intended", "tests/test_kept.sh")
    assert answer.code == 0, answer.out
    assert "intended: tests/test_it.sh fails on the new code" in answer.out
    assert "unused mark: tests/test_kept.sh does not fail on the new code" in answer.out
    answer = dos(*words, "--intended", "tests/test_it.sh", "--json")
    mark = {"test": "tests/test_it.sh", "outcome": "fail", "fails": True}
    assert answer.json["intended"] == [mark] and "tests/test_it.sh" in answer.json["reason"]
    with World(workspace) as world:
        records = recorded.records_for_commit(world, repriced)
    assert [record.intended for record in records] == [("tests/test_it.sh",)] * 2 + [()]
    shown = dos("verify", "AUTH/AUTH1")
    assert "old tests fail with it as intended: tests/test_it.sh" in shown.out
    assert dos("journal", "check").code == 0


def test_an_agent_may_not_record_a_mark(dos, workspace, repriced, monkeypatch):
    for name, value in (("DOS_WORKSPACE", str(workspace)), ("DOS_LANE", "api"), ("DOS_FENCE", "1")):
        monkeypatch.setenv(name, value)
    words = ("test-witness", "run", "--repeat", "1", "--intended", "tests/test_it.sh")
    answer = dos(*words, "--record")
    assert answer.code == 77 and "test-witness run --intended is for people" in answer.err
    with World(workspace) as world:
        assert recorded.records_for_commit(world, repriced) == []
    assert dos(*words).code == 0  # to look is not to record


def test_a_mark_of_what_is_no_old_test_is_refused(dos, state, repriced):
    answer = dos("test-witness", "run", "--intended", "code/it")
    assert answer.code == 2 and "names no test file" in answer.err


def seen(verdict, *, bound=True, unit="", command="make test", intended=()):
    return recorded.RecordedWitness(
        commit="c", tree="t", unit=unit, verdict=verdict, witnesses=verdict == "DISCRIMINATES",
        assert_level=True, command=command, command_from="dos.toml" if bound else "--cmd",
        network="off", reason="", intended=intended,
    )  # fmt: skip


GOOD = seen("DISCRIMINATES")
MARKED = seen("DISCRIMINATES", intended=("tests/test_a.py",))


@pytest.mark.parametrize(
    ("found", "stands"),
    [
        ([], False),
        ([GOOD], True),
        ([seen("ABSTAIN"), GOOD], True),
        ([seen("FLAKY"), GOOD], False),
        ([GOOD, seen("VACUOUS")], False),
        ([seen("FLAKY", bound=False), GOOD], True),
        ([seen("FLAKY", command="make other"), GOOD], True),
        ([seen("DISCRIMINATES", bound=False)], False),
        ([seen("DISCRIMINATES", unit="A/2")], False),
        ([seen("DISCRIMINATES", unit="A/1")], True),
        ([seen("REGRESSIVE"), GOOD], False),
        ([MARKED, seen("REGRESSIVE")], True),
        ([MARKED, seen("UNSATISFIED")], False),
        ([MARKED, seen("FLAKY")], False),
        ([GOOD, MARKED, seen("REGRESSIVE")], True),
    ],
)
def test_a_witness_stands_while_no_other_run_of_its_kind_speaks_against_it(found, stands):
    assert (recorded.newest_undisputed(found, "A/1") is not None) is stands


@pytest.mark.parametrize(
    "words",
    [
        ["--commit", "nosuch"], ["--commit=-x"], ["--commit", "a\tb"], ["--timeout", "0"],
        ["--timeout", "-1"], ["--timeout", "1e9"], ["--repeat", "0"], ["--repeat", "99"],
        ["--paths", "../x"], ["--unit", "a\nb"], ["x"],
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_said_and_nothing_is_run(dos, state, changed, tmp_path, words):
    answer = dos("test-witness", "run", "--cmd", f"touch {tmp_path}/ran", *words)
    assert answer.code == 2 and answer.err.startswith("error: ") and "hint: " in answer.err
    assert not (tmp_path / "ran").exists() and not state.exists()


def test_outside_of_git_there_is_nothing_to_run(tmp_path):
    assert (
        in_process("test-witness", "run", "--cmd", "true", "--workspace", str(tmp_path)).code == 2
    )


def test_a_broken_policy_stops_a_run_that_goes_by_it(dos, workspace, changed):
    (workspace / "dos.toml").write_text("[workers]\ntset = 'true'\n")
    assert dos("test-witness", "run").code == 2


def test_a_commit_that_names_its_unit_is_tried_with_that_units_command(dos, workspace, changed):
    plan = "## AUTH AUTH1: log in\n\n- acceptance: `sh tests/test_it.sh`\n"
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs" / "auth-plan.md").write_text(plan)
    assert dos("test-witness", "run", "--repeat", "1").code == 2, "no test command is configured"
    git("commit", "--quiet", "--amend", "--message", "change\n\nUnit: AUTH/AUTH1", cwd=workspace)
    answer = dos("test-witness", "run", "--repeat", "1", "--json")
    assert (answer.code, answer.json["command_from"]) == (0, "docs/auth-plan.md:1")
