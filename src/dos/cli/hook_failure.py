"""A hook that cannot answer: one line on stderr, one event a session, and the agent continues.

Claude Code, Codex and Gemini CLI read exit code 2 of a hook as "deny this call": a usage error of ours would stop every
tool call of every session.
"""

import os
from pathlib import Path

from dos.claims import hook_dialects as dialects
from dos.cli import hook_input
from dos.config.past_errors import with_store_only
from dos.errors import DosError
from dos.journal import streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.fleet import HookFault
from dos.verbs.output import print_stderr
from dos.world import World, open_journal

BUSY_SECONDS = 1.0  # for the write lock: an agent waits for its hook
LONGEST_PROBLEM = 500
LONGEST_SESSION = 200


def is_usage(error: Exception) -> bool:
    """A person types the verb on a terminal: no agent waits for the exit code."""
    return isinstance(error, DosError) and hook_input.at_terminal()


def report(error: Exception, arguments: list[str]) -> None:
    """For an error that ended the verb before it could say so itself."""
    moment = next(
        (word for word in arguments[arguments.index("hook") + 1 :] if not word.startswith("-")), ""
    )
    problem = (
        str(error)
        if isinstance(error, DosError)
        else f"dos has a bug: {type(error).__name__}: {error}"
    )
    named = f"dos hook {moment}".rstrip()
    print_stderr(f"warning: {named}: {' '.join(problem.split()).removeprefix(f'{named}: ')}")
    told = _event()
    record(moment, problem, session=told.session, start=_start(arguments, told))


def record(moment: str, problem: str, *, session: str, start: Path) -> None:
    """Write the session's first fault into the journal of its workspace; where there is none, none is made.

    It was said on stderr already: a journal that cannot be reached adds nothing to that.
    """
    named = session[:LONGEST_SESSION]
    fault = HookFault(
        moment=moment[:LONGEST_SESSION], problem=problem[:LONGEST_PROBLEM], session=named
    )
    try:
        with World(start, lenient=True) as world:
            workspace = world.workspace
            url = with_store_only(
                world.loaded_config, workspace.config, workspace.state
            ).config.store.url
            path = embedded_path(url, workspace.state)
            if path is not None and not path.exists():
                return
            with open_journal(workspace, url, busy_seconds=BUSY_SECONDS) as journal:
                journal.record(
                    streams.HOOKS, fault, key=f"fault/{named or f'unnamed/{fault.moment}'}"
                )
    except (DosError, OSError, ValueError):
        return


def _event() -> dialects.Event:
    """What is left of the input, if it is an event: the verb may have failed before it read any of it."""
    try:
        return dialects.parse(hook_input.event(may_be_missing=True))
    except (DosError, OSError, ValueError):
        return dialects.Event()


def _start(arguments: list[str], told: dialects.Event) -> Path:
    """Where the look for the workspace begins: what --workspace names, else what the event does."""
    words = [word.partition("=") for word in arguments]
    values = [
        value if equals else "".join(arguments[place + 1 : place + 2])
        for place, (flag, equals, value) in enumerate(words)
        if flag == "--workspace"
    ]
    named = values[-1] if values else "."
    return Path(told.cwd) if named == "." and told.cwd and os.path.isdir(told.cwd) else Path(named)  # noqa: PTH112
