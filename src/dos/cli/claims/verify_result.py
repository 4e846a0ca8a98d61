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
    transcript: Annotated[str, Option(help="the conversation, as JSON lines", metavar="PATH")] = ""


class HookEvent(Struct):
    transcript_path: str = ""


def run(args: Args, context: Context) -> Reply:
    path = args.transcript or _told()
    verdict = result.judge(transcripts.read_outcome(path))
    unread = verdict.answer is Answer.UNREADABLE
    parts = ["DEAD" if verdict.dead else str(verdict.answer), str(verdict.answer)]
    parts += [] if verdict.api_status is None else [f"apiErrorStatus={verdict.api_status}"]
    parts += [] if verdict.cause is FailureClass.NONE else [f"class={verdict.cause}"]
    return Reply(
        code=3 if verdict.dead else 2 if unread else 0,
        text=f"{' '.join(parts)} — {verdict.reason}",
        data={**to_builtins(verdict), "envelope": verdict.envelope},
        stderr=f"error: {quote(path, LONGEST_PATH)}: {verdict.reason}\n  hint: {EXAMPLE}"
        if unread
        else "",
    )


def _told() -> str:
    """The path in an event on the input, when there is an input."""
    said = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(LONGEST_EVENT)
    if not said.strip():
        raise BadInput("no transcript is named, and nothing is on the input", hint=EXAMPLE)
    try:
        path = json.decode(said, type=HookEvent).transcript_path
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"the input is not an event of a hook: {error}", hint=EXAMPLE) from error
    if not path:
        raise BadInput("the event on the input has no transcript_path", hint=EXAMPLE)
    return path
