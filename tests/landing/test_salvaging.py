"""Saved work is listed, applied whole or not at all, and dropped by name."""

import subprocess
from pathlib import Path

import pytest
from driven_worker import work
from lane_tree import prepare_lane
from sample_repository import Repository, commit, write

from dos.errors import BadInput
from dos.git.repository import Writer
from dos.landing import salvage_list
from dos.landing.salvage_list import SavedWork
from dos.world import World

pytestmark = pytest.mark.sampled(3)


def state(repository: Repository) -> Path:
    return repository.root / ".git" / "dos"


def everything(repository: Repository) -> list[SavedWork]:
    with World(repository.root) as world:
        return salvage_list.read(world.git, world.workspace.state, world.journal.events())


def prepare(repository: Repository, run_id: str = "RUN") -> Path:
    return prepare_lane(repository, run_id=run_id).path


def save(
    repository: Repository, name: str = "one/keep", text: str = "saved\n", run_id: str = "RUN"
) -> SavedWork:
    """What an agent left uncommitted."""
    path = prepare(repository, run_id) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    prepare(repository, run_id)
    return everything(repository)[-1]


def everywhere(repository: Repository) -> dict[str, str]:
    """The tree, the index and the refs."""
    files = (
        path for path in repository.root.rglob("*") if path.is_file() and ".git" not in path.parts
    )
    found = {str(path): path.read_text() for path in files}
    return found | {
        "index": repository.git("ls-files", "--stage"),
        "refs": repository.git("for-each-ref"),
    }


def test_what_a_run_left_is_listed_with_its_run_lane_and_unit(repository):
    half = [write("one/half.txt", "half\n")]
    stray = [write("two/stray.txt"), commit("Stray")]
    repository.play({"DEMO/A1": [half], "DEMO/A2": [stray]})
    work(repository)
    first, second, *_ = everything(repository)
    assert (first.number, first.lane, first.unit) == (1, "one", "DEMO/A1")
    assert first.why == "left by the agent: uncommitted changes" and first.run_id.startswith("RID-")
    assert (second.number, second.unit, second.why) == (2, "DEMO/A2", "did not land: commits")
    sized = salvage_list.with_size(Writer(repository.root), first)
    assert (sized.files, sized.bytes) == (1, 5)


def test_what_an_earlier_run_left_is_nobodys_unit(repository):
    saved = save(repository)
    assert (saved.unit, saved.lane, saved.run_id) == ("", "", "RUN")
    assert saved.why == "left by an earlier run" and saved.at_ms > 0


def test_a_commit_that_names_its_unit_is_known_by_that(repository):
    tree = prepare(repository)
    (tree / "one" / "keep").write_text("x\n")
    words = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@a",
        "commit",
        "-qam",
        "Work\n\nUnit: DEMO/A1",
    ]
    subprocess.run(words, cwd=tree, check=True)
    prepare(repository)
    assert everything(repository)[0].unit == "DEMO/A1"


def test_folders_that_git_could_not_hold_are_listed_too(repository):
    tree = prepare(repository)
    subprocess.run(["git", "init", "-q", "one/nested"], cwd=tree, check=True)
    (tree / "one" / "nested" / "file").write_text("12345")
    prepare(repository)
    beside = state(repository) / "salvage" / "1-by-hand"
    beside.mkdir()
    run, by_hand = sorted(everything(repository), key=lambda saved: saved.run_id, reverse=True)
    assert run.ref.endswith("/salvage/RUN/1-nested") and run.commit == "" and run.bytes >= 5
    assert (by_hand.ref, by_hand.run_id, by_hand.files) == (str(beside), "", 0)
    with pytest.raises(BadInput, match="is a folder"):
        salvage_list.apply(repository.root, run)


def test_numbers_stay_when_more_is_saved(repository):
    first = save(repository, text="1\n")
    save(repository, text="2\n")
    assert [saved.number for saved in everything(repository)] == [1, 2]
    assert salvage_list.find(everything(repository), "1").ref == first.ref


def test_one_is_found_by_number_ref_the_end_of_it_or_commit(repository):
    saved = save(repository)
    there = everything(repository)
    for asked in ("1", saved.ref, "RUN/1", "dos/salvage/RUN/1", saved.commit, saved.commit[:8]):
        assert salvage_list.find(there, asked) == saved, asked


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "asked", ["0", "2", "", "-1", "RUN", "RUN/2", "main", "HEAD", "x\ny", "refs/heads/main"]
)
def test_what_is_not_there_is_answered_with_what_is(repository, asked):
    save(repository)
    with pytest.raises(BadInput, match=r"there is 1 \(RUN/1\)"):
        salvage_list.find(everything(repository), asked)


