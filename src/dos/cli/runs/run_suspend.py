"""Suspend a run so that it can be resumed later.

With --transcript a turn of the conversation is recorded as sound, and `dos rewind` can propose to
cut back to it.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, structs

from dos import run_ids
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.journal.events.runs import RunSuspended
from dos.runs import resume
from dos.runs.io.evidence import gather_resume, read_turns
from dos.text import quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"suspended": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """The run, and where to resume it."""

    run: Annotated[str, Option(help="run id", positional=True, metavar="RUN")]
    reason: Annotated[str, Option(help="reason to record", metavar="TEXT")] = ""
    resume_sha: Annotated[
        str, Option(help="commit to resume from (default: as judged by git)", metavar="REF")
    ] = ""
    checkpoint_turn: Annotated[
        int | None, Option(help="turn to record as sound (default: the last)", metavar="N")
    ] = None
    transcript: Annotated[str, Option(help="conversation as JSON lines", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Record what is left to do, and the commit and the turn to resume from."""
    run_id = run_ids.validated_run_id(args.run)
    suspended = RunSuspended(
        run_id=run_id,
        reason=lookup.validated_text(args.reason, "reason"),
        resume_sha=lookup.optional_commit_hash(context, args.resume_sha),
    )
    suspended = _with_checkpoint(args, suspended)
    state = lookup.open_run(context, run_id)
    verdict = resume.judge(gather_resume(context.world, context.world.journal, run_id, state))
    suspended = structs.replace(
        suspended,
        residual=list(verdict.residual),
        resume_sha=suspended.resume_sha or verdict.resume_sha,
    )
    lookup.record(context, run_id, suspended)
    data = structs.asdict(suspended)
    del data["transcript"]  # a path of this machine, only for `dos rewind`
    return Reply(
        text=f"suspended  {run_id}: {len(suspended.residual)} left to do",
        data=data,
        next_action=f"dos resume --run-id {run_id}",
    )


def _with_checkpoint(args: Args, suspended: RunSuspended) -> RunSuspended:
    """Add the turn of the conversation and its digest; raises BadInput if there is no such turn."""
    if not args.transcript:
        if args.checkpoint_turn is not None:
            raise BadInput(
                "--checkpoint-turn needs the conversation", hint="Add --transcript FILE."
            )
        return suspended
    digests = _turn_digests(args.transcript)
    turn = args.checkpoint_turn
    if turn is None:
        turn = len(digests) - 1
    if not 0 <= turn < len(digests):
        raise BadInput(
            f"{quote(args.transcript)} has {len(digests)} turns and no turn {turn}",
            hint="Turns count from 0.",
        )
    return structs.replace(
        suspended,
        checkpoint_turn=turn,
        transcript_digest=digests[turn],
        transcript=str(Path(args.transcript).resolve()),
    )


def _turn_digests(transcript: str) -> tuple[str, ...]:
    """Return the digest of each turn; raises BadInput if the file cannot be read."""
    if "\0" in transcript:
        digests: tuple[str, ...] | Unknown = Unknown("a file name cannot contain NUL")
    else:
        digests = read_turns(Path(transcript))
    if isinstance(digests, Unknown):
        raise BadInput(
            f"--transcript {quote(transcript)}: {digests.why}", hint="Give a file of JSON lines."
        )
    return digests
