"""Show where a stopped run can resume, or end a pause.

With --run-id: a run that can resume is offered once. Of all callers, one is told to start a
successor; the others are refused until the run is suspended or declared again. No process is
started. With a lane, or with no arguments, this ends a `dos pause`; a lane that was halted or
disabled after failures can start again, too.
"""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.cli.lanes import pauses
from dos.errors import BadInput, Conflict, StoreBusy
from dos.journal import run_state
from dos.journal.events.runs import ResumeProposed
from dos.runs import resume
from dos.runs.io.evidence import gather_resume
from dos.runs.resume import EXIT_CODES, Answer, Verdict
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "RESUMABLE": 0,
    "COMPLETE": 0,
    "resumed": 0,
    "DIVERGED": 3,
    "UNRESUMABLE": 4,
    "UNKNOWN": 5,
    "contract_error": 2,
    "unknown": 5,
}


class Args(Struct, kw_only=True):
    """The lane whose pause ends, or the run to resume."""

    lane: Annotated[
        str, Option(help="lane to start again; or a run", positional=True, metavar="LANE")
    ] = ""
    run_id: Annotated[str, Option(help="run to resume", metavar="RID")] = ""
    diverged: Annotated[bool, Option(help="assume that others changed its files")] = False
    no_record: Annotated[bool, Option(help="record no proposal in the journal")] = False


class Proposal(Struct, frozen=True, kw_only=True):
    """The verdict, whether this call recorded the proposal, and the run's successor."""

    verdict: Verdict
    proposed_now: bool = False
    successor: str = ""


def run(args: Args, context: Context) -> Reply:
    """End a pause, or show where a run can resume and propose a successor once."""
    named_run = args.run_id
    if not named_run and args.lane.startswith("RID-"):
        named_run = args.lane
    if not named_run:
        return _end_pause(args, context)
    if args.lane and args.run_id:
        raise BadInput(
            f"{quote(args.lane)} and --run-id are two things to resume",
            hint="Leave one of them out.",
        )
    run_id = run_ids.validated_run_id(named_run)
    try:
        proposal = _propose(args, context, run_id)
    except StoreBusy as error:  # its own exit code, 4, would say that the run cannot resume
        unknown = Verdict(answer=Answer.UNKNOWN, reason=error.message, run_id=run_id)
        proposal = Proposal(verdict=unknown)
    verdict = proposal.verdict
    data: dict[str, Any] = {**to_builtins(verdict), "proposed_now": proposal.proposed_now}
    lines = [f"{verdict.answer}  {verdict.reason}"]
    command = ""
    if verdict.answer is Answer.RESUMABLE:
        command = _command(run_id, proposal.successor)
        data["proposed_command"] = command
        lines += [
            f"resume at  {verdict.resume_sha or 'HEAD'}",
            f"left       {', '.join(verdict.residual)}",
        ]
        if proposal.proposed_now:
            lines.append(f"continue   {command}")
        else:
            lines.append(f"continue   {command}  (another call has proposed this already)")
    return Reply(
        code=EXIT_CODES[verdict.answer], text="\n".join(lines), data=data, next_action=command
    )


def _end_pause(args: Args, context: Context) -> Reply:
    """End the pause; raises BadInput for options that only a run can have."""
    if args.diverged or args.no_record:
        raise BadInput(
            "--diverged and --no-record need a run", hint="Name it: dos resume --run-id RID"
        )
    return pauses.end_pause(context, args.lane)


def _propose(args: Args, context: Context, run_id: str) -> Proposal:
    """Judge the run and record the proposal to resume it, unless one is recorded already.

    The proposal is recorded at the version that was judged, so of several callers one records it.
    """
    journal = context.world.journal
    while True:
        state = run_state.read(journal, run_id)
        evidence = gather_resume(
            context.world, journal, run_id, state, asserted_diverged=args.diverged
        )
        verdict = resume.judge(evidence)
        if verdict.answer is not Answer.RESUMABLE or verdict.already_proposed or args.no_record:
            return Proposal(verdict=verdict, successor=state.successor)
        proposed = ResumeProposed(
            run_id=run_id,
            predecessor=run_id,
            resume_sha=verdict.resume_sha,
            residual=list(verdict.residual),
        )
        journal = context.journal
        try:
            journal.append_all(run_state.entries(run_id, [proposed], at_version=state.version))
        except Conflict:
            continue  # the run changed meanwhile: judge it again
        return Proposal(verdict=verdict, proposed_now=True)


def _command(run_id: str, successor: str) -> str:
    """Return the command that continues the work: by the recorded successor, or by a new one."""
    if successor:
        return f"dos resume --run-id {successor}"
    return f"dos run begin --resumes {run_id}"
