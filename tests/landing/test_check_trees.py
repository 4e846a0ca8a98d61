"""Commands judge exactly the files of a commit, whatever an earlier check or an agent left."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from sample_repository import Repository

from dos.git.repository import Writer
from dos.landing.trees import check_trees
from dos.landing.trees.check_tree import CannotCheck, CheckTree
from dos.landing.trees.check_trees import CheckTrees
from dos.landing.trees.setup_digest import is_lock_file
from dos.receipts.io.acceptance import AcceptanceResult, run_acceptance
from dos.world import World


def run(tree: CheckTree, command: str, seconds: float | None) -> AcceptanceResult:
    return run_acceptance(tree.path, command, dict(os.environ), seconds or 60)


def open_trees(repository: Repository) -> CheckTrees:
    with World(repository.root) as world:
        return CheckTrees(world.workspace, world.config, Writer(repository.root))


def head(repository: Repository) -> str:
    return repository.git("rev-parse", "HEAD")


def add(repository: Repository, name: str, text: str = "x\n") -> str:
    path = repository.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    repository.commit_all(f"Add {name}")
    return head(repository)


def set_up_with(repository: Repository, command: str) -> None:
    config = repository.root / "dos.toml"
    config.write_text(f"{config.read_text()}setup = {command!r}\n")
    repository.commit_all("Configure")


def listing(folder: Path) -> dict[str, str]:
    """The files of a folder with their content, without git's own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        found[str(name)] = os.readlink(path) if path.is_symlink() else path.read_text()
    return found


def fresh_clone(repository: Repository, commit: str) -> dict[str, str]:
    folder = repository.home / "clone"
    shutil.rmtree(folder, ignore_errors=True)
    repository.git("clone", "--quiet", "--no-checkout", str(repository.root), str(folder))
    subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True)
    return listing(folder)


def works(tree: CheckTree, repository: Repository) -> None:
    """The tree is as a fresh clone, and its repository answers."""
    assert tree.run("git status --porcelain && git rev-parse HEAD").output[-1:] == [tree.commit]
    tree.reset()
    assert listing(tree.path) == fresh_clone(repository, tree.commit)


# The files are those of the commit

