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
from dos.runs.io import resume as evidence
from dos.runs.io.rewind import turns
from dos.text import quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"suspended": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    run: Annotated[str, Option(help="the run", positional=True, metavar="RUN")]
    reason: Annotated[str, Option(help="why, for the record", metavar="TEXT")] = ""
    resume_sha: Annotated[
        str, Option(help="the commit to go on from; judged when not given", metavar="REF")
    ] = ""
    checkpoint_turn: Annotated[
        int | None, Option(help="the turn to stamp; the last when not given", metavar="N")
    ] = None
    transcript: Annotated[str, Option(help="the conversation, as JSON lines", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    run_id = run_ids.validated_run_id(args.run)
    fact = RunSuspended(
        run_id=run_id,
        reason=lookup.validated_text(args.reason, "reason"),
        resume_sha=lookup.commit_hash(context, args.resume_sha) if args.resume_sha else "",
    )
    fact = _stamped(args, fact)
    seen = lookup.open_run(context, run_id)
    verdict = resume.judge(evidence.gather(context.world, context.world.journal, run_id, seen))
    fact = structs.replace(
        fact, residual=list(verdict.residual), resume_sha=fact.resume_sha or verdict.resume_sha
    )
    lookup.record(context, run_id, fact)
    data = {name: value for name, value in structs.asdict(fact).items() if name != "transcript"}
    return Reply(
        text=f"suspended  {run_id}: {len(fact.residual)} left to do",
        data=data,
        next_action=f"dos resume --run-id {run_id}",
    )


def _stamped(args: Args, fact: RunSuspended) -> RunSuspended:
    if not args.transcript:
        if args.checkpoint_turn is not None:
            raise BadInput(
                "--checkpoint-turn needs the conversation", hint="Add --transcript FILE."
            )
        return fact
    found = (
        Unknown("no file has such a name")
        if "\0" in args.transcript
        else turns(Path(args.transcript))
    )
    if isinstance(found, Unknown):
        raise BadInput(
            f"--transcript {quote(args.transcript)}: {found.why}", hint="Give a file of JSON lines."
        )
    turn = len(found) - 1 if args.checkpoint_turn is None else args.checkpoint_turn
    if not 0 <= turn < len(found):
        raise BadInput(
            f"{quote(args.transcript)} has {len(found)} turns and no turn {turn}",
            hint="Turns count from 0.",
        )
    return structs.replace(
        fact,
        checkpoint_turn=turn,
        transcript_digest=found[turn],
        transcript=str(Path(args.transcript).resolve()),
    )
