"""How each agent program is pointed at the scripted model, and started as a person starts it.

Nothing here is the user's: the settings belong into a private home, and the keys open nothing.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, json

Step = dict[str, Any]  # of the scripted model
Files = dict[str, str]  # path below the home -> text

PROMPT = "Do the work."


def _no_files(_url: str, _tree: str) -> Files:
    return {}


class Trial(Struct, frozen=True, kw_only=True):
    """One agent program in a scratch repository, with the scripted model as its provider."""

    agent: str  # the name of its adapter
    program: str
    host: str = ""  # the dialect of its hooks; empty: it has none that dos installs
    environment: Callable[[str], dict[str, str]]  # by the address of the model
    write: Callable[[str, str], Step]  # a path and a text -> the model's step that writes them
    words: tuple[str, ...] = ()  # a person's own session, without questions of the program itself
    files: Callable[[str, str], Files] = _no_files  # by the model's address and the work tree
    first: tuple[str, ...] = ()  # what has to be run once in a new home, by itself
    model: str = ""
    absolute_paths: bool = False  # its tool for files takes no others
    submits: bool = False  # a command of its own ends its work, and no text does
    has_tools: bool = True  # False: what its model answers is its work
    # It names the file of a conversation by the minute: a start that continues one in the minute in
    # which that began overwrites it, and finds nothing in it.
    resumes_a_minute_later: bool = False

    def script(self, steps: list[Step]) -> list[Step] | dict[str, Any]:
        """The steps as the scripted model takes them.

        Requests without tools are asides of the other programs, and get no step.
        """
        if self.has_tools:
            return steps
        return {"default": steps, "answer_all": True}

    def say(self, text: str) -> Step:
        """The model's step that ends the work."""
        if self.submits:
            return {"bash": f"printf '%s\\n' COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT '{text}'"}
        return {"say": text}


