"""Who looks at the fleet of this context, again and again; over a journal that may be away, or not there yet."""

import os
import sys
from collections.abc import Callable

from rich.console import Console, ConsoleDimensions

from dos.backlog.waiting import Waits
from dos.errors import BadInput, DosError, StoreFailed
from dos.journal.backends.memory import MemoryBackend
from dos.limits.quota import AgentCandidate
from dos.report.io.snapshot import SnapshotReader
from dos.report.top import TopView, build_view
from dos.verbs.context import Context
from dos.world import World

FALLBACK = (80, 24)  # for a terminal that does not know its size
LIVENESS_SECONDS = 60.0  # how workers progress is not read from git more often
SILENT_SHARE = 0.5  # of the time after which a silent agent is taken to hang


def waits_reader(context: Context) -> Callable[[], dict[str, Waits]]:
    """How to ask what the lanes wait for, again and again."""
    from dos.fleet.io.reader import FleetReader

    reader = FleetReader(context.journal_world, liveness_seconds=LIVENESS_SECONDS)
    return lambda: reader.waits().lanes


def snapshot_reader(context: Context) -> SnapshotReader:
    world = context.journal_world
    return SnapshotReader(
        world.journal,
        world.workspace.state,
        roster=[]
        if world.loaded_config.problems
        else world.config.roster(),  # what a broken file declares, nobody knows
        silent_after_ms=int(world.config.workers.silence_seconds * SILENT_SHARE * 1000),
        agents=_agents(world),
    )


def _agents(world: World) -> list[AgentCandidate] | None:
    """None where dos.toml cannot say which they are."""
    from dos.agents.io import candidates

    if world.loaded_config.problems:
        return None
    try:
        return [each.candidate for each in candidates.agents_in_use(world.config)]
    except BadInput:  # no agent, or one that nobody knows: `dos doctor` says so
        return None


def fit_console(console: Console) -> tuple[int, int]:
    """The terminal's width and height as they are now; $LINES and $COLUMNS tell what they once were."""
    columns, lines = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    console.size = ConsoleDimensions(columns or FALLBACK[0], lines or FALLBACK[1])
    return console.size


class LiveView:
    """The newest view, or why there is none now."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.problem = ""
        self.view: TopView | None = None
        self._watcher: SnapshotReader | None = None
        self._waits: Callable[[], dict[str, Waits]] = dict

    def has_changed(self) -> bool:
        """Something was written since the last look."""
        if self._watcher is None:
            return False
        try:
            return self.context.journal_world.journal.last() > self._watcher.pos
        except StoreFailed:
            return True  # the next look says what is wrong

    def refresh(self) -> None:
        try:
            if self._watcher is None or isinstance(
                self.context.journal_world.journal.backend, MemoryBackend
            ):
                self.context.reload()
                self._watcher = snapshot_reader(self.context)
                self._waits = waits_reader(self.context)
            self.view, self.problem = build_view(self._watcher.read(), self._waits()), ""
        except DosError as error:  # what is wrong now may be right at the next look
            self._watcher, self.problem = None, error.message
