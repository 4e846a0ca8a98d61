"""The record of a hook that failed: one event for each conversation."""

from pathlib import Path

from dos.agenthooks.io.hook_call import BUSY_SECONDS, LONGEST_SESSION
from dos.errors import DosError
from dos.journal import streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.fleet import HookFault
from dos.permission.io.record import storable
from dos.world import World, open_journal

LONGEST_PROBLEM = 500


def record_fault(moment: str, problem: str, *, session: str, start: Path) -> None:
    """Record the first failure of a session in the journal of its workspace.

    Where there is no journal, none is created. A journal that cannot be written is ignored: the
    problem was printed on stderr already.
    """
    short_session = session[:LONGEST_SESSION]
    fault = storable(
        HookFault(
            moment=moment[:LONGEST_SESSION],
            problem=problem[:LONGEST_PROBLEM],
            session=short_session,
        )
    )
    key = f"fault/{short_session}"
    if not short_session:
        key = f"fault/unnamed/{fault.moment}"
    try:
        with World(start, lenient=True) as world:
            workspace = world.workspace
            world.use_store_of_broken_config()
            url = world.config.store.url
            path = embedded_path(url, workspace.state)
            if path is not None and not path.exists():
                return
            with open_journal(workspace, url, busy_seconds=BUSY_SECONDS) as journal:
                journal.record(streams.HOOKS, fault, key=key)
    except (DosError, OSError, ValueError):
        return
