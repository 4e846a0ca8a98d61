"""What each agent program needs in a private home: variables, settings, the user's login.

An agent never works in the user's own `~/.claude` or `~/.codex`: what one leaves there (a hook, a
`notify`, a plugin, an MCP server) would be run by the user's next session. It gets a copy of the
settings that start no program, and a link to the login. `agents/io/home.py` makes the home.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from dos.agents.homes import program_settings


class CopiedFile(Struct, frozen=True, kw_only=True):
    """A file of the user's that a private home gets a copy of, through a filter.

    It is in the folder that `variable` names, else in `folder` of the user's home.
    """

    path: str  # in that folder
    target: str  # in the private home
    variable: str = ""
    folder: str = ""
    # Returns what is copied of the text; "": nothing.
    keep: Callable[[str], str] = program_settings.whole
    # Returns the variables that the file names, which the program needs as well.
    names: Callable[[str], Iterable[str]] = program_settings.no_names


class ProgramHome(Struct, frozen=True, kw_only=True):
    """One program: what it gets of the environment and of the user's files."""

    variables: tuple[str, ...] = ()  # patterns of its own variables, keys included
    # More patterns, where a variable is set that asks for them.
    conditional: dict[str, tuple[str, ...]] = {}
    refused: tuple[str, ...] = ()  # of a session of the program around dos
    folders: dict[str, str] = {}  # variables that name its state, by folder of the home
    defaults: dict[str, str] = {}  # set where the user sets nothing
    files: tuple[CopiedFile, ...] = ()
    kept: tuple[str, ...] = ()  # folders of the home that stay from start to start


# The keys of model providers, for programs that use any of them.
_PROVIDERS = (
    "ANTHROPIC_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_*", "GOOGLE_GENAI_*", "GOOGLE_GEMINI_*", "OPENROUTER_*", "GROQ_*",
    "MISTRAL_*", "DEEPSEEK_*", "XAI_*", "TOGETHER_*", "FIREWORKS_*", "COHERE_*", "CEREBRAS_*",
    "PERPLEXITY_*", "MOONSHOT_*", "KIMI_*", "DASHSCOPE_*", "QWEN_*", "ZHIPU*", "ZAI_*",
    "OLLAMA_*", "LITELLM_*", "LM_STUDIO_*",
)  # fmt: skip
_AWS = ("AWS_*",)
_GOOGLE_CLOUD = (
    "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GCLOUD_PROJECT", "CLOUDSDK_*",
    "ANTHROPIC_VERTEX_*",
)  # fmt: skip

