"""Git refuses an agent that lost its lane or leaves it, and asks nothing of anybody else."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from driven_worker import work
from lane_tree import prepare_lane
from patience import PATIENCE
from sample_repository import WORKS, Repository

from dos import workspace
from dos.agents.io import orphans
from dos.config.load import load
from dos.git.fence import raise_fence
from dos.git.repository import Writer
from dos.hooks import install
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import lease_request
from dos.lease import REGION_VARIABLE, TREE_VARIABLE, Lease
from dos.loop.types import StopReason
from dos.machine import execute
from dos.sandbox.build import Folders, build
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.world import open_journal

pytestmark = pytest.mark.sampled(3)

KEY = "of the lease"
ODD = 'one/a "quoted"\n\tname'


class Agent:
    """A process that carries the marks of a lease, as those that a worker starts do."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.place = workspace.find(repository.root)
        self.lease = self.take()
        install.install(install.find_directory(self.place).directory)
        self.tree = prepare_lane(repository).path

    def take(self) -> Lease:
        config = load(self.place.root).config
        with open_journal(self.place, "") as journal:
            for lease in journal.leases():
                journal.release(lease.fence)
            taken = journal.acquire(
                lease_request(config, "one", run_id="R", lease_key=KEY),
                admission_rules(self.place.root, config),
            )
        assert isinstance(taken, Lease)
        raise_fence(Writer(self.repository.root), "one", taken.fence)
        return taken

    def run(
        self, *words: str, cwd: Path | None = None, **marks: str
    ) -> subprocess.CompletedProcess[str]:
        carried = orphans.mark_variables(str(self.repository.root), self.lease, KEY)
        carried |= {TREE_VARIABLE: str(self.tree), **marks}
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DOS_", "GIT_"))
        }
        return subprocess.run(
            words,
            cwd=cwd or self.tree,
            env=environment | carried,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = self.run("git", *words, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def refused(self, *words: str, cwd: Path | None = None) -> str:
        """What it is told, when git does nothing of what it asked for."""
        before = self.refs()
        done = self.run("git", *words, cwd=cwd)
        assert done.returncode != 0
        assert self.refs() == before
        return done.stderr

    def refs(self) -> str:
        shown = ["git", "show-ref", "--head"]
        seen = [
            subprocess.run(shown, cwd=tree, capture_output=True, text=True)
            for tree in (self.tree, self.place.root)
        ]
        return seen[0].stdout + seen[1].stdout

    def write(self, path: str, text: str = "x\n") -> None:
        (self.tree / path).parent.mkdir(exist_ok=True)
        (self.tree / path).write_text(text)
        self.git("add", "--all")

    def commit(self, path: str = "one/new", text: str = "x\n") -> str:
        self.write(path, text)
        self.git("commit", "-qm", f"Write {path[:8]!r}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def agent(repository) -> Agent:
    return Agent(repository)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["one/new", ODD, "one/ü", "one/keep"])
def test_a_commit_inside_of_the_lane_passes(agent, path):
    head = agent.commit(path)
    assert agent.git("diff", "--name-only", "-z", "HEAD~", head) == f"{path}\0"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "path", ["two/new", "new", 'two/a "quoted"\n\tname', "one\\new", "onemore/new"]
)
@pytest.mark.parametrize(
    "way", [["commit", "-qm", "x"], ["commit", "-qm", "x", "--no-verify"]], ids=["asked", "unasked"]
)
def test_a_commit_outside_of_the_lane_is_refused_with_and_without_verifying(agent, way, path):
    agent.write("one/fine")
    agent.write(path)
    refusal = agent.refused(*way)
    assert "dos: refused: " in refusal and "outside of lane 'one', which is one/**" in refusal
    assert "no-verify" not in refusal and "hooksPath" not in refusal


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verify", [[], ["--no-verify"]], ids=["asked", "unasked"])
@pytest.mark.parametrize(
    "change",
    [
        ["mv", "two/keep", "one/stolen"],
        ["mv", "one/keep", "two/given"],
        ["rm", "-q", "two/keep"],
        ["update-index", "--chmod=+x", "two/keep"],
        ["update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},two/submodule"],
    ],
    ids=["rename into", "rename out of", "delete", "mode", "submodule"],
)
def test_every_kind_of_change_outside_is_refused(agent, change, verify):
    agent.git(*change)
    assert "two/" in agent.refused("commit", "-qm", "x", *verify)


@pytest.mark.parametrize("verify", [[], ["--no-verify"]], ids=["asked", "unasked"])
def test_a_submodule_that_is_to_be_ignored_is_seen_all_the_same(agent, verify):
    agent.write("one/fine")
    agent.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},two/submodule")
    agent.git("config", "submodule.x.path", "two/submodule")
    agent.git("config", "submodule.x.ignore", "all")
    agent.git("config", "diff.ignoreSubmodules", "all")
    assert "two/submodule" in agent.refused("commit", "-qm", "x", *verify)


