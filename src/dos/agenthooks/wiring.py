"""Where each agent program reads its hooks, and what `dos hooks install` writes there."""

import shlex
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct

from dos.agenthooks.events import Moment
from dos.errors import BadInput
from dos.permission.shell.syntax.scanner import read_script
from dos.permission.shell.syntax.tokens import NotReadable, Operator, Word
from dos.text import quote

# Of Claude Code and those that took over its names: other tools write nothing.
WRITING_TOOLS = "Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*"
NAME = "dos"  # of the command
SECONDS = 10
EVERY = "all"
H = TypeVar("H")
SHIM_OPTIONS = ("-I", "-S")  # of Python: nothing of the user's, and no search for packages
SHIM_FILE = "/agenthooks/io/shim.py"
RELEASED_WORKSPACE = ("--workspace", ".")  # stood in the entries of dos-kernel
# A command that is gone must not stop a person's work. Gemini CLI takes every exit code above 1 for
# a refusal, also the shell's 127; the others take 2, with which Python reports a missing file.
UNLESS_GONE = ("||", "true")


class Form(StrEnum):
    """How a program writes down its hooks."""

    GROUPS = "groups"  # JSON: event -> [{matcher, hooks: [{type, command}]}]
    FLAT = "flat"  # JSON: event -> [{command}], with a version
    TOML = "toml"  # the groups, as arrays of tables
    PLUGIN = "plugin"  # a script of ours


class Host(Struct, frozen=True, kw_only=True):
    """One agent program: its settings file in a repository, and its names of the moments."""

    name: str  # the dialect
    path: tuple[str, ...]  # of the settings file, below the repository
    form: Form
    events: dict[str, Moment]
    timeout: int | None = SECONDS  # in the unit of the program; None: it has no such key
    matchers: dict[str, str] = {}
    is_tried: bool = True  # with the real program
    # In a linked worktree it runs the hooks of the main checkout, if the worktree has the folder of
    # its settings at all.
    reads_main_tree: bool = False

    @property
    def file(self) -> str:
        """The path of the settings file below the repository."""
        return "/".join(self.path)


HOSTS = {
    host.name: host
    for host in (
        Host(
            name="claude-code",
            path=(".claude", "settings.json"),
            form=Form.GROUPS,
            events={
                "PreToolUse": Moment.PRETOOL,
                "PostToolUse": Moment.POSTTOOL,
                "Stop": Moment.STOP,
                "SessionStart": Moment.SESSION,
            },
            matchers={"PreToolUse": WRITING_TOOLS},
        ),
        Host(
            name="codex",
            path=(".codex", "config.toml"),
            form=Form.TOML,
            events={
                "PreToolUse": Moment.PRETOOL,
                "PostToolUse": Moment.POSTTOOL,
                "Stop": Moment.STOP,
                "SessionStart": Moment.SESSION,
            },
            reads_main_tree=True,
        ),
        Host(
            name="gemini",
            path=(".gemini", "settings.json"),
            form=Form.GROUPS,
            events={
                "BeforeTool": Moment.PRETOOL,
                "AfterTool": Moment.POSTTOOL,
                "AfterAgent": Moment.STOP,
                "SessionStart": Moment.SESSION,
            },
            timeout=SECONDS * 1000,
        ),
        Host(
            name="opencode",
            path=(".opencode", "plugins", "dos.js"),
            form=Form.PLUGIN,
            events={
                "tool.execute.before": Moment.PRETOOL,
                "tool.execute.after": Moment.POSTTOOL,
                "session.idle": Moment.STOP,
                "session.created": Moment.SESSION,
            },
            timeout=None,
        ),
        Host(
            name="cursor",
            path=(".cursor", "hooks.json"),
            form=Form.FLAT,
            events={
                "beforeShellExecution": Moment.PRETOOL,
                "beforeMCPExecution": Moment.PRETOOL,
                "preToolUse": Moment.PRETOOL,
                "postToolUse": Moment.POSTTOOL,
                "afterFileEdit": Moment.POSTTOOL,
                "stop": Moment.STOP,
            },
            is_tried=False,
        ),
        Host(
            name="antigravity",
            path=(".agents", "hooks.json"),
            form=Form.GROUPS,
            events={
                "PreToolUse": Moment.PRETOOL,
                "PostToolUse": Moment.POSTTOOL,
                "Stop": Moment.STOP,
            },
            timeout=None,  # its unit is not documented
            is_tried=False,
        ),
    )
}


