"""The event that an agent program passes to a hook on stdin, and the report of a hook that failed.

Claude Code, Codex and Gemini CLI read exit code 2 of a hook as "deny this call": a usage error of
dos would stop every tool call of every session. So a hook that fails prints one line on stderr,
records one event a session, and exits 0.
"""

import os
import sys
from pathlib import Path
from typing import Any

from msgspec import DecodeError, json

from dos.claims import hook_dialects
from dos.cli.streams import read_stdin
from dos.errors import BadInput, DosError
from dos.text import quote

LONGEST = 64 << 20  # bytes
BUSY_SECONDS = 1.0  # to wait for the write lock: an agent waits for its hook
LONGEST_PROBLEM = 500
LONGEST_SESSION = 200


def stdin_is_terminal() -> bool:
    """Whether a person types at this terminal, instead of an agent program calling."""
    return sys.stdin is not None and sys.stdin.isatty()


def read_event(*, may_be_missing: bool = False) -> dict[str, Any]:
    """Return the event on stdin; an empty one where it may be missing and stdin is empty.

    Raises BadInput where stdin holds no JSON object.
    """
    content = read_stdin(LONGEST)
    if not content.strip():
        if may_be_missing:
            return {}
        raise BadInput(
            "stdin has no hook event",
            hint="Agent programs call this verb. To try it: dos hook stop < event.json",
        )
    if len(content) > LONGEST:
        raise BadInput(f"the hook event on stdin is larger than {LONGEST >> 20} MiB")
    try:
        event = json.decode(content)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"stdin is not a hook event: {error}") from error
    if not isinstance(event, dict):
        raise BadInput("stdin is JSON, but not a hook event: it is no object")
    return event


def check_dialect(name: str) -> None:
    """Raise BadInput for an unknown dialect: an agent program ignores an answer in another one."""
    if name not in hook_dialects.REFUSALS:
        raise BadInput(
            f"unknown dialect {quote(name)}",
            hint=f"The dialects are {', '.join(hook_dialects.REFUSALS)}.",
        )


def is_usage_error(error: Exception) -> bool:
    """Whether a person at a terminal made the error: then no agent waits for the exit code."""
    return isinstance(error, DosError) and stdin_is_terminal()


def report_failure(error: Exception, arguments: list[str]) -> None:
    """Print and record an error that ended the verb before the verb could do so itself."""
    from dos.verbs.output import print_stderr

    after_hook = arguments[arguments.index("hook") + 1 :]
    moment = next((word for word in after_hook if not word.startswith("-")), "")
    problem = str(error)
    if not isinstance(error, DosError):
        problem = f"bug in dos: {type(error).__name__}: {error}"
    verb = f"dos hook {moment}".rstrip()
    one_line = " ".join(problem.split()).removeprefix(f"{verb}: ")
    print_stderr(f"warning: {verb}: {one_line}")
    event = _remaining_event()
    record_failure(moment, problem, session=event.session, start=_start(arguments, event))


def record_failure(moment: str, problem: str, *, session: str, start: Path) -> None:
    """Record the first failure of a session in the journal of its workspace.

    Where there is no journal, none is created. A journal that cannot be written is ignored: the
    problem was printed on stderr already.
    """
    # A hook that works loads none of these.
    from dos.journal import streams
    from dos.journal.backends.open import embedded_path
    from dos.journal.events.fleet import HookFault
    from dos.world import World, open_journal

    short_session = session[:LONGEST_SESSION]
    fault = HookFault(
        moment=moment[:LONGEST_SESSION], problem=problem[:LONGEST_PROBLEM], session=short_session
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


def _remaining_event() -> hook_dialects.StopEvent:
    """Return the event if it is still on stdin: the verb may have failed before it read it."""
    try:
        return hook_dialects.parse(read_event(may_be_missing=True))
    except (DosError, OSError, ValueError):
        return hook_dialects.StopEvent()


def _start(arguments: list[str], event: hook_dialects.StopEvent) -> Path:
    """Return where to look for the workspace: --workspace, else the directory of the event."""
    named = "."
    for position, word in enumerate(arguments):
        flag, equals, value = word.partition("=")
        if flag != "--workspace":
            continue
        if equals:
            named = value
        else:
            named = "".join(arguments[position + 1 : position + 2])
    if named == "." and event.cwd and os.path.isdir(event.cwd):  # noqa: PTH112 - never raises
        return Path(event.cwd)
    return Path(named)