def test_a_submodule_inside_passes(agent):
    agent.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},one/submodule")
    agent.git("commit", "-qm", "x")
    assert agent.git("ls-tree", "HEAD", "one/submodule").startswith("160000 commit 1111")


@pytest.mark.soak
def test_what_is_committed_past_the_index_is_judged_by_what_is_committed(agent):
    agent.write("two/new")
    agent.git("restore", "--staged", "two/new")
    (agent.tree / "one" / "keep").write_text("more\n")
    agent.git("commit", "-qam", "Only what git knows")
    (agent.tree / "two" / "keep").write_text("more\n")
    assert "two/keep" in agent.refused("commit", "-qam", "x")
    assert "two/keep" in agent.refused("commit", "-qm", "x", "two/keep")


@pytest.mark.parametrize(
    "words", [["commit", "-qm", "x"], ["commit", "-qm", "x", "--no-verify"], ["tag", "t"]]
)
def test_an_agent_whose_lane_was_taken_over_can_commit_nothing(agent, words):
    agent.write("one/new")
    agent.take()
    refusal = agent.refused(*words)
    assert "lane 'one' is not yours any more" in refusal and "Stop." in refusal


def test_a_lease_that_the_journal_does_not_hold_is_lost_also_where_git_knows_no_newer_one(agent):
    agent.write("one/new")
    with open_journal(agent.place, "") as journal:
        journal.release(agent.lease.fence)
    assert "the journal holds no such lease" in agent.refused("commit", "-qm", "x")


def test_where_the_journal_cannot_be_read_the_lane_of_the_policy_counts(agent):
    (agent.place.state / "state.db").unlink()
    agent.commit()
    agent.write("two/new")
    assert "outside of lane" in agent.refused("commit", "-qm", "x")


def test_where_neither_the_journal_nor_the_policy_can_be_read_nothing_passes(agent):
    (agent.place.state / "state.db").unlink()
    (agent.place.root / "dos.toml").write_text("[lanes")
    agent.write("one/new")
    assert "the region of lane 'one' cannot be read" in agent.refused("commit", "-qm", "x")


@pytest.mark.parametrize(
    "marks",
    [
        {"DOS_LANE": ""},
        {"DOS_FENCE": ""},
        {"DOS_FENCE": "x"},
        {"DOS_WORKSPACE": ""},
        {"DOS_WORKSPACE": "/no"},
        {"DOS_LEASE_KEY": ""},
        {"DOS_LEASE_KEY": "of another lease"},
    ],
)
def test_half_a_mark_is_no_pass(agent, marks):
    agent.write("one/new")
    done = agent.run("git", "commit", "-qm", "x", **marks)
    assert done.returncode != 0 and "dos: refused" in done.stderr


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "words",
    [
        ["branch", "mine"],
        ["branch", "-f", "other", "HEAD~0"],
        ["branch", "-D", "other"],
        ["update-ref", "refs/heads/other", "HEAD"],
        ["update-ref", "refs/dos/fence/one", "HEAD"],
        ["update-ref", "-d", "refs/dos/fence/one"],
        ["update-ref", "refs/dos/salvage/R/1", "HEAD"],
        ["update-ref", "refs/notes/dos-receipts", "HEAD"],
        ["tag", "new", "HEAD"],
        ["tag", "-f", "release", "HEAD"],
        ["tag", "-d", "release"],
        ["worktree", "add", "-q", "--detach", "../another"],
    ],
    ids=" ".join,
)
def test_no_ref_of_the_users_repository_is_moved_by_an_agent(agent, words):
    agent.repository.git("branch", "other")
    agent.repository.git("tag", "release")
    agent.repository.git("commit", "-q", "--allow-empty", "-m", "Newer")
    assert "dos: refused" in agent.refused(*words, cwd=agent.place.root)


