"""What is in a lane's repository is saved before it is reset, in whatever state it was left."""

import shutil
import subprocess
from pathlib import Path

import pytest
from driven_worker import Killed, fleet, happened, new_worker, open_effects, work
from lane_tree import PreparedLane, open_lane, prepare_lane
from sample_repository import WORKS, Repository, commit, write

from dos import workspace
from dos.fleet.io.drive import drive
from dos.git.repository import Writer
from dos.journal.events.envelope import Event
from dos.loop.types import StopReason, WorkerStop
from dos.world import World

LANDS = [write("one/a.txt"), commit("Write a")]
SECOND = {"DEMO/A2": [[write("one/b.txt"), commit("Write b")]]}


def lane(repository: Repository) -> Writer:
    return Writer(workspace.find(repository.root).worktrees / "one")


@pytest.fixture
def tree(repository) -> Writer:
    """The tree of a lane, as a worker begins with it."""
    prepare(repository)
    return lane(repository)


def prepare(repository: Repository, run_id: str = "RUN") -> PreparedLane:
    return prepare_lane(repository, run_id=run_id)


def run_git(tree: Writer, *words: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", *words], cwd=tree.tree, check=check, capture_output=True, text=True
    )
    return done.stdout.strip()


def conflicted(tree: Writer, verb: str) -> None:
    (tree.tree / "one" / "keep").write_text("theirs\n")
    run_git(tree, "commit", "-qam", "Theirs")
    theirs = run_git(tree, "rev-parse", "HEAD")
    run_git(tree, "checkout", "-q", "HEAD~")
    (tree.tree / "one" / "keep").write_text("ours\n")
    run_git(tree, "commit", "-qam", "Ours")
    run_git(tree, verb, theirs, check=False)
    assert run_git(tree, "ls-files", "--unmerged")


@pytest.mark.parametrize("verb", ["merge", "rebase", "cherry-pick"])
def test_a_conflict_that_an_agent_left_is_saved_and_cleared(repository, tree, verb):
    conflicted(tree, verb)
    salvaged = prepare(repository).salvaged
    assert any(
        "<<<<<<<" in repository.git("show", f"{salvage.ref}:one/keep") for salvage in salvaged
    )
    assert run_git(tree, "status", "--porcelain") == ""
    assert "in progress" not in run_git(tree, "status")
    (tree.tree / "one" / "new").write_text("x")
    run_git(tree, "add", "--all")
    run_git(tree, "commit", "-qm", "Next")
    run_git(tree, "rebase", "-q", "HEAD~")


@pytest.mark.soak
def test_an_agent_that_leaves_a_conflict_ends_no_worker(repository):
    steps = (
        "git checkout -qb x; echo x > one/keep; git commit -qam x; git checkout -q "
        "main~0; echo y > one/keep;"
    )
    repository.play(
        {"DEMO/A1": [[{"run": f"{steps} git commit -qam y; git merge x"}], LANDS], **SECOND}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert sorted(repository.subjects()) == ["Begin", "Write a", "Write b"]


def test_an_agent_that_looks_at_an_older_commit_and_leaves_it_there_has_made_none(repository):
    repository.commit_all("A second commit")
    look = [{"run": "git checkout --quiet HEAD~1"}, {"say": "it was always like that"}]
    repository.play({"*": [look]})
    work(repository)
    reasons = {fact["reason"] for fact in happened(repository, "work_measured")}
    assert reasons == {"no commit counts: HEAD no longer contains the base commit"}
    assert not happened(repository, "work_salvaged")


@pytest.mark.soak
def test_a_branch_without_a_commit_that_an_agent_left_ends_no_worker(repository):
    repository.play(
        {"DEMO/A1": [[{"run": "git checkout -q --orphan x; echo x > one/x"}], LANDS], **SECOND}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.git("show", f"{fleet(repository).salvaged[0]}:one/x") == "x"


def test_what_a_rebase_had_stashed_is_saved(repository, tree):
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "One")
    (tree.tree / "two" / "keep").write_text("not committed\n")
    stops = [
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "-q",
        "--interactive",
        "--autostash",
        "HEAD~",
    ]
    run_git(tree, *stops, check=False)
    assert (tree.tree / "two" / "keep").read_text() == ""
    kept = [salvage.ref for salvage in prepare(repository).salvaged]
    assert "not committed" in [repository.git("show", f"{ref}:two/keep") for ref in kept]


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock"])
def test_the_lock_of_a_git_that_was_ended_stands_in_nobodys_way(repository, tree, lock):
    (tree.tree / "one" / "half").write_text("half\n")
    (tree.tree / ".git" / lock).touch()
    made = prepare(repository)
    assert repository.git("show", f"{made.salvaged[0].ref}:one/half") == "half"


def test_commits_are_saved_also_where_the_files_cannot_be(repository, tree):
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "Not landed")
    head = run_git(tree, "rev-parse", "HEAD")
    (tree.tree / ".git" / "index").write_bytes(b"damaged")
    made = prepare(repository)
    kept = {salvage.commit: salvage for salvage in made.salvaged}
    assert "index" in kept[""].why
    assert head in kept
    assert Path(kept[""].ref, "one", "keep").read_text() == "x\n"
    assert run_git(tree, "status", "--porcelain") == ""