HOSTILE = {
    "an edited file": "echo evil > one/keep",
    "an edited file of the same size and time": (
        "touch -r docs/demo-plan.md stamp; tr a-z A-Z < docs/demo-plan.md > x;"
        " cat x > docs/demo-plan.md; touch -r stamp docs/demo-plan.md"
    ),
    "a deleted file": "rm one/keep",
    "junk": "mkdir -p a/b && echo x > a/b/c",
    "ignored junk": "echo 'import os' > conftest.py",
    "a file that shadows the runner": (
        "mkdir -p bin .git/info; echo exit 0 > bin/runner; echo bin > .git/info/exclude"
    ),
    "skip-worktree": "git update-index --skip-worktree one/keep && echo evil > one/keep",
    "assume-unchanged": "git update-index --assume-unchanged one/keep && echo evil > one/keep",
    "a smudge filter": (
        "git config filter.evil.smudge 'echo evil' && mkdir -p .git/info"
        " && echo '* filter=evil' > .git/info/attributes"
    ),
    "an index that is no index": "echo nonsense > .git/index",
    "no repository": "rm -rf .git",
    "a file in its place": "rm -rf .git && echo 'gitdir: /nowhere' > .git",
    "a commit": "echo evil > one/keep && git -c user.name=a -c user.email=a@a commit -qam evil",
    "a nested repository": "git init -q nested && echo x > nested/file",
    "a nested repository in a folder of git's": "git init -q one && echo evil > one/keep",
    "a link where a folder was": "rm -rf one && ln -s /tmp one",
    "a folder where a file was": "rm one/keep && mkdir one/keep && echo x > one/keep/x",
    "a file where a folder was": "rm -rf one && echo x > one",
    "an unreadable folder": "mkdir dark && echo x > dark/x && chmod 000 dark",
    "a folder without a permission": "chmod 500 one",
    "a fifo": "mkfifo pipe",
    "a deep folder": (
        "python3 -c \"import os\nfor _ in range(1500):\n os.mkdir('d'); os.chdir('d')\""
    ),
    "no tree": "cd .. && rm -rf tree",
    "a link in place of the tree": "cd .. && rm -rf tree && ln -s /tmp tree",
    "a file in place of our repository": "cd .. && rm -rf git && echo x > git",
    "our index": "echo nonsense > ../git/index",
    "our head": "echo nonsense > ../git/HEAD",
    "a lock on our index": "touch ../git/index.lock",
    "an unfinished rebase": "mkdir -p ../git/rebase-merge",
}


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_nothing_that_a_check_leaves_reaches_the_next(repository, command):
    (repository.root / ".gitignore").write_text("conftest.py\n")
    first = add(repository, "two/more")
    trees = open_trees(repository)
    with trees.at(first, run) as tree:
        tree.run(command)
        works(tree, repository)
        tree.run(command)
    with trees.at(first, run) as tree:
        works(tree, repository)
    with trees.at(f"{first}^", run) as tree:
        assert "more" not in tree.run("ls two").output
    assert repository.git("status", "--porcelain") == ""
    assert (
        repository.git("rev-parse", "main") == first and not trees.folder.joinpath("tmp").exists()
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file immutable")
def test_a_tree_that_cannot_be_removed_is_left_and_another_is_used(repository):
    trees = open_trees(repository)
    with trees.at(head(repository), run) as tree:
        frozen = tree.path / "one" / "keep"
        if tree.run("echo evil > one/keep && chattr +i one/keep").passed is False:
            pytest.skip("this file system has no immutable files")
    try:
        with trees.at(head(repository), run) as tree:
            assert not str(frozen).startswith(f"{tree.path}/")
            works(tree, repository)
    finally:
        subprocess.run(["chattr", "-i", frozen], check=True)


def test_settings_that_were_written_to_the_repository_meanwhile_change_no_check(repository):
    """An agent in a linked worktree can write all of these."""
    (repository.root / ".gitignore").write_text("built\n")
    commit = add(repository, "one/b.txt", "honest\n")
    trees = open_trees(repository)
    with trees.at(repository.git("rev-parse", "HEAD~1"), run) as tree:
        works(tree, repository)
    repository.git("config", "filter.evil.smudge", "echo evil")
    info = repository.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* filter=evil\n")
    (info / "exclude").write_text("runner\n")
    repository.git("update-index", "--skip-worktree", "one/keep")
    (repository.root / "one" / "keep").write_text("evil")
    with trees.at(commit, run) as tree:
        assert tree.run("cat one/b.txt one/keep").output == ["honest"]
        assert tree.run("git check-ignore runner").passed is False


def test_a_check_sees_tags_and_history_and_moves_no_ref_of_the_user(repository):
    repository.git("tag", "-a", "v1.2", "-m", "v1.2")
    commit = add(repository, "one/b.txt")
    repository.git("pack-refs", "--all")
    before = repository.git("for-each-ref")
    with open_trees(repository).at(commit, run) as tree:
        described = tree.run("git describe && git ls-files one && git log --format=%s")
        assert described.output[0].startswith("v1.2-1-g")
        assert described.output[1:] == ["one/b.txt", "one/keep", "Add one/b.txt", "Begin"]
        tree.run(
            "git tag evil; git branch -f main HEAD~1; git update-ref refs/heads/x HEAD; git gc -q"
        )
        assert tree.run("git tag").output == ["v1.2"]
    assert repository.git("for-each-ref") == before and repository.git("fsck") == ""


def test_our_git_in_a_check_tree_never_collects_the_garbage_of_the_user(repository):
    orphan = repository.git("commit-tree", "-m", "on a ref alone", "HEAD^{tree}")
    repository.git("update-ref", "refs/mine", orphan)
    repository.git("config", "gc.auto", "1")
    repository.git("config", "gc.pruneExpire", "now")
    commit = add(repository, "one/b.txt")
    with open_trees(repository).without_setup(commit) as tree:
        assert tree.git.run("config", "--get", "gc.auto").strip() == "0"
        tree.git.run("gc", "--auto", "--quiet")
        tree.git.attempt("rebase", "--quiet", "--onto", f"{commit}~1", f"{commit}~1")
    assert repository.git("cat-file", "-t", orphan) == "commit"


@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_shallow_and_sha256_repositories_are_checked_like_others(tmp_path, repository, format):
    origin = tmp_path / "origin"
    subprocess.run(
        ["git", "init", "-q", "-b", "main", f"--object-format={format}", origin], check=True
    )
    other = Repository.__new__(Repository)
    other.home, other.root = tmp_path, origin
    other.git("config", "user.name", "a")
    other.git("config", "user.email", "a@a")
    for number in range(3):
        add(other, "file", f"{number}\n")
    clone = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=2", f"file://{origin}", clone], check=True)
    other.root = clone
    with open_trees(other).at(head(other), run) as tree:
        assert tree.run("cat file && git log --format=%s").output == ["2", "Add file", "Add file"]
        works(tree, other)


# Overlays


def test_paths_of_another_commit_lie_in_the_tree_for_one_command(repository):
    old = add(repository, "one/test", "old\n")
    repository.git("rm", "--quiet", "one/keep")
    (repository.root / "one" / "new").write_text("new\n")
    new = add(repository, "one/test", "new\n")
    with open_trees(repository).at(new, run) as tree:
        tree.overlay(["one/test", "one/keep", "one/new", "no/such"], old)
        assert tree.run("ls one; cat one/test; git ls-files one").output == [
            "keep", "test", "old", "one/keep", "one/test",
        ]  # fmt: skip
        assert tree.run("ls one; cat one/test").output == ["new", "test", "new"]


def test_a_file_in_the_place_of_a_folder_makes_room_for_it_and_the_other_way_round(repository):
    old = add(repository, "one/tests/test", "old\n")
    repository.git("rm", "--quiet", "one/tests/test")
    (repository.root / "one" / "fake").mkdir()
    (repository.root / "one" / "fake" / "test").write_text("fake\n")
    (repository.root / "one" / "tests").symlink_to("fake")
    repository.commit_all("Replace the folder")
    paths = ["one/tests", "one/tests/test"]
    with open_trees(repository).at(head(repository), run) as tree:
        tree.overlay(paths[1:], old)
        assert tree.run("cat one/tests/test one/fake/test").output == ["old", "fake"]
    with open_trees(repository).at(old, run) as tree:
        tree.overlay([*paths, "one/fake/test"], head(repository))
        assert tree.run("readlink one/tests; cat one/tests/test").output == ["fake", "fake"]


# The setup


def test_a_setup_runs_once_and_what_it_made_stays_and_nothing_else(repository):
    (repository.root / ".gitignore").write_text("built/\nmade.txt\n")
    commands = (
        f"echo x >> {repository.home}/ran",
        "mkdir -p built one/odd",
        "echo lib > built/lib",
        "echo v > made.txt",
        "echo 'a b' > 'one/odd/[x] !y'",
    )
    set_up_with(repository, "; ".join(commands))
    first = head(repository)
    second = add(repository, "two/b.txt")
    trees = open_trees(repository)
    with trees.at(first, run) as tree:
        assert set(tree.setup_paths) == {"built/", "made.txt", "one/odd/"}
        assert tree.run("cat built/lib made.txt 'one/odd/[x] !y'; echo y > junk").output == [
            "lib", "v", "a b",
        ]  # fmt: skip
    with trees.at(second, run) as tree:
        assert tree.run("cat built/lib && test ! -e junk").passed
    assert (repository.home / "ran").read_text() == "x\n"


def test_a_lock_file_that_changes_gets_a_tree_of_its_own_and_others_do_not(repository):
    set_up_with(repository, f"cat one/uv.lock > installed; echo x >> {repository.home}/ran")
    first = add(repository, "one/uv.lock", "1\n")
    other = add(repository, "one/other", "1\n")
    second = add(repository, "one/uv.lock", "2\n")
    trees = open_trees(repository)
    for commit, installed in ((first, "1"), (other, "1"), (second, "2"), (first, "1")):
        with trees.at(commit, run, base=f"{commit}^") as tree:
            assert tree.run("cat installed").output == [installed]
    assert trees.digest(first) == trees.digest(other) != trees.digest(second)
    assert (repository.home / "ran").read_text() == "x\nx\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("requirements.txt", True),
        ("requirements-dev.txt", True),
        ("dev-requirements.txt", True),
        ("requirements/dev.txt", True),
        ("api/poetry.lock", True),
        ("web/package-lock.json", True),
        ("Cargo.lock", True),
        ("go.sum", True),
        ("package.json", False),
        ("docs/requirements.md", False),
        ("notes.txt", False),
    ],
)
def test_lock_files_are_known_by_their_names(path, expected):
    assert is_lock_file(path) is expected


