"""The workspace as a server reads it: opened once, and again when dos.toml or the journal changes.

Opening it costs ten times what a hook costs. A hook closes what it was given, so what is shared
counts its users and is really closed when the last of those is done with a copy that has aged.
"""

import os
import shlex
import threading
from collections import OrderedDict
from pathlib import Path

from dos import workspace
from dos.agenthooks.io.hook_call import BUSY_SECONDS
from dos.errors import BadInput
from dos.journal.backends.open import embedded_path
from dos.journal.store import Store
from dos.workspace import Workspace
from dos.world import World, open_journal

MOST_WORLDS = 16  # work trees of one repository


class OtherRepository(BadInput):
    """A folder is of another repository than that of the server."""


_Stamp = tuple[int, ...] | None


class SharedWorld(World):
    """A world with several users. `close` is what each of them calls."""

    def __init__(self, start: Path, place: Workspace) -> None:
        super().__init__(start, lenient=True)
        self.workspace = place
        self.stamp = _stamp(place.config)
        self.users = 0
        self.has_aged = False
        self._lock = threading.Lock()
        self._writer: Store | None = None
        self._journal_path = embedded_path(self.config.store.url, place.state)
        self._journal_stamp = _identity(self._journal_path)
        # Read now: several threads may not read a part for the first time at once.
        _ = self.journal

    @property
    def is_current(self) -> bool:
        """Whether dos.toml and the file of the journal are still those that were read."""
        return self.stamp == _stamp(self.workspace.config) and self._journal_stamp == _identity(
            self._journal_path
        )

    def writer(self, actor: str) -> Store:
        """Return the journal for the writes of one call, under this actor."""
        with self._lock:
            if self._writer is None:
                self._writer = open_journal(
                    self.workspace, self.config.store.url, busy_seconds=BUSY_SECONDS
                )
            return self._writer.for_actor(actor)

    def enter(self) -> None:
        """Count one more user."""
        with self._lock:
            self.users += 1

    def retire(self) -> None:
        """Close when the last user is done; for a copy that nobody gets any more."""
        with self._lock:
            self.has_aged = True
        self._close_if_unused()

    def close(self) -> None:
        """Count one user less."""
        with self._lock:
            self.users -= 1
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        with self._lock:
            if not self.has_aged or self.users > 0:
                return
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        super().close()


class Worlds:
    """The worlds of one workspace: one for each of its work trees that somebody asks from."""

    def __init__(self, place: Workspace) -> None:
        self.place = place
        self._worlds: OrderedDict[Workspace, SharedWorld] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, start: Path) -> Workspace:
        """Return the workspace of a folder, as seen from there: that of this server.

        Raises OtherRepository for a folder of another one, whose own server answers. Raises
        BadInput for a folder that sets a root of its own: settings are those of the repository,
        never of a folder that somebody has made and asks from.
        """
        place = workspace.find(start)
        if place.state != self.place.state:
            raise OtherRepository(f"this server is that of {self.place.root}, not of {place.root}")
        if place.tree != self.place.tree and not workspace.is_work_tree(place):
            raise BadInput(
                f"{place.tree} is not a work tree of {self.place.root}, though its .git says so",
                hint="`git worktree list` shows them; `git worktree add` makes one.",
            )
        if place.prefix != self.place.prefix:
            raise BadInput(
                f"this server is that of {self.place.root}, not of {place.root}",
                hint=f"Ask the command: dos --workspace {shlex.quote(str(place.root))} VERB",
            )
        return place

    def open_unshared(self, start: Path) -> World:
        """Return a world of a folder for one thread alone. Raises what `find` raises."""
        world = World(start, lenient=True)
        world.workspace = self.find(start)
        return world

    def open_world(self, start: Path) -> World:
        """Return the shared world of a folder; its user closes it. Raises what `find` raises."""
        place = self.find(start)
        with self._lock:
            world = self._worlds.pop(place, None)
            if world is not None and not world.is_current:
                world.retire()
                world = None
            if world is None:
                world = SharedWorld(start, place)
            self._worlds[place] = world
            world.enter()
            while len(self._worlds) > MOST_WORLDS:
                _, oldest = self._worlds.popitem(last=False)
                oldest.retire()
        return world

    def open_store(self, world: World, actor: str) -> Store:
        """Return the journal of a world that was opened here, for the writes of one call."""
        if not isinstance(world, SharedWorld):
            return open_journal(
                world.workspace, world.config.store.url, actor=actor, busy_seconds=BUSY_SECONDS
            )
        return world.writer(actor)

    def close(self) -> None:
        """Close all that nobody uses."""
        with self._lock:
            for world in self._worlds.values():
                world.retire()
            self._worlds.clear()


def _stamp(path: Path) -> _Stamp:
    """What changes with every change of a file; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked at every hook
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def _identity(path: Path | None) -> _Stamp:
    """Which file a path leads to; None: to none, or the journal is no file."""
    if path is None:
        return None
    try:
        found = os.stat(path)  # noqa: PTH116 - asked at every hook
    except OSError:
        return None
    return (found.st_ino, found.st_dev)