# What an agent can make of its `.git`, so that git in the lane would work on other files.
DAMAGES = (
    "rm -rf .git",
    "rm -rf .git; ln -s {main} .git",
    "rm -rf .git; echo 'gitdir: {main}' > .git",
    "rm -rf .git; git -C {main} worktree add -q --detach {home}/another; cp {home}/another/.git .",
    r"rm -rf .git; printf 'gitdir: \0\n' > .git",
    "rm -rf .git; printf 'gitdir: %05000d' 0 > .git",
    "rm -rf .git; mkfifo .git",
    "rm .git/HEAD; mkfifo .git/HEAD",
    "rm .git/HEAD; ln -s {home}/elsewhere .git/HEAD",
    "git config core.worktree {main}/..",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lane_that_leads_elsewhere_never_leads_to_the_users_own_files(repository, tree, damage):
    (repository.root / "one" / "keep").write_text("an edit of mine\n")
    (tree.tree / "one" / "half").write_text("half\n")
    words = damage.format(main=repository.root / ".git", home=repository.home)
    subprocess.run(words, shell=True, cwd=tree.tree, check=True)
    made = prepare(repository)
    assert "half\n" in texts_of(repository, made)
    assert repository.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert (repository.root / "one" / "keep").read_text() == "an edit of mine\n"
    assert run_git(tree, "status", "--porcelain") == ""
    assert run_git(tree, "rev-parse", "HEAD") == made.base


def texts_of(repository: Repository, made: PreparedLane) -> list[str]:
    """The text of the file `one/half` in all that was saved."""
    texts = []
    for salvage in made.salvaged:
        if salvage.commit:
            shown = ["git", "show", f"{salvage.ref}:one/half"]
            done = subprocess.run(shown, cwd=repository.root, capture_output=True, text=True)
            texts.append(done.stdout)
        else:
            texts.append(Path(salvage.ref, "one", "half").read_text())
    return texts


@pytest.mark.soak
@pytest.mark.parametrize(
    "swap",
    [
        "cd ..; mv one gone; ln -s {root} one",
        "rm -rf .git; ln -s {root}/.git .git",
        "rm -rf .git; git -C {root} worktree add -q --detach {home}/x; mv {home}/x/.git .",
    ],
    ids=["folder", "repository", "worktree"],
)
def test_an_agent_that_puts_the_users_repository_in_place_of_its_lane_gains_nothing(
    repository, swap
):
    (repository.root / "two" / "keep").write_text("an edit of mine\n")
    (repository.root / "mine.txt").write_text("not committed\n")
    words = swap.format(root=repository.root, home=repository.home)
    repository.play({"DEMO/A1": [[{"run": words}], LANDS], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert sorted(repository.subjects()) == ["Begin", "Write a", "Write b"]
    assert repository.git("status", "--porcelain").split() == ["M", "two/keep", "??", "mine.txt"]
    assert (repository.root / "two" / "keep").read_text() == "an edit of mine\n"
    assert repository.git("symbolic-ref", "HEAD") == "refs/heads/main"


@pytest.mark.parametrize("damage", ["rm -rf .git", "rm -rf .git *", "rm -rf ../one"])
def test_commits_that_were_seen_are_saved_where_an_agent_deletes_its_repository(
    repository, tree, damage
):
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "Not landed")
    head = run_git(tree, "rev-parse", "HEAD")
    base = repository.git("rev-parse", "main")
    open_lane(repository.root).take_over_progress(base, with_files=False)
    subprocess.run(damage, shell=True, cwd=tree.tree, check=True)
    assert head in [salvage.commit for salvage in prepare(repository).salvaged]
    assert run_git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("swap", ["touch one", "ln -s nowhere one", "mkfifo one"])
def test_a_lane_that_is_no_folder_any_more_is_moved_aside_as_it_is(repository, tree, swap):
    subprocess.run(f"rm -rf one; {swap}", shell=True, cwd=tree.tree.parent, check=True)
    made = prepare(repository)
    assert len(made.salvaged) == 1
    assert run_git(tree, "rev-parse", "HEAD") == made.base


@pytest.mark.parametrize("untracked", [[], ["--include-untracked"]], ids=["tracked", "all"])
def test_what_an_agent_stashed_is_saved(repository, tree, untracked):
    (tree.tree / "one" / "keep").write_text("stashed\n")
    (tree.tree / "one" / "half").write_text("half\n")
    run_git(tree, "stash", "push", "--quiet", *untracked)
    texts = []
    for salvage in prepare(repository).salvaged:
        for path in ("one/keep", "one/half"):
            shown = ["git", "show", f"{salvage.ref}:{path}"]
            done = subprocess.run(shown, cwd=repository.root, capture_output=True, text=True)
            texts.append(done.stdout)
    assert {"stashed\n", "half\n"} <= set(texts)


def test_commits_of_a_branch_that_an_agent_left_are_saved(repository, tree):
    run_git(tree, "switch", "-qc", "aside")
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "On a branch")
    head = run_git(tree, "rev-parse", "HEAD")
    run_git(tree, "switch", "-q", "--detach", "HEAD~")
    (salvage,) = prepare(repository).salvaged
    assert salvage.commit == head and "branch" in salvage.why
    assert run_git(tree, "branch", "--list", "aside") == ""


# Of earlier versions


def worktree_of_an_earlier_version(repository: Repository) -> Writer:
    """A lane as versions before 0.3 made it: a linked worktree of the user's repository."""
    folder = workspace.find(repository.root).worktrees / "one"
    folder.parent.mkdir(parents=True, exist_ok=True)
    repository.git("worktree", "add", "-q", "--detach", str(folder), "main")
    return Writer(folder)


def test_the_worktree_of_an_earlier_version_is_saved_and_replaced(repository):
    tree = worktree_of_an_earlier_version(repository)
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "Not landed")
    head = run_git(tree, "rev-parse", "HEAD")
    (tree.tree / "one" / "half").write_text("half\n")
    (tree.tree / "one" / "staged").write_text("staged\n")
    run_git(tree, "add", "one/staged")
    repository.commit_all("Somebody landed meanwhile")
    made = prepare(repository)
    assert head in [salvage.commit for salvage in made.salvaged]
    assert "half\n" in texts_of(repository, made)
    assert (tree.tree / ".git").is_dir()
    assert run_git(tree, "rev-parse", "HEAD") == repository.git("rev-parse", "main")
    assert len(repository.git("worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("ref", ["settled", "work"])
def test_the_worktree_of_who_went_back_to_an_earlier_version_is_saved_too(repository, ref):
    prepare(repository)
    delivered = repository.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Delivered")
    repository.git("update-ref", f"refs/dos/{ref}/one", delivered)
    shutil.rmtree(workspace.find(repository.root).worktrees / "one")
    tree = worktree_of_an_earlier_version(repository)
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "Not landed")
    head = run_git(tree, "rev-parse", "HEAD")
    (tree.tree / "one" / "half").write_text("half\n")
    made = prepare(repository)
    saved = [salvage.commit for salvage in made.salvaged]
    assert head in saved and "half\n" in texts_of(repository, made)
    assert (delivered in saved) == (ref == "work")
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_a_clean_worktree_of_an_earlier_version_leaves_nothing(repository):
    tree = worktree_of_an_earlier_version(repository)
    assert prepare(repository).salvaged == []
    assert (tree.tree / ".git").is_dir()


@pytest.mark.parametrize("damage", ["rm .git", "echo x > .git", "rm -r ../one"])
def test_commits_of_an_earlier_version_are_saved_where_nothing_leads_back_to_git(
    repository, damage
):
    tree = worktree_of_an_earlier_version(repository)
    (tree.tree / "one" / "keep").write_text("x\n")
    run_git(tree, "commit", "-qam", "Not landed")
    head = run_git(tree, "rev-parse", "HEAD")
    subprocess.run(damage, shell=True, cwd=tree.tree, check=True)
    assert head in [salvage.commit for salvage in prepare(repository).salvaged]
    assert run_git(tree, "status", "--porcelain") == ""


def test_what_is_set_aside_is_never_put_into_what_was_set_aside_before(repository, tree):
    for number in range(3):
        run_git(tree, "init", "-q", "one/nested")
        (tree.tree / "one" / "nested" / "file").write_text(f"{number}\n")
        kept = Path(prepare(repository).salvaged[0].ref)
        assert (kept / "file").read_text() == f"{number}\n"
        if number == 1:
            subprocess.run(["rm", "-r", str(kept.with_name("1-nested"))], check=True)


def test_a_lane_below_a_tree_of_the_users_own_never_leads_to_that(
    repository, tmp_path, monkeypatch
):
    repository.git("worktree", "add", "-q", "-b", "home", str(tmp_path / "home"))
    (tmp_path / "home" / "one" / "keep").write_text("an edit of mine\n")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    folder = lane(repository).tree
    folder.mkdir(parents=True)
    (folder / "left").write_text("left\n")
    made = prepare(repository)
    assert made.path.is_relative_to(tmp_path / "home")
    assert (Path(made.salvaged[0].ref) / "left").read_text() == "left\n"
    assert (tmp_path / "home" / "one" / "keep").read_text() == "an edit of mine\n"
    assert run_git(Writer(tmp_path / "home"), "branch", "--show-current") == "home"


def test_a_ref_that_somebody_deleted_makes_room_for_none(repository, tree):
    for number in range(3):
        (tree.tree / "one" / "half").write_text(f"{number}\n")
        prepare(repository)
        if number == 1:
            repository.git("update-ref", "-d", "refs/dos/salvage/RUN/1")
    assert Writer(repository.root).salvage_refs() == [
        "refs/dos/salvage/RUN/2",
        "refs/dos/salvage/RUN/3",
    ]


def test_entries_of_other_worktrees_that_are_away_are_left_alone(repository, tmp_path):
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "on a stick"))
    (tmp_path / "on a stick").rename(tmp_path / "pulled out")
    prepare(repository)
    (tmp_path / "pulled out").rename(tmp_path / "on a stick")
    assert run_git(Writer(tmp_path / "on a stick"), "status", "--porcelain") == ""


