"""The model of git behaves as the real one does where a fleet leans on it."""

import pytest

from dos.errors import Fenced
from dos.testing.simulator.world.repository import Repository, Tree
from dos.units.unit import Landing


def prepared(repository: Repository, lane: str = "a") -> Tree:
    tree = repository.tree(f"host/{lane}")
    repository.reset(tree, repository.target)
    return tree


def worked(repository: Repository, unit: str = "PLAN/A1", lane: str = "a") -> Tree:
    tree = prepared(repository, lane)
    repository.edit(tree, lane=lane)
    repository.commit(tree, unit)
    return tree


def ready_to_land(repository: Repository, tree: Tree, unit: str = "PLAN/A1") -> Landing:
    commit = repository.rebase(tree.base, tree.head)
    return Landing(unit=unit, branch="main", base=repository.target, commit=commit)


def test_the_newest_fence_moves_the_branch_and_an_older_one_does_not():
    repository = Repository()
    landing = ready_to_land(repository, worked(repository))
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
    landing = ready_to_land(repository, tree)
    repository.move_by_another()
    refused = repository.move("a", 1, landing)
    assert refused and refused.retryable
    again = ready_to_land(repository, tree)
    assert again.base == repository.target and again.commit != landing.commit
    assert repository.move("a", 1, again) is None
    assert repository.doubled == repository.foreign == []


def test_the_same_landing_is_there_once_however_often_it_is_moved_to():
    repository = Repository()
    repository.raise_fence("a", 1)
    landing = ready_to_land(repository, worked(repository))
    assert repository.move("a", 1, landing) is None
    assert repository.move("a", 1, landing) is None
    assert repository.doubled == []


def test_an_edit_that_is_cleared_unsaved_is_missed():
    repository = Repository()
    tree = prepared(repository)
    repository.edit(tree, lane="a")
    assert repository.lost_edits() == set()
    repository.reset(tree, repository.target)
    assert repository.lost_edits() == {1}


def test_a_lane_that_is_set_aside_loses_nothing():
    repository = Repository()
    tree = worked(repository)
    repository.edit(tree, lane="a")
    assert repository.set_aside(tree) and not repository.set_aside(tree)
    assert repository.lost_edits() == set() and not tree.base


def landed(repository: Repository, unit: str = "PLAN/A1") -> str:
    repository.raise_fence("a", 1)
    landing = ready_to_land(repository, worked(repository, unit), unit)
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
    assert commit in repository.on_target and repository.lost_edits() == set()
    assert repository.shows_done("PLAN/A1", commit) is True
    assert repository.shows_done("PLAN/A1", repository.target) is None
    again = landed(repository)
    assert repository.named == {"PLAN/A1": again} and repository.doubled == []
    assert repository.shows_done("PLAN/A1", repository.target) is True


def test_what_an_agent_commits_to_the_branch_is_named_there_and_is_no_landing():
    repository = Repository()
    tree = prepared(repository)
    repository.edit(tree, lane="a")
    repository.commit_to_branch(tree, "PLAN/A1")
    assert repository.named == {"PLAN/A1": repository.target} and repository.landed == {}
    assert not tree.dirty and repository.lost_edits() == set()
    landed(repository)
    assert repository.doubled == []


def test_a_lane_counts_as_taken_over_only_with_all_that_is_in_it():
    repository = Repository()
    tree = worked(repository)
    repository.edit(tree, lane="a")
    repository.set_ref("refs/dos/work/host/a", tree.head)
    assert len(repository.half_taken) == 1
    saved = repository.snapshot(tree, "left by the agent", second=1)
    repository.set_ref("refs/dos/salvage/RUN/1", saved)
    repository.set_ref("refs/dos/work/host/a", tree.head)
    repository.set_ref("refs/dos/settled/host/a", tree.head)
    assert len(repository.half_taken) == 1 and not repository.saved_twice


def test_the_same_changes_under_two_refs_are_saved_twice():
    repository = Repository()
    tree = prepared(repository)
    repository.edit(tree, lane="a")
    one, other = (repository.snapshot(tree, "left", second) for second in (1, 2))
    assert one == repository.snapshot(tree, "left", 1) != other
    repository.set_ref("refs/dos/salvage/RUN/1", one)
    assert not repository.saved_twice
    repository.set_ref("refs/dos/salvage/NEXT/1", other)
    assert repository.saved_twice


def test_work_of_another_lane_or_for_another_unit_is_foreign():
    repository = Repository()
    repository.raise_fence("a", 1)
    tree = prepared(repository)
    repository.edit(tree, lane="b")
    repository.commit(tree, "PLAN/A1", "PLAN/B1")
    repository.move("a", 1, ready_to_land(repository, tree))
    assert len(repository.foreign) == 2
    assert repository.lost_edits() == set()
