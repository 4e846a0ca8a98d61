"""Repositories of every form that git knows: units land in them, or a person is told why not."""

import shutil
import subprocess
from pathlib import Path

import pytest
import test_walled_lanes
from driven_worker import work
from sample_repository import WORKS, Repository, commit, write

from dos.doctor.subjects import forms
from dos.doctor.subjects import git as git_subject
from dos.git import partial_clone
from dos.git.files import object_folders
from dos.git.repository import Writer
from dos.landing.lane.large_files import stored_path
from dos.loop.types import StopReason, WorkerStop
from dos.sandbox.io.probe import probe
from dos.world import World

walled = test_walled_lanes.walled
HISTORY = 3  # commits besides the first


def grown(repository: Repository) -> Repository:
    """The repository with a few more commits."""
    (repository.root / "other").mkdir()
    for number in range(HISTORY):
        (repository.root / "other" / "file").write_text(f"{number}\n" * 100)
        repository.commit_all(f"Change {number}")
    return repository


@pytest.mark.parametrize("name", ["Grüße an Åsa", "日本 $HOME 'x'", "a;b #c (d) [e]"])
def test_units_land_in_folders_with_any_name(tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name / "state"))
    repository = Repository(tmp_path / name / "home")
    repository.play({"DEMO/A1": [[write("one/a.txt"), commit("Write a")]]})
    with repository.config.open("a") as file:
        file.write('setup = "touch made"\ntest = "git ls-files | grep -q one/a.txt"\n')
    (repository.root / ".gitignore").write_text("made\n")
    repository.commit_all("Configure")
    work(repository)
    assert "Write a" in repository.subjects()


def clone(repository: Repository, *options: str) -> Path:
    """Clone the repository by its protocol, work in the clone from now on, return the source."""
    source = grown(repository).root
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.root = repository.home / "clone"
    command = ["git", "clone", "--quiet", *options, f"file://{source}", str(repository.root)]
    subprocess.run(command, check=True, capture_output=True)
    sign(repository)
    return source


def sign(repository: Repository) -> None:
    repository.git("config", "user.name", "Tester")
    repository.git("config", "user.email", "tester@example.invalid")


def findings(repository: Repository) -> dict[str, str]:
    """What doctor says of the repository's form: the fix of each kind."""
    git_subject.repository.cache_clear()
    with World(repository.root) as world:
        found = [*git_subject.examine(world), *forms.examine(world)]
    return {finding.kind: finding.fix for finding in found}


def shallow(repository: Repository) -> None:
    clone(repository, "--depth", "2")


def blobless(repository: Repository) -> None:
    clone(repository, "--filter=blob:none", "--sparse")
    repository.git("sparse-checkout", "set", "docs", "one")


def treeless(repository: Repository) -> None:
    clone(repository, "--filter=tree:0", "--sparse")
    repository.git("sparse-checkout", "set", "docs")


def sparse(repository: Repository) -> None:
    grown(repository).git("sparse-checkout", "set", "--cone", "docs")


def sparse_index(repository: Repository) -> None:
    grown(repository).git("sparse-checkout", "set", "--cone", "--sparse-index", "docs", "two")


def sha256(repository: Repository) -> None:
    shutil.rmtree(repository.root / ".git")
    repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main")
    sign(repository)
    repository.commit_all("Begin")


def alternates(repository: Repository) -> None:
    """Objects come from a third repository, which has some of a fourth, by relative paths."""
    first = grown(repository).root
    for name in ("second", "third"):
        repository.root = repository.home / name
        command = ["git", "clone", "--quiet", "--shared", str(first), str(repository.root)]
        subprocess.run(command, check=True)
        listed = repository.root / ".git" / "objects" / "info" / "alternates"
        listed.write_text(f"../../../{first.name}/.git/objects\n")
        sign(repository)
        repository.commit_all(f"Begin the {name}")
        first = repository.root
    assert len(object_folders(repository.root / ".git")) == 3


def separate(repository: Repository) -> None:
    repository.git("init", "--quiet", f"--separate-git-dir={repository.home}/directory")


def own_worktree(repository: Repository) -> None:
    """The user works in a worktree; the work lands on the branch of the main checkout."""
    folder = repository.home / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "mine", str(folder))
    repository.root = folder


def packed(repository: Repository) -> None:
    grown(repository)
    head = repository.git("rev-parse", "HEAD")
    lines = "".join(f"create refs/tags/v{number} {head}\n" for number in range(1_000))
    command = ["git", "update-ref", "--stdin"]
    subprocess.run(command, cwd=repository.root, input=lines, text=True, check=True)
    repository.git("tag", "--annotate", "-m", "A release", "release")
    repository.git("pack-refs", "--all")
    repository.git("gc", "--quiet")


FORMS = [shallow, blobless, treeless, sparse, sparse_index, sha256, alternates, separate,
         own_worktree, packed]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_units_land_in_sequence(repository, form):
    form(repository)
    assert work(repository).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(repository.subjects())
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("show", "main:one/b.txt") == "x"
    broken = repository.git("fsck", "--connectivity-only", "--no-dangling")
    assert "missing" not in broken and "broken" not in broken


def test_what_a_partial_clone_lacks_of_the_base_is_fetched_before(repository):
    clone(repository, "--filter=tree:0", "--no-checkout")
    git = Writer(repository.root)
    assert partial_clone.missing_objects(git, "HEAD")
    assert "fetch --refetch --no-filter origin" in findings(repository)["PARTIAL_CLONE_MISSING"]
    partial_clone.fetch_missing(git, git.commit_of("HEAD"))
    assert not partial_clone.missing_objects(git, "HEAD")
    assert "PARTIAL_CLONE" in findings(repository)


