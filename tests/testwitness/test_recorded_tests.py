"""What a runner recorded of a commit's tests, as a witness."""

import subprocess

import pytest

from dos.journal import streams
from dos.journal.events.runs import TestWitnessed
from dos.testwitness.io import recorded
from dos.world import World, open_journal


@pytest.fixture
def repository(tmp_path):
    safe = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "--quiet", "."],
        [*safe, "commit", "--quiet", "--allow-empty", "--message", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def record(repository, *facts):
    with World(repository) as world:
        sha = world.git.commit_of("HEAD")
        store = open_journal(world.workspace, world.config.store.url)
        for verdict, command_from in facts:
            fact = TestWitnessed(
                commit=sha,
                tree="t",
                command="make test",
                verdict=verdict,
                witnesses=verdict == "DISCRIMINATES",
                cells={},
                runner="here",
                network="off",
                command_from=command_from,
            )
            store.record(streams.witness(sha), fact)
        store.close()


def said(repository, subject="HEAD"):
    with World(repository) as world:
        fact = recorded.witness_recorded_tests(world, subject)
    return str(fact.stance), str(fact.accountability)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], ("NO_SIGNAL", "OS_RECORDED")),
        ([("DISCRIMINATES", "dos.toml")], ("ATTESTED", "OS_RECORDED")),
        ([("DISCRIMINATES", "--cmd")], ("ATTESTED", "AGENT_AUTHORED")),
        ([("REGRESSIVE", "dos.toml")], ("REFUTED", "OS_RECORDED")),
        ([("UNSATISFIED", "dos.toml")], ("REFUTED", "OS_RECORDED")),
        ([("VACUOUS", "dos.toml")], ("NO_SIGNAL", "OS_RECORDED")),
        ([("FLAKY", "dos.toml")], ("NO_SIGNAL", "OS_RECORDED")),
        ([("DISCRIMINATES", "dos.toml"), ("REGRESSIVE", "dos.toml")], ("REFUTED", "OS_RECORDED")),
        ([("REGRESSIVE", "dos.toml"), ("DISCRIMINATES", "--cmd")], ("REFUTED", "OS_RECORDED")),
    ],
)
def test_the_newest_record_whose_command_nobody_typed_decides(repository, facts, expected):
    record(repository, *facts)
    assert said(repository) == expected


@pytest.mark.parametrize("subject", ["nosuch", "--all", "", "f" * 40])
def test_a_commit_that_is_not_there_has_no_record(repository, subject):
    assert said(repository, subject) == ("NO_SIGNAL", "OS_RECORDED")
