"""The `dos` processes of this machine that belong to one workspace, found by what they were started with."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from dos import workspace
from dos.errors import WorkspaceMissing
from dos.machine.process import Identity, identify


class Running(Struct, frozen=True, kw_only=True):
    identity: Identity
    words: tuple[str, ...]  # what stands after `dos`
    stopped: bool  # by a signal: it holds what it holds and does nothing

    @property
    def verb(self) -> str:
        return verb(self.words)

    def option(self, flag: str) -> str:
        return option(self.words, flag)


def verb(words: Sequence[str]) -> str:
    """The verb among the words after `dos`."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] == "--workspace" else 1]
    return rest[0] if rest else ""


def option(words: Sequence[str], flag: str) -> str:
    """Its value, whether it is a word of its own or not."""
    for number, name in enumerate(words):
        value = "".join(words[number + 1 : number + 2])
        if name == flag or name.startswith(f"{flag}="):
            return value if name == flag else name.partition("=")[2]
    return ""


def running(state: Path) -> list[Running]:
    """Every other `dos` process whose workspace keeps its state there."""
    import os

    import psutil

    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            with process.oneshot():
                words = words_of(process.cmdline())
                if (
                    words is None
                    or process.status() == psutil.STATUS_ZOMBIE
                    or not belongs(process.cwd(), words, state)
                ):
                    continue
                stopped = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
                if identity := identify(process.pid):
                    found.append(Running(identity=identity, words=tuple(words), stopped=stopped))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it ended meanwhile, or it is another user's and so none of this workspace's
    return found


def words_of(command: Sequence[str]) -> list[str] | None:
    """What follows `dos` in a command line; None when it is no command line of ours."""
    if len(command) < 2 or not Path(command[0]).name.startswith(("python", "dos")):
        return None
    if Path(command[0]).name == "dos":
        return list(command[1:])
    rest = list(command[1:])
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return rest[1:] if rest[:1] in (["dos"], ["dos.cli"]) else None
        if word in ("-X", "-W"):  # the interpreter's own flags that take a value
            del rest[:1]
        elif not word.startswith("-"):
            return rest if Path(word).name == "dos" else None
    return None


def belongs(directory: str, words: Sequence[str], state: Path) -> bool:
    """Whether a `dos` that was started there with these words is of the workspace that keeps its state there."""
    named = option(words, "--workspace")
    try:
        return workspace.find(Path(directory, named)).state == state
    except (WorkspaceMissing, OSError):
        return False
