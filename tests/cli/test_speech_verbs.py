"""The verbs about what was said: claims, coverage, answer-shape, arg-provenance."""

import io
from pathlib import Path

import pytest
from msgspec import json

from dos.verbs.listing.table import VERBS

AGENTS = Path(__file__).parents[1] / "fixtures" / "agents"


@pytest.fixture
def typed(monkeypatch):
    return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


# claims


def test_claims_are_listed_strongest_first(dos, workspace):
    answer = dos("claims", "--text", "AUTH1 is done.\nDOS-CLAIM: AUTH AUTH2", "--json")
    assert answer.code == 0
    assert [(row["phase"], row["rung"], row["confident"]) for row in answer.json["claims"]] == [
        ("AUTH2", "marker", True),
        ("AUTH1", "heuristic", False),
    ]
    assert answer.json["claims"][0].keys() == {"plan", "phase", "rung", "raw", "confident"}
    assert answer.json["dangling"].keys() == {"verdict", "matched_cue", "reason"}


@pytest.mark.parametrize("program", ["claude", "codex", "gemini", "opencode"])
def test_the_captured_lie_of_each_program_is_found(dos, workspace, program):
    answer = dos("claims", "--transcript", str(AGENTS / f"{program}-ok.jsonl"), "--json")
    assert [row["phase"] for row in answer.json["claims"]] == ["AUTH1", "AUTH2"]


def test_an_end_that_dangles_is_told(dos, workspace):
    answer = dos("claims", "--text", "I still need to test it.")
    assert answer.code == 4 and "DANGLING_INTENT" in answer.out
    assert dos("claims", "--text", "Hello.", "--json").json["dangling"]["verdict"] == "ABSTAIN"


def test_who_went_on_working_does_not_dangle(dos, workspace):
    said = {"message": {"role": "assistant", "content": "I need to test it."}}
    result = {"message": {"role": "user", "content": [{"type": "tool_result"}]}}
    (workspace / "t.jsonl").write_bytes(json.encode(said) + b"\n" + json.encode(result) + b"\n")
    assert (
        dos("claims", "--transcript", "t.jsonl", "--json").json["dangling"]["verdict"] == "ABSTAIN"
    )


def test_text_comes_from_a_file_or_the_input(dos, workspace, typed):
    (workspace / "said.md").write_bytes(b"\xff AUTH1 shipped")
    assert dos("claims", "--file", "said.md").code == 0
    typed(b"AUTH1 shipped")
    assert dos("claims", "--file", "-").code == 0


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--text", "a", "--file", "b"),
        ("--transcript", "nowhere.jsonl"),
        ("--transcript", "api"),
        ("--file", "nowhere"),
        ("--file", "api"),
        ("--text", "a", "--last-turns", "0"),
    ],
)
def test_what_cannot_be_read_is_a_mistake_and_not_silence(dos, workspace, words):
    answer = dos("claims", *words)
    assert (answer.code, answer.out) == (2, "") and "hint: " in answer.err


# coverage


@pytest.mark.parametrize(
    ("words", "code", "state"),
    [
        (("--declared", "5", "--transcripts-glob", str(AGENTS / "*-ok.jsonl")), 0, "FULL"),
        (("--declared", "3", "--transcripts-glob", str(AGENTS / "*-ok.jsonl")), 3, "OVERFILLED"),
        (("--declared", "6", "--transcripts-glob", str(AGENTS / "*-ok.jsonl")), 3, "UNDERFILLED"),
        (
            ("--declared", "2", "--transcript", str(AGENTS / "claude-ok.jsonl"), "nowhere.jsonl"),
            3,
            "UNDERFILLED",
        ),
        (("--declared", "1", "--transcript", str(AGENTS / "claude-429.jsonl")), 3, "STARVED"),
        (("--declared", "0", "--states", "HEALTHY"), 0, "EMPTY"),
        (("--declared", "2", "--states", "healthy, EMPTY"), 3, "UNDERFILLED"),
        (("--declared", "1", "--states", "HEALTHY", "--transcript", "nowhere"), 0, "FULL"),
    ],
)
def test_coverage_counts_what_came_back(dos, workspace, words, code, state):
    answer = dos("coverage", *words, "--json")
    assert (answer.code, answer.json["state"]) == (code, state)
    assert answer.json["grounded"] == ("--states" not in words)
    assert answer.json.keys() == {
        "state", "declared", "healthy", "dead", "unreadable", "unaccounted", "fraction", "foldable",
        "should_caveat", "dead_classes", "quorum_met", "prompt_line", "reason", "grounded",
    }  # fmt: skip
    assert dos("coverage", *words).out.startswith(f"{state} ")


