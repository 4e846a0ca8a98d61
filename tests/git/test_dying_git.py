"""Git dies before or after some of its calls; no caller takes that for the answer "no"."""

import ast
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from driven_worker import work
from dying_git import DyingGit
from sample_fleet import landed
from sample_repository import commit, write

import dos
from dos.errors import GitFailed, GitUnanswered, MalformedObject
from dos.git import process
from dos.git.objects import Objects
from dos.git.process import TRIES
from dos.git.repository import Writer
from dos.git.worktrees import list_worktrees
from dos.landing import branch

ALWAYS = 1.0
SHARE = 0.06


@pytest.fixture
def dying(repository, tmp_path, monkeypatch):
    def start(*, seed: int = 1, share: float = SHARE) -> DyingGit:
        made = DyingGit(tmp_path, seed=seed, share=share)
        monkeypatch.setenv("PATH", made.path(os.environ["PATH"]))
        return made

    return start


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_a_worker_lands_every_unit_once_with_one_agent_each(repository, dying, seed):
    git = dying(seed=seed)
    work(repository)
    assert git.died >= 3, "else it shows nothing"
    assert sorted(repository.subjects()) == ["Begin", "Write a", "Write b"]
    assert repository.starts() == ["DEMO/A1", "DEMO/A2"], "no agent was paid twice"
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.soak
def test_a_fleet_lands_every_unit_and_no_worker_dies(fleet, dying):
    lanes = {"one": "A", "two": "B", "three": "C"}
    units = [
        (lane, f"{letter}{number}") for lane, letter in lanes.items() for number in range(1, 9)
    ]
    plan = "".join(
        f"## DEMO {unit}: write it\n- lane: {lane}\n- paths: {lane}/**\n\n" for lane, unit in units
    )
    root = fleet.repository.root
    (root / "docs" / "demo-plan.md").write_text(f"# A plan\n\n{plan}")
    config = (root / "dos.toml").read_text().replace('"two"]', '"two", "three"]')
    (root / "dos.toml").write_text(config.replace("[leases]", 'three = ["three/**"]\n\n[leases]'))
    fleet.repository.commit_all("Plan")
    fleet.repository.play(
        {
            f"DEMO/{unit}": [[write(f"{lane}/{unit}.txt"), commit(f"Write {unit}")]]
            for lane, unit in units
        }
    )
    git = dying(seed=3)
    told, _ = (process := fleet.up("--until-idle", "--target", "3")).communicate(timeout=600)
    assert process.returncode == 0, told
    assert landed(fleet) == sorted(f"DEMO/{unit}" for _, unit in units)
    assert len(fleet.repository.starts()) == len(units), "no agent was paid twice"
    assert "reaped" not in told and "died" not in told, told
    assert git.died > 50


def test_a_ref_that_moved_although_git_died_counts_as_moved(repository, dying):
    git, base = Writer(repository.root), repository.git("rev-parse", "HEAD")
    child = dying(share=ALWAYS)
    child.calls.write_bytes(b"x")  # the next call is done, and dies then
    answer = git.run_once("update-ref", "refs/dos/probe", base, "")
    assert answer.returncode == 128 and repository.git("rev-parse", "refs/dos/probe") == base
    child.calls.write_bytes(b"x" * 4)
    with pytest.raises(GitUnanswered):
        git.swap_ref("refs/dos/other", base, None)
    assert repository.git("rev-parse", "refs/dos/other") == base


def test_a_lost_race_is_a_no_and_is_told_at_once(repository):
    git, base = Writer(repository.root), repository.git("rev-parse", "HEAD")
    blob = repository.git("hash-object", "-w", "dos.toml")
    assert git.swap_ref("refs/dos/probe", base, None) == ""
    assert git.swap_ref("refs/dos/probe", base, None) == "", "it is there already"
    assert "cannot lock ref" in git.swap_ref("refs/dos/probe", blob, None)
    assert "cannot lock ref" in git.swap_ref(
        "refs/dos/probe", blob, base, verified=f"verify refs/heads/main {blob}\n"
    )
    assert git.object_of("refs/dos/probe") == base
    assert "cannot lock ref" in git.swap_ref("refs/dos/probe", None, blob)
    assert (
        git.swap_ref("refs/dos/probe", None, base) == "" and git.object_of("refs/dos/probe") is None
    )
    assert git.swap_ref("refs/dos/probe", base, "0" * 40) == ""


def test_no_change_of_a_ref_is_lost_to_another(repository):
    git, ref = Writer(repository.root), "refs/dos/list"
    words = [[f"{hand}{number}" for number in range(4)] for hand in "abc"]

    def add(word: str, old: str | None) -> str:
        before = git.run("cat-file", "blob", old) if old else ""
        return git.run("hash-object", "-w", "--stdin", feed=f"{before}{word}\n").strip()

    def add_each(own: list[str]) -> None:
        for word in own:
            git.change_ref(ref, partial(add, word))

    with ThreadPoolExecutor(len(words)) as pool:
        list(pool.map(add_each, words))
    written = git.run("cat-file", "blob", ref).split()
    assert sorted(written) == sorted(word for own in words for word in own)


