"""What ties a receipt to its repository."""

import subprocess

import pytest

from dos.git.repository import Reader
from dos.receipts.io import repository
from dos.receipts.receipt import repository_digest, unsigned_receipt

SAFE = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")


@pytest.fixture
def git(tmp_path):
    def run(*words: str) -> str:
        done = subprocess.run(
            ["git", *SAFE, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    run("init", "--quiet", "--initial-branch", "main", ".")
    return run


def committed(git, subject: str) -> str:
    git("commit", "--quiet", "--allow-empty", "--message", subject)
    return git("rev-parse", "HEAD")


def test_a_repository_is_known_by_all_its_first_commits_whatever_was_asked_before(git, tmp_path):
    first = committed(git, "first")
    second = committed(git, "second")
    git("checkout", "--quiet", "--orphan", "other")
    unrelated = committed(git, "unrelated")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--allow-unrelated-histories", "--message", "merged", "other")
    both = git("rev-parse", "HEAD")
    later = committed(git, "later")
    roots = {first: [first], second: [first], unrelated: [unrelated], both: [first, unrelated]}
    roots[later] = roots[both]
    for before in roots:
        for commit in roots:
            assert repository.repository_id(Reader(tmp_path), before) == repository_digest(
                roots[before]
            )
            assert repository.repository_id(Reader(tmp_path), commit) == repository_digest(
                roots[commit]
            )


def test_a_history_is_walked_once_for_all_that_lands_on_it(git, tmp_path, monkeypatch):
    first, second = committed(git, "first"), committed(git, "second")
    asked = []
    run = Reader.run
    monkeypatch.setattr(
        Reader,
        "run",
        lambda self, *words, **more: (asked.append(words), run(self, *words, **more))[1],
    )
    repository.repository_id(Reader(tmp_path), first)
    repository.repository_id(Reader(tmp_path), second)
    assert ("rev-list", "--max-parents=0", second, f"^{first}") in asked


def test_a_remote_branch_of_a_longer_name_is_not_the_target(git, tmp_path):
    first, second = committed(git, "first"), committed(git, "second")
    git("remote", "add", "origin", "https://example.com/x.git")
    git("checkout", "--quiet", "--detach")
    git("update-ref", "refs/heads/main", first)
    git("update-ref", "refs/remotes/origin/feature/main", second)
    receipt = unsigned_receipt(
        commit=second, tree=git("rev-parse", f"{second}^{{tree}}"), target="refs/heads/main"
    )
    assert repository.read_repository_state(Reader(tmp_path), receipt).on_target is False
    git("update-ref", "refs/remotes/origin/main", second)
    assert repository.read_repository_state(Reader(tmp_path), receipt).on_target is True