def chosen_hosts(names: Iterable[str]) -> list[Host]:
    """Return the hosts of these names, each once; `all` means every one. Raises BadInput."""
    return chosen(names, HOSTS, "has no hooks to install for {name}")


def chosen(names: Iterable[str], known: Mapping[str, H], problem: str) -> list[H]:
    """Return what a table has under these names, each once; `all` means all of it.

    Raises BadInput for another name: `problem` says what dos has not, with a place for the name.
    """
    found: dict[str, H] = {}
    for name in names:
        if name == EVERY:
            found |= known
        elif name in known:
            found[name] = known[name]
        else:
            raise BadInput(
                f"dos {problem.format(name=quote(name))}",
                hint=f"The programs are {', '.join(known)}; `all` means every one.",
            )
    return list(found.values())


def verb_caller(dos: str) -> str:
    """Return how a hook calls `dos hook`, by the name or the path of dos."""
    return shlex.join([dos, "hook"])


def shim_caller(python: str, shim: str) -> str:
    """Return how a hook calls the fast command, by the paths of its interpreter and its file."""
    return shlex.join([python, *SHIM_OPTIONS, shim])


def command(host: Host, moment: Moment, caller: str) -> str:
    """Return the command line of a hook. `caller` is how dos is called before the moment."""
    words = [caller, str(moment)]
    if host.name != "claude-code":
        words += ["--dialect", host.name]
    return " ".join([*words, *UNLESS_GONE])


def commands(host: Host, caller: str) -> frozenset[str]:
    """Return the command lines of all hooks of a host."""
    return frozenset(command(host, moment, caller) for moment in host.events.values())


def entry(host: Host, event: str, caller: str) -> dict[str, Any]:
    """Return one hook of a host, as its settings have it."""
    made: dict[str, Any] = {}
    if host.form is not Form.FLAT:
        made["type"] = "command"
    made["command"] = command(host, host.events[event], caller)
    if host.timeout is not None:
        made["timeout"] = host.timeout
    return made


def group(host: Host, event: str, caller: str) -> dict[str, Any]:
    """Return what stands in the list of an event: the entry, in a group where the host has them."""
    if host.form is Form.FLAT:
        return entry(host, event, caller)
    made: dict[str, Any] = {}
    if event in host.matchers:
        made["matcher"] = host.matchers[event]
    made["hooks"] = [entry(host, event, caller)]
    return made


def is_ours(text: object) -> bool:
    """Whether a command line calls `dos hook` or the fast command, and does nothing else.

    By whatever paths: such an entry makes room for a new one. It is not for running or trusting.
    """
    return bool(_hook_words(text))


def is_tuned(text: object) -> bool:
    """Whether a command line of ours has options that neither dos nor dos-kernel writes.

    A person chose them, so they are kept.
    """
    words = _hook_words(text)[1:]
    while words:
        if tuple(words[:2]) == RELEASED_WORKSPACE or words[0] == "--dialect":
            del words[:2]
        else:
            return True
    return False


def _hook_words(text: object) -> list[str]:
    """The words after what calls dos; none for another command line."""
    if not isinstance(text, str):
        return []
    words = _plain_words(text)
    if words[1:2] == ["hook"] and words[0].rpartition("/")[2] == NAME:
        return words[2:]
    if tuple(words[1:3]) == SHIM_OPTIONS and "".join(words[3:4]).endswith(SHIM_FILE):
        return words[4:]
    return []


def _plain_words(text: str) -> list[str]:
    """The words of one command; none where a shell would expand some, or do anything else too."""
    try:
        tokens = read_script(text.strip()).tokens
    except NotReadable:
        return []
    match tokens[-2:]:
        case [Operator(text="||"), Word(text="true")]:  # UNLESS_GONE
            tokens = tokens[:-2]
    words: list[str] = []
    for token in tokens:
        if not isinstance(token, Word) or not token.is_literal:
            return []
        if token.has_glob or token.has_brace:
            return []
        words.append(token.text)
    return words
