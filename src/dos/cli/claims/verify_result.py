"""Check that a conversation ended with an answer.

A failure notice in place of an answer is found. Without --transcript a hook event is read from
stdin, and its `transcript_path` names the conversation. A conversation that cannot be read is
neither an answer nor a failure.
"""

import sys
from typing import Annotated

from msgspec import MsgspecError, Struct, json, to_builtins

from dos.claims import result
from dos.claims.io import transcripts
from dos.claims.result import Answer, FailureClass
from dos.errors import BadInput
from dos.text import LONGEST_PATH, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"healthy": 0, "unreadable": 2, "dead": 3, "contract_error": 2}
EXAMPLE = "For example: dos verify-result --transcript agent.jsonl"
LONGEST_EVENT = 64 << 20


class Args(Struct, kw_only=True):
    """The conversation."""

    transcript: Annotated[str, Option(help="conversation as JSON lines", metavar="PATH")] = ""


class HookEvent(Struct):
    """The one field of a hook's event that is read here."""

    transcript_path: str = ""


def run(args: Args, _context: Context) -> Reply:
    """Judge the last message of a conversation by who wrote it.

    An unreadable transcript exits with 2 like any other bad input, and still prints its verdict.
    """
    path = args.transcript or _path_from_stdin()
    verdict = result.judge(transcripts.read_outcome(path))
    code = EXITS["healthy"]
    parts = [str(verdict.answer), str(verdict.answer)]
    warning = ""
    if verdict.answer is Answer.UNREADABLE:
        code = EXITS["unreadable"]
        warning = f"error: {quote(path, LONGEST_PATH)}: {verdict.reason}\n  hint: {EXAMPLE}"
    if verdict.dead:
        code = EXITS["dead"]
        parts[0] = "DEAD"
    if verdict.api_status is not None:
        parts.append(f"apiErrorStatus={verdict.api_status}")
    if verdict.cause is not FailureClass.NONE:
        parts.append(f"class={verdict.cause}")
    return Reply(
        code=code,
        text=f"{' '.join(parts)} — {verdict.reason}",
        data={**to_builtins(verdict), "envelope": verdict.envelope},
        stderr=warning,
    )


def _path_from_stdin() -> str:
    """Return the path in the hook event on stdin; raises BadInput if there is none."""
    event = b""
    if sys.stdin is not None and not sys.stdin.isatty():
        event = sys.stdin.buffer.read(LONGEST_EVENT)
    if not event.strip():
        raise BadInput("--transcript is missing, and stdin is empty", hint=EXAMPLE)
    try:
        path = json.decode(event, type=HookEvent).transcript_path
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"stdin is not a hook event: {error}", hint=EXAMPLE) from error
    if not path:
        raise BadInput("the hook event on stdin has no transcript_path", hint=EXAMPLE)
    return path
