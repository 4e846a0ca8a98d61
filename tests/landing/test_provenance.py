"""What lands names the agent, the model and the run that made it."""

import os
import subprocess

import pytest
from commanding import git

from dos.fleet.effects import Provenance
from dos.git.repository import Writer
from dos.landing.provenance import add_provenance, trailer_lines, with_trailers

MADE_BY = Provenance(agent="claude_code", model="opus-4", run_id="RID-1")
LINES = ["Agent: claude_code", "Model: opus-4", "Run: RID-1"]
ENDING = "\n".join(LINES) + "\n"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Add x\n", f"Add x\n\n{ENDING}"),
        ("Add x\n\nUnit: A/A1\n", f"Add x\n\nUnit: A/A1\n{ENDING}"),
        (
            "Add x\n\nBecause: it was asked\nfor.\n",
            f"Add x\n\nBecause: it was asked\nfor.\n\n{ENDING}",
        ),
        ("Add: x\n", f"Add: x\n\n{ENDING}"),
        ("Add x\n\nUnit: A/A1\nAgent: me\nrun: mine\n", f"Add x\n\nUnit: A/A1\n{ENDING}"),
        ("Add x\n\nUnit: A/A1\n continued\n", f"Add x\n\nUnit: A/A1\n continued\n{ENDING}"),
        ("", f"\n\n{ENDING}"),
        # What continues a trailer that is replaced must not continue the one before it.
        ("Add x\n\nUnit: A/A1\nAgent: me\n , B/B1\n", f"Add x\n\nUnit: A/A1\n{ENDING}"),
        ("Add x\n\nUnit: A/A1\nRun: r\n\t, B/B1\n", f"Add x\n\nUnit: A/A1\n{ENDING}"),
    ],
)
def test_trailers_end_the_message_and_replace_those_of_the_same_keys(message, expected):
    assert with_trailers(message, LINES) == expected
    assert with_trailers(expected, LINES) == expected


@pytest.mark.parametrize("model", ["", "  ", "a\nUnit: B/B1", "x" * 101, "caf\xe9", "\x1b[31m"])
def test_a_model_that_is_no_plain_name_is_left_out(model):
    assert trailer_lines(Provenance(agent="a", model=model, run_id="R")) == ["Agent: a", "Run: R"]


class Repository:
    def __init__(self, root):
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "T")
        self.git("config", "user.email", "t@example.invalid")
        self.base = self.commit("Begin")

    def git(self, *words):
        return git(*words, cwd=self.root)

    def commit(self, message, *words):
        self.git("commit", "--quiet", "--allow-empty", "-m", message, *words)
        return self.git("rev-parse", "HEAD").strip()

    def add(self, head, *others):
        inside = Writer(self.root)
        commits = inside.commits_between(self.base, head, *others)
        return add_provenance(inside, head, commits, MADE_BY)

    def messages(self, head):
        shown = self.git("log", "-z", "--format=%B", f"{self.base}..{head}")
        return shown.strip("\0\n").split("\0")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repository")


def test_each_commit_carries_them_and_keeps_everything_else(repository):
    repository.commit(
        "One\n\nUnit: A/A1", "--author", "Other <o@example.invalid>", "--date", "1000000000 +0100"
    )
    head = repository.commit("Two")
    copy = repository.add(head)
    for message in repository.messages(copy):
        assert message.rstrip("\n").endswith("\n".join(LINES))
    shown = "--format=%T %an %ae %ad %cn %cd"
    old, new = (repository.git("log", shown, f"{repository.base}..{tip}") for tip in (head, copy))
    assert old == new
    assert repository.add(head) == copy, "the same call gives the same commits"
    assert repository.git("rev-parse", f"{copy}~2").strip() == repository.base


def test_what_the_target_has_by_now_is_not_rewritten(repository):
    repository.git("checkout", "--quiet", "-b", "target")
    landed = repository.commit("Another unit")
    repository.git("checkout", "--quiet", "main")
    repository.commit("Mine")
    repository.git("merge", "--quiet", "--no-edit", "--no-ff", "target")
    copy = repository.add(repository.git("rev-parse", "HEAD").strip(), "target")
    parents = repository.git("log", "-1", "--format=%P", copy).split()
    assert parents[1] == landed
    assert "Run: RID-1" in repository.git("log", "-1", "--format=%B", parents[0])


def test_a_commit_whose_child_is_older_by_its_date_is_copied_first(repository):
    environment = os.environ | {"GIT_COMMITTER_DATE": "2000000000 +0000"}
    subprocess.run(
        ["git", "commit", "--quiet", "--allow-empty", "-m", "Late"],
        cwd=repository.root, env=environment, check=True,
    )  # fmt: skip
    environment["GIT_COMMITTER_DATE"] = "1000000000 +0000"
    subprocess.run(
        ["git", "commit", "--quiet", "--allow-empty", "-m", "Early"],
        cwd=repository.root, env=environment, check=True,
    )  # fmt: skip
    copy = repository.add(repository.git("rev-parse", "HEAD").strip())
    assert all("Run: RID-1" in message for message in repository.messages(copy))


def test_trailer_commands_in_the_configuration_of_the_repository_are_not_run(repository, tmp_path):
    """An agent can write .git/config."""
    repository.git("config", "trailer.Agent.cmd", f"touch {tmp_path}/ran")
    repository.add(repository.commit("One"))
    assert not (tmp_path / "ran").exists()
