"""The private homes of agents and checks: what is copied, what is linked, what stays."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from driven_worker import happened
from lying_filter import lying
from sample_repository import Repository, commit, write
from test_agent_monitor import work

from dos import workspace
from dos.agents.io.home import Homes, PrivateHome, git_config_text
from dos.agents.programs import catalog
from dos.errors import BadInput
from dos.fields import BadValue
from dos.fleet.population.workers import Workers

VENDORS = {agent.name: agent.vendor for agent in catalog.known_agents()}


class User:
    """A user with a home, and the private homes of this user's lanes."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "user"
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.homes = Homes(
            folder / "homes", self.environment, git_keys=("filter.LFS.*",), files=(".aws",)
        )

    def has(self, path: str, content: object) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def start(self, adapter: str, **own: str) -> PrivateHome:
        """Of an agent that has just ended."""
        with self.homes.for_agent("one", adapter, VENDORS.get(adapter, ""), own) as home:
            return home


@pytest.fixture
def user(tmp_path, monkeypatch) -> User:
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME", "CARGO_HOME"):
        monkeypatch.delenv(name, raising=False)
    user = User(tmp_path)
    monkeypatch.setenv("HOME", str(user.home))
    return user


def test_claude_code_gets_settings_that_start_nothing_and_a_link_to_the_login(user):
    login = user.has(".claude/.credentials.json", {"claudeAiOauth": {}})
    user.has(".claude/CLAUDE.md", "Be brief.\n")
    settings = {
        "model": "opus",
        "permissions": {"deny": ["WebFetch"], "additionalDirectories": ["/"], "allow": []},
        "env": {"ANTHROPIC_MODEL": "x", "GITHUB_TOKEN": "secret"},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch /tmp/evil"}]}]},
        "statusLine": {"type": "command", "command": "x"},
        "enabledPlugins": {"x": True},
        "enableAllProjectMcpServers": True,
    }
    user.has(".claude/settings.json", settings)
    account = {"oauthAccount": {"id": 1}, "mcpServers": {"x": {}}, "projects": {"/": {}}}
    user.has(".claude.json", account)
    user.has(".claude/plugins/evil.json", {})
    home = user.start("claude_code")
    folder = Path(home.variables["CLAUDE_CONFIG_DIR"])
    assert folder == home.folder / ".claude"
    assert json.loads((folder / "settings.json").read_text()) == {
        "model": "opus",
        "permissions": {"deny": ["WebFetch"], "allow": []},
        "env": {"ANTHROPIC_MODEL": "x"},
    }
    assert json.loads((folder / ".claude.json").read_text()) == {"oauthAccount": {"id": 1}}
    assert (folder / "CLAUDE.md").read_text() == "Be brief.\n"
    assert (folder / ".credentials.json").readlink() == login
    assert home.logins == (login,)
    assert not (folder / "plugins").exists()


def test_codex_gets_its_model_and_provider_and_the_key_that_the_provider_names(user):
    login = user.has(".codex/auth.json", {})
    config = """
model = "scripted"
notify = ["touch", "/tmp/evil"]
profile = "work"
[profiles.work]
model_verbosity = "low"
notify = ["x"]
[model_providers.company]
base_url = "https://models.example"
env_key = "COMPANY_KEY"
env_http_headers = { "X-Team" = "COMPANY_TEAM" }
[mcp_servers.evil]
command = "evil"
[projects."/"]
trust_level = "trusted"
[hooks]
Stop = []
"""
    user.has(".codex/config.toml", config)
    user.has(".codex/hooks.json", {})
    home = user.start("codex")
    kept = tomllib.loads((home.folder / ".codex" / "config.toml").read_text())
    assert kept.keys() == {"model", "profile", "profiles", "model_providers"}
    assert kept["profiles"] == {"work": {"model_verbosity": "low"}}
    assert kept["model_providers"]["company"]["env_key"] == "COMPANY_KEY"
    assert home.named == ("COMPANY_KEY", "COMPANY_TEAM")
    assert home.variables["CODEX_HOME"] == str(home.folder / ".codex")
    assert (home.folder / ".codex" / "auth.json").readlink() == login
    assert not (home.folder / ".codex" / "hooks.json").exists()


