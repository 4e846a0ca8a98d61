"""How each program is started, and whether its version is one that was tried."""

import json
import sys

import pytest

from dos.agents import registry
from dos.agents.adapter import Settings
from dos.agents.prompt import unit_prompt
from dos.agents.registry import SafeConversation, VersionVerdict
from dos.units.unit import Unit

LONG = "do the work " * 10_000
PROGRAMS = ("claude_code", "codex", "gemini", "opencode")
HEADLESS = {
    "claude_code": ["claude", "stream-json", "stream-json", "--verbose", "stdio", "default"],
    "codex": ["codex", "app-server"],
    "gemini": ["gemini", "stream-json", "--yolo"],
    "opencode": ["opencode", "run", "json", "--print-logs", "--auto"],
}


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_long_prompt_goes_to_standard_input(name):
    adapter = registry.find(name)
    settings = Settings(command=("agent",))
    launch = adapter.launch(LONG, settings)
    if isinstance(adapter, SafeConversation):
        assert launch.stdin == "", "it is told line by line"
    else:
        assert LONG in launch.stdin
    assert not [word for word in launch.argv if len(word) > 1000]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_started_without_anybody_to_ask(name):
    argv = registry.find(name).launch("p", Settings()).argv
    assert [word for word in argv if word in HEADLESS[name]] == HEADLESS[name]
    assert argv[0] == registry.find(name).program


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "codex"])
def test_settings_choose_the_program_the_model_and_further_arguments(name):
    settings = Settings(command=("nice", "agent"), model="some/model", arguments=("--more", "1"))
    argv = registry.find(name).launch("p", settings).argv
    assert argv[:2] == ["nice", "agent"]
    assert argv[argv.index("--model") + 1] == "some/model"
    assert argv[argv.index("--more") + 1] == "1"


def test_codex_is_asked_for_a_model_when_the_conversation_begins():
    settings = Settings(model="some/model", arguments=("-c", "model_verbosity=low"))
    adapter = registry.find("codex", settings)
    assert isinstance(adapter, SafeConversation)
    assert adapter.launch("p", settings).argv == ["codex", "app-server", *settings.arguments]
    assert any('"model":"some/model"' in line for line in adapter.open("p", settings).replies)


@pytest.mark.parametrize("own", [("--profile", "fast"), ("-s", "read-only"), ("-cx=1", "--oss")])
def test_codex_is_started_as_before_with_arguments_that_only_that_start_takes(own):
    adapter = registry.find("codex", Settings(arguments=own))
    assert not isinstance(adapter, SafeConversation)
    launch = adapter.launch("p", Settings(arguments=own))
    assert launch.argv[:3] == ["codex", "exec", "--json"]
    assert launch.stdin == "p"


def test_settings_of_the_users_for_claude_take_the_place_of_those_that_make_it_ask():
    asks = registry.find("claude_code").launch("p", Settings()).argv
    assert '"ask":["Bash","Edit","Write","NotebookEdit"]' in asks[asks.index("--settings") + 1]
    own = Settings(arguments=("--settings", "{}"))
    assert registry.find("claude_code").launch("p", own).environment == {
        "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"
    }
    assert '"env":{"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR":"1"}' in " ".join(asks)
    assert registry.find("claude_code").launch("p", own).argv.count("--settings") == 1


@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_a_conversation_is_gone_on_with_by_its_name(name):
    adapter = registry.find(name)
    settings = Settings(resume="earlier", session=SESSION)
    words = adapter.launch("p", settings).argv + list(adapter.open("p", settings).replies)
    assert any("earlier" in word for word in words)
    assert SESSION not in words


def test_opencode_is_told_where_to_work():
    argv = registry.find("opencode").launch("p", Settings(directory="/some/tree")).argv
    assert argv[argv.index("--dir") + 1] == "/some/tree"
    assert "--dir" not in registry.find("opencode").launch("p", Settings()).argv


def test_mini_swe_agent_gets_its_task_as_configuration_and_no_limit_of_its_own():
    launch = registry.find("mini_swe_agent").launch('say "hi"\n', Settings(model="openai/m"))
    assert json.loads(launch.stdin) == {"run": {"task": 'say "hi"\n'}}
    assert launch.argv[:2] == ["sh", "-c"]
    assert launch.argv[launch.argv.index("--cost-limit") + 1] == "0.000000"
    capped = registry.find("mini_swe_agent").launch("p", Settings(max_usd=1.5)).argv
    assert capped[capped.index("--cost-limit") + 1] == "1.500000"