@pytest.mark.soak
def test_what_acceptance_and_tests_leave_behind_is_nobodys_work(repository):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + 'test = "touch one/by-the-tests; echo x > one/keep"\n')
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(
        plan.read_text().replace(
            "`test -s one/a.txt`", "`touch one/by-acceptance; test -s one/a.txt`"
        )
    )
    repository.play({"DEMO/A1": [[{"say": "done"}], LANDS], **SECOND})
    assert work(repository).reason is StopReason.COMPLETE
    assert fleet(repository).salvaged == []


@pytest.mark.soak
def test_the_setup_runs_again_where_it_was_broken_off(repository):
    config, ran = repository.root / "dos.toml", repository.home / "setups"
    config.write_text(config.read_text() + f'setup = "{counted(ran)}"\n')

    def broken_off(*arguments, **named):
        raise Killed

    acting = open_effects(repository)
    acting.checks.run = broken_off
    with pytest.raises(Killed):
        drive(new_worker().work(), acting.performers())
    acting.store.release(acting.store.leases()[0].fence)
    acting.close()
    assert work(repository, number=2).reason is StopReason.COMPLETE
    assert ran.read_text() == "x\n"


COMMITS_ALL = {"run": "git add --all --force . && git commit -qm 'Add everything'"}


def with_setup(repository: Repository, setup: str) -> Path:
    """Each run of the setup is a line of this file."""
    config, ran = repository.root / "dos.toml", repository.home / "setups"
    config.write_text(config.read_text() + f'setup = "{counted(ran)}; {setup}"\n')
    return ran