@pytest.mark.soak
@pytest.mark.parametrize(
    "words",
    [
        ["branch", "mine"],
        ["switch", "-qc", "mine"],
        ["tag", "mine"],
        ["update-ref", "refs/x", "HEAD"],
    ],
    ids=" ".join,
)
def test_refs_of_its_own_repository_are_the_agents(agent, words):
    before = agent.repository.git("for-each-ref")
    agent.commit()
    agent.git(*words)
    assert agent.repository.git("for-each-ref") == before


@pytest.mark.soak
def test_a_commit_outside_of_the_lane_is_refused_on_a_branch_of_its_own_too(agent):
    agent.git("switch", "-qc", "mine")
    agent.commit()
    agent.write("two/new")
    assert "outside of lane 'one'" in agent.refused("commit", "-qm", "x", "--no-verify")


@pytest.mark.soak
def test_packed_refs_are_guarded_too(agent):
    agent.repository.git("branch", "other")
    agent.repository.git("tag", "release")
    agent.repository.git("pack-refs", "--all")
    agent.repository.git("commit", "-q", "--allow-empty", "-m", "Newer")
    root = agent.place.root
    assert "dos: refused" in agent.refused("branch", "-D", "other", cwd=root)
    assert "dos: refused" in agent.refused("branch", "-f", "other", "HEAD", cwd=root)
    assert "dos: refused" in agent.refused("tag", "-d", "release", cwd=root)


def test_the_users_own_tree_is_not_for_an_agent_to_commit_in(agent):
    root = agent.place.root
    (root / "one" / "new").write_text("x")
    agent.repository.git("add", "--all")
    assert "this is not where lane 'one' works" in agent.refused("commit", "-qm", "x", cwd=root)
    assert "dos: refused" in agent.refused("commit", "-qm", "x", "--no-verify", cwd=root)


def test_a_push_into_the_repository_by_an_agent_is_refused(agent, tmp_path):
    agent.git("clone", "-q", str(agent.place.root), str(tmp_path / "clone"))
    agent.refused(
        "push", "-q", str(agent.place.root), "HEAD:refs/heads/new", cwd=tmp_path / "clone"
    )


def test_a_repository_that_is_not_the_workspaces_is_not_guarded(agent, tmp_path):
    """Tests of a project may create repositories, and one hooks path can serve all of them."""
    other = tmp_path / "other"
    agent.git("init", "-q", str(other))
    agent.git("config", "core.hooksPath", str(agent.place.common / "hooks"), cwd=other)
    agent.git(
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@e",
        "commit",
        "-qm",
        "x",
        "--allow-empty",
        cwd=other,
    )
    agent.git("branch", "new", cwd=other)
    assert agent.git("log", "--format=%s", "new", cwd=other) == "x"


@pytest.mark.soak
def test_rebasing_onto_what_others_landed_passes(agent):
    agent.commit("one/a")
    agent.commit("one/b")
    (agent.place.root / "two" / "landed").write_text("x")
    agent.repository.commit_all("Landed by another")
    landed = agent.repository.git("rev-parse", "main")
    agent.git("rebase", "-q", landed)
    assert agent.git("diff", "--name-only", landed, "HEAD").split() == ["one/a", "one/b"]
    agent.git("commit", "-q", "--amend", "-m", "Again")
    agent.git("reset", "-q", "--hard", "HEAD~2")
    assert agent.git("rev-parse", "HEAD") == agent.repository.git("rev-parse", "main")


