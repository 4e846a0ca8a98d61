"""`dos hook-exit`: what the exit code of another program's hook means, and the ladder."""

from pathlib import Path

import pytest
from commanding import in_process
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dos.agenthooks.intervention import PASS, Rung, judge_exit, ladder, read_mapping
from dos.config.load import parse
from dos.errors import ConfigInvalid

OWN = {
    "HOLD": Rung(rank=15, summary="it waits", dispatches=False, actuation="queue it"),
    "ANSWER": Rung(rank=25, dispatches=False, returns_synthetic=True),
    "COUNT": Rung(rank=5),
    "SHOUT": Rung(rank=12),
}  # fmt: skip
CODES = {"PASS": 0, "BLOCK": 3, "WARN": 4, "DEFER": 5, "OBSERVE": 6}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "intervention", "code"),
    [
        ("--code 0", "PASS", 0),
        ("--code 2", "BLOCK", 3),
        ("--code 1", "WARN", 4),
        ("--code 127", "WARN", 4),
        ("--code 7 --map 7=DEFER,9=OBSERVE", "DEFER", 5),
        ("--code 9 --map 7=DEFER,9=observe", "OBSERVE", 6),
        ("--code 8 --map 7=DEFER --map 8=PASS", "PASS", 0),
        ("--code 5 --map 7=DEFER", "WARN", 4),
    ],
)
def test_codes_mean_what_dos_kernel_said(workspace, words, intervention, code):
    answer = in_process("hook-exit", *words.split(), "--json")
    assert (answer.code, answer.json["intervention"]) == (code, intervention), answer
    assert {"code", "intervention", "reason", "matched"} <= set(answer.json)
    assert answer.json["matched"] is not (
        words in ("--code 1", "--code 127") or "--code 5" in words
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--code 256", "256"),
        ("--code -1", "-1"),
        ("--code 7 --map seven=DEFER", "seven"),
        ("--code 7 --map 7=DEFR", "DEFER"),
        ("--code 7 --map 7", "7"),
        ("--code 7 --map 2=PASS", "2 always means BLOCK"),
        ("--code 7 --map 0=BLOCK", "0 always means PASS"),
        ("--code 7 --map 7=DEFER,7=WARN", "twice"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_an_error(workspace, words, named):
    answer = in_process("hook-exit", *words.split())
    assert answer.code == 2 and named in answer.err, answer


def test_a_rung_of_dos_toml_answers_as_the_one_with_its_effect(workspace):
    (workspace / "dos.toml").write_text(
        "[intervention.HOLD]\nrank = 15\ndispatches = false\n"
        'summary = "it waits"\nactuation = "queue it"\nsee_also = ["docs/hooks.md"]\n'
    )
    answer = in_process("hook-exit", "--code", "7", "--map", "7=HOLD", "--json", "--explain")
    assert answer.code == 5
    assert answer.json == {
        "code": 7, "intervention": "HOLD", "reason": "exit code 7: it waits", "matched": True,
        "rank": 15, "dispatches": False, "returns_synthetic": False, "actuation": "queue it",
        "see_also": ["docs/hooks.md"], "interpretation": "queue it",
    }  # fmt: skip
    assert in_process("lint").code == 0, "it is read, so no error"


@pytest.mark.parametrize(
    "text",
    ["[intervention.WARN]\nrank = 11\n", "[intervention.HOLD]\nrank = 20\n",
     "[intervention.A]\nrank = 1\n[intervention.B]\nrank = 1\n",
     "[intervention.A]\nrank = 1\nreturns_synthetic = true\n", "[intervention.A]\n"],
)  # fmt: skip
def test_a_ladder_without_an_order_is_an_error(text):
    with pytest.raises(ConfigInvalid):
        parse(text, Path("dos.toml"))


def test_the_ladder_goes_by_rank():
    assert list(ladder(OWN)) == [
        "OBSERVE", "COUNT", "WARN", "SHOUT", "HOLD", "BLOCK", "ANSWER", "DEFER",
    ]  # fmt: skip


@given(
    st.integers(0, 255), st.dictionaries(st.integers(0, 255), st.sampled_from((PASS, *ladder(OWN))))
)
def test_no_mapping_lets_a_refusal_pass_or_hides_an_effect(code, mapping):
    rungs = ladder(OWN)
    verdict = judge_exit(code, mapping, rungs)
    assert verdict.answer in CODES
    if code == 2:
        assert verdict.answer == "BLOCK"
    if code == 0:
        assert verdict.answer == PASS
    if verdict.rung:
        answered = rungs[verdict.answer]
        assert answered.dispatches == verdict.rung.dispatches
        assert answered.returns_synthetic == verdict.rung.returns_synthetic
    assert (verdict.answer == PASS) == (verdict.rung is None)
    assert verdict.matched or (code not in mapping and code not in (0, 2))


@given(st.dictionaries(st.integers(3, 255), st.sampled_from((PASS, *ladder())), max_size=9))
def test_a_mapping_is_read_as_it_was_written(mapping):
    words = [f" {code} = {token.lower()} " for code, token in mapping.items()]
    assert read_mapping([",".join(words)], ladder()) == mapping
    assert read_mapping(words, ladder()) == mapping


def test_the_effect_decides_and_not_the_name():
    harmless = replace(OWN["HOLD"], dispatches=True)
    rungs = ladder({"HOLD": harmless})
    assert judge_exit(7, {7: "HOLD"}, rungs).answer == "WARN"
    assert judge_exit(7, {7: "HOLD"}, ladder(OWN)).answer == "DEFER"