def counted(ran: Path) -> str:
    """A command that counts the setups of lanes; those of check trees are others."""
    return f"case $PWD in */worktrees/*) echo x >> {ran};; esac"


@pytest.mark.soak
def test_a_folder_that_the_setup_makes_is_hidden_from_git_and_stays_for_the_next_unit(repository):
    ran = with_setup(repository, "mkdir -p modules/a; touch modules/a/b")
    second = [{"run": "test -e modules/a/b"}, *WORKS["DEMO/A2"][0]]
    repository.play({"DEMO/A1": WORKS["DEMO/A1"], "DEMO/A2": [second]})
    assert work(repository).reason is StopReason.COMPLETE
    assert ran.read_text() == "x\n"
    assert repository.git("ls-tree", "-r", "--name-only", "HEAD", "modules") == ""


@pytest.mark.soak
def test_what_the_setup_made_is_there_after_an_agent_committed_it(repository):
    ran = with_setup(repository, "mkdir -p modules; touch modules/a")
    needs = {"run": "test -e modules/a || rm -rf .git one"}
    repository.play(
        {"DEMO/A1": [[COMMITS_ALL], [needs, *WORKS["DEMO/A1"][0]]], "DEMO/A2": WORKS["DEMO/A2"]}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert ran.read_text() == "x\n"
    assert repository.git("ls-tree", "-r", "--name-only", "HEAD", "modules") == ""


@pytest.mark.soak
def test_the_setup_runs_before_each_unit_where_it_makes_files_that_git_sees(repository):
    ran = with_setup(repository, "touch made.txt")
    alone = {"run": 'git add one && git commit -qm "Write it" -m "Unit: $DOS_UNIT"'}
    repository.play(
        {"DEMO/A1": [[write("one/a.txt"), alone]], "DEMO/A2": [[write("one/b.txt"), alone]]}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert ran.read_text() == "x\nx\n"


# Submodules


@pytest.fixture
def with_submodule(repository, tmp_path) -> Repository:
    """Its setup fetches the submodule, as a person's would."""
    library = tmp_path / "library"
    for words in (
        ["init", "-q", str(library)],
        ["-C", str(library), "commit", "-q", "--allow-empty", "-m", "Library"],
    ):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True)
    fetch = "git -c protocol.file.allow=always submodule"
    subprocess.run(
        f"{fetch} --quiet add --name lib {library} one/library",
        shell=True,
        cwd=repository.root,
        check=True,
    )
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + f'setup = "{fetch} --quiet update --init"\n')
    repository.commit_all("A library")
    repository.git("submodule", "--quiet", "deinit", "--all")
    return repository