def _claude_environment(url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex_environment(_url: str) -> dict[str, str]:
    return {"SCRIPTED_KEY": "scripted"}


def _codex_files(url: str, tree: str) -> Files:
    """Its provider, and the folder that its user trusts."""
    lines = [
        'model = "scripted"',
        'model_provider = "scripted"',
        "check_for_update_on_startup = false",
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        "request_max_retries = 1",
        "stream_max_retries = 1",
        f"[projects.{json.encode(tree).decode()}]",
        'trust_level = "trusted"',
    ]
    return {".codex/config.toml": "\n".join(lines) + "\n"}


def _gemini_environment(url: str) -> dict[str, str]:
    return {
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "scripted",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _gemini_files(_url: str, _tree: str) -> Files:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    return {".gemini/settings.json": json.encode(settings).decode()}


def _opencode_environment(url: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {"scripted": {}},
    }
    settings = {"model": "scripted/scripted", "provider": {"scripted": provider}}
    return {
        "OPENCODE_CONFIG_CONTENT": json.encode(settings).decode(),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _opencode_asking_environment(url: str) -> dict[str, str]:
    """By the protocol it asks only where its settings say so."""
    made = _opencode_environment(url)
    settings = json.decode(made["OPENCODE_CONFIG_CONTENT"])
    settings["permission"] = {"edit": "ask", "bash": "ask"}
    return {**made, "OPENCODE_CONFIG_CONTENT": json.encode(settings).decode()}


def _qwen_environment(url: str) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "scripted",
        "OPENAI_MODEL": "scripted",
    }


def _qwen_files(_url: str, _tree: str) -> Files:
    settings = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    return {".qwen/settings.json": json.encode(settings).decode()}


def _copilot_environment(url: str) -> dict[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }


def _pi_files(url: str, _tree: str) -> Files:
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "scripted",
        "models": [{"id": "scripted"}],
    }
    settings = {"providers": {"local": provider}}
    return {".pi/agent/models.json": json.encode(settings).decode()}


def _litellm_environment(url: str) -> dict[str, str]:
    return {
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "scripted",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _pi_environment(_url: str) -> dict[str, str]:
    return {"PI_OFFLINE": "1"}


def _by_shell(path: str, text: str) -> Step:
    """Of a program whose shell is its only tool."""
    return {"bash": f"printf '%s' '{text}' > {path}"}


def _by_answer(path: str, text: str) -> Step:
    """Of a program that writes what its model answers."""
    return {"say": f"{path}\n```\n{text}\n```\n"}


def _create(path: str, text: str) -> Step:
    return {"tool": "create", "with": {"path": path, "file_text": text}}


def _tool(name: str, path_key: str) -> Callable[[str, str], Step]:
    """Return what makes the model call a tool that writes files."""

    def step(path: str, text: str) -> Step:
        return {"tool": name, "with": {path_key: path, "content": text}}

    return step


def _patch(path: str, text: str) -> Step:
    """Codex offers a model that it does not know its shell alone, and reads patches from it."""
    added = f"*** Begin Patch\n*** Add File: {path}\n+{text.rstrip()}\n*** End Patch"
    return {"bash": f"apply_patch <<'END'\n{added}\nEND"}


CLAUDE_CODE = Trial(
    agent="claude_code",
    host="claude-code",
    program="claude",
    environment=_claude_environment,
    write=_tool("Write", "file_path"),
    words=("-p", PROMPT, "--allowedTools", "Bash,Write", "--permission-mode", "acceptEdits"),
)
CODEX = Trial(
    agent="codex",
    host="codex",
    program="codex",
    environment=_codex_environment,
    files=_codex_files,
    write=_patch,
    words=("exec", "--dangerously-bypass-approvals-and-sandbox", PROMPT),
)
GEMINI = Trial(
    agent="gemini",
    host="gemini",
    program="gemini",
    environment=_gemini_environment,
    files=_gemini_files,
    write=_tool("write_file", "file_path"),
    words=("-p", PROMPT, "--yolo", "--model", "gemini-2.5-flash"),
    model="gemini-2.5-flash",
)
OPENCODE = Trial(
    agent="opencode",
    host="opencode",
    program="opencode",
    environment=_opencode_environment,
    write=_tool("write", "filePath"),
    words=("run", "--auto", PROMPT),
    # Its first start makes its database: of two at once in a new home, one fails.
    first=("session", "list"),
)
CLAUDE_ACP = Trial(
    agent="claude_acp",
    program="claude-agent-acp",
    environment=_claude_environment,
    write=_tool("Write", "file_path"),
)
CODEX_ACP = Trial(
    agent="codex_acp",
    program="codex-acp",
    environment=_codex_environment,
    files=_codex_files,
    write=_patch,
)
GEMINI_ACP = Trial(
    agent="gemini_acp",
    program="gemini",
    environment=_gemini_environment,
    files=_gemini_files,
    write=_tool("write_file", "file_path"),
    model="gemini-2.5-flash",
    resumes_a_minute_later=True,
)
OPENCODE_ACP = Trial(
    agent="opencode_acp",
    program="opencode",
    environment=_opencode_asking_environment,
    write=_tool("write", "filePath"),
    first=("session", "list"),
)
QWEN = Trial(
    agent="qwen",
    program="qwen",
    environment=_qwen_environment,
    files=_qwen_files,
    write=_tool("write_file", "file_path"),
    absolute_paths=True,
)
COPILOT = Trial(
    agent="copilot",
    program="copilot",
    environment=_copilot_environment,
    write=_create,
    absolute_paths=True,
)
PI = Trial(
    agent="pi",
    program="pi",
    environment=_pi_environment,
    files=_pi_files,
    write=_tool("write", "path"),
    model="local/scripted",
)
MINI_SWE_AGENT = Trial(
    agent="mini_swe_agent",
    program="mini",
    environment=_litellm_environment,
    write=_by_shell,
    model="openai/scripted",
    submits=True,
)
AIDER = Trial(
    agent="aider",
    program="aider",
    environment=_litellm_environment,
    write=_by_answer,
    model="openai/scripted",
    has_tools=False,
)
TRIALS = {
    trial.agent: trial
    for trial in (
        CLAUDE_CODE, CODEX, GEMINI, OPENCODE,
        CLAUDE_ACP, CODEX_ACP, GEMINI_ACP, OPENCODE_ACP, QWEN, COPILOT,
        PI, MINI_SWE_AGENT, AIDER,
    )
}  # fmt: skip
BY_HOST = {trial.host: trial for trial in TRIALS.values() if trial.host}
