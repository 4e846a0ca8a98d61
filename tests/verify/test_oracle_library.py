"""The oracle as a library."""

from repository import Repository

from dos import oracle
from dos.oracle import Answer, Tier


def test_one_unit_and_many_are_answered_alike(tmp_path):
    repository = Repository(tmp_path)
    sha = repository.commit("AUTH1: login")
    one = oracle.is_shipped("AUTH", "AUTH1", workspace=tmp_path)
    assert (one.answer, one.tier, one.sha, one.source) == (
        Answer.SHIPPED,
        Tier.LIVE,
        sha,
        "grep-subject",
    )
    many = oracle.batch_is_shipped(
        [("AUTH", "AUTH1"), ("AUTH", "AUTH2"), ("AUTH", "AUTH1")], workspace=str(tmp_path)
    )
    assert {pair: verdict.shipped for pair, verdict in many.items()} == {
        ("AUTH", "AUTH1"): True,
        ("AUTH", "AUTH2"): False,
    }
    assert many["AUTH", "AUTH1"] == one


def test_files_that_were_declared_are_better_evidence_than_a_subject(tmp_path):
    repository = Repository(tmp_path)
    repository.commit("declare", {"dos.toml": '[units.AUTH1]\npaths = ["src/auth/**"]\n'})
    repository.commit("AUTH1: login", {"src/auth/login.py": "login = 1\n"})
    assert oracle.is_shipped("AUTH", "AUTH1", workspace=tmp_path).source == "grep-artifact"