@pytest.mark.soak
@pytest.mark.parametrize("ignore", ["none", "all"])
def test_what_nobody_committed_in_a_submodule_is_saved(with_submodule, ignore):
    with_submodule.git("config", "--file", ".gitmodules", "submodule.lib.ignore", ignore)
    with_submodule.commit_all("Look, or do not look")
    with_submodule.play({"DEMO/A1": [[{"run": "echo half > one/library/half"}], LANDS], **SECOND})
    assert work(with_submodule).reason is StopReason.COMPLETE
    saved = Path(fleet(with_submodule).salvaged[0])
    assert (saved / "half").read_text() == "half\n"
    assert run_git(Writer(saved), "log", "--format=%s") == "Library"
    assert "submodule" in next(
        event.body["why"] for event in history(with_submodule) if event.kind == "work_salvaged"
    )
    tree = lane(with_submodule)
    assert run_git(tree, "status", "--porcelain", "--ignore-submodules=none") == "", (
        "and the next unit found it clean"
    )
    assert run_git(Writer(tree.tree / "one" / "library"), "log", "--format=%s") == "Library"


@pytest.mark.soak
def test_commits_in_a_submodule_that_nobody_else_has_do_not_land_and_are_kept(with_submodule):
    inside = (
        "cd one/library; echo x > new; git add new; git -c user.name=a -c user.email=a@a "
        "commit -qm Inside"
    )
    with_submodule.play({"DEMO/A1": [[{"run": inside}, *LANDS]], "DEMO/A2": [[{"say": "nothing"}]]})
    work(with_submodule)
    assert with_submodule.subjects()[0] == "A library"
    assert any(
        "no remote of the submodule" in why for why in fleet(with_submodule).units["DEMO/A1"].tries
    )
    inner = Writer(lane(with_submodule).tree / "one" / "library")
    assert "Inside" in run_git(inner, "log", "--format=%s", *inner.salvage_refs())