def test_the_setup_runs_at_the_base_so_that_work_does_not_decide_what_is_installed(repository):
    set_up_with(repository, "sh one/setup.sh")
    base = add(repository, "one/setup.sh", "echo honest > installed\n")
    work = add(repository, "one/setup.sh", "echo evil > installed\n")
    trees = open_trees(repository)
    with trees.at(work, run, base=base) as tree:
        assert tree.run("cat installed; cat one/setup.sh").output == [
            "honest", "echo evil > installed",
        ]  # fmt: skip


def test_a_setup_that_fails_says_so_and_is_tried_again(repository):
    set_up_with(repository, f"test -e {repository.home}/network || (echo no network; exit 3)")
    trees = open_trees(repository)
    with pytest.raises(CannotCheck, match="no network"), trees.at(head(repository), run):
        pass
    (repository.home / "network").touch()
    with trees.at(head(repository), run) as tree:
        assert tree.run("true").passed


def test_work_that_tracks_what_the_setup_makes_spoils_no_later_check(repository):
    set_up_with(repository, "mkdir -p built && echo made > built/lib")
    base = head(repository)
    work = add(repository, "built/lib", "evil\n")
    trees = open_trees(repository)
    with trees.at(base, run) as tree:
        assert tree.run("cat built/lib").output == ["made"]
    with trees.at(work, run, base=base) as tree:
        assert tree.run("cat built/lib").output == ["evil"]
    with trees.at(base, run) as tree:
        assert tree.run("cat built/lib").output == ["made"]


