"""The event that an agent program passes to a hook on stdin, and the report of a hook that failed.

Claude Code, Codex and Gemini CLI read exit code 2 of a hook as "deny this call": a usage error of
dos would stop every tool call of every session. So a hook that fails prints one line on stderr,
records one event a session, and exits 0.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, json

from dos.agenthooks import dialects
from dos.agenthooks.events import HookEvent
from dos.cli.streams import read_stdin
from dos.errors import BadInput, DosError
from dos.verbs.context import Context, Reply

if TYPE_CHECKING:
    from dos.agenthooks.io.answer import HookOptions

LONGEST = 64 << 20  # bytes
NO_ANSWER = "the worker of this lane and its server do not answer"
DIALECT_HELP = f"agent program: {', '.join(dialects.DIALECTS)}"


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


def answer(
    moment: str,
    dialect: str,
    context: Context,
    options: "HookOptions",
    *,
    may_be_missing: bool = False,
    debug: bool = False,
) -> Reply:
    """Answer the event on stdin. Raises BadInput for an unknown dialect and for no event."""
    from msgspec.structs import replace

    from dos.agenthooks.io.answer import Caller, answer_hook

    dialects.check(dialect)
    event = read_event(may_be_missing=may_be_missing)
    if context.start_directory != Path.cwd():
        options = replace(options, start=context.start_directory)
    caller = Caller(pid=os.getpid(), environment=os.environ)
    reply = answer_hook(moment, dialect, event, caller=caller, options=options)
    stderr = reply.stderr
    if debug and reply.note:
        stderr = f"{stderr}\nwarning: {reply.note}".strip()
    data = reply.data if context.as_json else None
    return Reply(text=reply.stdout, data=data, stderr=stderr)


def refuse_unjudged(dialect: str) -> Reply:
    """Refuse the call on stdin, unless it only reads: for an agent of the fleet that got no
    answer. Raises BadInput for an unknown dialect and for no event."""
    from dos.agenthooks.io.answer import deny_unjudged

    dialects.check(dialect)
    event = dialects.parse(dialect, "pretool", read_event())
    return Reply(text=deny_unjudged(event, NO_ANSWER))


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
    from dos.agenthooks.io.faults import record_fault

    event = _remaining_event()
    record_fault(moment, problem, session=event.session, start=_start(arguments, event))


def _remaining_event() -> HookEvent:
    """Return the event if it is still on stdin: the verb may have failed before it read it."""
    try:
        return dialects.parse(dialects.DEFAULT, "", read_event(may_be_missing=True))
    except (DosError, OSError, ValueError):
        return HookEvent()


def _start(arguments: list[str], event: HookEvent) -> Path:
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
    if named != ".":
        return Path(named)
    from dos.agenthooks.io.hook_call import start_directory

    return start_directory(event)