@pytest.mark.parametrize(
    "ask",
    [
        lambda git: git.commit_of("HEAD"),
        lambda git: git.is_ancestor("HEAD", "HEAD"),
        lambda git: git.branch(),
        lambda git: git.salvage_refs(),
        lambda git: git.root_commit(),
        lambda git: git.submodules(),
        lambda git: Objects(git).commit("HEAD"),
        lambda git: branch.check_fence(git, "one", 1),
        lambda git: branch.has_landed(
            git, branch.Landing(unit="U", branch="main", base="", commit="HEAD")
        ),
    ],
)
def test_no_question_is_answered_by_a_git_that_dies(repository, dying, ask):
    dying(share=ALWAYS)
    with pytest.raises(GitUnanswered):
        ask(Writer(repository.root))


def test_work_is_named_by_a_git_that_died_at_it_before(repository, monkeypatch):
    """That git gave no answer says nothing of the commit: no second agent is paid for it."""
    real, deaths = Writer.run_once, []

    def once(self, *words, **more):
        if words[:3] != ("hash-object", "-t", "commit") or len(deaths) >= TRIES:
            return real(self, *words, **more)
        deaths.append(words)
        return subprocess.CompletedProcess(words, -9, "", "")

    monkeypatch.setattr(Writer, "run_once", once)
    unnamed = {"run": "git add -A; git commit -q -m 'Add a file'"}
    steps = [write("one/a.txt", "first\n"), unnamed]
    repository.play({"DEMO/A1": [steps], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    work(repository)
    assert deaths and repository.starts() == ["DEMO/A1", "DEMO/A2"], "nobody is paid again"
    assert repository.subjects() == ["Write b", "Add a file", "Begin"]


def test_that_an_object_is_malformed_is_an_answer_and_costs_no_second_try(repository, monkeypatch):
    real, seen = Writer.run_once, []

    def once(self, *words, **more):
        seen.append(words)
        return real(self, *words, **more)

    monkeypatch.setattr(Writer, "run_once", once)
    with pytest.raises(MalformedObject):
        Writer(repository.root).run(
            "hash-object", "-t", "commit", "-w", "--stdin", feed="tree 123\n\nx\n"
        )
    assert len(seen) == 1


def test_an_absence_is_an_answer_and_costs_no_second_try(repository, monkeypatch):
    real, seen = Writer.run_once, []

    def once(self, *words, **more):
        assert words not in seen, "it was tried again"
        seen.append(words)
        return real(self, *words, **more)

    monkeypatch.setattr(Writer, "run_once", once)
    git, absent = Writer(repository.root), "0123456789" * 4
    assert git.commit_of("refs/heads/none") is None and git.commit_of(absent) is None
    assert (
        git.is_ancestor("9876543210" * 4, "HEAD") is False
        and git.is_ancestor("HEAD", "refs/heads/gone") is False
    )
    assert git.attempt("config", "--get", "no.thing").stdout == ""
    assert git.submodules() == {}
    with pytest.raises(GitFailed) as failed:
        git.run("for-each-ref", "--no-such-option")
    assert not isinstance(failed.value, GitUnanswered), "wrong words stay wrong"


def test_the_table_knows_every_command_that_we_run():
    known = {rule.command for rule in process.EXIT_RULES}
    texts = {path: path.read_text() for path in sorted(Path(dos.__file__).parent.rglob("*.py"))}
    calling = {
        path: text
        for path, text in texts.items()
        if re.search(r"\.\s*(run|attempt|run_once)\b", text)
    }
    assert len(calling) > 50
    for path, text in calling.items():
        nodes = list(ast.walk(ast.parse(text)))
        # Git is never awaited: these are the threads of the server.
        awaited = {id(node.value) for node in nodes if isinstance(node, ast.Await)}
        for node in nodes:
            called = (
                node.func.attr
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and id(node) not in awaited
                else ""
            )
            if (
                called in ("run", "attempt", "run_once")
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                word = node.args[0].value
                if isinstance(word, str) and word != "-c":
                    assert word.split(" ")[0] in known, f"{path}:{node.lineno} git {word}"


@pytest.mark.parametrize(
    "words",
    [
        ["rev-parse", "HEAD"],
        ["--literal-pathspecs", "rev-parse", "HEAD"],
        ["-c", "a.b=c", "rev-parse", "--verify", "--quiet", "x"],
    ],
)
def test_settings_in_front_do_not_hide_a_command(words):
    assert process.exit_rule(words).command == "rev-parse"
    assert process.exit_rule(words).answers == ((0, 1) if "--quiet" in words else (0,))


def test_a_signal_is_named(repository, dying):
    child = dying(share=ALWAYS)
    child.calls.write_bytes(b"xxx")
    assert Writer(repository.root).run_once("rev-parse", "HEAD").returncode < 0
    assert subprocess.run(["git", "--version"], capture_output=True).returncode == 0, (
        "an agent's own git lives"
    )


def test_worktrees_that_others_make_by_hand_are_listed_by_a_second_try(
    repository, tmp_path, monkeypatch
):
    git = Writer(repository.root)
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "theirs"))
    half = repository.root / ".git" / "worktrees" / "theirs" / "commondir"
    whole, real = half.read_text(), Writer.run_once
    half.write_text("")

    def once(self, *words, **more):
        done = real(self, *words, **more)
        half.write_text(whole)
        return done

    monkeypatch.setattr(Writer, "run_once", once)
    assert len(list_worktrees(git)) == 2
