"""What agents, acceptance, tests and setup see of the environment of the fleet."""

import json
import os
import shlex
import sys
from pathlib import Path

import psutil
import pytest
from driven_worker import happened
from sample_repository import Repository, commit, write
from test_agent_monitor import work

from dos.agents.io.environment import (
    agent_variables,
    git_identity,
    inherited_environment,
    trusted_path,
)
from dos.agents.io.home import PrivateHome
from dos.config.schema import Config
from dos.fleet.io.supervisor_effects import LocalExecutor
from dos.fleet.population.workers import Workers
from dos.journal.settings import Store
from dos.machine import commands, execute
from dos.unknown import Unknown

URL = "postgresql://dos@db/fleet"


@pytest.mark.parametrize(
    ("name", "is_handed_on"),
    [
        ("PATH", True),
        ("LC_TIME", True),
        ("HTTPS_PROXY", True),
        ("no_proxy", True),
        ("REQUESTS_CA_BUNDLE", True),
        ("NPM_CONFIG_REGISTRY", True),
        ("npm_config_registry", True),
        ("PIP_INDEX_URL", True),
        ("CARGO_HTTP_CAINFO", True),
        ("GOPROXY", True),
        ("RUSTUP_HOME", True),
        ("JAVA_HOME", True),
        ("VIRTUAL_ENV", True),
        ("CC", True),
        ("PYTHONPATH", True),
        ("CI", True),
        ("GIT_AUTHOR_NAME", True),
        ("ANTHROPIC_API_KEY", False),  # of an agent, and of no check
        ("OPENAI_API_KEY", False),
        ("GIT_DIR", False),
        ("GIT_SSH_COMMAND", False),
        ("GIT_ASKPASS", False),
        ("SSH_AUTH_SOCK", False),
        ("GITHUB_TOKEN", False),
        ("DOS_RECEIPT_KEY", False),
        ("DISPATCH_HOST_ID", False),
        ("PGPASSWORD", False),
        ("DATABASE_URL", False),
        ("DISPLAY", False),
        ("NPM_TOKEN", False),
        ("NPM_CONFIG__AUTH", False),
        ("npm_config_//registry.example/:_authToken", False),
        ("UV_PUBLISH_TOKEN", False),
        ("UV_INDEX_COMPANY_PASSWORD", False),
        ("POETRY_HTTP_BASIC_COMPANY_USERNAME", False),
        ("CARGO_REGISTRY_TOKEN", False),
        ("GEM_HOST_API_KEY", False),
        ("COMPOSER_AUTH", False),
        ("BUNDLE_GEMS__EXAMPLE__COM", False),
        ("PIP_CACHE_DIR", False),  # a lane has caches of its own
        ("PYTHONUSERBASE", False),
        ("LD_PRELOAD", False),
        ("ANYTHING_ELSE", False),
    ],
)
def test_a_check_gets_what_is_listed_and_what_a_person_names(name, is_handed_on):
    assert (inherited_environment({name: "x"}, Config()) == {name: "x"}) == is_handed_on
    allowed = Config(workers=Workers(pass_environment=(f"{name[:-1]}*",)))
    assert inherited_environment({name: "x"}, allowed) == {name: "x"}


def test_the_address_of_the_journal_is_not_handed_on_under_any_name_but_a_named_one():
    given = {"PIP_EXTRA": URL, "UV_INDEX_URL": "https://mirror"}
    assert inherited_environment(given, Config(store=Store(url=URL))) == {
        "UV_INDEX_URL": "https://mirror"
    }
    named = Workers(pass_environment=("PIP_EXTRA",))
    assert inherited_environment(given, Config(store=Store(url=URL), workers=named)) == given


def test_the_password_of_an_index_is_taken_out_and_the_one_of_a_proxy_is_not():
    """Without its password an index refuses; without the variable pip would ask another index."""
    given = {
        "PIP_INDEX_URL": "https://me:secret@pypi.example/simple",
        "UV_INDEX": "company=https://token@pypi.example/simple https://other.example",
        "GOPROXY": "https://proxy.golang.example,direct",
        "HTTPS_PROXY": "http://me:secret@proxy.example:3128",
    }
    assert inherited_environment(given, Config()) == {
        "PIP_INDEX_URL": "https://pypi.example/simple",
        "UV_INDEX": "company=https://pypi.example/simple https://other.example",
        "GOPROXY": "https://proxy.golang.example,direct",
        "HTTPS_PROXY": "http://me:secret@proxy.example:3128",
    }
    named = Config(workers=Workers(pass_environment=("PIP_INDEX_URL",)))
    assert inherited_environment(given, named)["PIP_INDEX_URL"] == given["PIP_INDEX_URL"]


