"""The agent programs that dos knows: facts that verbs and docs print.

What each can do is measured (`dos.conformance`). `[agents.NAME]` of dos.toml may start further
programs by `adapter = "acp"`, `"command"` or the adapter of another package.
"""

from enum import StrEnum

from msgspec import Struct

from dos.agents.programs import acp_programs
from dos.agents.programs.acp_programs import AcpProgram


class Transport(StrEnum):
    """How dos talks with a program."""

    CONTROL = "control pipe"
    APP_SERVER = "app-server"
    ACP = "ACP"
    HOOKS = "hooks"  # it prints, and its hooks ask the worker before it acts
    ONE_WAY = "one-way"


class Package(Struct, frozen=True, kw_only=True):
    """Where a program can be had."""

    registry: str  # npm or PyPI
    name: str
    # The oldest Node for which npm installs its newest version; on an older one it installs an old
    # version, or one that does not start, and says nothing. 0: any that is in use.
    node: int = 0
    # Further packages that it needs and does not ask for.
    also: tuple[str, ...] = ()


class KnownAgent(Struct, frozen=True, kw_only=True):
    """One agent program under the name of its adapter."""

    name: str
    title: str
    vendor: str  # whose limits and whose login it uses
    program: str
    transport: Transport
    tested: tuple[str, str] = ("", "")  # the oldest and newest version that the tests ran
    package: Package | None = None
    is_proposed: bool = False  # `dos init` may choose it where it is on the path
    asks: bool = False  # before it edits or runs a command
    prints_version: bool = True  # by `--version`, without beginning its work
    note: str = ""


CLAUDE_CODE = KnownAgent(
    name="claude_code",
    title="Claude Code",
    vendor="anthropic",
    program="claude",
    transport=Transport.CONTROL,
    tested=("2.1.110", "2.1"),  # since 2.1.110 the result has api_error_status
    package=Package(registry="npm", name="@anthropic-ai/claude-code", node=22),
    is_proposed=True,
    asks=True,
)
CODEX = KnownAgent(
    name="codex",
    title="Codex",
    vendor="openai",
    program="codex",
    transport=Transport.APP_SERVER,
    tested=("0.166", "0.166"),
    package=Package(registry="npm", name="@openai/codex"),
    is_proposed=True,
    asks=True,
)
GEMINI = KnownAgent(
    name="gemini",
    title="Gemini CLI",
    vendor="google",
    program="gemini",
    transport=Transport.HOOKS,
    tested=("0.61", "0.61"),
    package=Package(registry="npm", name="@google/gemini-cli", node=20),
    is_proposed=True,
    asks=True,
)
OPENCODE = KnownAgent(
    name="opencode",
    title="opencode",
    vendor="opencode",
    program="opencode",
    transport=Transport.HOOKS,
    tested=("1.18", "1.18"),
    package=Package(registry="npm", name="opencode-ai"),
    is_proposed=True,
    asks=True,
)
PI = KnownAgent(
    name="pi",
    title="pi",
    vendor="pi",
    program="pi",
    transport=Transport.ONE_WAY,
    tested=("0.87", "0.87"),
    package=Package(registry="npm", name="@earendil-works/pi-coding-agent", node=22),
)
MINI_SWE_AGENT = KnownAgent(
    name="mini_swe_agent",
    title="mini-swe-agent",
    vendor="mini_swe_agent",
    program="mini",
    transport=Transport.ONE_WAY,
    tested=("2.4", "2.4"),
    package=Package(registry="PyPI", name="mini-swe-agent", also=("mcp>=2",)),
    prints_version=False,
)
AIDER = KnownAgent(
    name="aider",
    title="aider",
    vendor="aider",
    program="aider",
    transport=Transport.ONE_WAY,
    tested=("0.86", "0.86"),
    package=Package(registry="PyPI", name="aider-chat"),
    note="It exits with 0 also when it changed nothing: git tells whether it worked.",
)

_ACP_PACKAGES = {
    "claude_acp": Package(registry="npm", name="@agentclientprotocol/claude-agent-acp", node=22),
    "codex_acp": Package(registry="npm", name="@agentclientprotocol/codex-acp"),
    "copilot": Package(registry="npm", name="@github/copilot"),
    "gemini_acp": GEMINI.package,
    "opencode_acp": OPENCODE.package,
    "qwen": Package(registry="npm", name="@qwen-code/qwen-code", node=22),
}
# The programs that no other adapter of dos starts.
_ACP_PROPOSED = ("qwen", "copilot")


def _of_acp(row: AcpProgram) -> KnownAgent:
    """A program that speaks the protocol, as one of all."""
    return KnownAgent(
        name=row.name,
        title=row.title,
        vendor=row.vendor,
        program=row.program,
        transport=Transport.ACP,
        tested=row.tested,
        package=_ACP_PACKAGES[row.name],
        is_proposed=row.name in _ACP_PROPOSED,
        asks=row.asks,
        prints_version=row.prints_version,
        note=row.note,
    )


_ACP_AGENTS = tuple(_of_acp(row) for row in acp_programs.TESTED)
_BY_NAME = {
    agent.name: agent
    for agent in (
        CLAUDE_CODE, CODEX, GEMINI, OPENCODE, *_ACP_AGENTS, PI, MINI_SWE_AGENT, AIDER,
    )
}  # fmt: skip


def known_agents() -> tuple[KnownAgent, ...]:
    """All agent programs that dos knows, in the order in which it proposes them."""
    return tuple(_BY_NAME.values())


def known_agent(name: str) -> KnownAgent | None:
    """The program of an adapter; None for `acp`, `command`, `scripted` and other packages'."""
    return _BY_NAME.get(name)


def proposed_programs() -> dict[str, str]:
    """The programs that `dos init` may choose, each with its adapter, best known first."""
    return {agent.program: agent.name for agent in _BY_NAME.values() if agent.is_proposed}


def package_of(program: str) -> Package | None:
    """Where a program can be had; None for one that dos does not know."""
    for agent in _BY_NAME.values():
        if agent.program == program:
            return agent.package
    return None