def test_gemini_and_opencode_get_the_same(user):
    gemini = user.has(".gemini/oauth_creds.json", {})
    user.has(
        ".gemini/settings.json",
        '{"security": {"auth": {"selectedType": "oauth-personal"}}, // chosen\n'
        ' "mcpServers": {"x": {}}, "hooks": {}, "tools": {"discoveryCommand": "evil"},}',
    )
    user.has(".gemini/extensions/evil/gemini-extension.json", {})
    home = user.start("gemini")
    assert home.variables["GEMINI_CLI_HOME"] == str(home.folder)
    assert json.loads((home.folder / ".gemini" / "settings.json").read_text()) == {
        "security": {"auth": {"selectedType": "oauth-personal"}}
    }
    assert (home.folder / ".gemini" / "oauth_creds.json").readlink() == gemini
    assert not (home.folder / ".gemini" / "extensions").exists()
    opencode = user.has(".local/share/opencode/auth.json", {})
    user.has(
        ".config/opencode/opencode.jsonc",
        '{/* mine */ "provider": {"x": {"options": {"apiKey": "{env:COMPANY_KEY}"}}},'
        ' "plugin": ["evil"], "mcp": {}, "formatter": {}, "lsp": {}, "command": {}}',
    )
    user.has(".config/opencode/plugin/evil.js", "")
    home = user.start("opencode")
    folder = Path(home.variables["XDG_CONFIG_HOME"]) / "opencode"
    assert json.loads((folder / "opencode.jsonc").read_text()).keys() == {"provider"}
    assert home.named == ("COMPANY_KEY",)
    data = Path(home.variables["XDG_DATA_HOME"])
    assert (data / "opencode" / "auth.json").readlink() == opencode
    assert not (folder / "plugin").exists()


def test_qwen_and_copilot_get_their_models_and_logins_and_nothing_that_starts(user):
    login = user.has(".qwen/oauth_creds.json", {})
    user.has(
        ".qwen/settings.json",
        {"modelProviders": {"openai": []}, "hooks": {}, "mcpServers": {"x": {}}, "tools": {}},
    )
    home = user.start("qwen")
    assert home.variables["QWEN_HOME"] == str(home.folder / ".qwen")
    settings = json.loads((home.folder / ".qwen" / "settings.json").read_text())
    assert settings == {"modelProviders": {"openai": []}}
    assert (home.folder / ".qwen" / "oauth_creds.json").readlink() == login
    user.has(".copilot/settings.json", {"model": "m", "hooks": {}, "bashEnv": True})
    user.has(".copilot/config.json", {"copilot_tokens": {"h": "t"}, "trusted_folders": ["/"]})
    user.has(".copilot/mcp-config.json", {"mcpServers": {}})
    home = user.start("copilot")
    folder = Path(home.variables["COPILOT_HOME"])
    assert json.loads((folder / "settings.json").read_text()) == {"model": "m"}
    assert json.loads((folder / "config.json").read_text()) == {"copilot_tokens": {"h": "t"}}
    assert not (folder / "config.json").is_symlink(), "it holds more than the login"
    assert not (folder / "mcp-config.json").exists()


def test_pi_and_mini_swe_agent_get_their_providers_and_no_command_that_prints_a_key(user):
    login = user.has(".pi/agent/auth.json", {})
    providers = {
        "local": {"baseUrl": "http://x", "apiKey": "COMPANY_KEY", "models": [{"id": "m"}]},
        "evil": {"baseUrl": "http://y", "apiKey": "!touch evil", "headers": {"h": "!evil"}},
    }
    user.has(".pi/agent/models.json", {"providers": providers})
    user.has(".pi/agent/settings.json", {"defaultModel": "m", "extensions": ["evil"]})
    user.has(".pi/agent/extensions/evil.ts", "")
    home = user.start("pi")
    folder = Path(home.variables["PI_CODING_AGENT_DIR"])
    copied = json.loads((folder / "models.json").read_text())["providers"]
    assert copied["local"] == providers["local"]
    assert copied["evil"] == {"baseUrl": "http://y"}
    assert home.named == ("COMPANY_KEY",)
    assert json.loads((folder / "settings.json").read_text()) == {"defaultModel": "m"}
    assert (folder / "auth.json").readlink() == login
    assert not (folder / "extensions").exists()
    user.has(".config/mini-swe-agent/.env", "MSWEA_MODEL_NAME=m\n")
    home = user.start("mini_swe_agent")
    copied = Path(home.variables["XDG_CONFIG_HOME"], "mini-swe-agent", ".env")
    assert copied.read_text() == "MSWEA_MODEL_NAME=m\n"


