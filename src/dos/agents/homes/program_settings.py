"""What is copied of the user's settings of agent programs and package managers.

Settings that start a program (hooks, MCP servers, plugins, `notify`, status lines, language
servers) and settings that hold a secret are left out. Each filter takes the text of a file and
returns what is kept of it; of a file that it cannot read it keeps nothing.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import DecodeError, json

from dos.agents.homes.variables import is_secret_name, without_web_login

_CLAUDE_SETTINGS = frozenset({
    "$schema", "alwaysThinkingEnabled", "apiKeyHelper", "attribution", "availableModels",
    "awsAuthRefresh", "awsCredentialExport", "cleanupPeriodDays", "effortLevel", "fastMode",
    "forceLoginMethod", "forceLoginOrgUUID", "gcpAuthRefresh", "includeCoAuthoredBy", "language",
    "model", "modelOverrides", "respectGitignore", "skipWebFetchPreflight",
})  # fmt: skip
_CLAUDE_PERMISSIONS = ("allow", "ask", "deny")
_CLAUDE_ENVIRONMENT = ("ANTHROPIC_", "CLAUDE_CODE_", "DISABLE_", "BASH_", "MAX_", "API_")
_CLAUDE_ACCOUNT = frozenset(
    {"oauthAccount", "hasCompletedOnboarding", "customApiKeyResponses", "primaryApiKey", "userID"}
)
_CODEX_CONFIG = frozenset({
    "chatgpt_base_url", "cli_auth_credentials_store", "disable_response_storage",
    "forced_chatgpt_workspace_id", "forced_login_method", "hide_agent_reasoning", "model",
    "model_auto_compact_token_limit", "model_context_window", "model_max_output_tokens",
    "model_provider", "model_providers", "model_reasoning_effort", "model_reasoning_summary",
    "model_supports_reasoning_summaries", "model_verbosity", "openai_base_url", "oss_provider",
    "personality", "preferred_auth_method", "profile", "profiles",
    "project_doc_fallback_filenames", "project_doc_max_bytes", "service_tier",
    "show_raw_agent_reasoning", "tool_output_token_limit", "web_search",
})  # fmt: skip
_GEMINI_SETTINGS = frozenset({
    "$schema", "context", "contextFileName", "general", "model", "modelConfigs", "privacy",
    "security", "selectedAuthType", "ui", "usageStatisticsEnabled",
})  # fmt: skip
_QWEN_SETTINGS = _GEMINI_SETTINGS | {"modelProviders"}
_OPENCODE_CONFIG = frozenset({
    "$schema", "agent", "autoupdate", "default_agent", "disabled_providers", "enabled_providers",
    "mode", "model", "permission", "provider", "share", "small_model", "theme", "tools",
    "username",
})  # fmt: skip
_COPILOT_SETTINGS = frozenset({
    "allowedUrls", "deniedUrls", "autoUpdate", "continueOnAutoMode", "includeCoAuthoredBy",
    "model", "proxyUrl",
})  # fmt: skip
_COPILOT_ACCOUNT = frozenset({
    "copilot_tokens", "copilotTokens", "last_logged_in_user", "lastLoggedInUser",
    "logged_in_users", "loggedInUsers",
})  # fmt: skip
_PI_SETTINGS = frozenset({
    "compaction", "defaultModel", "defaultProvider", "defaultThinkingLevel", "enabledModels",
    "retry", "steeringMode", "thinkingBudgets", "transport",
})  # fmt: skip
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_NPM_KEYS = frozenset({
    "audit", "ca", "cafile", "engine-strict", "fetch-retries", "fetch-timeout", "fund",
    "https-proxy", "ignore-scripts", "include", "install-strategy", "legacy-peer-deps",
    "loglevel", "maxsockets", "noproxy", "omit", "package-lock", "prefer-offline", "proxy",
    "registry", "save-exact", "save-prefix", "strict-peer-deps", "strict-ssl",
})  # fmt: skip
_CARGO_TABLES = frozenset({"alias", "build", "http", "net", "profile", "registries", "registry",
                           "source", "target", "unstable", "env", "patch"})  # fmt: skip
_CARGO_PROGRAMS = frozenset(
    {"rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc", "runner", "target-dir",
     "token", "credential-provider", "global-credential-providers",
     "proxy-authorization"}
)  # fmt: skip
_ENVIRONMENT_NAME = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
# A string, a comment, or a comma before a closing bracket.
_JSONC = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?://[^\n]*\n\s*)*[}\]])', re.DOTALL
)


def whole(text: str) -> str:
    """The text as it is: instructions for the model, and other files that start nothing."""
    return text


def no_names(_text: str) -> Iterable[str]:
    """The variables that a file names, where its kind names none."""
    return ()


def claude_settings(text: str) -> str:
    """`settings.json` of Claude Code, without hooks, plugins, MCP servers and the status line."""
    settings = _object(text)
    kept = {key: value for key, value in settings.items() if key in _CLAUDE_SETTINGS}
    permissions = settings.get("permissions")
    if isinstance(permissions, dict):
        rules = {name: permissions[name] for name in _CLAUDE_PERMISSIONS if name in permissions}
        kept["permissions"] = rules
    environment = settings.get("env")
    if isinstance(environment, dict):
        kept["env"] = {
            name: value
            for name, value in environment.items()
            if name.startswith(_CLAUDE_ENVIRONMENT)
        }
    return _text(kept)


def claude_account(text: str) -> str:
    """`.claude.json` of Claude Code: the account alone, no projects and no MCP servers."""
    account = _object(text)
    return _text({key: value for key, value in account.items() if key in _CLAUDE_ACCOUNT})


def codex_config(text: str) -> str:
    """`config.toml` of Codex: the model and its provider, also in profiles."""
    config = _table(text)
    kept = {key: value for key, value in config.items() if key in _CODEX_CONFIG}
    profiles = kept.get("profiles")
    if isinstance(profiles, dict):
        kept["profiles"] = {name: _profile(profile) for name, profile in profiles.items()}
    return _toml(kept)


def _profile(profile: object) -> dict[str, Any]:
    if not isinstance(profile, dict):
        return {}
    return {key: value for key, value in profile.items() if key in _CODEX_CONFIG}


def codex_variables(text: str) -> Iterable[str]:
    """The variables from which Codex reads the keys of its model providers."""
    providers = _table(text).get("model_providers")
    if not isinstance(providers, dict):
        return
    for provider in providers.values():
        if not isinstance(provider, dict):
            continue
        if isinstance(provider.get("env_key"), str):
            yield provider["env_key"]
        headers = provider.get("env_http_headers")
        if isinstance(headers, dict):
            yield from (name for name in headers.values() if isinstance(name, str))


def gemini_settings(text: str) -> str:
    """`settings.json` of Gemini CLI, without hooks, extensions, MCP servers and tool commands."""
    settings = _object(text)
    return _text({key: value for key, value in settings.items() if key in _GEMINI_SETTINGS})


def qwen_settings(text: str) -> str:
    """`settings.json` of Qwen Code: as that of Gemini CLI, and where its models are."""
    settings = _object(text)
    return _text({key: value for key, value in settings.items() if key in _QWEN_SETTINGS})


def opencode_config(text: str) -> str:
    """`opencode.json`, without plugins, MCP servers, formatters, commands, language servers."""
    config = _object(text)
    return _text({key: value for key, value in config.items() if key in _OPENCODE_CONFIG})


def opencode_variables(text: str) -> Iterable[str]:
    """The variables that `{env:NAME}` in the configuration of opencode names."""
    return _ENVIRONMENT_NAME.findall(opencode_config(text))


def copilot_settings(text: str) -> str:
    """`settings.json` of Copilot CLI, without hooks, plugins, MCP servers and the status line."""
    settings = _object(text)
    return _text({key: value for key, value in settings.items() if key in _COPILOT_SETTINGS})


def copilot_account(text: str) -> str:
    """`config.json` of Copilot CLI: the accounts and their tokens, no trusted folders."""
    account = _object(text)
    return _text({key: value for key, value in account.items() if key in _COPILOT_ACCOUNT})


def pi_settings(text: str) -> str:
    """`settings.json` of pi: its model, without packages, extensions and the shell it starts."""
    settings = _object(text)
    return _text({key: value for key, value in settings.items() if key in _PI_SETTINGS})


def pi_models(text: str) -> str:
    """`models.json` of pi: providers and their models, without keys that a command prints."""
    providers = _object(text).get("providers")
    if not isinstance(providers, dict):
        return ""
    kept = {
        name: {key: value for key, value in provider.items() if not _is_pi_command(value)}
        for name, provider in providers.items()
        if isinstance(provider, dict)
    }
    return _text({"providers": kept}) if kept else ""


def _is_pi_command(value: object) -> bool:
    """Whether pi would run the value as a command: it begins with an exclamation mark."""
    if isinstance(value, dict):
        return any(_is_pi_command(inner) for inner in value.values())
    return isinstance(value, str) and value.startswith("!")


def pi_variables(text: str) -> Iterable[str]:
    """The variables from which pi reads the keys of its providers."""
    providers = _object(text).get("providers")
    if not isinstance(providers, dict):
        return ()
    keys = [provider.get("apiKey") for provider in providers.values() if isinstance(provider, dict)]
    names = [key.removeprefix("$") for key in keys if isinstance(key, str)]
    return [name for name in names if _VARIABLE.fullmatch(name)]


def without_logins(text: str) -> str:
    """A configuration of pip or uv, with the passwords taken out of its addresses."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not is_secret_name(re.split(r"[=:]", line, maxsplit=1)[0])]
    return without_web_login("".join(kept))


