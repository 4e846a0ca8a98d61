"""Where each agent program reads its MCP servers, and the entry that starts the server of dos."""

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from dos.agenthooks import json_edit, json_settings, toml_settings, wiring
from dos.agenthooks.json_settings import NotPlain
from dos.agenthooks.toml_settings import Marks

NAME = "dos"  # of the server; clients put it before the names of its tools
WORDS = ("mcp",)
RELEASED_COMMAND = "dos-mcp"  # of dos-kernel; `dos mcp` by another name
MARKS = Marks(
    begin="# >>> dos mcp (managed by `dos init --mcp codex`) >>>",
    end="# <<< dos mcp <<<",
    begins_with="# >>> dos mcp",
)
Entry = dict[str, Any]


class Host(Struct, frozen=True, kw_only=True):
    """One agent program: its file of MCP servers in a repository, and what it wants in an entry."""

    name: str
    path: tuple[str, ...]  # below the repository
    key: str  # under which the servers are
    more: Entry = {}  # besides the command
    joins_words: bool = False  # the command is one list, with its arguments
    is_toml: bool = False
    rival: str = ""  # a file that the program reads instead, and that dos does not edit
    note: str = ""  # what its user has to do besides

    @property
    def file(self) -> str:
        """The path of the file below the repository."""
        return "/".join(self.path)

    def entry(self, dos: str) -> Entry:
        """Return what starts the server. `dos` is how this dos is called."""
        if self.joins_words:
            return {"command": [dos, *WORDS], **self.more}
        return {"command": dos, "args": list(WORDS), **self.more}


HOSTS = {
    host.name: host
    for host in (
        Host(
            name="claude-code",
            path=(".mcp.json",),
            key="mcpServers",
            more={"type": "stdio"},
            note=(
                "Claude Code asks once whether to use the servers of this file. Without a"
                " terminal: claude -p PROMPT --mcp-config .mcp.json --strict-mcp-config"
            ),
        ),
        Host(
            name="codex",
            path=(".codex", "config.toml"),
            key="mcp_servers",
            more={"startup_timeout_sec": 20},
            is_toml=True,
            note="Codex reads this file only in folders that you trust: start `codex` here once.",
        ),
        Host(
            name="gemini",
            path=(".gemini", "settings.json"),
            key="mcpServers",
            note=(
                "Gemini CLI starts servers only in folders that you trust: start `gemini` here"
                " once, or set GEMINI_CLI_TRUST_WORKSPACE=true."
            ),
        ),
        Host(
            name="opencode",
            path=("opencode.json",),
            key="mcp",
            more={"type": "local", "enabled": True, "timeout": 60_000},
            joins_words=True,
            rival="opencode.jsonc",
        ),
        Host(
            name="cursor",
            path=(".cursor", "mcp.json"),
            key="mcpServers",
            note="not tried with the real program: Cursor cannot be installed for tests",
        ),
    )
}


def chosen_hosts(names: Iterable[str]) -> list[Host]:
    """Return the hosts of these names, each once; `all` means every one. Raises BadInput."""
    return wiring.chosen(names, HOSTS, "does not know where {name} reads its MCP servers")


def with_server(text: str, host: Host, dos: str, *, force: bool = False) -> str:
    """Return the file with our server; everything else in it stays.

    An entry that calls `dos mcp` with options of its own stays as it is unless `force`. Raises
    NotPlain for a file that cannot be edited without losing something, and for an entry of our name
    that starts another program.
    """
    if host.is_toml:
        return _with_block(text, host, dos)
    settings = json_settings.parse(text, host.file)
    servers = _servers(settings, host)
    present = servers.get(NAME)
    if present is not None and not force:
        _refuse_stranger(present, host)
        if _is_tuned(present):
            return text
    wanted = host.entry(dos)
    if isinstance(present, dict) and _words(present):
        wanted = {**present, **wanted}
    if present == wanted:
        return text
    changed = {**settings, host.key: {**servers, NAME: wanted}}
    return json_edit.rewrite(text, settings, changed)


def used_command(text: str, host: Host) -> str:
    """Return how the entry in a file calls dos; empty where it has none. Raises NotPlain."""
    if host.is_toml:
        settings = toml_settings.parse(text, host.file)
    else:
        settings = json_settings.parse(text, host.file)
    entry = _servers(settings, host).get(NAME)
    command = entry.get("command") if isinstance(entry, dict) else None
    first = command[0] if isinstance(command, list) and command else command
    if not isinstance(first, str) or first.rpartition("/")[2] != NAME:
        return ""
    return first


def patch(host: Host, dos: str) -> str:
    """Return what a person adds by hand to a file that dos does not edit."""
    if host.is_toml:
        return _block(host, dos)
    return json.dumps({host.key: {NAME: host.entry(dos)}}, indent=2) + "\n"


def how_to_undo(host: Host) -> str:
    """Return how a person takes the server out of a file that has other settings too."""
    if host.is_toml:
        return f"delete the block between `{MARKS.begins_with}` and `{MARKS.end}` in {host.file}"
    return f"delete `{NAME}` under `{host.key}` in {host.file}"


def _with_block(text: str, host: Host, dos: str) -> str:
    """Return a TOML file with our block. An entry outside of it is for its owner to change."""
    before, after = toml_settings.split(text, host.file, MARKS)
    outside = _servers(toml_settings.parse(before + after, host.file), host)
    if NAME in outside:
        _refuse_stranger(outside[NAME], host)
        return text
    return toml_settings.with_block(text, _block(host, dos), host.file, MARKS)


def _block(host: Host, dos: str) -> str:
    lines = [f"[{host.key}.{NAME}]", *toml_settings.pairs(host.entry(dos))]
    return toml_settings.marked(lines, MARKS)


def _servers(settings: Entry, host: Host) -> Entry:
    """Return the servers of a file by name. Raises NotPlain where they have another form."""
    servers = settings.get(host.key, {})
    if not isinstance(servers, dict):
        raise NotPlain(f"`{host.key}` in {host.file} is no object, and was not changed")
    return servers


def _refuse_stranger(entry: Any, host: Host) -> None:
    """Raise NotPlain for an entry of our name that does not start our server."""
    if not _words(entry):
        raise NotPlain(
            f"`{NAME}` under `{host.key}` in {host.file} starts another program, and was not"
            " changed"
        )


def _is_tuned(entry: Entry) -> bool:
    """Whether a person gave our server options."""
    return _words(entry)[1:] != list(WORDS)


def _words(entry: Any) -> list[str]:
    """Return the words of an entry that starts our server, as `dos mcp …`; none for any other."""
    if not isinstance(entry, dict):
        return []
    command = entry.get("command")
    given = entry.get("args", [])
    words: list[Any] = list(command) if isinstance(command, list) else [command]
    words += given if isinstance(given, list) else [given]
    if not words or not all(isinstance(word, str) for word in words):
        return []
    program = words[0].rpartition("/")[2]
    if program == RELEASED_COMMAND:
        return [NAME, *WORDS, *words[1:]]
    if program != NAME or words[1:2] != list(WORDS):
        return []
    return [NAME, *words[1:]]