@pytest.mark.soak
@pytest.mark.parametrize("verb", ["merge", "rebase"])
def test_a_conflict_can_be_solved_and_given_up(agent, verb):
    agent.commit("one/keep", "ours\n")
    (agent.place.root / "one" / "keep").write_text("theirs\n")
    (agent.place.root / "two" / "landed").write_text("x")
    agent.repository.commit_all("Landed by another")
    landed = agent.repository.git("rev-parse", "main")
    assert agent.run("git", verb, landed).returncode != 0
    agent.git(verb, "--abort")
    assert agent.run("git", verb, landed).returncode != 0
    agent.write("one/keep", "both\n")
    agent.git("-c", "core.editor=true", verb, "--continue")
    assert agent.git("show", "HEAD:one/keep") == "both"
    assert (agent.tree / "two" / "landed").exists()


@pytest.mark.soak
def test_a_merge_that_changes_what_another_lane_has_is_refused(agent):
    agent.commit("one/a")
    (agent.place.root / "two" / "landed").write_text("x")
    agent.repository.commit_all("Landed by another")
    agent.git("merge", "-q", "--no-commit", agent.repository.git("rev-parse", "main"))
    agent.write("two/landed", "not as it was landed\n")
    assert "two/landed" in agent.refused("commit", "-qm", "x")
    assert "two/landed" in agent.refused("commit", "-qm", "x", "--no-verify")


@pytest.mark.soak
def test_taking_over_a_commit_of_somebody_elses_lane_is_refused(agent):
    agent.repository.git("switch", "-qc", "other")
    (agent.place.root / "two" / "other").write_text("x")
    agent.repository.commit_all("Of another lane")
    other = agent.repository.git("rev-parse", "HEAD")
    agent.repository.git("switch", "-q", "main")
    agent.commit()
    assert "two/other" in agent.refused("cherry-pick", other)


def test_everyday_commands_of_an_agent_pass(agent):
    agent.commit()
    (agent.tree / "one" / "keep").write_text("later\n")
    agent.git("stash", "-q")
    agent.git("stash", "pop", "-q")
    agent.git("checkout", "-q", "--", ".")
    agent.git("tag", "mine")
    agent.git("checkout", "-q", "HEAD~")
    agent.git("checkout", "-q", "-")
    agent.git("revert", "--no-edit", "HEAD")
    agent.git("fetch", "-q", ".", "main")
    agent.git("bisect", "start", "HEAD", "main")
    agent.git("bisect", "reset")
    agent.git("gc", "-q")
    agent.git("pack-refs", "--all")
    subjects = agent.git("log", "-2", "--format=%s").splitlines()
    assert subjects == [f'Revert "{subjects[1]}"', "Write 'one/new'"]
    assert agent.git("rev-parse", "mine") == agent.git("rev-parse", "HEAD~")
    assert agent.git("status", "--porcelain") == "" and agent.git("stash", "list") == ""


@pytest.mark.soak
def test_the_target_may_be_rewritten_under_an_agent(agent):
    agent.commit("one/a")
    agent.repository.git("commit", "-q", "--amend", "-m", "Begin otherwise")
    committed = agent.commit("one/b")
    assert {"one/a", "one/b"} <= set(agent.git("ls-files", "one").splitlines())
    assert agent.git("rev-parse", "HEAD") == committed


def test_people_and_our_own_commands_are_not_asked(agent):
    """Also when everything that could answer is broken."""
    (agent.place.root / "dos.toml").write_text("[lanes")
    hooks = agent.place.common / "hooks"
    for hook in ("pre-commit", "reference-transaction"):
        path = hooks / hook
        path.write_bytes(path.read_bytes().replace(os.fsencode(sys.executable), b"/nowhere/python"))
    (agent.place.root / "two" / "mine").write_text("x")
    agent.repository.commit_all("A person's")
    agent.repository.git("branch", "new")
    agent.repository.git("branch", "-D", "new")
    Writer(agent.place.root).run("update-ref", "refs/dos/fence/one", "HEAD")
    head = agent.repository.git("rev-parse", "HEAD")
    assert agent.repository.git("log", "-1", "--format=%s") == "A person's"
    assert agent.repository.git("rev-parse", "refs/dos/fence/one") == head