def npm_config(text: str) -> str:
    """`.npmrc`: registries and how to reach them, no logins and no programs."""
    kept = []
    for line in text.splitlines():
        key = line.partition("=")[0].strip().removesuffix("[]")
        is_scope = key.startswith("@") and key.endswith(":registry")
        if is_scope or key in _NPM_KEYS:
            kept.append(line)
    return without_web_login("\n".join([*kept, ""])) if kept else ""


def cargo_config(text: str) -> str:
    """`config.toml` of cargo, without tokens and without programs that wrap the compiler."""
    config = _table(text)
    kept = {key: value for key, value in config.items() if key in _CARGO_TABLES}
    return without_web_login(_toml(_without_programs(kept)))


def _without_programs(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table without the keys of cargo that name a program or hold a token, at any depth."""
    kept = {}
    for key, value in table.items():
        if key in _CARGO_PROGRAMS:
            continue
        kept[key] = _without_programs(value) if isinstance(value, dict) else value
    return kept


def _object(text: str) -> dict[str, Any]:
    """The object in a text of JSON with comments; an empty one where it holds none."""
    try:
        decoded = json.decode(_JSONC.sub(_json_part, text))
    except (DecodeError, UnicodeEncodeError, RecursionError):
        return {}
    if isinstance(decoded, dict):
        return decoded
    return {}


def _json_part(part: re.Match[str]) -> str:
    """A string stays; a comment and a comma before a closing bracket are blanks."""
    if part[0].startswith('"'):
        return part[0]
    return " "


def _text(kept: Mapping[str, Any]) -> str:
    """The settings as JSON; "" where nothing is left of them."""
    if not kept:
        return ""
    return json.encode(kept).decode()


def _table(text: str) -> dict[str, Any]:
    """The tables of a TOML text; an empty one where it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _toml(kept: Mapping[str, Any]) -> str:
    """The settings as TOML; "" where nothing is left of them."""
    if not kept:
        return ""
    import tomlkit

    return tomlkit.dumps(kept)