def test_aider_writes_nothing_but_the_work_and_is_seen_by_the_hooks_of_git():
    argv = registry.find("aider").launch("p", Settings()).argv
    assert {"--no-gitignore", "--git-commit-verify", "--yes-always"} <= set(argv)
    assert {"--no-check-update", "--analytics-disable", "--no-detect-urls"} <= set(argv)
    assert argv[argv.index("--chat-history-file") + 1] == "/dev/null"
    assert "--commit-prompt" not in argv


def test_aider_is_told_the_line_that_ends_its_commit_messages():
    unit = Unit(id="A1", plan="DEMO", title="write a file")
    prompt = unit_prompt(unit, globs=["src/**"], acceptance="", history=[])
    argv = registry.find("aider").launch(prompt, Settings()).argv
    assert f"\n\nUnit: {unit.name}\n\n" in argv[argv.index("--commit-prompt") + 1]


@pytest.mark.parametrize(
    "command", [("/opt/bin/qwen",), ("/opt/bin/qwen", "--acp"), ("node", "/opt/qwen.js")]
)
def test_a_program_of_the_table_is_told_once_to_speak_the_protocol(command):
    argv = registry.find("qwen").launch("p", Settings(command=command)).argv
    assert argv[: len(command)] == list(command)
    assert argv.count("--acp") == 1


def test_any_program_that_speaks_the_protocol_is_started_as_it_stands():
    settings = Settings(command=("kimi", "acp"), arguments=("--fast",))
    assert registry.find("acp", agent="kimi").launch("p", settings).argv == [
        "kimi", "acp", "--fast"
    ]  # fmt: skip


def test_opencode_asks_only_because_it_is_told_to():
    launch = registry.find("opencode_acp").launch("p", Settings())
    told = json.loads(launch.environment["OPENCODE_PERMISSION"])
    assert told == {"edit": "ask", "bash": "ask"}


def test_gemini_trusts_the_worktree_after_its_settings_were_left_out():
    launch = registry.find("gemini").launch("p", Settings())
    assert "--skip-trust" in launch.argv
    assert launch.environment == {}, "with the variable the repository's settings would be read"


def test_claude_is_told_how_much_it_may_use():
    argv = registry.find("claude_code").launch("p", Settings(max_turns=7, max_usd=0.00005)).argv
    assert argv[argv.index("--max-turns") + 1] == "7"
    assert argv[argv.index("--max-budget-usd") + 1] == "0.000050"


SESSION = "5f1b7a30-8c52-5f3b-9d9e-0a4f6f9f2b11"


@pytest.mark.parametrize(
    ("own", "is_named"), [((), True), (("--resume", "x"), False), (("--session-id=x",), False)]
)
def test_the_conversation_has_the_name_that_it_is_given_unless_the_user_chose_one(own, is_named):
    argv = registry.find("claude_code").launch("p", Settings(session=SESSION, arguments=own)).argv
    assert (SESSION in argv) == is_named


def test_without_settings_nothing_is_limited():
    argv = registry.find("claude_code").launch("p", Settings()).argv
    assert not {"--model", "--max-turns", "--max-budget-usd"} & set(argv)


def test_any_program_is_started_as_it_stands():
    settings = Settings(command=("sh", "agent.sh"), arguments=("--fast",))
    assert registry.find("command").launch("p", settings).argv == ["sh", "agent.sh", "--fast"]


def test_the_scripted_agent_runs_under_this_very_python():
    argv = registry.find("scripted").launch("p", Settings(command=("script.json",))).argv
    assert argv == [sys.executable, "-P", "-m", "dos.testing.scripted_agent", "script.json"]


@pytest.mark.parametrize(
    ("name", "printed", "verdict"),
    [
        ("claude_code", "2.1.197 (Claude Code)", VersionVerdict.TESTED),
        ("claude_code", "2.1.109 (Claude Code)", VersionVerdict.OLDER),
        ("claude_code", "2.2.0 (Claude Code)", VersionVerdict.NEWER),
        ("codex", "codex-cli 0.166.0", VersionVerdict.TESTED),
        ("codex", "codex-cli 0.98.2", VersionVerdict.OLDER),
        ("codex", "codex-cli 0.167.0-alpha.3", VersionVerdict.NEWER),
        ("gemini", "0.61.0", VersionVerdict.TESTED),
        ("gemini", "0.9.0", VersionVerdict.OLDER),
        ("opencode", "1.18.33", VersionVerdict.TESTED),
        ("opencode", "v2.0", VersionVerdict.NEWER),
        ("opencode", "command not found", VersionVerdict.UNREADABLE),
        ("opencode", "", VersionVerdict.UNREADABLE),
        ("command", "nothing at all", VersionVerdict.TESTED),
    ],
)
def test_a_version_is_compared_with_those_that_were_tried(name, printed, verdict):
    assert registry.judge_version(printed, registry.find(name).tested) is verdict