@pytest.mark.parametrize(
    "words",
    [
        ("--states", "HEALTHY"),
        ("--declared", "2"),
        ("--declared", "2", "--transcripts-glob", "nowhere/*"),
        ("--declared", "2", "--states", "FINE"),
        ("--declared", "2", "--states", ","),
        ("--declared", "2", "--states", "HEALTHY", "--min-quorum", "1.5"),
    ],
)
def test_coverage_without_a_number_or_anything_to_count_is_a_mistake(dos, workspace, words):
    answer = dos("coverage", *words)
    assert (answer.code, answer.out) == (2, "") and "hint: " in answer.err


def test_coverage_says_what_it_is(dos, workspace):
    assert "sub-agents" in VERBS["coverage"].summary
    assert "nothing to do with test coverage" in dos("coverage", "--help").out


# answer-shape


@pytest.mark.parametrize(
    ("words", "code", "state"),
    [
        (("--text", "4"), 0, "ANSWER_SHAPED"),
        (("--text", "Step 1: install it."), 0, "ANSWER_SHAPED"),
        (("--text", ""), 3, "NON_ANSWER"),
        (("--text", "4", "--min-chars", "2"), 3, "NON_ANSWER"),
        (("--text", "abc", "--non-answer", "[,b"), 3, "NON_ANSWER"),
        (("--text", "abc", "--markers", "x,y"), 4, "INDETERMINATE"),
        (("--text", "4", "--file", "refusal.md"), 3, "NON_ANSWER"),
        (("--text", "-"), 0, "ANSWER_SHAPED"),
        (("--file", "-"), 0, "ANSWER_SHAPED"),
    ],
)
def test_answer_shape(dos, workspace, typed, words, code, state):
    (workspace / "refusal.md").write_text("I cannot help with that.")
    typed(b"from the input")
    answer = dos("answer-shape", *words, "--json")
    assert (answer.code, answer.json["state"]) == (code, state)
    assert answer.json.keys() == {
        "state",
        "length",
        "matched",
        "is_shippable",
        "is_disqualified",
        "reason",
    }


def test_a_pattern_that_is_none_is_warned_of(dos, workspace):
    answer = dos("answer-shape", "--text", "abc", "--non-answer", "[")
    assert answer.code == 0 and "'['" in answer.err


@pytest.mark.parametrize("words", [(), ("--file", "nowhere"), ("--text", "a", "--min-chars", "-1")])
def test_answer_shape_without_a_text_is_a_mistake(dos, workspace, words):
    assert dos("answer-shape", *words).code == 2


# arg-provenance

CALL = ("arg-provenance", "--tool", "update_user", "--args", '{"user_id": "usr_12345678"}')


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--prior", "usr_12345678"), 0),
        (("--prior", "nothing", "--prior", "12345678"), 0),
        (("--prior", "1234"), 3),
        (("--task-text", "set usr_12345678"), 0),
        (("--prior-file", "prior.txt"), 0),
        (("--prior", "x", "--new-key", "user_id"), 0),
        (("--prior", "x", "--read"), 0),
        ((), 0),
    ],
)
def test_arg_provenance(dos, workspace, words, code):
    (workspace / "prior.txt").write_text("usr_12345678")
    answer = dos(*CALL, *words, "--json")
    assert answer.code == code
    assert answer.json["believe"] == (code == 0)
    assert answer.json["unsupported"] == (["user_id"] if code else [])
    assert answer.json.keys() == {"believe", "args", "unsupported", "reason"}
    for arg in answer.json["args"]:
        assert arg.keys() == {
            "arg_name", "value_repr", "stance", "id_shaped", "is_reference", "matched_in",
            "components_checked", "components_unmatched", "reason",
        }  # fmt: skip


@pytest.mark.parametrize("given", ["[1]", "{", "7", "[" * 9000])
def test_arguments_that_are_no_object_are_a_mistake(dos, workspace, given):
    assert dos("arg-provenance", "--tool", "set_x", "--args", given).code == 2


def test_a_file_of_results_that_is_not_there_is_a_mistake(dos, workspace):
    assert dos(*CALL, "--prior-file", "nowhere").code == 2


def test_nothing_is_written_by_any_of_them(dos, workspace, state):
    before = sorted(path for path in workspace.rglob("*") if ".git" not in path.parts)
    dos("claims", "--text", "AUTH1 shipped")
    dos("coverage", "--declared", "1", "--states", "HEALTHY")
    dos("answer-shape", "--text", "x")
    dos(*CALL)
    assert (
        sorted(path for path in workspace.rglob("*") if ".git" not in path.parts) == before
        and not state.exists()
    )
