"""What agents, acceptance, tests and setup see of the environment of the fleet."""

import os
import shlex
import sys
from pathlib import Path

import psutil
import pytest
from driven_worker import happened
from sample_repository import Repository
from test_agent_monitor import work

from dos.agents.io.environment import git_identity, inherited_environment
from dos.config.schema import Config
from dos.fleet.io.supervisor_effects import LocalExecutor
from dos.fleet.population.workers import Workers
from dos.journal.settings import Store
from dos.machine import commands, execute
from dos.unknown import Unknown

URL = "postgresql://dos@db/fleet"


@pytest.mark.parametrize(
    ("name", "url", "is_handed_on"),
    [
        ("PATH", "", True),
        ("HTTPS_PROXY", "", True),
        ("ANTHROPIC_API_KEY", "", True),
        ("OPENAI_API_KEY", "", True),
        ("GIT_AUTHOR_NAME", "", True),
        ("GIT_DIR", "", False),
        ("GIT_SSH_COMMAND", "", False),
        ("GIT_ASKPASS", "", False),
        ("SSH_AUTH_SOCK", "", False),
        ("GITHUB_TOKEN", "", False),
        ("DOS_RECEIPT_KEY", "", False),
        ("DISPATCH_HOST_ID", "", False),
        ("PGPASSWORD", "", True),  # somebody else's database
        ("PGPASSWORD", URL, False),
        ("PGSERVICEFILE", URL, False),
    ],
)
def test_what_is_ours_or_opens_a_remote_is_not_handed_on_unless_it_is_named(
    name, url, is_handed_on
):
    config = Config(store=Store(url=url))
    assert (inherited_environment({name: "x"}, config) == {name: "x"}) == is_handed_on
    allowed = Config(store=Store(url=url), workers=Workers(pass_environment=(f"{name[:-1]}*",)))
    assert inherited_environment({name: "x"}, allowed) == {name: "x"}


def test_the_address_of_the_journal_is_not_handed_on_under_any_name():
    given = {"DATABASE_URL": URL, "CACHE_URL": "redis://cache"}
    assert inherited_environment(given, Config(store=Store(url=URL))) == {
        "CACHE_URL": "redis://cache"
    }


def test_an_agent_and_its_acceptance_command_see_no_keys_of_the_fleet(
    repository: Repository, monkeypatch
):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("OPENAI_API_KEY", "its-own")
    path = repository.home / "seen"
    look = f"env >> {path}"
    (repository.root / "docs" / "demo-plan.md").write_text(
        f"## DEMO A1: first\n- lane: one\n- acceptance: `{look}`\n"
    )
    repository.commit_all("Look around")
    steps = [{"run": look}, {"write": "one/a.txt", "text": "x"}, {"commit": "Write a"}]
    repository.play({"DEMO/A1": [steps]})
    work(repository)
    lines = path.read_text().splitlines()
    assert lines.count("OPENAI_API_KEY=its-own") >= 2
    assert not [line for line in lines if line.startswith("SSH_AUTH_SOCK")]
    assert {line.partition("=")[0] for line in lines if line.startswith("DOS_")} == {
        "DOS_FENCE", "DOS_LANE", "DOS_LEASE_KEY", "DOS_PORT_BASE", "DOS_PORT_COUNT",
        "DOS_RUN_ID", "DOS_UNIT",
        "DOS_WORKSPACE",
    }  # fmt: skip


# As the shell of the user leaves it: naming their checkout, another place, or nothing at all.
SHELLS = pytest.mark.parametrize("shell", ["checkout", "elsewhere", "unset"])


def stand_in_a_shell(monkeypatch: pytest.MonkeyPatch, shell: str, checkout: Path) -> None:
    monkeypatch.setenv("OLDPWD", str(checkout))
    if shell == "unset":
        monkeypatch.delenv("PWD", raising=False)
    else:
        monkeypatch.setenv("PWD", str(checkout if shell == "checkout" else checkout.parent))


@pytest.fixture
def one_unit(repository: Repository) -> Repository:
    plan = (
        "# A plan\n\n## DEMO A1: first\n- lane: one\n- paths: one/**\n"
        "- acceptance: `test -s one/a.txt`\n"
    )
    (repository.root / "docs" / "demo-plan.md").write_text(plan)
    repository.commit_all("Plan one unit")
    return repository


@SHELLS
def test_every_program_is_told_the_directory_that_it_is_started_in(tmp_path, monkeypatch, shell):
    checkout, tree = tmp_path / "checkout", tmp_path / "tree"
    checkout.mkdir()
    tree.mkdir()
    stand_in_a_shell(monkeypatch, shell, checkout)
    look = ["env"]
    limits = execute.Limits(wall_seconds=60)
    agent = execute.run(look, cwd=tree, environment=dict(os.environ), limits=limits).lines
    command = commands.run(look, tree, 60)
    assert not isinstance(command, Unknown)
    for lines in (agent, command.output.decode().splitlines()):
        assert [line for line in lines if "PWD=" in line] == [f"PWD={tree.resolve()}"]


