"""Do the files that were touched belong to the lane that touched them?"""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.errors import BadInput
from dos.lanes import scope
from dos.lanes.roster import Roster
from dos.lanes.scope import Answer, Policy

ROSTER = Roster(
    concurrent=("api", "worker"),
    trees={"api": ("api/**",), "worker": ("worker/**",)},
    aliases={"svc": "api"},
)


def judged(lane, *files, **policy):
    return scope.judge(
        scope.evidence_from_typed_paths(lane, files, scope.lane_tree(lane, ROSTER)),
        Policy(**policy),
    )


@pytest.mark.parametrize(
    ("lane", "files", "answer", "exit_code"),
    [
        pytest.param("api", ["api/a"], Answer.IN_SCOPE, 0, id="inside"),
        pytest.param("api", ["api/a", "worker/b"], Answer.SCOPE_CREEP, 5, id="inside and outside"),
        pytest.param("api", ["worker/b"], Answer.WRONG_TARGET, 6, id="only outside"),
        pytest.param("nosuch", ["api/a"], Answer.WRONG_TARGET, 6, id="a lane that nobody declared"),
        pytest.param(
            "",
            ["api/a", "README.md", ".github/x.yml"],
            Answer.IN_SCOPE,
            0,
            id="no lane is the whole repository",
        ),
        pytest.param("api", [], Answer.IN_SCOPE, 0, id="nothing touched"),
        pytest.param("nosuch", ["", "  "], Answer.IN_SCOPE, 0, id="blank entries are no files"),
        pytest.param(
            "api", ["api/../worker/b"], Answer.WRONG_TARGET, 6, id="a path that climbs out"
        ),
        pytest.param("api", ["worker/../api/a"], Answer.IN_SCOPE, 0, id="a path that climbs in"),
        pytest.param("api", ["./api/a"], Answer.IN_SCOPE, 0, id="a path from here"),
        pytest.param("api", ["api\\a"], Answer.IN_SCOPE, 0, id="backslashes"),
        pytest.param("api", ["API/A"], Answer.IN_SCOPE, 0, id="another case"),
        pytest.param("svc", ["api/a"], Answer.IN_SCOPE, 0, id="an alias"),
        pytest.param("api", ["apix/a"], Answer.WRONG_TARGET, 6, id="a name that only starts alike"),
        pytest.param(
            "api",
            ["worker/config.py"],
            Answer.WRONG_TARGET,
            6,
            id="a shared name is not allowed by itself",
        ),
        pytest.param(
            "api",
            ["api/a", "worker/config.py"],
            Answer.SCOPE_CREEP,
            5,
            id="a shared name beside its own",
        ),
        pytest.param("", ["../x"], Answer.WRONG_TARGET, 6, id="out of the repository"),
        pytest.param("", ["/etc/passwd"], Answer.WRONG_TARGET, 6, id="an absolute path"),
    ],
)
def test_the_gate_answers_and_exits(lane, files, answer, exit_code):
    verdict = judged(lane, *files)
    assert (verdict.verdict, verdict.exit_code, verdict.allowed) == (
        answer,
        exit_code,
        exit_code == 0,
    )


@pytest.mark.parametrize(
    ("files", "policy", "answer"),
    [
        (["worker/config.py"], {"allow_shared_infra": True}, Answer.IN_SCOPE),
        (["pyproject.toml", "api/a"], {"allow_shared_infra": True}, Answer.IN_SCOPE),
        (["worker/b", "pyproject.toml"], {"allow_shared_infra": True}, Answer.WRONG_TARGET),
        (["../config.py"], {"allow_shared_infra": True}, Answer.WRONG_TARGET),
        (["/x/setup.py"], {"allow_shared_infra": True}, Answer.WRONG_TARGET),
        (["api/a", "worker/b"], {"creep_tolerance": 1}, Answer.IN_SCOPE),
        (["api/a", "worker/b", "worker/c"], {"creep_tolerance": 1}, Answer.SCOPE_CREEP),
        (["worker/b", "./worker/b"], {"creep_tolerance": 1}, Answer.IN_SCOPE),
    ],
)
def test_a_policy_tolerates_only_what_it_names(files, policy, answer):
    verdict = judged("api", *files, **policy)
    assert verdict.verdict is answer
    assert ("not counted as creep" in verdict.reason) == (answer is Answer.IN_SCOPE)


def test_a_lane_without_a_tree_has_an_unknown_blast_radius():
    verdict = judged("nosuch", "api/a")
    assert "has no tree, so no file can be shown to belong to it" in verdict.reason
    assert verdict.refused_files == ("api/a",)


def test_a_gate_that_does_not_refuse_on_creep_lets_it_through_and_still_says_so():
    verdict = judged("api", "api/a", "worker/b", refuse_on=(Answer.WRONG_TARGET,))
    assert (verdict.allowed, verdict.exit_code, verdict.verdict) == (True, 0, Answer.SCOPE_CREEP)
    assert verdict.refused_files == ()
    assert verdict.scope.out_of_scope_files == ("worker/b",)


@pytest.mark.parametrize(
    "refuse_on", [(Answer.IN_SCOPE,), (Answer.SCOPE_CREEP, Answer.IN_SCOPE), ("BOGUS",)]
)
def test_a_gate_cannot_refuse_what_is_in_scope_nor_what_it_does_not_know(refuse_on):
    with pytest.raises(BadInput, match="cannot refuse on"):
        Policy(refuse_on=refuse_on)


def test_a_negative_tolerance_is_an_error():
    with pytest.raises(BadInput, match="-1"):
        Policy(creep_tolerance=-1)


def test_the_json_has_the_published_keys():
    shown = json.loads(msgspec.json.encode(judged("api", "./api/a", "worker\\b")))
    reason = shown["reason"]
    assert shown == {
        "allowed": False,
        "verdict": "SCOPE_CREEP",
        "reason": reason,
        "refused_files": ["worker/b"],
        "scope": {
            "verdict": "SCOPE_CREEP",
            "reason": reason,
            "in_scope_files": ["api/a"],
            "out_of_scope_files": ["worker/b"],
            "evidence": {
                "lane": "api",
                "touched_files": ["api/a", "worker/b"],
                "lane_tree": ["api/**"],
            },
        },
    }
    assert "'worker/b'" in reason


def test_a_reason_lists_a_few_files_and_counts_the_rest():
    verdict = judged("api", *(f"worker/{number}" for number in range(9)))
    assert "and 4 more" in verdict.reason
    assert len(verdict.refused_files) == 9


PARTS = st.lists(
    st.sampled_from(["api", "worker", "..", ".", "a", "config.py", ""]), min_size=1, max_size=5
)
FILES = st.lists(PARTS.map("/".join), max_size=4)


@given(FILES)
def test_every_file_is_judged_and_none_of_another_lane_passes(files):
    verdict = judged("api", *files)
    sides = verdict.scope.in_scope_files + verdict.scope.out_of_scope_files
    assert sorted(sides) == sorted(verdict.scope.evidence.touched_files)
    assert verdict.allowed == (not verdict.scope.out_of_scope_files)
    assert all(file == "api" or file.startswith("api/") for file in verdict.scope.in_scope_files)


@given(FILES, st.booleans(), st.integers(0, 3))
def test_one_more_file_outside_never_lets_more_through(files, shared, tolerance):
    policy = {"allow_shared_infra": shared, "creep_tolerance": tolerance}
    if not judged("api", *files, **policy).allowed:
        assert not judged("api", *files, "elsewhere/x", **policy).allowed
