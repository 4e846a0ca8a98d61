"""The plugins and manifests by the commands of the programs that install them; all offline."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from installing import FOLDER, Unavailable, path_of
from own_sessions import NO_MODEL, OwnRepository
from programs import CLAUDE_CODE, CODEX, GEMINI, Program

from dos.agenthooks.io import codex_trust
from dos.agenthooks.wiring import HOSTS, commands, is_ours, verb_caller
from dos.skills.io import packaged

pytestmark = pytest.mark.programs

HOUSE = Path(__file__).parents[2]
PLUGIN = HOUSE / "integrations" / "plugin"
EXTENSION = HOUSE / "integrations" / "gemini"
SECONDS = 180
Run = Callable[..., str]


@pytest.fixture
def home() -> Iterator[Path]:
    """A home without settings. Codex refuses one below /tmp."""
    folder = Path(tempfile.mkdtemp(dir=FOLDER.parent, prefix="home-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def run(home: Path) -> Run:
    def run(program: Program, *words: str, code: int = 0) -> str:
        try:
            path = path_of(program)
        except Unavailable as error:
            pytest.skip(str(error))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        (home / "work").mkdir(exist_ok=True)
        (home / ".codex").mkdir(exist_ok=True)
        done = subprocess.run(
            [path, *words],
            env=environment,
            cwd=home / "work",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize(
    "manifest",
    [HOUSE / ".claude-plugin" / "marketplace.json", PLUGIN / ".claude-plugin" / "plugin.json"],
    ids=["marketplace", "plugin"],
)
def test_claude_code_accepts_both_manifests_without_a_warning(run, manifest):
    said = run(CLAUDE_CODE, "plugin", "validate", str(manifest))
    assert "Validation passed" in said and "warning" not in said.lower()


def test_claude_code_refuses_a_manifest_without_a_name(run, tmp_path):
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin" / "plugin.json").write_text('{"version": "1.0.0"}')
    run(CLAUDE_CODE, "plugin", "validate", str(tmp_path), code=1)


def test_claude_code_installs_the_plugin_with_all_its_parts(run):
    run(CLAUDE_CODE, "plugin", "marketplace", "add", str(HOUSE))
    run(CLAUDE_CODE, "plugin", "install", "dos@dos")
    assert "dos@dos" in run(CLAUDE_CODE, "plugin", "list")
    parts = run(CLAUDE_CODE, "plugin", "details", "dos@dos")
    assert f"Skills ({len(packaged.names())})" in parts and "MCP servers (1)" in parts
    assert all(event in parts for event in ("PreToolUse", "PostToolUse", "Stop", "SessionStart"))


def test_codex_installs_the_plugin_with_all_its_parts(run, home):
    run(CODEX, "plugin", "marketplace", "add", str(HOUSE))
    run(CODEX, "plugin", "add", "dos@dos")
    assert "installed, enabled" in run(CODEX, "plugin", "list")
    servers = run(CODEX, "mcp", "list")
    assert any(line.split()[:3] == ["dos", "dos", "mcp"] for line in servers.splitlines())
    installed = home / ".codex" / "plugins" / "cache" / "dos" / "dos"
    skills = {path.parent.name for path in installed.glob("*/skills/*/SKILL.md")}
    assert skills == set(packaged.names())
    hooks = _codex_lists("hooks/list", home)
    assert all(is_ours(hook["command"]) for hook in hooks) and len(hooks) == 4
    assert all(hook["sourcePath"].endswith("/hooks/codex.json") for hook in hooks)


def test_gemini_accepts_and_installs_the_extension(run):
    assert "successfully validated" in run(GEMINI, "extensions", "validate", str(EXTENSION))
    run(GEMINI, "extensions", "install", str(EXTENSION), "--consent")
    listed = run(GEMINI, "extensions", "list")
    assert "dos (" in listed and all(name in listed for name in packaged.names())


def _codex_lists(method: str, home: Path) -> list[dict[str, str]]:
    """The hooks that Codex's app-server knows of a folder."""
    server = subprocess.Popen(
        [path_of(CODEX), "app-server"],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    requests = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": method, "params": {"cwds": [str(home / "work")]}},
    ]
    assert server.stdin and server.stdout
    for request in requests:
        server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    try:
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                return list(answer["result"]["data"][0]["hooks"])
    finally:
        server.kill()
        server.communicate()
    raise AssertionError("Codex did not answer")


PLUGIN_COMMANDS = {
    CLAUDE_CODE: [("plugin", "marketplace", "add", str(HOUSE)), ("plugin", "install", "dos@dos")],
    CODEX: [("plugin", "marketplace", "add", str(HOUSE)), ("plugin", "add", "dos@dos")],
    GEMINI: [("extensions", "install", str(EXTENSION), "--consent")],
}


@pytest.mark.parametrize("program", PLUGIN_COMMANDS, ids=lambda program: program.name)
def test_the_hooks_of_the_plugin_refuse_a_write_into_a_held_lane(home, program):
    repository = OwnRepository(home, program)
    repository.settle(NO_MODEL)
    for words in PLUGIN_COMMANDS[program]:
        repository.run(str(path_of(program)), *words)
    if program is CODEX:  # its user looks at them and trusts them, as `/hooks` offers
        written = commands(HOSTS["codex"], verb_caller("dos"))
        trusted = codex_trust.trust(
            str(path_of(program)), repository.root, repository.environment, written
        )
        assert isinstance(trusted, list) and len(trusted) == 4
    steps = [
        program.write("api/written.md", "no\n"),
        {"bash": "echo no > api/redirected.md"},
        {"bash": "echo yes > web/redirected.md"},
        {"say": "Done."},
    ]
    with repository.worker("api"):
        session = repository.play(steps, home / "model")
    assert [path.name for path in (repository.root / "api").iterdir()] == ["here.md"], session
    assert (repository.root / "web" / "redirected.md").exists(), session
    assert session.told.count("belongs to lane api") == 2, session.told
