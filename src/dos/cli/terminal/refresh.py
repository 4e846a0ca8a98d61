"""The view of the fleet for a terminal, read again and again, also while the journal is away."""

import os
import sys
from collections.abc import Callable

from rich.console import Console, ConsoleDimensions

from dos.backlog.waiting import Waits
from dos.errors import BadInput, DosError, StoreFailed
from dos.journal.backends.memory import MemoryBackend
from dos.limits.quota import AgentCandidate
from dos.report.io.snapshot import SnapshotReader
from dos.report.top import TopView
from dos.report.top_view import build_view
from dos.verbs.context import Context
from dos.world import World

FALLBACK = (80, 24)  # for a terminal that does not know its size
LIVENESS_SECONDS = 60.0  # progress of workers is not read from git more often than this
SILENT_SHARE = 0.5  # of the time after which a silent agent counts as hung


def waits_reader(context: Context) -> Callable[[], dict[str, Waits]]:
    """Return a function that reads what the lanes with work wait for."""
    from dos.fleet.io.reader import FleetReader

    reader = FleetReader(context.journal_world, liveness_seconds=LIVENESS_SECONDS)

    def read() -> dict[str, Waits]:
        return reader.waits().lanes

    return read


def snapshot_reader(context: Context) -> SnapshotReader:
    """Return a reader of snapshots; without a roster where dos.toml has errors."""
    world = context.journal_world
    roster = []
    if not world.loaded_config.problems:
        roster = world.config.roster()
    silence_seconds = world.config.workers.silence_seconds
    return SnapshotReader(
        world.journal,
        world.workspace.state,
        roster=roster,
        silent_after_ms=int(silence_seconds * SILENT_SHARE * 1000),
        agents=_agents(world),
    )


def _agents(world: World) -> list[AgentCandidate] | None:
    """Return the agents in use; None where dos.toml cannot tell which they are."""
    from dos.agents.io import candidates

    if world.loaded_config.problems:
        return None
    try:
        return [agent.candidate for agent in candidates.agents_in_use(world.config)]
    except BadInput:  # no agent, or an unknown one: `dos doctor` reports it
        return None


def fit_console(console: Console) -> tuple[int, int]:
    """Set the console to the size that the terminal has now, and return width and height.

    $LINES and $COLUMNS hold the size at the start of the shell, so they are not used.
    """
    columns, lines = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    console.size = ConsoleDimensions(columns or FALLBACK[0], lines or FALLBACK[1])
    return console.size


class LiveView:
    """The newest view, or the problem because of which there is none."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.problem = ""
        self.view: TopView | None = None
        self._reader: SnapshotReader | None = None
        self._read_waits: Callable[[], dict[str, Waits]] = dict

    def has_changed(self) -> bool:
        """Whether something was recorded since the last refresh."""
        if self._reader is None:
            return False
        try:
            return self.context.journal_world.journal.last() > self._reader.pos
        except StoreFailed:
            return True  # the next refresh finds the problem

    def refresh(self) -> None:
        """Read the view again; keep the last one and set `problem` where that fails."""
        try:
            if self._reader is None or self._has_no_journal():
                self.context.reload()
                self._reader = snapshot_reader(self.context)
                self._read_waits = waits_reader(self.context)
            self.view = build_view(self._reader.read(), self._read_waits())
            self.problem = ""
        except DosError as error:
            self._reader = None
            self.problem = error.message

    def _has_no_journal(self) -> bool:
        """Whether an empty journal in memory stands for one that was not created yet."""
        return isinstance(self.context.journal_world.journal.backend, MemoryBackend)
