"""One thing that is wrong, or that is worth knowing: what was found, why it matters, and one command to type."""

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
from dos.world import World


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    severity: Severity
    what: str
    why: str
    fix: str
    output: tuple[str, ...] = ()  # the last lines of the command that it is about


def error(kind: str, what: str, why: str, fix: str, output: Sequence[str] = ()) -> Finding:
    return Finding(
        kind=kind, severity=Severity.ERROR, what=what, why=why, fix=fix, output=tuple(output)
    )


def warning(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.WARN, what=what, why=why, fix=fix)


def note(kind: str, what: str, why: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=Severity.INFO, what=what, why=why, fix=fix)


_INSTALLERS = {
    "apt-get": "apt-get update && {sudo}apt-get install -y {package}",
    "dnf": "dnf install -y {package}",
    "apk": "apk add {package}",
    "pacman": "pacman -S --noconfirm {package}",
    "zypper": "zypper install -y {package}",
}


def edit_commands(world: World) -> EditCommands:
    return EditCommands(world.loaded_config, world.workspace.config)


def git_command(world: World, words: str) -> str:
    """A git command that can be typed anywhere."""
    return f"git -C {quote(str(world.workspace.tree))} {words}"


def install_command(package: str) -> str:
    """Whatever this system installs its programs with."""
    import shutil  # the linter needs only the commands above

    if shutil.which("brew"):
        return f"brew install {package}"
    sudo = "" if os.geteuid() == 0 else "sudo "
    words = next((words for program, words in _INSTALLERS.items() if shutil.which(program)), "")
    if words:
        return with_sudo(words.format(sudo=sudo, package=package))
    return (
        "xcode-select --install"
        if sys.platform == "darwin"
        else f"echo 'Install {package}, then: dos doctor'"
    )


def cd_prefix(world: World, environment: Mapping[str, str] = os.environ) -> str:
    """What has to stand before a command so that `dos` finds this workspace: nothing for those who are inside."""
    try:
        found = workspace.find(Path(environment.get("DISPATCH_WORKSPACE") or "."))
    except (WorkspaceMissing, OSError):
        found = None
    if found is not None and (found.root, found.tree) == (
        world.workspace.root,
        world.workspace.tree,
    ):
        return ""
    named = "unset DISPATCH_WORKSPACE; " if environment.get("DISPATCH_WORKSPACE") else ""
    return f"{named}cd {quote(str(world.workspace.tree))} && "


MOST_OF_A_KIND = 20


class HasKind(Protocol):
    @property
    def kind(self) -> str: ...


AnyFinding = TypeVar("AnyFinding", bound=HasKind)


def first_of_each_kind(findings: Sequence[AnyFinding]) -> Iterator[tuple[AnyFinding, str]]:
    """Those that are shown, each with what has to be said after it: nothing, or how many are left out."""
    all_of = Counter(finding.kind for finding in findings)
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.kind] += 1
        more = all_of[finding.kind] - MOST_OF_A_KIND
        if seen[finding.kind] <= MOST_OF_A_KIND:
            is_last = seen[finding.kind] == MOST_OF_A_KIND and more > 0
            yield (
                finding,
                f"and {more:,} more of {finding.kind}; --json lists them all" if is_last else "",
            )


def run_concurrently(questions: Sequence[Callable[[], Any]]) -> list[Any]:
    """The answers in the order of the questions; the first failure is raised once all have answered."""
    answers: dict[int, Any] = {}

    def answer(place: int) -> None:
        try:
            answers[place] = questions[place]()
        except (DosError, OSError) as failure:
            answers[place] = failure

    threads = [Thread(target=answer, args=(place,)) for place in range(len(questions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One that came to no end has a bug: asked here, it ends the caller.
    found = [
        answers[place] if place in answers else question()
        for place, question in enumerate(questions)
    ]
    for each in found:
        if isinstance(each, DosError | OSError):
            raise each
    return found
