"""One call of a hook: its event, who calls, and the workspace that it is about."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Self

from msgspec import Struct

from dos import run_ids, workspace
from dos.agenthooks import dialects
from dos.agenthooks.events import HookEvent
from dos.errors import ConfigInvalid, DosError
from dos.journal.backends.open import embedded_path
from dos.journal.events.envelope import Event, Fact
from dos.journal.store import Store
from dos.permission.io.record import session_stream, storable
from dos.world import World, open_journal

BUSY_SECONDS = 1.0  # to wait for the write lock: an agent waits for its hook
LONGEST_SESSION = 200

OpenWorld = Callable[[Path], World]
OpenStore = Callable[[World, str], Store]  # for an actor


class Caller(Struct, frozen=True, kw_only=True):
    """What is known of the process that asks; by the kernel, where it asks by a socket."""

    pid: int | None = None
    environment: Mapping[str, str] = {}


class HookOptions(Struct, frozen=True, kw_only=True):
    """The options of `dos hook`; each moment reads its own."""

    start: Path | None = None  # --workspace; None: where the hook was set up
    session: str = ""  # instead of the event's
    transcript: str = ""  # stop
    plan: str = ""
    phase: str = ""
    last_turns: int = 1
    strict: bool = False
    force: bool = False
    loop: bool = False  # marker
    reset: bool = False
    max_markers: int | None = None


def open_own_store(world: World, actor: str) -> Store:
    """Open the journal of a workspace for the writes of one call."""
    return open_journal(
        world.workspace, world.config.store.url, actor=actor, busy_seconds=BUSY_SECONDS
    )


class HookCall:
    """A call that is being answered. The world is opened at its first use, and closed with it."""

    def __init__(
        self,
        event: HookEvent,
        caller: Caller,
        options: HookOptions,
        open_world: OpenWorld,
        open_store: OpenStore = open_own_store,
    ) -> None:
        """Describe a call; nothing is opened yet."""
        self.event = event
        self.caller = caller
        self.options = options
        self._open_world = open_world
        self._open_store = open_store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        for name in ("store", "world"):
            if name in self.__dict__:
                getattr(self, name).close()

    @property
    def session(self) -> str:
        """The program's name for the conversation, cut to what a stream's name can hold."""
        return (self.options.session or self.event.session)[:LONGEST_SESSION]

    @property
    def run_id(self) -> str:
        """The run that the caller belongs to, as its environment names it."""
        return run_ids.named_in(self.caller.environment)

    @cached_property
    def start(self) -> Path:
        """The folder that the hook was set up in: named by an option, else by its process."""
        if self.options.start is not None:
            return self.options.start
        return set_up_directory(self.event, self.caller.environment, own_directory())

    @property
    def cwd(self) -> str:
        """The folder that relative paths of the event start in."""
        cwd = self.event.cwd
        return cwd if cwd and "\0" not in cwd else str(self.start)

    @cached_property
    def trees(self) -> tuple[Path, Path]:
        """The work tree that the hook was set up in, and the one that the agent is in now.

        They are the same where the agent is in no other work tree of the same repository. The tree
        of a lane counts as well: its files are those of a worker.
        """
        place = workspace.find(self.start)
        cwd = self.cwd
        if cwd == str(self.start) or not os.path.isdir(cwd):  # noqa: PTH112 - never raises
            return place.tree, place.tree
        try:
            here = workspace.find(Path(cwd))
        except DosError:
            return place.tree, place.tree
        is_own = here.state == place.state and workspace.is_work_tree(here)
        if is_own or here.tree.is_relative_to(place.worktrees):
            return place.tree, here.tree
        return place.tree, place.tree

    @cached_property
    def world(self) -> World:
        """The workspace. Raises ConfigInvalid if dos.toml has errors: nothing is judged by half
        of it."""
        world = self._open_world(self.start)
        problems = world.loaded_config.problems
        if problems:
            world.close()
            raise ConfigInvalid(str(problems[0]), hint="`dos lint` shows all errors.")
        return world

    def open_lenient_world(self) -> World:
        """Open the workspace once more, whatever is wrong with dos.toml. The caller closes it."""
        return self._open_world(self.start)

    @property
    def is_known(self) -> bool:
        """Whether the repository uses dos: nothing is written into one that does not."""
        if self.world.loaded_config.path is not None:
            return True
        path = embedded_path(self.world.config.store.url, self.world.workspace.state)
        return path is None or path.exists()

    @cached_property
    def store(self) -> Store:
        """The journal for writing; it is created where there is none."""
        return self._open_store(self.world, self.run_id)

    @property
    def stream(self) -> str:
        """The stream of the conversation."""
        return session_stream(self.session)

    def record(self, fact: Fact, *, key: str | None = None) -> Event | None:
        """Append a fact to the stream of the conversation; None where the repository is unknown."""
        if not self.is_known:
            return None
        return self.store.record(self.stream, storable(fact), key=key)

    def recent_events(self, most: int) -> list[Event]:
        """Return the newest events of the conversation, oldest first."""
        if not self.session:
            return []
        journal = self.world.journal
        if "store" in self.__dict__:  # it may have been created by this call
            journal = self.store
        return journal.newest(self.stream, most)


def set_up_directory(
    event: HookEvent, environment: Mapping[str, str], directory: Path | None
) -> Path:
    """Return the folder that a hook was set up in, by the process that was started for it.

    `environment` and `directory` are those of the process. The folder of the event is that of the
    agent, which can go where no lane is; it counts only where the process is in no workspace of
    dos, as for hooks that a program has for all repositories.
    """
    named = environment.get(dialects.PROJECT_VARIABLES.get(event.host, ""), "")
    for folder in (named, str(directory or "")):
        if folder and _uses_dos(folder):
            return Path(folder)
    return start_directory(event)


def own_directory() -> Path | None:
    """Return where this process works; None where the folder is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


def start_directory(event: HookEvent) -> Path:
    """Return the folder of an event that exists here, else the current one."""
    for folder in (event.cwd, *event.workspace_roots):
        if folder and "\0" not in folder and os.path.isdir(folder):  # noqa: PTH112 - never raises
            return Path(folder)
    return own_directory() or Path("/")


def _uses_dos(folder: str) -> bool:
    """Whether a folder is in a workspace that dos knows."""
    try:
        place = workspace.find(Path(folder))
    except DosError:
        return False
    return place.config.exists() or place.state.is_dir()
