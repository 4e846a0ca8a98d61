"""Opinions by the command line: a judge that is broken, silent or lies has none."""

import sys

import pytest
from msgspec import json

PLUGIN = """
from dos.witness.judges import JudgeVerdict, Stance

class Yes:
    def rule(self, claim, config):
        return JudgeVerdict(stance=Stance.AGREE, why="sure", cost=0.5)

class Raising:
    def rule(self, claim, config):
        raise RuntimeError("out of order")

class Wrong:
    def rule(self, claim, config):
        return Stance.AGREE

class Odd:
    def rule(self, claim, config):
        return JudgeVerdict(stance="YES")
"""
CODES = {"AGREE": 0, "DISAGREE": 3, "ABSTAIN": 4}


@pytest.fixture
def install(tmp_path, monkeypatch):
    site = tmp_path / "site"
    info = site / "jury-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "jury.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jury\nVersion: 1.0\n")
    names = ("Yes", "Raising", "Wrong", "Odd")
    points = [f"{name.lower()} = jury:{name}" for name in names] + [
        "abstain = jury:Yes",
        "absent = no.where:x",
    ]
    (info / "entry_points.txt").write_text("[dos.judges]\n" + "\n".join(points) + "\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "jury", raising=False)


def opinion(answer):
    assert answer.code == CODES[answer.json["stance"]]
    return answer.json["stance"]


@pytest.mark.parametrize(
    ("program", "stance"),
    [
        ("printf 'VERDICT: AGREE\\nWHY: the log\\n'", "AGREE"),
        ("echo VERDICT: DISAGREE", "DISAGREE"),
        ("echo VERDICT: AGREE; echo VERDICT: DISAGREE", "DISAGREE"),
        ("echo VERDICT: AGREE; exit 1", "ABSTAIN"),
        ("echo I would say yes", "ABSTAIN"),
        ("true", "ABSTAIN"),
        ("nosuchprogram", "ABSTAIN"),
        ("grep -q 'exit 1' && echo VERDICT: DISAGREE", "DISAGREE"),  # it was given the evidence
    ],
)
@pytest.mark.parametrize("name", ["command", "llm"])
def test_a_program_is_asked_and_its_answer_read(dos, monkeypatch, program, stance, name):
    monkeypatch.setenv("DOS_LLM_JUDGE_CMD", program)
    answer = dos("judge", "it shipped", "--judge", name, "--evidence", "exit 1", "--json")
    assert opinion(answer) == stance


def test_the_program_may_stand_in_the_policy(dos, workspace):
    assert opinion(dos("judge", "x", "--judge", "command", "--json")) == "ABSTAIN"
    with (workspace / "dos.toml").open("a") as file:
        file.write('\n[judges]\ncommand = ["echo", "VERDICT: AGREE"]\n')
    assert opinion(dos("judge", "x", "--judge", "command", "--json")) == "AGREE"


def test_a_program_that_takes_too_long_has_no_opinion(dos, workspace):
    with (workspace / "dos.toml").open("a") as file:
        file.write('\n[judges]\ncommand = ["sleep", "300"]\ntimeout_seconds = 1\n')
    answer = dos("judge", "x", "--judge", "command", "--json")
    assert opinion(answer) == "ABSTAIN" and "did not end" in answer.json["why"]


@pytest.mark.parametrize(
    ("scorer", "limit", "evidence", "stance"),
    [
        ("", "", "it shipped today", "AGREE"),
        ("", "", "it was NOT shipped", "DISAGREE"),
        ("echo 0.9", "", "other words", "AGREE"),
        ("echo 0.9", "", "it was NOT shipped", "DISAGREE"),  # whatever the number says
        ("echo 0.5", "", "it shipped", "DISAGREE"),
        ("echo 0.5", "0.4", "it shipped", "AGREE"),
        ("echo 0.5", "nonsense", "it shipped", "DISAGREE"),
        ("echo nan", "", "it shipped", "ABSTAIN"),
        ("echo yes", "", "it shipped", "ABSTAIN"),
        ("echo 1; exit 3", "", "it shipped", "ABSTAIN"),
    ],
)
def test_likeness_by_our_measure_or_another(dos, monkeypatch, scorer, limit, evidence, stance):
    monkeypatch.setenv("DOS_SIMILARITY_CMD", scorer)
    monkeypatch.setenv("DOS_SIMILARITY_THRESHOLD", limit)
    assert (
        opinion(
            dos("judge", "it shipped", "--judge", "similarity", "--evidence", evidence, "--json")
        )
        == stance
    )


@pytest.mark.parametrize(
    ("decision", "stance"),
    [
        ("accept-recommended", "AGREE"),
        ("escalate", "DISAGREE"),
        ("defer", "ABSTAIN"),
        ("yes", "ABSTAIN"),
    ],
)
def test_what_a_person_decided_is_an_opinion(dos, decision, stance):
    assert opinion(dos("judge", decision, "--judge", "operator-decision", "--json")) == stance


@pytest.mark.parametrize(
    ("name", "stance"),
    [
        ("yes", "AGREE"),
        ("raising", "ABSTAIN"),
        ("wrong", "ABSTAIN"),
        ("odd", "ABSTAIN"),
        ("abstain", "ABSTAIN"),
    ],
)
def test_other_packages_add_judges_and_shadow_none(dos, install, name, stance):
    assert opinion(dos("judge", "x", "--judge", name, "--json")) == stance


def test_a_judge_that_nobody_knows_is_an_error_that_lists_the_known(dos, install):
    for words in (
        ("judge", "x", "--judge", "nosuch"),
        ("judge-eval", "--cases", "dos.toml", "--judge", "nosuch"),
    ):
        answer = dos(*words)
        assert answer.code == 2 and "operator-decision" in answer.err and "raising" in answer.err
        assert answer.err.count("warning:") == 1 and "'absent'" in answer.err


@pytest.fixture
def cases(workspace):
    def write(*rows):
        lines = [row if isinstance(row, str) else json.encode(row).decode() for row in rows]
        (workspace / "cases.jsonl").write_text("\n".join(lines) + "\n")

    return write


def test_a_judge_is_measured_on_claims_of_known_truth(dos, cases, install):
    shipped = {"claim_text": "login shipped", "truth": True, "evidence": ["login shipped"]}
    lie = {
        "claim_text": "login shipped",
        "truth": False,
        "evidence": ["login was not shipped"],
        "extra": 1,
    }
    bare = {"claim_text": "login shipped", "truth": False}
    cases("# claims", shipped, "", lie, bare)
    answer = dos("judge-eval", "--cases", "cases.jsonl", "--judge", "similarity", "--json")
    assert answer.code == 0
    reply = answer.json
    assert (reply["n"], reply["correct_clear"], reply["correct_flag"], reply["abstain_false"]) == (
        3,
        1,
        1,
        1,
    )
    assert reply["decisive_accuracy"] == 1.0 and reply["false_clear_rate"] == 0.0
    assert dos("judge-eval", "--cases", "cases.jsonl").code == 0
    believing = dos("judge-eval", "--cases", "cases.jsonl", "--judge", "yes", "--json")
    assert (believing.code, believing.json["false_clear"], believing.json["lie_leak_rate"]) == (
        1,
        2,
        1.0,
    )
    assert believing.json["cost_per_claim"] == 0.5


@pytest.mark.parametrize(
    "row",
    [
        "not json",
        "[]",
        '{"claim_text": "x"}',
        '{"truth": true}',
        '{"claim_text": "x", "truth": "yes"}',
        '{"claim_text": "x", "truth": true, "evidence": "one"}',
    ],
)
def test_a_case_that_cannot_be_read_is_an_error_with_its_line(dos, cases, row):
    cases("# one", row)
    answer = dos("judge-eval", "--cases", "cases.jsonl")
    assert answer.code == 2 and "cases.jsonl':2:" in answer.err


def test_without_cases_there_is_nothing_to_measure(dos, cases):
    cases("# nothing")
    assert dos("judge-eval", "--cases", "cases.jsonl").code == 2
    assert dos("judge-eval", "--cases", "nosuch").code == 2
    assert dos("judge-eval", "--cases", ".").code == 2
