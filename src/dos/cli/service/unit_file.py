"""The file by which the system itself keeps `dos up` running: what stands in it, where it lies, whose it is."""

import os
import pwd
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, DosError, Refused
from dos.text import printable_path, quote, slug
from dos.workspace import Workspace

MARKER = "Written by `dos service install`; `dos service remove` takes it away."
KINDS = ("systemd", "launchd")
KEPT_VARIABLES = ("PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
RESTART_SECONDS = 10
COMMAND_SECONDS = 30.0

# Workers are not ended with their supervisor: the next one finds them. That is why only the main process is signalled.
# However it ended it is started again, also by a signal; but for exit 0, which means that `dos down` was asked for.
_UNIT = """# {marker}
[Unit]
Description=dos fleet of {name}
StartLimitIntervalSec=0

[Service]
ExecStart={command}
{environment}
Restart=always
RestartPreventExitStatus=0
RestartSec={restart}
KillMode=process
{user}
[Install]
WantedBy={target}
"""


class Service(Struct, frozen=True, kw_only=True):
    kind: str
    system: bool  # for the whole machine, not for one user
    name: str
    path: Path
    text: str
    start: list[list[str]]
    stop: list[list[str]]
    after_removal: list[list[str]]  # what is left to be done when the file is gone
    link: Path | None  # by which the system starts it
    query: list[str]  # prints whether it runs

    @property
    def exists(self) -> bool:
        return self.path.is_symlink() or self.path.exists()

    def check_ownership(self) -> None:
        """What somebody else wrote is left alone, also where it has our name."""
        if self.exists and (
            not self.path.is_file() or MARKER not in self.path.read_text("utf-8", "replace")
        ):
            raise Refused(
                f"{self.path} is there, and `dos service install` did not write it",
                hint=f"Look at it; then move it away: mv {self.path} {self.path}.old",
            )

    @property
    def is_current(self) -> bool:
        return self.path.is_file() and self.path.read_text("utf-8", "replace") == self.text


def plan_service(
    workspace: Workspace,
    *,
    kind: str,
    user: bool,
    system: bool,
    target: int | None = None,
    journal: str = "",
) -> Service:
    """`journal` marks the one that the fleet has when the service is installed."""
    if user and system:
        raise BadInput(
            "--user and --system are two different services", hint="Leave one of them out."
        )
    if target is not None and target < 1:
        raise BadInput(f"--target {target} is no number of workers", hint="For example: --target 2")
    root = str(workspace.root)
    # Where the user's own state lies, too: the worktrees are there.
    kept = {"PATH": os.defpath} | {
        name: os.environ[name] for name in KEPT_VARIABLES if os.environ.get(name)
    }
    for what, text in (
        ("the workspace", root),
        *((f"${name}", value) for name, value in kept.items()),
    ):
        if not text.isprintable():
            raise BadInput(
                f"{what} has an unprintable name in it: {quote(text)}", hint="Rename it."
            )
    words = [sys.executable, "-P", "-m", "dos", "--workspace", root, "up", "--plain"]
    words += ["--service", journal] if journal else []
    words += ["--target", str(target)] if target else []
    # Two workspaces may have the same name, in different places.
    name = f"dos-{slug(workspace.root.name)[:60]}-{sha256(root.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    made = kind or ("launchd" if sys.platform == "darwin" else "systemd")
    return (_launchd if made == "launchd" else _systemd)(workspace, name, words, kept, system)


def write(service: Service) -> bool:
    """False: it was there already, as it should be."""
    service.check_ownership()
    if service.is_current:
        return False
    fresh = service.path.with_name(f"{service.path.name}.{os.getpid()}")
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(service.text, encoding="utf-8")
        fresh.replace(service.path)
    except OSError as error:
        raise _unwritable(service, error) from error
    return True


def remove(service: Service) -> bool:
    """False: there was nothing to remove."""
    service.check_ownership()
    if not service.exists:
        return False
    try:
        if service.link and service.link.is_symlink():
            service.link.unlink()
        service.path.unlink()
    except OSError as error:
        raise _unwritable(service, error) from error
    return True


def run_commands(commands: list[list[str]]) -> str:
    """Run them one after the other; what went wrong, or nothing."""
    for command in commands:
        if not shutil.which(command[0]):
            return f"{command[0]} is not to be found here"
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=COMMAND_SECONDS, errors="replace"
            )
        except subprocess.TimeoutExpired:
            return f"`{' '.join(command)}` did not come back within {COMMAND_SECONDS:g} s"
        if done.returncode:
            return f"`{' '.join(command)}` failed: {printable_path((done.stderr or done.stdout).strip())}"
    return ""