@pytest.mark.sampled(2)
@SHELLS
def test_an_agent_that_believes_its_shell_works_in_its_worktree(
    one_unit: Repository, monkeypatch, shell
):
    """As opencode does: it looks at PWD and not at where it is."""
    repository = one_unit
    stand_in_a_shell(monkeypatch, shell, repository.root)
    work_there = (
        'cd "$PWD" && echo x > one/a.txt && git add -A'
        " && git commit -qm 'Write a' -m 'Unit: DEMO/A1'"
    )
    (repository.root / "mine.txt").write_text("not committed yet")
    # `sh` looks for itself where it is: this does not.
    trusting = (
        "import os, subprocess; os.chdir(os.environ['PWD']);"
        f" subprocess.run({work_there!r}, shell=True)"
    )
    repository.play({"DEMO/A1": [[{"run": shlex.join([sys.executable, "-c", trusting])}]]})
    before = repository.git("rev-parse", "main")
    work(repository)
    landed = happened(repository, "unit_landed")
    assert [fact["unit"] for fact in landed] == ["DEMO/A1"]
    assert repository.git("rev-list", f"{before}..main").splitlines() == [landed[0]["commit"]]
    assert repository.git("show", "--name-only", "--format=", "main") == "one/a.txt"
    assert repository.git("status", "--porcelain") == "?? mine.txt"
    assert "dos agent" not in repository.git("reflog", "main")


def test_the_reflog_of_the_worktree_names_the_run_of_the_agent(one_unit: Repository):
    repository = one_unit
    path = repository.home / "seen"
    look = {"run": f"git reflog -1 --format=%gs > {path}"}
    steps = [{"write": "one/a.txt", "text": "x"}, {"commit": "Write a"}, look]
    repository.play({"DEMO/A1": [steps]})
    work(repository)
    (started,) = happened(repository, "agent_started")
    assert path.read_text().strip() == f"dos agent {started['run_id']}: Write a"


def test_a_worker_is_told_the_directory_that_it_is_started_in(
    repository: Repository, tmp_path, monkeypatch
):
    stand_in_a_shell(monkeypatch, "elsewhere", repository.root)
    words = ["journal", "tail", "--follow"]
    started = psutil.Process(
        LocalExecutor().launch(words, cwd=repository.root, log=tmp_path / "log").pid
    )
    try:
        while not (
            told := started.environ()
        ):  # the system tells of it a moment after it was started
            pass
    finally:
        started.kill()
        started.wait()
    assert told["PWD"] == str(repository.root.resolve())
    assert "OLDPWD" not in told


IDENTITY = {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}


@pytest.fixture
def global_config(tmp_path, monkeypatch) -> Path:
    """Of a user who has a name there and nowhere else."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Anna Example\n\temail = anna@example.invalid\n"
    )
    monkeypatch.setenv("HOME", str(home))
    for name in (*IDENTITY, "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home / ".gitconfig"


def test_the_identity_is_that_of_the_global_configuration(repository: Repository, global_config):
    for key in ("user.name", "user.email"):
        repository.git("config", "--unset", key)
    assert git_identity(os.environ, repository.root) == {
        "GIT_AUTHOR_NAME": "Anna Example",
        "GIT_AUTHOR_EMAIL": "anna@example.invalid",
        "GIT_COMMITTER_NAME": "Anna Example",
        "GIT_COMMITTER_EMAIL": "anna@example.invalid",
    }


def test_the_repository_outranks_the_global_configuration_and_the_environment_both(
    repository: Repository, global_config, monkeypatch
):
    repository.git("config", "author.name", "Her pen name")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "builder@example.invalid")
    assert git_identity(os.environ, repository.root) == {
        "GIT_AUTHOR_NAME": "Her pen name",
        "GIT_AUTHOR_EMAIL": "tester@example.invalid",
        "GIT_COMMITTER_NAME": "Tester",
        "GIT_COMMITTER_EMAIL": "builder@example.invalid",
    }


def test_a_configuration_that_lies_elsewhere_is_read_too(
    repository: Repository, global_config, monkeypatch
):
    for key in ("user.name", "user.email"):
        repository.git("config", "--unset", key)
    moved = global_config.rename(global_config.with_name("elsewhere"))
    assert git_identity(os.environ, repository.root) == {}
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(moved))
    assert git_identity(os.environ, repository.root).keys() == IDENTITY


def test_an_agent_whose_shell_hides_the_configuration_can_commit(
    one_unit: Repository, global_config
):
    """As Gemini's does."""
    repository = one_unit
    for key in ("user.name", "user.email"):
        repository.git("config", "--unset", key)
    hidden = (
        "GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null"
        " git commit -q -m 'Write a' -m 'Unit: DEMO/A1'"
    )
    repository.play(
        {"DEMO/A1": [[{"write": "one/a.txt", "text": "x"}, {"run": f"git add -A && {hidden}"}]]}
    )
    work(repository)
    assert [fact["unit"] for fact in happened(repository, "unit_landed")] == ["DEMO/A1"]
    assert (
        repository.git("log", "-1", "--format=%an <%ae>", "main")
        == "Anna Example <anna@example.invalid>"
    )


@pytest.mark.soak
def test_the_scripted_agent_leaves_nothing_beside_its_script(one_unit: Repository):
    repository = one_unit
    work(repository)
    assert [path.name for path in repository.home.glob("script*")] == ["script.json"]
    assert repository.starts()