def test_where_no_program_can_answer_an_agent_is_refused_in_words(agent, tmp_path):
    path = agent.tree / ".git" / "hooks" / "pre-commit"
    path.write_bytes(path.read_bytes().replace(os.fsencode(sys.executable), b"/nowhere/python"))
    agent.write("one/new")
    bare = {"PATH": "/usr/bin:/bin"}
    done = agent.run("git", "commit", "-qm", "x", **bare)
    assert (
        done.returncode != 0
        and "the program that checks what agents commit is gone: /nowhere/python" in done.stderr
    )
    stand_in = tmp_path / "dos"
    stand_in.write_text('#!/bin/sh\necho "$@" > "$0.asked"\n')
    stand_in.chmod(0o755)
    assert agent.run("git", "commit", "-qm", "x", PATH=f"{tmp_path}:/usr/bin:/bin").returncode == 0
    assert (tmp_path / "dos.asked").read_text() == "hooks git check pre-commit\n"


def test_a_check_that_breaks_refuses(agent, tmp_path):
    path = agent.tree / ".git" / "hooks" / "pre-commit"
    path.write_bytes(path.read_bytes().replace(os.fsencode(sys.executable), b"/bin/false"))
    agent.write("one/new")
    done = agent.run("git", "commit", "-qm", "x")
    assert done.returncode != 0 and "could not be checked (exit 1)" in done.stderr


def test_an_agent_may_have_a_home_of_its_own(agent, tmp_path):
    agent.write("one/new")
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
    assert agent.run("git", *identity, "commit", "-qm", "x", **home).returncode == 0


def test_a_work_tree_that_only_has_the_name_of_the_lane_is_not_the_lanes(agent, tmp_path):
    agent.repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "other" / "one"))
    assert "this is not where lane 'one' works" in agent.refused(
        "commit", "-q", "--allow-empty", "-m", "x", cwd=tmp_path / "other" / "one"
    )


def test_modules_of_the_repository_and_of_the_agents_path_do_not_stand_for_ours(agent):
    (agent.tree / "dos").mkdir()
    (agent.tree / "dos" / "__init__.py").write_text("raise SystemExit(0)\n")
    agent.write("two/new")
    done = agent.run("git", "commit", "-qm", "x", PYTHONPATH=str(agent.tree))
    assert done.returncode != 0 and "outside of lane" in done.stderr


def test_paths_count_from_where_the_policy_is(repository):
    """A workspace below the top of the repository: its lanes start there."""
    below = repository.root / "below"
    (below / "one").mkdir(parents=True)
    (repository.root / "dos.toml").rename(below / "dos.toml")
    repository.commit_all("Move the policy")
    repository.root = below
    agent = Agent(repository)
    (agent.tree / "below" / "one").mkdir(parents=True, exist_ok=True)
    (agent.tree / "below" / "one" / "new").write_text("x")
    agent.git("add", "--all")
    agent.git("commit", "-qm", "x")
    agent.write("one/new")
    assert "one/new" in agent.refused("commit", "-qm", "x")


@pytest.mark.soak
def test_a_worker_lands_through_the_gate_and_its_agent_is_told_when_it_strays(repository, tmp_path):
    install.install(install.find_directory(workspace.find(repository.root)).directory)
    strays = (
        "echo x > two/x; git add --all;"
        f" git commit -qm Stray --no-verify 2> {tmp_path}/said; git rm -qf two/x"
    )
    works = {"DEMO/A1": [[{"run": strays}, *WORKS["DEMO/A1"][0]]], "DEMO/A2": WORKS["DEMO/A2"]}
    repository.play(works)
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert "dos: refused: two/x lies outside of lane 'one'" in (tmp_path / "said").read_text()