def test_a_second_account_is_the_folder_that_the_agent_is_given(user):
    user.has(".claude/.credentials.json", {"first": 1})
    second = user.has("work/.credentials.json", {"second": 1})
    home = user.start("claude_code", CLAUDE_CONFIG_DIR=str(second.parent))
    assert home.logins == (second,)
    assert home.variables["CLAUDE_CONFIG_DIR"] == str(home.folder / ".claude")


@pytest.mark.parametrize("text", [b"not json", b"[]", b'{"hooks": {}}', b"\xff", b'"' * 9_000])
def test_of_settings_that_cannot_be_read_nothing_is_copied(user, text):
    for path in (".claude/settings.json", ".codex/config.toml", ".pi/agent/models.json"):
        user.has(path, "").write_bytes(text)
    assert not (user.start("claude_code").folder / ".claude" / "settings.json").exists()
    assert not (user.start("codex").folder / ".codex" / "config.toml").exists()


def test_package_managers_get_their_registries_and_no_logins(user):
    user.has(
        ".npmrc",
        "registry=https://me:secret@npm.example/\n@team:registry = https://team.example\n"
        "//npm.example/:_authToken=secret\nscript-shell=evil\nprefix=/root/x\nstrict-ssl=false\n",
    )
    user.has(
        ".config/pip/pip.conf",
        "[global]\nindex-url = https://me:secret@pypi.example/simple\npassword = secret\n",
    )
    user.has(
        ".cargo/config.toml",
        '[build]\nrustc-wrapper = "evil"\njobs = 2\n[registries.team]\nindex = "https://x"\n'
        'token = "secret"\n',
    )
    user.has(".cargo/credentials.toml", "token")
    user.has(".netrc", "secret")
    home = user.start("claude_code").folder
    assert (home / ".npmrc").read_text() == (
        "registry=https://npm.example/\n@team:registry = https://team.example\nstrict-ssl=false\n"
    )
    pip = (home / ".config" / "pip" / "pip.conf").read_text()
    assert pip == "[global]\nindex-url = https://pypi.example/simple\n"
    cargo = tomllib.loads((home / ".cargo" / "config.toml").read_text())
    assert cargo == {"build": {"jobs": 2}, "registries": {"team": {"index": "https://x"}}}
    everything = subprocess.run(["grep", "-r", "secret", home], capture_output=True, text=True)
    assert everything.stdout == ""
    assert not (home / ".netrc").exists()


