"""The event that an agent program hands to a hook on its input, and the dialect that the hook was told to speak."""

import os
import sys
from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.claims import hook_dialects as dialects
from dos.cli import streams as given_text
from dos.config.past_errors import with_store_only
from dos.errors import BadInput, DosError
from dos.journal import streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.fleet import HookFault
from dos.text import quote
from dos.verbs.output import print_stderr
from dos.world import World, open_journal

LONGEST = 64 << 20  # bytes


def stdin_is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def read_event(*, may_be_missing: bool = False) -> dict[str, Any]:
    """The event. Where none need be there, an empty input is an event that says nothing."""
    said = given_text.read_stdin(LONGEST)
    if not said.strip():
        if may_be_missing:
            return {}
        raise BadInput(
            "the input holds no event of a hook",
            hint="Agent programs call this verb. To try it: dos hook stop < event.json",
        )
    if len(said) > LONGEST:
        raise BadInput(f"the event on the input is larger than {LONGEST >> 20} MiB")
    try:
        found = json.decode(said)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"the input is not an event of a hook: {error}") from error
    if not isinstance(found, dict):
        raise BadInput("the input is JSON, and not an event of a hook")
    return found


def check_dialect(name: str) -> None:
    """Bytes in the wrong dialect would be passed over in silence by the program that reads them."""
    if name not in dialects.REFUSALS:
        raise BadInput(
            f"there is no dialect {quote(name)}",
            hint=f"The dialects are {', '.join(dialects.REFUSALS)}.",
        )


BUSY_SECONDS = 1.0  # for the write lock: an agent waits for its hook
LONGEST_PROBLEM = 500
LONGEST_SESSION = 200


def is_usage_error(error: Exception) -> bool:
    """A person types the verb on a terminal: no agent waits for the exit code."""
    return isinstance(error, DosError) and stdin_is_terminal()


def report_failure(error: Exception, arguments: list[str]) -> None:
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
    record_failure(moment, problem, session=told.session, start=_start(arguments, told))


def record_failure(moment: str, problem: str, *, session: str, start: Path) -> None:
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
        return dialects.parse(read_event(may_be_missing=True))
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