def test_a_partial_clone_that_cannot_be_filled_is_refused_with_what_to_type(repository):
    source = clone(repository, "--filter=blob:none", "--sparse")
    repository.git("sparse-checkout", "set", "docs")
    source.rename(repository.home / "gone")
    stop = work(repository)
    assert stop.reason is WorkerStop.NOT_READY
    assert "this partial clone lacks" in stop.detail
    assert f"git -C {repository.root} fetch --refetch --no-filter origin" in stop.detail
    # And that command is enough.
    (repository.home / "gone").rename(source)
    repository.git("fetch", "--quiet", "--refetch", "--no-filter", "origin")
    source.rename(repository.home / "gone")
    assert work(repository, number=2).reason is StopReason.COMPLETE


def test_doctor_asks_for_the_branch_that_work_lands_on(repository):
    repository.git("checkout", "--quiet", "--detach")
    folder = repository.home / "worktree"
    repository.git("worktree", "add", "--quiet", str(folder), "main")
    repository.root = folder
    assert "NO_TARGET_BRANCH" in findings(repository)


# Large files


@pytest.fixture
def large_files(repository, monkeypatch) -> Repository:
    """A repository with a large file, and a user who has git-lfs."""
    if not shutil.which("git-lfs"):
        pytest.skip("git-lfs is not installed")
    return with_large_file(repository, monkeypatch)


def with_large_file(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("HOME", str(repository.home))
    repository.git("lfs", "install", "--skip-repo")
    repository.git("lfs", "track", "*.bin")
    (repository.root / "one" / "large.bin").write_text("large\n")
    repository.commit_all("Add a large file")
    return repository


def name_filter(repository: Repository) -> None:
    config = repository.root / "dos.toml"
    named = 'agent = "scripted"\ngit_config = ["filter.lfs.*"]'
    config.write_text(config.read_text().replace('agent = "scripted"', named))
    repository.commit_all("Name the filter")


COPIES = {"run": "cat one/large.bin > one/a.txt; echo new > one/new.bin"}
LARGE = {**WORKS, "DEMO/A1": [[COPIES, commit("Write a")]]}


def test_large_files_are_content_where_their_filter_is_named(large_files):
    name_filter(large_files)
    assert findings(large_files) == {}
    large_files.play(LARGE)
    assert work(large_files).reason is StopReason.COMPLETE
    assert large_files.git("show", "main:one/a.txt") == "large"
    assert "git-lfs" in large_files.git("show", "main:one/new.bin")
    # The content came along, so the user's checkout has it.
    assert (large_files.root / "one" / "new.bin").read_text() == "new\n"
    assert large_files.git("lfs", "fsck") == "Git LFS fsck OK"


def test_large_files_are_pointers_where_no_filter_is_named(large_files):
    if has_system_filter(large_files):
        pytest.skip("git-lfs is set up for the whole system, so lanes have its filter")
    assert "filter.lfs.*" in findings(large_files)["LFS_POINTERS"]
    large_files.play({**WORKS, "DEMO/A1": [[{"run": "head -1 one/large.bin > one/a.txt"},
                                            commit("Write a")]]})  # fmt: skip
    assert work(large_files).reason is StopReason.COMPLETE
    assert "git-lfs" in large_files.git("show", "main:one/a.txt")


def has_system_filter(repository: Repository) -> bool:
    keys = Writer(repository.root).attempt("config", "--system", "--get-regexp", "filter.lfs")
    return keys.returncode == 0


def test_a_pointer_without_content_is_refused_and_the_lane_goes_on(large_files):
    name_filter(large_files)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'1' * 64}\nsize 4\n"
    forged = "f=$(git hash-object -w --stdin < one/text)"
    stage = f"{forged}; git update-index --add --cacheinfo 100644,$f,one/new.bin; rm one/text"
    steps = [write("one/a.txt"), write("one/text", pointer), {"run": stage},
             {"run": "git add one/a.txt; git commit -qm Forge"}]  # fmt: skip
    large_files.play({**WORKS, "DEMO/A1": [steps, *WORKS["DEMO/A1"]]})
    assert work(large_files).reason is StopReason.COMPLETE
    assert not stored_path(large_files.root / ".git", "1" * 64).exists()
    subjects = large_files.subjects()
    assert "Forge" not in subjects and {"Write a", "Write b"} <= set(subjects)


def test_large_files_that_are_not_here_are_named_with_what_to_type(large_files):
    name_filter(large_files)
    shutil.rmtree(large_files.root / ".git" / "lfs")
    assert findings(large_files)["LFS_MISSING"].endswith("lfs fetch")
    stop = work(large_files)
    assert stop.reason is WorkerStop.NOT_READY and "dos doctor" in stop.detail


# Behind walls


@pytest.mark.soak
@pytest.mark.skipif(not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}")
@pytest.mark.parametrize("form", ["alternates", "large files"])
def test_walls_let_lanes_read_all_that_the_repository_is_made_of(walled, form, monkeypatch):
    test_walled_lanes.put_walls_up(walled, "auto")
    walled.play(WORKS)
    if form == "alternates":
        alternates(walled)
    elif shutil.which("git-lfs"):
        with_large_file(walled, monkeypatch)
        name_filter(walled)
        walled.play(LARGE)
    else:
        pytest.skip("git-lfs is not installed")
    assert work(walled).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(walled.subjects())
