"""The programs that speak the Agent Client Protocol, and what is special about each.

A program that is not here works too: `[agents.NAME] adapter = "acp"` with its `command`.
"""

from msgspec import Struct


class AcpProgram(Struct, frozen=True, kw_only=True):
    """One program. The defaults are what the protocol says; a row says what is different."""

    name: str  # of the agent in dos.toml
    title: str
    vendor: str  # whose limits and whose login it uses
    program: str
    command: tuple[str, ...]
    tested: tuple[str, str] = ("", "")  # the oldest and newest version that the tests ran
    environment: dict[str, str] = {}
    # The words that choose a model, if the command line does; "": the protocol does.
    model_option: str = ""
    # Ways to log in that need no person, by their ids; those that name a key are known anyway.
    key_logins: tuple[str, ...] = ()
    # A refused request ends its turn: it is told why by a new prompt, and goes on.
    refusal_ends_turn: bool = False
    # A second prompt during a turn is taken; elsewhere the turn is interrupted for it.
    queues_prompts: bool = False
    # It ends when its input does; otherwise only SIGKILL ends it.
    ends_on_eof: bool = True
    # Usage reports cover the last request of a turn alone, so its usage is too low.
    counts_last_step: bool = False
    # Usage reports cover the whole session, not one turn of it.
    counts_session: bool = False
    # What its last message begins with where its provider refused: it says so in words alone, and
    # ends its turn as if all were well.
    failure_message: str = ""
    # It asks before it edits; of the others only the walls and the landing checks stop an edit.
    asks: bool = True
    prints_version: bool = True  # by `--version`; otherwise only the protocol tells it
    note: str = ""


CLAUDE_ACP = AcpProgram(
    name="claude_acp",
    title="Claude Agent (ACP)",
    vendor="anthropic",
    program="claude-agent-acp",
    command=("claude-agent-acp",),
    tested=("0.49", "0.49"),
    queues_prompts=True,
    prints_version=False,
    note="`claude_code` reports more: use this one only where you need the protocol.",
)
CODEX_ACP = AcpProgram(
    name="codex_acp",
    title="Codex (ACP)",
    vendor="openai",
    program="codex-acp",
    command=("codex-acp",),
    tested=("2.6", "2.6"),
    # Its other modes deny `git commit` the repository, or have a model judge what dos judges.
    environment={"INITIAL_AGENT_MODE": "agent-full-access"},
    key_logins=("api-key",),
    asks=False,
    note="It never asks about an edit inside its workspace. `codex` does.",
)
COPILOT = AcpProgram(
    name="copilot",
    title="GitHub Copilot CLI",
    vendor="github",
    program="copilot",
    command=("copilot", "--acp"),
    tested=("1.0.102", "1.0"),
    model_option="--model",
    refusal_ends_turn=True,
    counts_session=True,
    failure_message="Error: Failed to get response from the AI model",
)
GEMINI_ACP = AcpProgram(
    name="gemini_acp",
    title="Gemini CLI (ACP)",
    vendor="google",
    program="gemini",
    # The option takes effect after the settings are read, so those of the repository are not.
    command=("gemini", "--acp", "--skip-trust"),
    tested=("0.61", "0.61"),
    model_option="--model",
    key_logins=("gemini-api-key",),
    ends_on_eof=False,
)
OPENCODE_ACP = AcpProgram(
    name="opencode_acp",
    title="opencode (ACP)",
    vendor="opencode",
    program="opencode",
    command=("opencode", "acp", "--print-logs", "--log-level", "ERROR"),
    tested=("1.18", "1.18"),
    # Without this it asks nothing. It counts over the user's settings, except what those deny.
    environment={"OPENCODE_PERMISSION": '{"edit":"ask","bash":"ask"}'},
    refusal_ends_turn=True,
    counts_last_step=True,
)
QWEN = AcpProgram(
    name="qwen",
    title="Qwen Code",
    vendor="qwen",
    program="qwen",
    command=("qwen", "--acp"),
    tested=("0.15.10", "0.15"),
    model_option="--model",
    key_logins=("openai",),
)
TESTED = (CLAUDE_ACP, CODEX_ACP, COPILOT, GEMINI_ACP, OPENCODE_ACP, QWEN)
BY_NAME = {row.name: row for row in TESTED}

# Known to speak the protocol by their own documentation; dos was not tested with them.
UNTESTED = {
    "Auggie": ("auggie", "--acp"),
    "Cline": ("cline", "--acp"),
    "Droid": ("droid", "exec", "--output-format", "acp"),
    "Grok": ("grok", "--acp"),
    "Kimi": ("kimi", "acp"),
    "Mistral Vibe": ("vibe-acp",),
    "Qoder": ("qoder", "--acp"),
}


ANY = "acp"  # the adapter of a program that is not in the table


def any_program(name: str) -> AcpProgram:
    """The row of a program that is not in the table: what the protocol says.

    Its limits are its own: they are kept by the name that dos.toml gives it.
    """
    return AcpProgram(name=ANY, title="any ACP program", vendor=name, program="", command=())