@pytest.fixture
def below_home():
    """Walls leave /dev/shm and /tmp to every program, so the user's repository is elsewhere."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    yield Agent(Repository(folder))
    shutil.rmtree(folder)


@pytest.mark.skipif(not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}")
def test_behind_walls_the_gate_knows_the_lane_by_what_its_worker_said(below_home, tmp_path):
    """It can read neither the user's refs nor the journal nor dos.toml."""
    agent = below_home
    folders = Folders(
        lane=str(agent.tree),
        tmp=str(tmp_path),
        home=str(tmp_path),
        readable=tuple({sys.prefix, sys.base_prefix, *filter(None, sys.path)}),
        objects=(str(agent.repository.root / ".git" / "objects"),),
    )
    walls = build(Sandbox(level="landlock", network="open"), probe(), folders)
    carried = orphans.mark_variables(str(agent.repository.root), agent.lease, KEY)
    carried |= {TREE_VARIABLE: str(agent.tree), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    carried |= {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")}  # fmt: skip

    def commit(path: str, **marks: str) -> execute.ProcessResult:
        script = f"git reset -q && echo x >> {path} && git add {path} && git commit -qm 'Write it'"
        return execute.run(
            ["sh", "-c", script],
            cwd=agent.tree,
            environment=carried | marks,
            limits=execute.Limits(wall_seconds=PATIENCE),
            walls=walls,
        )

    says = {REGION_VARIABLE: '["one/**"]'}
    assert commit("one/new", **says).exit_code == 0
    assert "two/new lies outside of lane 'one'" in "\n".join(commit("two/new", **says).lines)
    for wrong in ({}, {REGION_VARIABLE: "7"}, {REGION_VARIABLE: '["one'}):
        refused = commit("one/new", **wrong)
        assert refused.exit_code != 0 and "DOS_REGION=" in "\n".join(refused.lines), refused.lines


class Sharing(Agent):
    """An agent in the one work tree that all lanes share."""

    def __init__(self, repository: Repository) -> None:
        config = repository.root / "dos.toml"
        config.write_text(
            config.read_text().replace("[workers]", '[workers]\nisolation = "shared"')
        )
        repository.commit_all("Share the tree")
        super().__init__(repository)
        self.tree = repository.root


@pytest.fixture
def sharing(repository) -> Sharing:
    return Sharing(repository)


@pytest.mark.soak
def test_in_a_shared_tree_an_agent_commits_on_the_branch_inside_of_its_lane(sharing):
    sharing.commit("one/a")
    sharing.git("commit", "-q", "--amend", "-m", "Again")
    sharing.git("revert", "--no-edit", "HEAD")
    sharing.git("reset", "-q", "--hard", "HEAD~2")
    assert sharing.repository.subjects() == ["Share the tree", "Begin"]


@pytest.mark.parametrize("verify", [[], ["--no-verify"]], ids=["asked", "unasked"])
def test_in_a_shared_tree_what_another_lane_has_staged_is_not_committed_along(sharing, verify):
    sharing.repository.git("add", "--all")
    sharing.write("two/of-another")
    sharing.write("one/mine")
    assert "two/of-another" in sharing.refused("commit", "-qm", "x", *verify)
    sharing.git("commit", "-qm", "Mine", *verify, "one/mine")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "words",
    [
        ["reset", "-q", "--soft", "HEAD~"],
        ["commit", "-q", "--amend", "--allow-empty", "-m", "x"],
        ["checkout", "-q", "--detach", "HEAD~"],
        ["branch", "-f", "other", "HEAD"],
        ["update-ref", "-d", "refs/heads/main"],
    ],
    ids=" ".join,
)
def test_in_a_shared_tree_the_work_of_others_is_not_taken_off_the_branch(sharing, words):
    (sharing.tree / "two" / "of-another").write_text("x")
    sharing.repository.commit_all("Of another lane")
    assert "dos: refused" in sharing.refused(*words)
