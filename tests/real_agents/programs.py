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
