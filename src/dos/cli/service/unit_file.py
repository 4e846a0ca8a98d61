"""The file by which systemd or launchd keeps `dos up` running: its content, its path, its owner.

`plan_service` only computes; `write`, `remove` and `run_commands` change the system. A file of the
same name that dos did not write is never touched.
"""

import os
import pwd
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.errors import BadInput, DosError, Refused
from dos.machine import filesystem
from dos.text import printable_path, quote, slug
from dos.workspace import Workspace

# Stands in installed files, by which they are recognised: it cannot change.
MARKER = "Written by `dos service install`; `dos service remove` takes it away."
KINDS = ("systemd", "launchd")
# Worktrees are below the state home.
KEPT_VARIABLES = ("PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
RESTART_SECONDS = 10
COMMAND_SECONDS = 30.0

# Only the main process is signalled: workers keep running, and the next supervisor finds them. The
# service is restarted however it ended, except after exit 0, which means that `dos down` stopped
# it.
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
    """A planned service: its file, and the commands that start, stop and query it."""

    kind: str
    system: bool  # of the machine, not of one user
    name: str
    path: Path
    text: str
    start: list[list[str]]
    stop: list[list[str]]
    after_removal: list[list[str]]  # to run when the file is gone
    link: Path | None  # by which the system starts it
    query: list[str]  # prints whether it runs

    @property
    def exists(self) -> bool:
        """Whether a file, or a link that leads nowhere, has this name."""
        return self.path.is_symlink() or self.path.exists()

    @property
    def is_current(self) -> bool:
        """Whether the file is there with exactly this content."""
        return self.path.is_file() and self.path.read_text("utf-8", "replace") == self.text

    def check_ownership(self) -> None:
        """Raise Refused for a file of this name that `dos service install` did not write."""
        if not self.exists:
            return
        if self.path.is_file() and MARKER in self.path.read_text("utf-8", "replace"):
            return
        raise Refused(
            f"{self.path} exists, and `dos service install` did not write it",
            hint=f"Check it, then move it away: mv {self.path} {self.path}.old",
        )


def plan_service(  # noqa: C901
    workspace: Workspace,
    *,
    kind: str,
    user: bool,
    system: bool,
    target: int | None = None,
    journal: str = "",
) -> Service:
    """Return the service of a workspace; nothing is written.

    `journal` marks the journal that the fleet has when the service is installed. Raises BadInput
    for options or names that cannot be used.
    """
    if user and system:
        raise BadInput("--user and --system exclude one another", hint="Leave one of them out.")
    if target is not None and target < 1:
        raise BadInput(
            f"--target is {target}; it must be at least 1", hint="For example: --target 2"
        )
    root = str(workspace.root)
    kept = {"PATH": os.defpath}
    for variable in KEPT_VARIABLES:
        value = os.environ.get(variable)
        if value:
            kept[variable] = value
    _check_printable("the path of the workspace", root)
    for variable, value in kept.items():
        _check_printable(f"${variable}", value)
    words = [sys.executable, "-P", "-m", "dos", "--workspace", root, "up", "--plain"]
    if journal:
        words += ["--service", journal]
    if target:
        words += ["--target", str(target)]
    # The digest of the path tells two workspaces of one name apart.
    digest = sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    name = f"dos-{slug(workspace.root.name)[:60]}-{digest}"
    if not kind:
        kind = "systemd"
        if sys.platform == "darwin":
            kind = "launchd"
    if kind == "launchd":
        return _launchd(workspace, name, words, kept, system)
    return _systemd(workspace, name, words, kept, system)


def _check_printable(what: str, text: str) -> None:
    """Raise BadInput for a path or variable that could break out of its line of the file."""
    if not text.isprintable():
        raise BadInput(f"{what} has unprintable characters: {quote(text)}", hint="Rename it.")


def write(service: Service) -> bool:
    """Write the file whole or not at all; return False where it was there with this content.

    Raises Refused for a file of another origin, and DosError where it cannot be written.
    """
    service.check_ownership()
    if service.is_current:
        return False
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
        filesystem.write_whole(service.path, service.text.encode(), follow_link=False)
    except OSError as error:
        raise _unwritable(service, error) from error
    return True


def remove(service: Service) -> bool:
    """Remove the file and the link to it; return False where there was none.

    Raises Refused for a file of another origin, and DosError where it cannot be removed.
    """
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
    """Run the commands one after another; return the first problem, or ""."""
    for command in commands:
        if not shutil.which(command[0]):
            return f"{command[0]} is not installed"
        line = " ".join(command)
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=COMMAND_SECONDS, errors="replace"
            )
        except subprocess.TimeoutExpired:
            return f"`{line}` did not end within {COMMAND_SECONDS:g} s"
        if result.returncode:
            output = (result.stderr or result.stdout).strip()
            return f"`{line}` failed: {printable_path(output)}"
    return ""


def service_state(service: Service) -> str:
    """Return the state that the service manager reports; "" where it cannot be asked."""
    if not shutil.which(service.query[0]):
        return ""
    try:
        result = subprocess.run(
            service.query, capture_output=True, text=True, timeout=COMMAND_SECONDS, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return ""
    if service.kind == "launchd":
        if result.returncode:
            return ""
        return "loaded"
    return result.stdout.strip()


def _systemd(
    workspace: Workspace, name: str, words: list[str], kept: dict[str, str], system: bool
) -> Service:
    """Return the unit of systemd, of the machine or of the current user.

    The service manager does not pass on the environment of the user, so the variables that dos
    needs are written into the file.
    """
    unit = f"{name}.service"
    if system:
        control = ["systemctl"]
        folder = Path("/etc/systemd/system")
        target = "multi-user.target"
    else:
        control = ["systemctl", "--user"]
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        folder = home / "systemd" / "user"
        target = "default.target"
    environment = []
    for variable, value in kept.items():
        environment.append(f"Environment={_quoted(f'{variable}={value}')}")
    text = _UNIT.format(
        marker=MARKER,
        name=workspace.root.name.replace("%", "%%"),
        command=" ".join(_quoted(word).replace("$", "$$") for word in words),
        environment="\n".join(environment),
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
    """Return the property list of launchd, of the machine or of the current user.

    Its output goes to the supervisor's log, because launchd keeps none.
    """
    import plistlib

    log = str(workspace.state / "logs" / "supervisor.log")
    settings: dict[str, Any] = {
        "Label": name,
        "ProgramArguments": words,
        "EnvironmentVariables": kept,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "AbandonProcessGroup": True,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    if system:
        settings["UserName"] = _owner(workspace)
        folder = Path("/Library/LaunchDaemons")
        domain = "system"
    else:
        folder = Path.home() / "Library" / "LaunchAgents"
        domain = f"gui/{os.getuid()}"
    file = folder / f"{name}.plist"
    head, newline, rest = plistlib.dumps(settings).decode().partition("\n")
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
    """Quote a word for systemd, which expands a percent sign unless it is doubled."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _owner(workspace: Workspace) -> str:
    """Return the owner of the repository: root may install, but agents must not be root."""
    owner = workspace.root.stat().st_uid
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)


def _unwritable(service: Service, error: OSError) -> DosError:
    """Return the error for a file that cannot be changed, with what to do about it."""
    hint = f"Check its owner: ls -ld {service.path.parent}"
    if service.system:
        hint = "Run it as root, or leave --system out."
    return DosError(f"{service.path} cannot be changed: {error.strerror}", hint=hint)
