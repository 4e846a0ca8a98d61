"""Findings: what is wrong, why it matters, and one command to type.

Also the helpers that all subjects share: constructors for each severity, commands that work from
any directory, and a way to read slow things concurrently.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from threading import Thread
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from dos import workspace
from dos.config.fix_commands import EditCommands, with_sudo
from dos.config.lint import Severity
from dos.errors import DosError, WorkspaceMissing
from dos.verbs.listing.commands import effect_of
from dos.verbs.listing.effects import READS
from dos.world import World

MOST_OF_A_KIND = 20  # are shown as text; JSON has all
# The command of each package manager, by the program that has to exist.
_INSTALLERS = {
    "apt-get": "apt-get update && {sudo}apt-get install -y {package}",
    "dnf": "dnf install -y {package}",
    "apk": "apk add {package}",
    "pacman": "pacman -S --noconfirm {package}",
    "zypper": "zypper install -y {package}",
}


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem, or one fact worth knowing."""

    kind: str
    severity: Severity
    what: str  # what was found, and where
    why: str  # what follows from it
    fix: str  # a command that clears it, or that only shows more of it
    output: tuple[str, ...] = ()  # the last lines of the command that failed


# The commands among the fixes that only show something.
_READING_PROGRAMS = {"cat", "date", "du", "ls", "ps", "tail"}


def label_of_command(command: str) -> str:
    """Return `check` for a command that only shows more of a problem, and `fix` for the others."""
    program, *words = command.removeprefix("DOS_TRACEBACK=1 ").split()
    if program in _READING_PROGRAMS or " -c 'SHOW " in command:
        return "check"
    if program == "dos" and effect_of(words) == READS:
        return "check"
    return "fix"


def error(kind: str, what: str, why: str, fix: str, output: Sequence[str] = ()) -> Finding:
    """A finding that keeps the fleet from working. `output` is what the failed command printed."""
    return Finding(
        kind=kind, severity=Severity.ERROR, what=what, why=why, fix=fix, output=tuple(output)
    )


def warning(kind: str, what: str, why: str, fix: str) -> Finding:
    """A finding that will cause trouble sooner or later."""
    return Finding(kind=kind, severity=Severity.WARN, what=what, why=why, fix=fix)


def note(kind: str, what: str, why: str, fix: str) -> Finding:
    """A finding that nobody has to act on."""
    return Finding(kind=kind, severity=Severity.INFO, what=what, why=why, fix=fix)


def edit_commands(world: World) -> EditCommands:
    """The commands that open this workspace's dos.toml at a key."""
    return EditCommands(world.loaded_config, world.workspace.config)


def git_command(world: World, words: str) -> str:
    """A git command that works from any directory."""
    return f"git -C {quote(str(world.workspace.tree))} {words}"


def install_command(package: str) -> str:
    """A command that installs a package with this system's package manager.

    Without a known package manager it is an `echo` that says what to install.
    """
    import shutil  # the linter needs only the commands above

    if shutil.which("brew"):
        return f"brew install {package}"
    sudo = "sudo "
    if os.geteuid() == 0:
        sudo = ""
    for program, words in _INSTALLERS.items():
        if shutil.which(program):
            return with_sudo(words.format(sudo=sudo, package=package))
    if sys.platform == "darwin":
        return "xcode-select --install"
    return f"echo 'Install {package}, then: dos doctor'"


def cd_prefix(world: World, environment: Mapping[str, str] = os.environ) -> str:
    """Return what a command needs before it so that `dos` finds this workspace.

    Empty when the current directory and the environment already lead to it.
    """
    named = environment.get("DISPATCH_WORKSPACE")
    ours = world.workspace
    try:
        current = workspace.find(Path(named or "."))
    except (WorkspaceMissing, OSError):
        current = None
    if current is not None and (current.root, current.tree) == (ours.root, ours.tree):
        return ""
    change_directory = f"cd {quote(str(ours.tree))} && "
    if named:
        # The variable would take precedence over the directory.
        return f"unset DISPATCH_WORKSPACE; {change_directory}"
    return change_directory


class HasKind(Protocol):
    """A finding of the doctor or of the linter: both are shown in the same way."""

    @property
    def kind(self) -> str: ...


AnyFinding = TypeVar("AnyFinding", bound=HasKind)


def first_of_each_kind(findings: Sequence[AnyFinding]) -> Iterator[tuple[AnyFinding, str]]:
    """Yield the findings to show, at most 20 of a kind, each with a line to print after it.

    The line is empty, except after the last shown finding of a kind with more.
    """
    totals = Counter(finding.kind for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        kind = finding.kind
        shown[kind] += 1
        hidden = totals[kind] - MOST_OF_A_KIND
        if shown[kind] < MOST_OF_A_KIND or (shown[kind] == MOST_OF_A_KIND and hidden <= 0):
            yield finding, ""
        elif shown[kind] == MOST_OF_A_KIND:
            yield finding, f"and {hidden:,} more of {kind}; --json lists them all"


def run_concurrently(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run the tasks in threads and return their results in order.

    The first failure is raised after all have ended. Plain threads are used because importing a
    thread pool costs more time than it saves here.
    """
    results: dict[int, Any] = {}

    def run(number: int) -> None:
        """Store the result or the failure of one task."""
        try:
            results[number] = tasks[number]()
        except (DosError, OSError) as failure:
            results[number] = failure

    threads = [Thread(target=run, args=(number,)) for number in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ordered = []
    for number, task in enumerate(tasks):
        if number not in results:
            # It raised an unexpected error in its thread; run here, it raises it again.
            results[number] = task()
        result = results[number]
        if isinstance(result, DosError | OSError):
            raise result
        ordered.append(result)
    return ordered
