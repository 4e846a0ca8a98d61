"""How to log in to each vendor's program: the command, and the files that a login changes.

A changed file tells that a person has logged in again, and that a limit may be probed.
"""

from msgspec import Struct


class Credentials(Struct, frozen=True, kw_only=True):
    """A fingerprint of an agent's credentials on one host; without a digest it is not known."""

    host: str = ""
    digest: str = ""


class Login(Struct, frozen=True, kw_only=True):
    """One program. Its files are in the folder that `home_variable` names, else in `~/home`."""

    program: str
    command: str
    home_variable: str
    home: str
    files: tuple[str, ...]


# By the vendor that an adapter names; other vendors have no login that dos knows.
LOGINS = {
    "anthropic": Login(
        program="claude",
        command="claude auth login",
        home_variable="CLAUDE_CONFIG_DIR",
        home=".claude",
        files=(".credentials.json",),
    ),
    "openai": Login(
        program="codex",
        command="codex login",
        home_variable="CODEX_HOME",
        home=".codex",
        files=("auth.json",),
    ),
    # It has no login command: started on a terminal, it asks and stores the answer.
    "google": Login(
        program="gemini",
        command="gemini",
        home_variable="GEMINI_CLI_HOME",
        home="",
        files=tuple(
            f".gemini/{name}"
            for name in ("oauth_creds.json", "gemini-credentials.json", "settings.json", ".env")
        ),
    ),
    "opencode": Login(
        program="opencode",
        command="opencode auth login",
        home_variable="XDG_DATA_HOME",
        home=".local/share",
        files=("opencode/auth.json",),
    ),
    "github": Login(
        program="copilot",
        command="copilot login",
        home_variable="COPILOT_HOME",
        home=".copilot",
        files=("config.json",),
    ),
    # It has no login command either.
    "pi": Login(
        program="pi",
        command="pi",
        home_variable="PI_CODING_AGENT_DIR",
        home=".pi/agent",
        files=("auth.json",),
    ),
    # As with Gemini, its settings say how it logs in: with a key, or with an account.
    "qwen": Login(
        program="qwen",
        command="qwen auth",
        home_variable="QWEN_HOME",
        home=".qwen",
        files=("oauth_creds.json", "settings.json", ".env"),
    ),
}


def not_logged_in(vendor: str, agent: str = "") -> str:
    """The sentence that the program is not logged in, with the best name known for it.

    That is the vendor's program, else the agent's name in dos.toml, else the vendor.
    """
    login = LOGINS.get(vendor)
    if login:
        name = login.program
    else:
        name = agent or vendor or "the agent"
    return f"{name} is not logged in"


def program_name(vendor: str) -> str:
    """The name of the vendor's program; the vendor where it is not known."""
    login = LOGINS.get(vendor)
    if login is None:
        return vendor
    return login.program


def login_command(vendor: str) -> str:
    """The command that logs in; empty for a vendor that is not known."""
    login = LOGINS.get(vendor)
    if login is None:
        return ""
    return login.command
