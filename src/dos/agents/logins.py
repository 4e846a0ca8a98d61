"""How each vendor's program is logged in: the command to type, and the files that a login changes."""

from msgspec import Struct


class Credentials(Struct, frozen=True, kw_only=True):
    """How the credentials of an agent's program looked, and on which host; without a digest, nobody knows."""

    host: str = ""
    digest: str = ""


class Login(Struct, frozen=True, kw_only=True):
    """One program. Its files lie in the folder that `home_variable` names, else in `home`, below the user's own."""

    program: str
    command: str
    home_variable: str
    home: str
    files: tuple[str, ...]


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
    # It has no command for it: it asks when it is started on a terminal, and stores the answer.
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
}


def not_logged_in(vendor: str, agent: str = "") -> str:
    """That nobody is logged in, named by the program where it is a known one."""
    login = LOGINS.get(vendor)
    return f"{login.program if login else agent or vendor or 'the agent'} is not logged in"


def program_name(vendor: str) -> str:
    """What people call it; the vendor where nobody here knows the program."""
    login = LOGINS.get(vendor)
    return login.program if login else vendor


def login_command(vendor: str) -> str:
    """What logs in; empty for a program that nobody here knows."""
    login = LOGINS.get(vendor)
    return login.command if login else ""
