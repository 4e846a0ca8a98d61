"""Remember the tool calls of an agent of the fleet, and tell it when it repeats itself."""

from collections.abc import Callable
from pathlib import Path

from dos.agenthooks.events import HookEvent, HookVerdict
from dos.agenthooks.io import posttool
from dos.agenthooks.io.hook_call import Caller, HookCall, HookOptions
from dos.config.schema import Config
from dos.journal.store import Store
from dos.workspace import Workspace
from dos.world import World


class ToolMemory:
    """Records the calls of one agent under its run. It may be called from any thread."""

    def __init__(
        self,
        run_id: str,
        workspace: Workspace,
        config: Config,
        *,
        open_store: Callable[[], Store],
    ) -> None:
        """`config` is the approved one: dos.toml on disk may be another by now."""
        self._run_id = run_id
        self._root = workspace.root
        self._config = config
        self._open_store = open_store

    def __call__(self, event: HookEvent) -> HookVerdict:
        """Record a call that was made. Raises StoreFailed where the journal does not answer."""
        call = HookCall(
            event,
            Caller(environment={"DOS_RUN_ID": self._run_id}),
            HookOptions(start=self._root, session=self._run_id),
            self._open_world,
            self._open_journal,
        )
        with call:
            return posttool.answer(call)

    def _open_world(self, start: Path) -> World:
        """The workspace with the approved settings; what the event says of it does not count."""
        return World(start, config=self._config)

    def _open_journal(self, _world: World, _actor: str) -> Store:
        """The worker's own way to its journal."""
        return self._open_store()
