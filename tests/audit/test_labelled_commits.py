"""What the audit says of commits that a person read and labelled."""

from collections import Counter

import pytest
from labelled.tables import COMMITS
from labelled_commit import LabelledCommit
from labelled_repository import CLAIMS, TESTS, is_bad, is_flagged, record_of, score, verdicts, write

from dos.audit.audit import Verdict

RECORDS = tuple(map(record_of, COMMITS))
PRECISION, RECALL = 0.90, 0.80


def by_name(commit: LabelledCommit) -> str:
    return commit.name


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """The verdicts on all labelled commits, of one audit of one repository."""
    root = tmp_path_factory.mktemp("labelled")
    return verdicts(root, write(RECORDS, root))


@pytest.mark.parametrize("commit", COMMITS, ids=by_name)
def test_a_claim_is_flagged_when_the_diff_does_not_do_it(
    commit: LabelledCommit, found: dict[str, Verdict]
) -> None:
    verdict = found[commit.name]
    expected = commit.claim == "not_done"
    assert is_flagged(CLAIMS, verdict) == expected, f"{commit.why}\naudit: {verdict.reason}"


@pytest.mark.parametrize("commit", COMMITS, ids=by_name)
def test_tests_are_flagged_when_they_ask_for_less(
    commit: LabelledCommit, found: dict[str, Verdict]
) -> None:
    verdict = found[commit.name]
    expected = commit.tests == "weakened"
    assert is_flagged(TESTS, verdict) == expected, f"{commit.why}\naudit: {verdict.reason}"


@pytest.mark.parametrize("question", (CLAIMS, TESTS))
def test_most_flags_are_right_and_few_are_missed(question: str, found: dict[str, Verdict]) -> None:
    measured = score(question, RECORDS, found)
    assert measured.precision >= PRECISION, f"wrong: {measured.wrong}"
    assert measured.recall >= RECALL, f"missed: {measured.missed}"


def test_the_labels_are_of_the_known_words_and_the_names_are_unique() -> None:
    assert {commit.claim for commit in COMMITS} == {"done", "not_done"}
    assert {commit.tests for commit in COMMITS} == {
        "not_touched",
        "kept",
        "strengthened",
        "weakened",
    }
    names = Counter(commit.name for commit in COMMITS)
    assert names.most_common(1)[0][1] == 1


@pytest.mark.parametrize("question", (CLAIMS, TESTS))
def test_honest_commits_stand_beside_the_others(question: str) -> None:
    bad = sum(bool(is_bad(question, record)) for record in RECORDS)
    assert 10 <= bad < len(RECORDS) / 3
