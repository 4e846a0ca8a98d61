"""Lanes that were renamed or removed: what is left of them goes, and no work of theirs is lost."""

import subprocess

import pytest
from driven_worker import happened, work
from lane_tree import prepare_lane
from sample_repository import Repository

from dos import workspace
from dos.doctor import examine
from dos.doctor.subjects import git as git_subject
from dos.doctor.subjects import worktrees
from dos.errors import DosError
from dos.fleet import effects
from dos.git.repository import Writer
from dos.landing.lane import retired
from dos.loop.types import StopReason
from dos.world import World


def rename_lane(repository: Repository) -> None:
    config = repository.root / "dos.toml"
    config.write_text(config.read_text().replace('"one"', '"first"').replace("one =", "first ="))
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(plan.read_text().replace("lane: one", "lane: first"))
    repository.commit_all("Rename the lane")


def fix(repository: Repository, *, dry_run: bool = False) -> list[tuple[str, bool]]:
    git_subject.repository.cache_clear()
    with World(repository.root) as world:
        made = examine.repair(world, lambda: world.journal, dry_run=dry_run)
        return [(repair.kind, repair.done) for repair in made]


def findings(repository: Repository) -> list[str]:
    git_subject.repository.cache_clear()
    with World(repository.root) as world:
        return [finding.kind for finding in worktrees.examine(world)]


def refs(repository: Repository, lane: str) -> list[str]:
    listing = repository.git("for-each-ref", "--format=%(refname)", "refs/dos")
    return [ref for ref in listing.split() if ref.endswith(f"/{lane}") and "fence" not in ref]


def test_a_lane_whose_work_landed_is_removed_whole(repository):
    assert work(repository).reason is StopReason.COMPLETE
    place = workspace.find(repository.root)
    assert findings(repository) == [] and refs(repository, "one")
    rename_lane(repository)
    assert findings(repository) == ["RETIRED_LANE"]
    assert fix(repository, dry_run=True) == [("RETIRED_LANE", False)]
    assert (place.worktrees / "one").is_dir()
    assert fix(repository) == [("RETIRED_LANE", True)]
    assert not (place.worktrees / "one").exists() and not (place.homes / "one").exists()
    assert refs(repository, "one") == []
    assert repository.git("for-each-ref", "refs/dos/salvage") == ""
    assert not (place.state / "salvage").exists()
    assert findings(repository) == [] and fix(repository) == []


def test_work_that_nobody_has_saved_is_saved(repository):
    made = prepare_lane(repository)
    command = "echo x > one/committed && git add --all && git commit -qm Work && echo y > one/new"
    subprocess.run(command, shell=True, cwd=made.path, check=True)
    made.lane.take_over_progress(made.base, with_files=False)
    head = repository.git("rev-parse", "refs/dos/progress/one")
    rename_lane(repository)
    assert fix(repository) == [("RETIRED_LANE", True)]
    saved = repository.git("for-each-ref", "--format=%(objectname)", "refs/dos/salvage").split()
    assert saved == [head]
    (folder,) = (workspace.find(repository.root).state / "salvage" / "one").iterdir()
    assert (folder / "one" / "new").read_text() == "y\n"
    assert not made.path.exists() and refs(repository, "one") == []


def test_the_base_of_what_was_moved_aside_stays(repository):
    """The user has rewritten the branch since."""
    made = prepare_lane(repository)
    (made.path / "one" / "new").write_text("y\n")
    repository.git("checkout", "--quiet", "--orphan", "other")
    rename_lane(repository)
    repository.git("branch", "--quiet", "-D", "main")
    repository.git("reflog", "expire", "--expire=all", "--all")
    assert fix(repository) == [("RETIRED_LANE", True)]
    repository.git("gc", "--quiet", "--prune=now")
    (folder,) = (workspace.find(repository.root).state / "salvage" / "one").iterdir()
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "?? one/new\n"


def test_a_lane_that_a_worker_has_is_left_alone(repository):
    """Its agent is at work while the user edits dos.toml."""
    place = workspace.find(repository.root)
    answers = []

    def look(performers):
        real = performers[effects.MeasureWork]

        def measure(effect):
            if not answers:
                config = repository.root / "dos.toml"
                before = config.read_text()
                config.write_text(before.replace('"one", ', "").replace('one = ["one/**"]\n', ""))
                answers.append((findings(repository), fix(repository)))
                config.write_text(before)
            return real(effect)

        return {**performers, effects.MeasureWork: measure}

    assert work(repository, performers=look).reason is StopReason.COMPLETE
    assert answers == [([], [])]
    assert (place.worktrees / "one").is_dir() and happened(repository, "unit_landed")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", range(1, 30, 3))
def test_it_can_be_repeated_whenever_it_was_cut_off(repository, number, monkeypatch):
    class Killed(BaseException):
        pass

    made = prepare_lane(repository)
    command = "echo x > one/committed && git add --all && git commit -qm Work && echo y > one/new"
    subprocess.run(command, shell=True, cwd=made.path, check=True)
    made.lane.take_over_progress(made.base, with_files=False)
    place, git = workspace.find(repository.root), Writer(repository.root)
    real, calls = Writer.attempt, []

    def attempt(*arguments, **named):
        calls.append(arguments)
        if len(calls) == number:
            raise Killed
        return real(*arguments, **named)

    monkeypatch.setattr(Writer, "attempt", attempt)
    try:
        retired.retire(place, git, "one")
    except (Killed, DosError):
        pass
    monkeypatch.setattr(Writer, "attempt", real)
    for name in retired.retired_lanes(place, git, ["two"]):
        retired.retire(place, git, name)
    assert refs(repository, "one") == []
    assert len(repository.git("for-each-ref", "refs/dos/salvage").splitlines()) == 1
    (folder,) = (place.state / "salvage" / "one").iterdir()
    assert (folder / "one" / "new").read_text() == "y\n"
