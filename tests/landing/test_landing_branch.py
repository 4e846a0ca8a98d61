"""Work delivered on a unit's own branch, and work that cannot be rebased."""

from pathlib import Path

import pytest
from sample_repository import Repository

from dos.fleet.effects import NotLanded, Worktree
from dos.git.fence import raise_fence
from dos.git.repository import Writer
from dos.landing import branch, rebase
from dos.landing.trees.check_trees import CheckTrees
from dos.units.unit import Landing
from dos.workspace import find
from dos.world import World

BRANCH = "dos/one/DEMO/A1"


@pytest.fixture
def git(repository) -> Writer:
    writer = Writer(repository.root)
    raise_fence(writer, "one", 7)
    return writer


@pytest.fixture
def worktree(repository) -> Worktree:
    path = repository.home / "lane"
    repository.git("worktree", "add", "--quiet", "--detach", str(path), "main")
    base = repository.git("rev-parse", "main")
    return Worktree(path=str(path), target="main", base=base, salvaged=[])


def commit(place: Path, name: str, text: str, subject: str = "Work") -> str:
    (place / name).write_text(text)
    git = Writer(place)
    git.run("add", "--all")
    git.run("-c", "user.name=a", "-c", "user.email=a@a", "commit", "--quiet", "--message", subject)
    return git.run("rev-parse", "HEAD").strip()


def prepare_landing(worktree: Worktree, head: str, unit: str = "DEMO/A1") -> Landing | NotLanded:
    """Rebase in a check tree of the repository that the worktree is of."""
    with World(find(Path(worktree.path)).root) as world:
        writer = Writer(world.workspace.root)
        trees = CheckTrees(world.workspace, world.config, writer)
        return rebase.prepare_landing(writer, trees, unit, worktree, head)


def delivered(worktree: Worktree, name: str = "one/a.txt", unit: str = "DEMO/A1") -> Landing:
    head = commit(Path(worktree.path), name, "x\n")
    ready = prepare_landing(worktree, head, unit)
    assert isinstance(ready, Landing)
    return branch.on_unit_branch("one", ready)


def test_work_is_delivered_on_a_branch_of_its_own_and_the_target_stays(repository, git, worktree):
    ready = delivered(worktree)
    assert ready.branch == BRANCH == branch.unit_branch_name("one", "DEMO/A1")
    assert not branch.has_landed(git, ready)
    assert branch.move_unit_branch(git, lane="one", fence=7, landing=ready) is None
    assert branch.has_landed(git, ready)
    assert repository.git("rev-parse", BRANCH) == ready.commit
    assert repository.subjects() == ["Begin"] and repository.git("status", "--porcelain") == ""
    assert branch.unmerged_unit_branches(git, "main") == {BRANCH: ready.commit}


def test_what_was_merged_waits_no_more(repository, git, worktree):
    branch.move_unit_branch(git, lane="one", fence=7, landing=delivered(worktree))
    repository.git("branch", "dos-is-a-word/of-mine")
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    assert branch.unmerged_unit_branches(git, "main") == {}


def test_delivering_again_changes_nothing(repository, git, worktree):
    ready = delivered(worktree)
    for _ in range(2):
        assert branch.move_unit_branch(git, lane="one", fence=7, landing=ready) is None
    assert len(repository.git("reflog", "show", BRANCH).splitlines()) == 1


@pytest.mark.parametrize("exists", [False, True])
def test_a_stale_worker_delivers_nothing(repository, git, worktree, exists):
    ready = delivered(worktree)
    if exists:
        branch.move_unit_branch(git, lane="one", fence=7, landing=ready)
    raise_fence(git, "one", 8)
    refused = branch.move_unit_branch(git, lane="one", fence=7, landing=ready)
    assert refused and "fence" in refused.reason and not refused.retryable
    assert branch.has_landed(git, ready) == exists


def test_a_branch_that_holds_other_work_is_not_moved(repository, git, worktree):
    repository.git("checkout", "--quiet", "-b", BRANCH)
    theirs = commit(repository.root, "one/theirs", "x\n")
    repository.git("checkout", "--quiet", "main")
    refused = branch.move_unit_branch(git, lane="one", fence=7, landing=delivered(worktree))
    assert refused and "holds other work" in refused.reason
    assert repository.git("rev-parse", BRANCH) == theirs


def test_a_branch_that_the_work_holds_is_moved_unless_somebody_looks_at_it(
    repository, git, worktree
):
    repository.git("checkout", "--quiet", "-b", BRANCH)
    ready = delivered(worktree)
    refused = branch.move_unit_branch(git, lane="one", fence=7, landing=ready)
    assert refused and refused.retryable and "checked out" in refused.reason
    repository.git("checkout", "--quiet", "main")
    assert branch.move_unit_branch(git, lane="one", fence=7, landing=ready) is None
    assert repository.git("rev-parse", BRANCH) == ready.commit


def test_a_branch_that_was_moved_in_between_is_not_moved(repository, git, worktree, monkeypatch):
    ready = delivered(worktree)
    real = branch._swap

    def swap(*arguments):
        repository.git("branch", BRANCH, "main")
        return real(*arguments)

    monkeypatch.setattr(branch, "_swap", swap)
    refused = branch.move_unit_branch(git, lane="one", fence=7, landing=ready)
    assert refused and refused.retryable
    assert repository.git("rev-parse", BRANCH) == repository.git("rev-parse", "main")


def test_a_branch_in_the_way_of_the_name_is_said(repository, git, worktree):
    repository.git("branch", "dos")
    refused = branch.move_unit_branch(git, lane="one", fence=7, landing=delivered(worktree))
    assert refused and "dos" in refused.reason