GIVEN = {
    "PATH": "/bin",
    "ANTHROPIC_API_KEY": "a",
    "ANTHROPIC_BASE_URL": "https://me:secret@gateway.example",
    "CLAUDE_CODE_OAUTH_TOKEN": "c",
    "CLAUDE_CODE_SSE_PORT": "1",  # of the editor around dos
    "CLAUDECODE": "1",
    "OPENAI_API_KEY": "o",
    "COMPANY_KEY": "k",
    "GEMINI_API_KEY": "g",
    "GROQ_API_KEY": "q",
    "OPENCODE_CONFIG": "/x",
    "AWS_SECRET_ACCESS_KEY": "s",
    "GITHUB_TOKEN": "t",
}


@pytest.mark.parametrize(
    ("adapter", "own"),
    [
        ("claude_code", {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"}),
        ("codex", {"OPENAI_API_KEY", "COMPANY_KEY"}),
        ("gemini", {"GEMINI_API_KEY"}),
        (
            "opencode",
            {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY",
             "GROQ_API_KEY", "OPENCODE_CONFIG"},
        ),
    ],
)  # fmt: skip
def test_an_agent_gets_the_keys_of_its_own_program_and_no_others(adapter, own):
    named = ("COMPANY_KEY",) if adapter == "codex" else ()
    home = PrivateHome(
        folder=Path("/h"), temporary=Path("/t"), cache=Path("/c"), variables={}, named=named
    )
    handed = agent_variables(GIVEN, Config(), adapter, home)
    assert handed == {name: GIVEN[name] for name in {"PATH", *own}}


def test_the_keys_of_a_cloud_are_handed_on_where_the_agent_is_told_to_use_it():
    home = PrivateHome(folder=Path("/h"), temporary=Path("/t"), cache=Path("/c"), variables={})
    given = {"AWS_SECRET_ACCESS_KEY": "s", "CLAUDE_CODE_USE_BEDROCK": "1"}
    assert agent_variables(given, Config(), "claude_code", home) == given


def test_the_path_of_a_check_has_nothing_of_an_agent_and_the_tree_last(tmp_path):
    homes = tmp_path / "homes"
    value = f".:{homes}/one/agent/home/bin:/usr/bin:{tmp_path}/bin::node_modules/.bin:/bin"
    assert trusted_path(value, [homes]) == f"/usr/bin:{tmp_path}/bin:/bin:.::node_modules/.bin"


def test_an_agent_sees_its_keys_its_acceptance_command_none_and_both_their_own_home(
    repository: Repository, monkeypatch
):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("OPENAI_API_KEY", "its-own")
    monkeypatch.setenv("MY_DATABASE", "mine")
    agent, check = repository.home / "agent", repository.home / "check"
    (repository.root / "docs" / "demo-plan.md").write_text(
        f"## DEMO A1: first\n- lane: one\n- acceptance: `env > {check}`\n"
    )
    repository.commit_all("Look around")
    look = {"run": f"env > {agent}"}
    repository.play({"DEMO/A1": [[look, write("one/a.txt"), commit("Write a")]]})
    work(repository)
    by_agent, by_check = variables_in(agent), variables_in(check)
    assert by_agent["OPENAI_API_KEY"] == "its-own"
    assert not {"OPENAI_API_KEY", "DOS_RUN_ID", "DOS_UNIT"} & by_check.keys()
    marks = {"DOS_FENCE", "DOS_LANE", "DOS_LEASE_KEY", "DOS_PORT_BASE", "DOS_PORT_COUNT",
             "DOS_WORKSPACE"}  # fmt: skip
    for seen in (by_agent, by_check):
        assert not {"SSH_AUTH_SOCK", "MY_DATABASE"} & seen.keys()
        assert marks <= seen.keys()
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        assert len({by_agent[name], by_check[name], os.environ.get(name)}) == 3
    assert {name for name in by_agent if name.startswith("DOS_")} == {
        *marks, "DOS_REGION", "DOS_RUN_ID", "DOS_TREE", "DOS_UNIT"
    }  # fmt: skip


def variables_in(path: Path) -> dict[str, str]:
    lines = (line.partition("=") for line in path.read_text().splitlines())
    return {name: value for name, _, value in lines}


def test_a_check_that_misses_a_variable_says_which_one(repository: Repository, monkeypatch):
    monkeypatch.setenv("MY_DATABASE", "mine")
    (repository.root / "docs" / "demo-plan.md").write_text(
        '## DEMO A1: first\n- lane: one\n- acceptance: `test -n "$MY_DATABASE"`\n'
    )
    repository.commit_all("Need a database")
    work(repository)
    measured = happened(repository, "work_measured")
    assert measured[0]["accepted"] is False
    assert "MY_DATABASE" in json.dumps(measured[0])
    assert "pass_environment" in json.dumps(measured[0])


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