CLAUDE_CODE = ProgramHome(
    variables=(
        "ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_*",
        "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT",
        "DISABLE_*", "ENABLE_*", "USE_BUILTIN_RIPGREP", "VERTEX_REGION_*", "CLOUD_ML_REGION",
    ),
    conditional={
        "CLAUDE_CODE_USE_BEDROCK": _AWS,
        "CLAUDE_CODE_USE_VERTEX": _GOOGLE_CLOUD,
        "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_*",),
    },
    refused=(
        "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION*",
        "CLAUDE_CODE_REMOTE*", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_*",
    ),
    folders={"CLAUDE_CONFIG_DIR": ".claude"},
    # It would download its next version into every private home.
    defaults={"DISABLE_AUTOUPDATER": "1"},
    files=(
        CopiedFile(
            path="settings.json", target=".claude/settings.json", variable="CLAUDE_CONFIG_DIR",
            folder=".claude", keep=program_settings.claude_settings,
        ),
        CopiedFile(
            path="CLAUDE.md", target=".claude/CLAUDE.md", variable="CLAUDE_CONFIG_DIR",
            folder=".claude",
        ),
        CopiedFile(
            path=".claude.json", target=".claude/.claude.json", variable="CLAUDE_CONFIG_DIR",
            keep=program_settings.claude_account,
        ),
    ),
)  # fmt: skip
CODEX = ProgramHome(
    variables=("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*"),
    refused=("CODEX_SANDBOX*", "CODEX_THREAD_ID", "CODEX_INTERNAL_*"),
    folders={"CODEX_HOME": ".codex"},
    files=(
        CopiedFile(
            path="config.toml", target=".codex/config.toml", variable="CODEX_HOME",
            folder=".codex", keep=program_settings.codex_config,
            names=program_settings.codex_variables,
        ),
        CopiedFile(
            path="AGENTS.md", target=".codex/AGENTS.md", variable="CODEX_HOME", folder=".codex"
        ),
    ),
)  # fmt: skip
GEMINI = ProgramHome(
    variables=("GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GENAI_*", "GOOGLE_GEMINI_*",
               "GOOGLE_CLOUD_PROJECT*", "GOOGLE_CLOUD_LOCATION", "CODE_ASSIST_*"),
    conditional={"GOOGLE_GENAI_USE_VERTEXAI": _GOOGLE_CLOUD},
    refused=("GEMINI_CLI_IDE_*", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD",
             "GEMINI_PLANS_DIR", "GEMINI_CLI_SYSTEM_*"),
    folders={"GEMINI_CLI_HOME": ""},
    files=(
        CopiedFile(
            path=".gemini/settings.json", target=".gemini/settings.json",
            variable="GEMINI_CLI_HOME", keep=program_settings.gemini_settings,
        ),
        *(
            CopiedFile(path=f".gemini/{name}", target=f".gemini/{name}", variable="GEMINI_CLI_HOME")
            for name in ("GEMINI.md", "google_accounts.json", "installation_id")
        ),
    ),
)  # fmt: skip
OPENCODE = ProgramHome(
    variables=("OPENCODE_*", *_PROVIDERS),
    conditional={"AWS_BEARER_TOKEN_BEDROCK": _AWS, "GOOGLE_VERTEX_PROJECT": _GOOGLE_CLOUD},
    refused=("OPENCODE_PID", "OPENCODE_SERVER_*", "OPENCODE_CALLER", "OPENCODE_CONFIG_DIR"),
    folders={
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
    },
    defaults={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    files=(
        *(
            CopiedFile(
                path=f"opencode/{name}", target=f".config/opencode/{name}",
                variable="XDG_CONFIG_HOME", folder=".config",
                keep=program_settings.opencode_config, names=program_settings.opencode_variables,
            )
            for name in ("opencode.json", "opencode.jsonc", "config.json")
        ),
        CopiedFile(
            path="opencode/AGENTS.md", target=".config/opencode/AGENTS.md",
            variable="XDG_CONFIG_HOME", folder=".config",
        ),
    ),
)  # fmt: skip
QWEN = ProgramHome(
    variables=("QWEN_*", *_PROVIDERS),
    conditional={"GOOGLE_GENAI_USE_VERTEXAI": _GOOGLE_CLOUD},
    refused=("QWEN_CODE_IDE_*", "QWEN_CODE_SYSTEM_*", "QWEN_CODE_TRUSTED_*", "QWEN_SANDBOX*",
             "QWEN_RUNTIME_DIR"),
    folders={"QWEN_HOME": ".qwen"},
    files=(
        CopiedFile(
            path="settings.json", target=".qwen/settings.json", variable="QWEN_HOME",
            folder=".qwen", keep=program_settings.qwen_settings,
        ),
        CopiedFile(path="QWEN.md", target=".qwen/QWEN.md", variable="QWEN_HOME", folder=".qwen"),
    ),
)  # fmt: skip
COPILOT = ProgramHome(
    variables=("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"),
    # What would run programs of the user's, load files of theirs, or answer for dos.
    refused=("COPILOT_ALLOW_ALL", "COPILOT_PROVIDER_API_KEY_COMMAND", "COPILOT_EDITOR",
             "COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "COPILOT_OTEL_*", "COPILOT_CLI_DIST_DIR"),
    folders={"COPILOT_HOME": ".copilot"},
    defaults={"COPILOT_AUTO_UPDATE": "false"},
    files=(
        CopiedFile(
            path="settings.json", target=".copilot/settings.json", variable="COPILOT_HOME",
            folder=".copilot", keep=program_settings.copilot_settings,
        ),
        CopiedFile(
            path="config.json", target=".copilot/config.json", variable="COPILOT_HOME",
            folder=".copilot", keep=program_settings.copilot_account,
        ),
        CopiedFile(
            path="copilot-instructions.md", target=".copilot/copilot-instructions.md",
            variable="COPILOT_HOME", folder=".copilot",
        ),
    ),
)  # fmt: skip
PI = ProgramHome(
    variables=("PI_*", *_PROVIDERS),
    conditional={"AWS_BEARER_TOKEN_BEDROCK": _AWS, "GOOGLE_CLOUD_PROJECT": _GOOGLE_CLOUD},
    refused=("PI_CODING_AGENT", "PI_SESSION_*", "PI_PACKAGE_DIR", "PI_MANAGED_*"),
    folders={"PI_CODING_AGENT_DIR": ".pi/agent"},
    defaults={"PI_SKIP_VERSION_CHECK": "1"},
    files=(
        CopiedFile(
            path="models.json", target=".pi/agent/models.json", variable="PI_CODING_AGENT_DIR",
            folder=".pi/agent", keep=program_settings.pi_models,
            names=program_settings.pi_variables,
        ),
        CopiedFile(
            path="settings.json", target=".pi/agent/settings.json", variable="PI_CODING_AGENT_DIR",
            folder=".pi/agent", keep=program_settings.pi_settings,
        ),
        CopiedFile(
            path="AGENTS.md", target=".pi/agent/AGENTS.md", variable="PI_CODING_AGENT_DIR",
            folder=".pi/agent",
        ),
    ),
)  # fmt: skip
MINI_SWE_AGENT = ProgramHome(
    variables=("MSWEA_*", *_PROVIDERS),
    refused=("MSWEA_GLOBAL_CONFIG_DIR", "MSWEA_CONFIG_DIR"),
    folders={"XDG_CONFIG_HOME": ".config"},
    defaults={"MSWEA_SILENT_STARTUP": "1"},
    files=(
        # Its model and keys.
        CopiedFile(
            path="mini-swe-agent/.env", target=".config/mini-swe-agent/.env",
            variable="XDG_CONFIG_HOME", folder=".config",
        ),
    ),
)  # fmt: skip
# Its settings are in the repository, in variables, and in a file that may name commands.
AIDER = ProgramHome(
    variables=("AIDER_*", *_PROVIDERS),
    refused=("AIDER_LINT_CMD", "AIDER_TEST_CMD", "AIDER_NOTIFICATIONS_COMMAND", "AIDER_EDITOR"),
)
# Of any other program nothing is known: it gets the keys of all providers, and no state.
OTHER = ProgramHome(
    variables=(*_PROVIDERS, "AIDER_*", "COPILOT_*", "CURSOR_API_KEY", "AMP_*", "FACTORY_*",
               "MSWEA_*", "CODEX_*", "OPENCODE_*", "CLAUDE_CODE_*"),
    refused=(*CLAUDE_CODE.refused, *CODEX.refused, *OPENCODE.refused),
)  # fmt: skip
SCRIPTED = ProgramHome(
    variables=OTHER.variables,
    refused=OTHER.refused,
    # Its counter of starts: the n-th start of a unit plays the n-th attempt.
    kept=(".local/state/dos/scripted-agent",),
)

_BY_ADAPTER = {
    "claude_code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "opencode": OPENCODE,
    "claude_acp": CLAUDE_CODE,
    "codex_acp": CODEX,
    "copilot": COPILOT,
    "gemini_acp": GEMINI,
    "opencode_acp": OPENCODE,
    "qwen": QWEN,
    "pi": PI,
    "mini_swe_agent": MINI_SWE_AGENT,
    "aider": AIDER,
    "scripted": SCRIPTED,
}

KNOWN = frozenset(_BY_ADAPTER)  # the adapters whose program and login are known


def program_home(adapter: str) -> ProgramHome:
    """What the program of an adapter needs; an adapter of another package is any program."""
    return _BY_ADAPTER.get(adapter, OTHER)


# For agents and checks alike

# Folders of a home that hold packages and no settings. They stay, and belong to the lane.
CACHED_FOLDERS = {
    ".cargo/registry": "cargo/registry",
    ".cargo/git": "cargo/git",
    ".m2/repository": "maven",
    ".gradle/caches": "gradle/caches",
    ".gradle/wrapper": "gradle/wrapper",
    ".nuget/packages": "nuget",
    ".bun/install/cache": "bun",
}
CACHE_VARIABLES = {
    "XDG_CACHE_HOME": "",
    "npm_config_cache": "npm",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "YARN_CACHE_FOLDER": "yarn",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-mod",
    "DENO_DIR": "deno",
}
# Where the user's own toolchains are, if nothing else is said. They are only read.
TOOLCHAIN_FOLDERS = {
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "VOLTA_HOME": ".volta",
    "RBENV_ROOT": ".rbenv",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "SDKMAN_DIR": ".sdkman",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "MIX_HOME": ".mix",
}
PACKAGE_FILES = (
    CopiedFile(path="pip/pip.conf", target=".config/pip/pip.conf", variable="XDG_CONFIG_HOME",
               folder=".config", keep=program_settings.without_logins),
    CopiedFile(path=".pip/pip.conf", target=".pip/pip.conf", keep=program_settings.without_logins),
    CopiedFile(path="uv/uv.toml", target=".config/uv/uv.toml", variable="XDG_CONFIG_HOME",
               folder=".config", keep=program_settings.without_logins),
    CopiedFile(path=".npmrc", target=".npmrc", keep=program_settings.npm_config),
    CopiedFile(path="config.toml", target=".cargo/config.toml", variable="CARGO_HOME",
               folder=".cargo", keep=program_settings.cargo_config),
    CopiedFile(path="config", target=".cargo/config", variable="CARGO_HOME", folder=".cargo",
               keep=program_settings.cargo_config),
)  # fmt: skip
# Of the user's global git configuration, besides `[workers] git_config`. Nothing of it names a
# program to run.
GIT_KEYS = (
    "user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email",
    "init.defaultbranch", "core.autocrlf", "core.eol", "core.safecrlf", "core.precomposeunicode",
    "core.quotepath", "merge.conflictstyle", "diff.algorithm", "pull.rebase", "pull.ff",
)  # fmt: skip