def test_what_was_intended_for_the_target_itself_never_moves_it_from_here(
    repository, git, worktree
):
    repository.git("checkout", "--quiet", "--detach")
    ready = prepare_landing(worktree, commit(Path(worktree.path), "one/a.txt", "x\n"))
    assert isinstance(ready, Landing) and ready.branch == "main"
    assert branch.move_unit_branch(git, lane="one", fence=7, landing=ready)
    assert repository.subjects() == ["Begin"]


# Conflicts


def clash(
    repository: Repository, worktree: Worktree, names: list[str], lines: int = 1
) -> NotLanded:
    for name in names:
        commit(Path(worktree.path), name, "ours\n" * lines, "Ours")
    head = Writer(Path(worktree.path)).run("rev-parse", "HEAD").strip()
    for name in names:
        (repository.root / name).write_text("theirs\n" * lines)
    repository.commit_all("Theirs")
    refused = prepare_landing(worktree, head)
    assert isinstance(refused, NotLanded)
    tree = Writer(Path(worktree.path))
    assert tree.run("rev-parse", "HEAD").strip() == head and tree.dirty_paths() == []
    return refused


def test_a_conflict_is_told_with_its_files_and_lines(repository, worktree):
    refused = clash(repository, worktree, ["one/keep"])
    assert refused.conflict and not refused.retryable
    assert (
        "it cannot be rebased onto 'main'" in refused.reason
        and "1 file in conflict: one/keep" in refused.reason
    )
    assert "theirs" in refused.reason and "ours" in refused.reason


def test_a_long_conflict_is_cut_and_says_so(repository, worktree):
    refused = clash(repository, worktree, ["one/keep"], lines=500)
    assert len(refused.reason.splitlines()) <= 40
    assert "lines more)" in refused.reason.splitlines()[-1]


def test_a_conflict_in_what_is_no_text_can_be_written_down(repository, worktree):
    for place, text in ((Path(worktree.path), b"ours \xff\n"), (repository.root, b"theirs \xfe\n")):
        (place / "one" / "keep").write_bytes(text)
        Writer(place).run(
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@a",
            "commit",
            "--quiet",
            "--all",
            "--message",
            "x",
        )
    refused = prepare_landing(
        worktree, Writer(Path(worktree.path)).run("rev-parse", "HEAD").strip()
    )
    assert isinstance(refused, NotLanded) and refused.conflict
    assert refused.reason.encode()


def test_a_file_that_was_deleted_there_and_changed_here_is_a_conflict(repository, worktree):
    head = commit(Path(worktree.path), "one/keep", "ours\n")
    repository.git("rm", "--quiet", "one/keep")
    repository.commit_all("Gone")
    refused = prepare_landing(worktree, head)
    assert isinstance(refused, NotLanded) and refused.conflict and "one/keep" in refused.reason


def test_what_an_ignored_file_is_in_the_way_of_is_no_conflict(repository, worktree):
    (repository.root / ".git" / "info" / "exclude").write_text("cache\n")
    (Path(worktree.path) / "cache").mkdir()
    (Path(worktree.path) / "cache" / "x").write_text("x")
    head = commit(Path(worktree.path), "one/a.txt", "x\n")
    (repository.root / "cache").write_text("theirs")
    repository.git("add", "--force", "cache")
    repository.commit_all("A file where a folder is")
    answer = prepare_landing(worktree, head)
    assert not (isinstance(answer, NotLanded) and answer.conflict)


def test_what_the_user_has_configured_changes_no_rebase(repository, worktree):
    repository.git("config", "rebase.autoSquash", "true")
    repository.git("config", "rebase.updateRefs", "true")
    repository.git("config", "rerere.enabled", "true")
    commit(Path(worktree.path), "one/a.txt", "x\n", "Write a")
    head = commit(Path(worktree.path), "one/a.txt", "y\n", "fixup! Write a")
    repository.git("branch", "mine", head)
    repository.commit_all("Moved")
    ready = prepare_landing(worktree, head)
    assert isinstance(ready, Landing)
    assert len(Writer(repository.root).commits_between(ready.base, ready.commit)) == 2
    assert repository.git("rev-parse", "mine") == head


@pytest.mark.parametrize("place", ["one/new", "one/new/file"])
def test_an_ignored_file_on_the_way_to_a_new_one_is_not_lost(repository, git, worktree, place):
    (repository.root / ".git" / "info" / "exclude").write_text("new\n")
    (repository.root / "one" / "new").write_text("mine\n")
    path = Path(worktree.path) / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x\n")
    inside = Writer(Path(worktree.path))
    inside.run("add", "--force", "--all")
    inside.run(
        "-c", "user.name=a", "-c", "user.email=a@a", "commit", "--quiet", "--message", "Work"
    )
    ready = prepare_landing(worktree, inside.run("rev-parse", "HEAD").strip())
    assert isinstance(ready, Landing)
    refused = branch.move_branch(git, lane="one", fence=7, landing=ready)
    assert refused and "one/new" in refused.reason
    assert (repository.root / "one" / "new").read_text() == "mine\n"


def test_a_branch_that_was_moved_by_a_git_that_died_counts_as_moved_when_asked_again(
    repository, git, worktree
):
    head = commit(Path(worktree.path), "one/a.txt", "x\n")
    ready = prepare_landing(worktree, head)
    assert isinstance(ready, Landing)
    assert branch.move_branch(git, lane="one", fence=7, landing=ready) is None
    assert branch.move_branch(git, lane="one", fence=7, landing=ready) is None
    other = commit(repository.root, "one/b.txt", "y\n")
    assert branch.move_branch(git, lane="one", fence=7, landing=ready) is None
    assert repository.git("rev-parse", "main") == other