def test_git_knows_the_user_and_what_is_named_and_runs_nothing_else(user):
    user.has(
        ".gitconfig",
        '[user]\n\tname = Anna \\"A\\" Example\n\temail = anna@example.invalid\n'
        "[core]\n\tpager = evil\n\tfsmonitor = evil\n\tsshCommand = evil\n"
        "[credential]\n\thelper = evil\n[alias]\n\tx = !evil\n[init]\n\tdefaultBranch = trunk\n"
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n[filter "evil"]\n\tclean = evil\n',
    )
    home = user.start("claude_code")
    listed = subprocess.run(
        ["git", "config", "--global", "--list"],
        env={"HOME": str(home.folder), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert listed == [
        'user.name=Anna "A" Example',
        "user.email=anna@example.invalid",
        "init.defaultbranch=trunk",
        "filter.lfs.clean=git-lfs clean -- %f",
    ]


def test_any_value_of_git_is_written_so_that_git_reads_it_back(tmp_path):
    value = 'a "b"\\ #c;\n\td'
    text = git_config_text([f"user.name\n{value}", 'x.a "]b.c\nd', "bare"], ("user.name", "x.*"))
    (tmp_path / "config").write_text(text)
    done = subprocess.run(
        ["git", "config", "--file", tmp_path / "config", "--null", "--list"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f'user.name\n{value}\0x.a "]b.c\nd\0'


def test_files_that_a_person_names_are_copied_whole(user):
    user.has(".aws/credentials", "secret")
    with user.homes.for_check("one") as home:
        assert (home.folder / ".aws" / "credentials").read_text() == "secret"


@pytest.mark.parametrize("path", ["/etc/passwd", "~/.aws", "../other", "a/../../b", ".", ""])
def test_only_files_of_the_home_can_be_named(path):
    with pytest.raises((BadValue, BadInput)):
        Workers(home_files=(path,))


def test_nothing_but_the_caches_stays_from_one_start_to_the_next(user):
    user.has(".claude/settings.json", {"model": "opus"})
    with user.homes.for_agent("one", "claude_code", "anthropic", {}) as home:
        evil = {"hooks": {"Stop": []}}
        (home.folder / ".claude" / "settings.json").write_text(json.dumps(evil))
        (home.folder / ".claude" / "plugins").mkdir()
        (home.folder / ".bashrc").write_text("evil")
        (home.folder / ".cargo" / "config.toml").write_text("evil")
        (home.folder / ".cargo" / "registry" / "crate").write_text("package")
        (home.cache / "pip").mkdir()
        (home.temporary / "left").touch()
        closed = home.folder / "closed" / "folder"
        closed.mkdir(parents=True)
        closed.parent.chmod(0)
    assert not home.temporary.exists()
    again = user.start("claude_code")
    assert again.folder == home.folder
    assert json.loads((home.folder / ".claude" / "settings.json").read_text()) == {"model": "opus"}
    for left in (".claude/plugins", ".bashrc", ".cargo/config.toml", "closed"):
        assert not (home.folder / left).exists(), left
    assert (home.folder / ".cargo" / "registry" / "crate").read_text() == "package"
    assert (home.cache / "pip").is_dir()


IN_THE_WAY = {
    "a file": lambda place: place.touch(),
    "a pipe": os.mkfifo,
    "a link to itself": lambda place: place.symlink_to(place.name),
    "a link to nothing": lambda place: place.symlink_to("nothing"),
    "a closed folder": lambda place: place.mkdir(mode=0),
}


@pytest.mark.parametrize("leave", IN_THE_WAY.values(), ids=IN_THE_WAY)
@pytest.mark.parametrize("place", ["", "maven", "cargo", "cargo/registry"])
def test_nothing_that_a_program_leaves_in_its_cache_stops_the_next_start(user, place, leave):
    home = user.start("claude_code")
    taken = home.cache / place
    shutil.rmtree(taken)
    leave(taken)
    again = user.start("claude_code")
    for name in (".m2/repository", ".cargo/registry", ".cargo/git"):
        (again.folder / name / "package").write_text("x")
    assert (again.cache / "cargo" / "registry" / "package").exists()
    assert (again.cache.stat().st_mode | (again.cache / "cargo").stat().st_mode) & 0o777 == 0o700


def test_a_link_that_a_program_leaves_in_its_cache_makes_no_folder_elsewhere(user):
    home = user.start("claude_code")
    (home.cache / "pip").mkdir()
    shutil.rmtree(home.cache / "cargo")
    (home.cache / "cargo").symlink_to(user.home)
    again = user.start("claude_code")
    assert list(user.home.iterdir()) == []
    assert (again.cache / "cargo" / "registry").is_dir()
    assert (again.cache / "pip").is_dir(), "the rest of the cache stays"


def test_nothing_that_a_filter_leaves_in_the_home_of_git_reaches_the_next_unit(repository):
    """Filters of an agent's repository run in that home when its work is handed over."""
    poison = """
with open(os.environ["HOME"] + "/.gitconfig", "a") as file:
    file.write('[core]\\n\\tattributesFile = ~/.attributes\\n[filter "x"]\\n')
    file.write('\\tclean = "cat; echo evil"\\n')
xdg = os.environ["HOME"] + "/.config/git"
os.makedirs(xdg, exist_ok=True)
subprocess.run(["cp", os.environ["HOME"] + "/.gitconfig", xdg + "/config"], check=True)
with open(os.environ["HOME"] + "/.attributes", "w") as file:
    file.write("*.txt filter=x")
"""
    repository.play(
        {
            "DEMO/A1": [[write("one/a.txt"), commit("Write a"), *lying(poison)]],
            "DEMO/A2": [[write("one/b.txt")]],  # dos commits it, through the filters of that home
        }
    )
    work(repository)
    assert len(happened(repository, "unit_landed")) == 2
    assert repository.git("show", "main:one/b.txt") == "x"


@pytest.mark.parametrize(
    "taken",
    [
        "rm -f $HOME/.gitconfig; mkdir -p $HOME/.gitconfig/x",
        "chmod 0 $HOME",
        "rm -f $HOME/lane-index; mkfifo $HOME/lane-index",
        "rm -f $HOME/lane-index; mkdir $HOME/lane-index",
        "echo forged > $HOME/lane-index",
    ],
)
def test_nothing_that_a_filter_leaves_in_the_home_of_git_stops_the_next_unit(repository, taken):
    wrote = [write("one/a.txt"), commit("Write a")]
    lie = f"subprocess.run({taken!r}, shell=True)"
    repository.play(
        {
            "DEMO/A1": [[*wrote, *lying(lie)], wrote],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
        }
    )
    work(repository)
    assert len(happened(repository, "unit_landed")) == 2


def test_the_home_and_the_caches_of_checks_are_not_those_of_agents(user):
    agent = user.start("claude_code")
    with user.homes.for_check("one") as check:
        shared = set(agent.writable) & set(check.writable)
        assert shared == set()
        assert "CLAUDE_CONFIG_DIR" not in check.variables
        assert check.logins == ()
        assert not (check.folder / ".claude").exists()


def test_the_temporary_folder_has_a_short_path_and_is_closed_to_others(user, tmp_path, monkeypatch):
    long = tmp_path / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with user.homes.for_check("a-lane-with-a-name-" + 100 * "x") as home:
        assert len(str(home.temporary)) < 50
        assert home.temporary.stat().st_mode & 0o777 == 0o700


def test_packages_that_the_user_installed_are_found_and_an_agents_own_are_its_own(user):
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    user.has(f".local/lib/{version}/site-packages/users_own.py", "")
    with user.homes.for_check("one") as home:
        environment = {"HOME": str(home.folder), "PATH": os.environ["PATH"]}
        script = "import users_own, site; print(site.getusersitepackages())"
        done = subprocess.run(
            [sys._base_executable, "-c", script], env=environment, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(home.folder))


def test_a_toolchain_is_read_where_the_user_has_it(user):
    (user.home / ".rustup").mkdir()
    home = user.start("claude_code")
    assert home.variables["RUSTUP_HOME"] == str(user.home / ".rustup")
    assert "PYENV_ROOT" not in home.variables


def test_what_an_agent_leaves_in_its_home_reaches_no_check_and_no_next_agent(
    repository: Repository,
):
    """Also not the user's home, where it stays without walls as well."""
    seen = repository.home / "seen"
    site = f"$HOME/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    poison = (
        f"mkdir -p $HOME/.local/bin {site} && echo evil > $HOME/.npmrc"
        f" && echo 'print(\"evil\")' > {site}/usercustomize.py"
        " && printf '#!/bin/sh\\necho evil' > $HOME/.local/bin/test && touch $TMPDIR/evil"
    )
    look = f"(ls -A $HOME $TMPDIR; cat $HOME/.npmrc; {sys.executable} -c pass) >> {seen} 2>&1"
    (repository.root / "docs" / "demo-plan.md").write_text(
        "".join(
            f"## DEMO A{number}: x\n- lane: one\n- acceptance: `{look}; test -s one/{number}`\n\n"
            for number in (1, 2)
        )
    )
    repository.commit_all("Look around")
    work_on = {
        f"DEMO/A{number}": [
            [{"run": look}, {"run": poison}, write(f"one/{number}"), commit("Write")]
        ]
        for number in (1, 2)
    }
    repository.play(work_on)
    work(repository)
    assert len(happened(repository, "unit_landed")) == 2
    assert "evil" not in seen.read_text()
    homes = workspace.find(repository.root).homes
    assert (homes / "one" / "agent" / "home" / ".local" / "bin" / "test").exists()


# Makes the homes of an agent and of a check, and dies without removing them.
DIES = """
import os, signal, sys
from pathlib import Path
from dos.agents.io.home import Homes
homes = Homes(Path(sys.argv[1]), {})
agent = homes.for_agent("one", "claude_code", "anthropic", {})
check = homes.for_check("one")
for home in (agent.__enter__(), check.__enter__()):
    (home.temporary / "left").touch()
    home.temporary.chmod(0)
    print(home.temporary, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_folders_of_a_killed_worker_are_removed_and_those_in_use_are_not(user):
    with user.homes.for_agent("two", "claude_code", "anthropic", {}) as home:
        folder = home.folder.parents[2]
        words = [sys.executable, "-c", DIES, str(folder)]
        environment = os.environ | {"TMPDIR": str(home.temporary.parents[1])}
        died = subprocess.run(words, env=environment, capture_output=True, text=True)
        left = [Path(line) for line in died.stdout.split()]
        assert len(left) == 2 and all(path.exists() for path in left), died.stderr
        user.homes.remove_abandoned()
        assert not any(path.exists() for path in left)
        assert home.temporary.exists()
    assert not home.temporary.parent.exists()
    user.homes.remove_abandoned()