def test_what_the_setup_made_and_a_check_removed_is_made_again(repository):
    set_up_with(repository, "mkdir -p built && echo made > built/lib")
    trees = open_trees(repository)
    for _ in range(2):
        with trees.at(head(repository), run) as tree:
            assert tree.run("cat built/lib; rm -rf built").output == ["made"]


LIES = {
    "edits it": "echo evil > built/lib",
    "adds to it": "echo evil > built/sitecustomize.py",
    "puts another in its place": "cp -r built other && rm -r built && mv other built",
    "hides its edit": "touch -r built/lib now && echo evil > built/lib && touch -r now built/lib",
    "makes it a link": "mv built/lib built/real && ln -s real built/lib",
    "makes it executable": "chmod +x built/lib",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_the_setup_made_and_a_check_changed_is_made_again(repository, lie):
    set_up_with(
        repository, f"mkdir -p built && echo made > built/lib; echo x >> {repository.home}/ran"
    )
    trees = open_trees(repository)
    with trees.at(head(repository), run) as tree:
        assert tree.run(lie).passed
        assert tree.run("test ! -x built/lib && ls -F built | tr -d '\\n'").output == ["lib"]
    with trees.at(head(repository), run) as tree:
        assert tree.run("cat built/lib").output == ["made"]
    assert (repository.home / "ran").read_text() == "x\nx\n", "only after the change"


# The pool


def test_checks_at_the_same_time_have_trees_of_their_own_and_later_ones_reuse_them(repository):
    commit = head(repository)
    trees = open_trees(repository)
    with trees.at(commit, run) as one, trees.at(commit, run) as two:
        assert one.path != two.path
        paths = {one.path, two.path}
    with trees.at(commit, run) as tree:
        assert tree.path in paths


def test_many_threads_never_share_a_tree(repository):
    commit = head(repository)
    failures: list[str] = []

    def check(number: int) -> None:
        for _ in range(4):
            with open_trees(repository).at(commit, run) as tree:
                result = tree.run(f"echo {number} > mine; sleep 0.02; test $(cat mine) = {number}")
                if not result.passed:
                    failures.append(result.detail)

    threads = [threading.Thread(target=check, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_trees_of_old_digests_are_removed_unless_they_are_in_use(repository, monkeypatch):
    monkeypatch.setattr(check_trees, "KEPT_DIGESTS", 2)
    set_up_with(repository, "true")
    commits = [add(repository, "go.sum", f"{number}\n") for number in range(5)]
    trees = open_trees(repository)
    with trees.at(commits[0], run) as held:
        for commit in commits[1:]:
            with trees.at(commit, run):
                pass
        assert held.run("true").passed
    kept = {folder.name for folder in trees.folder.iterdir() if any(folder.glob("*/tree"))}
    assert kept == {trees.digest(commit) for commit in (commits[0], *commits[-2:])}


def test_files_that_the_list_includes_are_in_the_tree_as_the_user_has_them_now(repository):
    (repository.root / ".gitignore").write_text(".env\n")
    (repository.root / ".worktreeinclude").write_text(".env\n")
    commit = add(repository, "one/b.txt")
    trees = open_trees(repository)
    for text in ("first", "second"):
        (repository.root / ".env").write_text(f"{text}\n")
        with trees.at(commit, run) as tree:
            assert tree.run("cat .env; echo evil > .env").output == [text]
            assert tree.run("cat .env").output == [text]
