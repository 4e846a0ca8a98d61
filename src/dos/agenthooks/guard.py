"""How a person's own session of an agent program starts with dos in it, and no file in the tree.

Hooks, the MCP server and a few words of prompt are passed by the program's own options.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from dos.agenthooks.events import Moment
from dos.agenthooks.wiring import HOSTS, group
from dos.errors import BadInput
from dos.text import quote

CLAIM_PROMPT = (
    "When you have finished a unit of work, end your last message with one line of its own for"
    " each unit: DOS-CLAIM: PLAN UNIT. Claim only what is committed: it is compared with git."
)
SERVER = "dos"
Entry = dict[str, Any]  # what starts an MCP server


class Wishes(Struct, frozen=True, kw_only=True):
    """What the person asked for."""

    mcp: bool = True
    strict_mcp: bool = False  # no other MCP server
    verify_on_stop: bool = False
    claim_prompt: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """How the program is started: its words, and what is added to its environment."""

    host: str
    argv: list[str]
    host_command: list[str]  # as it was given
    environment: dict[str, str] = field(default_factory=dict)
    mcp_config: Entry | None = None
    settings: Entry | None = None
    notes: list[str] = field(default_factory=list)


class Caller(Struct, frozen=True, kw_only=True):
    """What is known of this machine: how hooks call dos, its server, and what is set already."""

    hooks: str  # before the moment
    server: Entry
    plugin: str = ""  # the path of the plugin of opencode
    environment: Mapping[str, str] = field(default_factory=dict)


Plan = Callable[[list[str], Wishes, Caller], Launch]


def plan(words: Sequence[str], wishes: Wishes, caller: Callable[[str], Caller]) -> Launch:
    """Return how the program of these words is started.

    `caller` is asked for the name of the host. Raises BadInput where no program is named, where it
    is unknown, and for what it cannot be given by its options.
    """
    command = list(words)
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise BadInput("no program is named", hint="For example: dos guard -- claude")
    name = command[0].rpartition("/")[2]
    if name in BY_FILES_ALONE:
        raise BadInput(
            f"{name} takes hooks and MCP servers from files alone",
            hint=f"Run: dos hooks install {name} && dos init --mcp {name}",
        )
    if name not in PLANS:
        raise BadInput(
            f"dos does not know how to start {quote(name)} with hooks",
            hint=f"It knows {', '.join(PROGRAMS)}.",
        )
    host, make = PLANS[name]
    return make(command, wishes, caller(host))


def _claude(command: list[str], wishes: Wishes, caller: Caller) -> Launch:
    """Claude Code takes all of it by options."""
    if "--settings" in command or any(word.startswith("--settings=") for word in command):
        raise BadInput(
            "Claude Code takes --settings once, and guard passes the hooks with it",
            hint="Move your settings to a file that Claude Code reads, or run:"
            " dos hooks install claude-code",
        )
    host = HOSTS["claude-code"]
    moments = {Moment.PRETOOL, Moment.POSTTOOL, Moment.SESSION}
    if wishes.verify_on_stop:
        moments.add(Moment.STOP)
    hooks = {
        event: [group(host, event, caller.hooks)]
        for event, moment in host.events.items()
        if moment in moments
    }
    settings = {"hooks": hooks}
    options: list[str] = []
    mcp_config = None
    if wishes.mcp:
        # Before another option: it takes every word that follows as a configuration.
        mcp_config = {"mcpServers": {SERVER: caller.server}}
        options += ["--mcp-config", json.dumps(mcp_config)]
    if wishes.strict_mcp:
        options.append("--strict-mcp-config")
    options += ["--settings", json.dumps(settings)]
    rest = command[1:]
    if wishes.claim_prompt:
        rest = _with_prompt(rest, "--append-system-prompt")
    return Launch(
        host=host.name,
        argv=[command[0], *options, *rest],
        host_command=command,
        mcp_config=mcp_config,
        settings=settings,
    )


def _with_prompt(words: list[str], option: str) -> list[str]:
    """Return the words with our prompt after the person's own, which the program takes once."""
    for at, word in enumerate(words):
        if word == option and at + 1 < len(words):
            return [*words[: at + 1], f"{words[at + 1]}\n\n{CLAIM_PROMPT}", *words[at + 2 :]]
        if word.startswith(f"{option}="):
            return [*words[:at], f"{word}\n\n{CLAIM_PROMPT}", *words[at + 1 :]]
    return [option, CLAIM_PROMPT, *words]


def _codex(command: list[str], wishes: Wishes, caller: Caller) -> Launch:
    """Codex takes the server and the prompt, and runs only hooks that it was told to trust."""
    _refuse("Codex", "codex", wishes, ("strict_mcp", "verify_on_stop"))
    options: list[str] = []
    mcp_config = None
    if wishes.mcp:
        mcp_config = {"mcp_servers": {SERVER: caller.server}}
        for key, value in caller.server.items():
            options += ["-c", f"mcp_servers.{SERVER}.{key}={json.dumps(value)}"]
    if wishes.claim_prompt:
        options += ["-c", f"developer_instructions={json.dumps(CLAIM_PROMPT)}"]
    return Launch(
        host="codex",
        argv=[command[0], *options, *command[1:]],
        host_command=command,
        mcp_config=mcp_config,
        notes=["Codex runs hooks only from files that it trusts: dos hooks install codex"],
    )


def _opencode(command: list[str], wishes: Wishes, caller: Caller) -> Launch:
    """Opencode takes settings by a variable, and hooks as a plugin, which also looks at stops."""
    _refuse("opencode", "opencode", wishes, ("strict_mcp", "claim_prompt"))
    given = caller.environment.get(OPENCODE_VARIABLE, "")
    settings = _own_settings(given)
    plugins = settings.get("plugin", [])
    settings["plugin"] = [*plugins, f"file://{caller.plugin}"]
    mcp_config = None
    if wishes.mcp:
        mcp_config = {"mcp": {SERVER: caller.server}}
        settings["mcp"] = {**settings.get("mcp", {}), SERVER: caller.server}
    return Launch(
        host="opencode",
        argv=command,
        host_command=command,
        environment={OPENCODE_VARIABLE: json.dumps(settings)},
        mcp_config=mcp_config,
        settings=settings,
    )


def _own_settings(text: str) -> Entry:
    """Return the settings that the person's own variable holds; raises BadInput for no object."""
    if not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        settings = None
    if (
        not isinstance(settings, dict)
        or not isinstance(settings.get("plugin", []), list)
        or not isinstance(settings.get("mcp", {}), dict)
    ):
        raise BadInput(
            f"${OPENCODE_VARIABLE} is no settings of opencode",
            hint=f"Correct it, or unset it: unset {OPENCODE_VARIABLE}",
        )
    return settings


def _refuse(program: str, host: str, wishes: Wishes, cannot: Sequence[str]) -> None:
    """Raise BadInput for a wish that the program has no option for."""
    for name in cannot:
        if getattr(wishes, name):
            flag = f"--{name.replace('_', '-')}"
            raise BadInput(
                f"{program} has no option for {flag}",
                hint=f"Leave it out; `dos hooks install {host}` wires the hooks by a file.",
            )


OPENCODE_VARIABLE = "OPENCODE_CONFIG_CONTENT"
PLANS: dict[str, tuple[str, Plan]] = {
    "claude": ("claude-code", _claude),
    "codex": ("codex", _codex),
    "opencode": ("opencode", _opencode),
}
PROGRAMS = tuple(PLANS)
BY_FILES_ALONE = ("gemini", "cursor")