def service_state(service: Service) -> str:
    """What the system says of it; empty where it cannot be asked."""
    if not shutil.which(service.query[0]):
        return ""
    try:
        done = subprocess.run(
            service.query, capture_output=True, text=True, timeout=COMMAND_SECONDS, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return ""
    if service.kind == "launchd":
        return "" if done.returncode else "loaded"
    return done.stdout.strip()


def _systemd(
    workspace: Workspace, name: str, words: list[str], kept: dict[str, str], system: bool
) -> Service:
    unit = f"{name}.service"
    control = ["systemctl"] if system else ["systemctl", "--user"]
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    folder = Path("/etc/systemd/system") if system else home / "systemd" / "user"
    target = "multi-user.target" if system else "default.target"
    text = _UNIT.format(
        marker=MARKER,
        name=workspace.root.name.replace("%", "%%"),
        command=" ".join(_quoted(word).replace("$", "$$") for word in words),
        environment="\n".join(
            f"Environment={_quoted(f'{name}={value}')}" for name, value in kept.items()
        ),
        restart=RESTART_SECONDS,
        user=f"User={_owner(workspace)}\n" if system else "",
        target=target,
    )
    return Service(
        kind="systemd",
        system=system,
        name=unit,
        path=folder / unit,
        text=text,
        start=[[*control, "daemon-reload"], [*control, "enable", "--now", unit]],
        stop=[[*control, "disable", "--now", unit]],
        after_removal=[[*control, "stop", unit], [*control, "daemon-reload"]],
        link=folder / f"{target}.wants" / unit,
        query=[*control, "is-active", unit],
    )


def _launchd(
    workspace: Workspace, name: str, words: list[str], kept: dict[str, str], system: bool
) -> Service:
    import plistlib

    log = str(workspace.state / "logs" / "supervisor.log")
    text = plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": words,
            "EnvironmentVariables": kept,
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": RESTART_SECONDS,
            "AbandonProcessGroup": True,
            "StandardOutPath": log,
            "StandardErrorPath": log,
            **({"UserName": _owner(workspace)} if system else {}),
        }
    ).decode()
    head, newline, rest = text.partition("\n")
    folder = Path("/Library/LaunchDaemons") if system else Path.home() / "Library" / "LaunchAgents"
    file, domain = folder / f"{name}.plist", "system" if system else f"gui/{os.getuid()}"
    return Service(
        kind="launchd",
        system=system,
        name=name,
        path=file,
        text=f"{head}{newline}<!-- {MARKER} -->\n{rest}",
        start=[["launchctl", "bootstrap", domain, str(file)]],
        stop=[["launchctl", "bootout", f"{domain}/{name}"]],
        after_removal=[["launchctl", "bootout", f"{domain}/{name}"]],
        link=None,
        query=["launchctl", "print", f"{domain}/{name}"],
    )


def _quoted(word: str) -> str:
    """As systemd reads it: a percent sign names one of its own values unless it is doubled."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _owner(workspace: Workspace) -> str:
    """Whose repository it is: whoever installs for the machine is root, and agents should not be."""
    owner = workspace.root.stat().st_uid
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)


def _unwritable(service: Service, error: OSError) -> DosError:
    hint = (
        "Run it as root, or leave --system out."
        if service.system
        else "`ls -ld` shows whose it is."
    )
    return DosError(f"{service.path} cannot be changed: {error.strerror}", hint=hint)
