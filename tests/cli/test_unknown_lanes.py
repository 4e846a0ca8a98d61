"""A lane that nobody declared and nobody ever held is a typing mistake, and the nearest one is
named."""

import pytest

MISTYPED = [
    ("arbitrate",),
    ("lease-lane", "acquire", "--owner", "A"),
    ("lease-lane", "wait"),
    ("lease-lane", "heartbeat", "--owner", "A"),
    ("lease-lane", "release", "--owner", "A"),
    ("lease-lane", "adopt", "--owner", "A"),
    ("lease-lane", "spawn"),
    ("worker",),
]


@pytest.mark.parametrize("words", MISTYPED, ids=" ".join)
def test_a_mistyped_lane_is_bad_input_and_nothing_is_written(dos, state, words):
    answer = dos(*words, "--lane", "apii")
    assert answer.code == 2
    assert (
        answer.err.startswith("error: ")
        and "'apii'" in answer.err
        and "api" in answer.err.replace("apii", "")
    )
    assert "hint: " in answer.err
    assert not state.exists()


def test_the_scope_gate_keeps_its_verdict_and_names_the_nearest_lane(dos):
    answer = dos("scope-gate", "--lane", "apii", "--file", "api/a")
    assert (
        answer.code == 6
        and answer.out.startswith("REFUSE: ")
        and "did you mean 'api'?" in answer.err
    )


@pytest.mark.parametrize("verb", ["heartbeat", "release"])
def test_a_lane_of_the_callers_own_is_known_from_its_first_lease_on(dos, verb):
    own = ("--lane", "hot", "--owner", "A")
    assert dos("lease-lane", verb, *own).code == 2
    assert dos("lease-lane", "acquire", *own, "--kind", "keyword", "--tree", "lib/**").code == 0
    assert dos("lease-lane", "release", *own).code == 0
    assert dos("lease-lane", verb, *own).code == 1
    assert dos("lease-lane", "spawn", "--lane", "hot").code == 0


def test_a_lane_that_was_taken_out_of_the_file_can_still_be_given_back(dos, workspace):
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0
    (workspace / "dos.toml").write_text(
        '[lanes]\nconcurrent = ["docs"]\n[lanes.trees]\ndocs = ["docs/**"]\n'
    )
    assert dos("lease-lane", "release", "--lane", "api", "--owner", "A").code == 0
    assert dos("lease-lane", "release", "--lane", "api", "--owner", "A").code == 1


@pytest.fixture
def a_thousand(workspace):
    names = [f"lane{number}" for number in range(1_000)]
    listed = ", ".join(f'"{name}"' for name in names)
    trees = "\n".join(f'{name} = ["{name}/**"]' for name in names)
    text = f"[lanes]\nconcurrent = [{listed}]\nautopick = [{listed}]\n[lanes.trees]\n{trees}\n"
    (workspace / "dos.toml").write_text(text)


@pytest.mark.parametrize(
    "words",
    [*MISTYPED[:7], ("man", "lane")],
    ids=" ".join,
)
def test_among_a_thousand_lanes_the_nearest_few_are_named(dos, a_thousand, words):
    answer = dos(*words, *(["--lane", "lane77x"] if words[0] != "man" else ["lane77x"]))
    assert answer.code == (1 if words[0] == "man" else 2)
    assert "lane77" in answer.err.replace("lane77x", "") and "1,00" in answer.err
    assert len(answer.err) < 500


def test_what_is_free_among_a_thousand_lanes_is_a_few_and_a_number(dos, a_thousand):
    assert dos("lease-lane", "acquire", "--lane", "lane5", "--owner", "A").code == 0
    answer = dos("lease-lane", "acquire", "--lane", "lane5", "--owner", "B", "--explain")
    assert answer.code == 1 and "and 987 more" in answer.json["reason"]
    assert len(answer.json["interpretation"]) < 500
