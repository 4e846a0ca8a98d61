"""The model of git behaves as the real one does where a fleet leans on it."""

import pytest

from dos.errors import Fenced
from dos.testing.simulator.world.repository import Repository


def worked(repository: Repository, unit: str = "PLAN/A1", lane: str = "a"):
    tree = repository.tree(f"host/{lane}")
    repository.prepare(tree, "run")
    repository.edit(tree)
    repository.commit(tree, unit)
    return tree


def test_the_newest_fence_moves_the_branch_and_an_older_one_does_not():
    repository = Repository()
    landing = repository.prepare_landing(
        "PLAN/A1", (tree := worked(repository)), tree.head, tree.base
    )
    repository.raise_fence("a", 7)
    refused = repository.move("a", 6, landing)
    assert refused and not refused.retryable
    assert repository.move("a", 7, landing) is None
    assert repository.landed == {"PLAN/A1": landing.commit}


def test_a_fence_only_goes_up():
    repository = Repository()
    repository.raise_fence("a", 7)
    repository.raise_fence("a", 7)
    with pytest.raises(Fenced):
        repository.raise_fence("a", 6)


def test_a_branch_that_has_moved_is_landed_on_after_a_rebase():
    repository = Repository()
    repository.raise_fence("a", 1)
    tree = worked(repository)
    head = tree.head
    landing = repository.prepare_landing("PLAN/A1", tree, head, tree.base)
    repository.move_by_another()
    refused = repository.move("a", 1, landing)
    assert refused and refused.retryable
    again = repository.prepare_landing("PLAN/A1", tree, head, tree.base)
    assert again.base == repository.target and again.commit != landing.commit
    assert repository.move("a", 1, again) is None
    assert repository.doubled == []


def test_the_same_landing_is_not_done_twice():
    repository = Repository()
    repository.raise_fence("a", 1)
    landing = repository.prepare_landing(
        "PLAN/A1", (tree := worked(repository)), tree.head, tree.base
    )
    assert repository.move("a", 1, landing) is None
    assert repository.move("a", 1, landing) is not None
    assert repository.doubled == []


def test_what_is_left_in_a_tree_is_saved_before_it_is_cleared():
    repository = Repository()
    tree = worked(repository)
    repository.edit(tree)
    saved = repository.prepare(tree, "next")
    assert len(saved) == 2 and tree.head == repository.target and not tree.dirty
    assert repository.reachable_edits() == {1, 2}


def test_an_edit_that_is_cleared_unsaved_is_missed():
    repository = Repository()
    tree = repository.tree("host/a")
    repository.edit(tree)
    tree.dirty.clear()
    assert repository.reachable_edits() == set()


def landed(repository: Repository, unit: str = "PLAN/A1") -> str:
    repository.raise_fence("a", 1)
    tree = worked(repository, unit)
    landing = repository.prepare_landing(unit, tree, tree.head, tree.base)
    assert repository.move("a", 1, landing) is None
    return landing.commit


def test_what_was_reverted_is_on_the_branch_and_is_named_no_more_until_it_lands_again():
    repository = Repository()
    commit = landed(repository)
    repository.revert("PLAN/A1")
    assert (repository.landed, repository.named, repository.reverted) == (
        {},
        {},
        {commit: "PLAN/A1"},
    )
    assert commit in repository.on_target and repository.reachable_edits() == {1}
    again = landed(repository)
    assert repository.named == {"PLAN/A1": again} and repository.doubled == []


def test_what_an_agent_commits_to_the_branch_is_named_there_and_is_no_landing():
    repository = Repository()
    tree = repository.tree("host/a")
    repository.edit(tree)
    repository.commit_to_branch(tree, "PLAN/A1")
    assert repository.named == {"PLAN/A1": repository.target} and repository.landed == {}
    assert not tree.dirty and repository.reachable_edits() == {1}
    landed(repository)
    assert repository.doubled == []