@pytest.fixture
def nested(repository, tmp_path) -> Repository:
    """A submodule with a submodule, both fetched in the user's checkout.

    Nothing in `setup` knows of them.
    """
    for name in ("inner", "library"):
        made = Repository.__new__(Repository)
        made.root = tmp_path / name
        made.root.mkdir()
        (made.root / f"{name}.txt").write_text(f"{name}\n")
        made.git("init", "-q", "--initial-branch", "main")
        made.git("config", "user.name", "t")
        made.git("config", "user.email", "t@t")
        if name == "library":
            made.git(
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                str(tmp_path / "inner"),
                "in",
            )
        made.commit_all(name)
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    repository.git(*allowed, "add", "--name", "lib", str(tmp_path / "library"), "one/library")
    repository.git(*allowed, "update", "--init", "--recursive")
    repository.commit_all("A library")
    return repository


@pytest.mark.soak
def test_submodules_are_there_without_a_setup_and_without_their_remotes(nested, tmp_path):
    before = (nested.root / ".git" / "config").read_text()
    for name in ("inner", "library"):
        (tmp_path / name).rename(tmp_path / f"{name}.away")
    path = nested.home / "seen"
    look = {
        "run": f"cat one/library/library.txt one/library/in/inner.txt > {path}; git status "
        f"--porcelain >> {path}"
    }
    nested.play({"DEMO/A1": [[look, *LANDS]], **SECOND})
    assert work(nested).reason is StopReason.COMPLETE
    assert path.read_text() == "library\ninner\n"
    inner = Writer(lane(nested).tree / "one" / "library")
    assert run_git(inner, "config", "remote.origin.url") == str(tmp_path / "library")
    assert run_git(inner, "for-each-ref", "--format=%(refname)", "refs/remotes/origin/main") != ""
    assert (nested.root / ".git" / "config").read_text() == before, (
        "the user's own configuration is as it was"
    )


def test_a_submodule_that_cannot_be_had_is_named_before_an_agent_is_paid(nested, tmp_path):
    (tmp_path / "library").rename(tmp_path / "away")
    nested.git("submodule", "--quiet", "deinit", "--all", "--force")
    shutil.rmtree(nested.root / ".git" / "modules")
    stop = work(nested)
    assert (
        stop.reason is WorkerStop.NOT_READY
        and "submodule one/library" in stop.detail
        and "git -C" in stop.detail
    )
    assert nested.starts() == []


def history(repository: Repository) -> list[Event]:
    with World(repository.root) as world:
        return list(world.journal.events())