def test_saved_changes_come_back_uncommitted_on_top_of_what_was_committed_since(repository):
    saved = save(repository, "one/new", "saved\n")
    (repository.root / "one" / "keep").write_text("since\n")
    repository.commit_all("Since")
    (repository.root / "two" / "mine").write_text("mine\n")
    before = repository.git("for-each-ref")
    answer = salvage_list.apply(repository.root, saved)
    assert answer.fits and answer.files == ["one/new"]
    assert (repository.root / "one" / "new").read_text() == "saved\n"
    assert (repository.root / "one" / "keep").read_text() == "since\n"
    assert repository.git("status", "--porcelain") == "A  one/new\n?? two/mine"
    assert repository.git("for-each-ref") == before, "no branch moved, and it stays saved"
    assert salvage_list.apply(repository.root, saved).in_the_way, (
        "twice would be over one's own changes"
    )


def test_saved_commits_come_back_as_one_change(repository):
    tree = prepare(repository)
    for name in ("a", "b"):
        (tree / "one" / name).write_text("x\n")
        Writer(tree).run("add", "--all")
        Writer(tree).run("-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", name)
    prepare(repository)
    assert salvage_list.apply(repository.root, everything(repository)[0]).files == [
        "one/a",
        "one/b",
    ]


def test_what_was_stashed_by_a_rebase_comes_back(repository):
    tree = prepare(repository)
    (tree / "one" / "keep").write_text("x\n")
    Writer(tree).run("-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qam", "One")
    (tree / "two" / "keep").write_text("stashed\n")
    stops = [
        "git",
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "-qi",
        "--autostash",
        "HEAD~",
    ]
    subprocess.run(stops, cwd=tree, capture_output=True)
    prepare(repository)
    [saved] = [
        each for each in everything(repository) if "rebase" in each.why or "autostash" in each.why
    ]
    assert salvage_list.apply(repository.root, saved).files == ["two/keep"]


def test_changes_of_the_same_file_are_merged(repository):
    (repository.root / "one" / "keep").write_text("".join(f"{n}\n" for n in range(20)))
    repository.commit_all("Lines")
    text = (repository.root / "one" / "keep").read_text()
    saved = save(repository, text=text.replace("2\n", "two\n", 1))
    (repository.root / "one" / "keep").write_text(text.replace("18\n", "eighteen\n"))
    repository.commit_all("Since")
    assert salvage_list.apply(repository.root, saved).fits
    merged = (repository.root / "one" / "keep").read_text()
    assert "two\n" in merged and "eighteen\n" in merged


def conflicting(repository):
    (repository.root / "one" / "keep").write_text("since\n")
    repository.commit_all("Since")


def edited(repository):
    (repository.root / "one" / "keep").write_text("mine\n")


def staged(repository):
    edited(repository)
    repository.git("add", "--all")


def untracked(repository):
    (repository.root / "one" / "new").write_text("mine\n")


def ignored(repository):
    untracked(repository)
    (repository.root / ".git" / "info" / "exclude").write_text("new\n")


def merging(repository):
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit_all("Another line")
    repository.git("checkout", "--quiet", "main")
    repository.commit_all("This line")
    repository.git("merge", "--no-commit", "--no-ff", "other")


def a_folder(repository):
    (repository.root / "one" / "new").mkdir()
    (repository.root / "one" / "new" / "file").write_text("mine\n")


def test_an_ignored_file_where_a_folder_would_be_is_not_lost(repository):
    saved = save(repository, "one/new/file")
    ignored(repository)
    answer = salvage_list.apply(repository.root, saved)
    assert "one/new exists and is in no commit" in answer.in_the_way
    assert (repository.root / "one" / "new").read_text() == "mine\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    "disturb", [conflicting, edited, staged, untracked, ignored, merging, a_folder]
)
def test_what_would_be_harmed_is_named_and_nothing_is_changed(repository, disturb, dry_run):
    tree = prepare(repository)
    (tree / "one" / "keep").write_text("saved\n")
    (tree / "one" / "new").write_text("saved\n")
    prepare(repository)
    saved = everything(repository)[0]
    disturb(repository)
    before = everywhere(repository)
    answer = salvage_list.apply(repository.root, saved, dry_run=dry_run)
    assert not answer.fits and everywhere(repository) == before
    named = answer.conflicts or [answer.in_the_way]
    assert any(word in named[0] for word in ("one/keep", "one/new", "MERGE_HEAD"))


def test_a_dry_run_changes_nothing(repository):
    saved = save(repository)
    before = everywhere(repository)
    answer = salvage_list.apply(repository.root, saved, dry_run=True)
    assert answer.fits and answer.files == ["one/keep"] and everywhere(repository) == before


def test_what_was_dropped_can_be_had_back(repository):
    saved = save(repository)
    undo = salvage_list.drop(repository.root, saved)
    assert everything(repository) == []
    subprocess.run(undo, shell=True, cwd=repository.root, check=True)
    assert everything(repository)[0].commit == saved.commit
