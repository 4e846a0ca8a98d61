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
from dos.journal.store import Store
from dos.runs import resume
from dos.runs.io import resume as evidence
from dos.runs.resume import EXIT_CODES, Answer, Verdict
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "RESUMABLE": 0, "COMPLETE": 0, "resumed": 0, "DIVERGED": 3, "UNRESUMABLE": 4, "UNKNOWN": 5, "contract_error": 2,
    "unknown": 5,
}  # fmt: skip


class Args(Struct, kw_only=True):
    lane: Annotated[
        str, Option(help="a lane that is to go on; or a run", positional=True, metavar="LANE")
    ] = ""
    run_id: Annotated[str, Option(help="the run", metavar="RID")] = ""
    diverged: Annotated[bool, Option(help="take it that others have changed its files")] = False
    no_record: Annotated[bool, Option(help="only look: write down no proposal")] = False


def run(args: Args, context: Context) -> Reply:
    named = args.run_id or (args.lane if args.lane.startswith("RID-") else "")
    if not named:
        return _unpaused(args, context)
    if args.lane and args.run_id:
        raise BadInput(
            f"{quote(args.lane)} and --run-id are two things to resume",
            hint="Leave one of them out.",
        )
    run_id = run_ids.validated_run_id(named)
    try:
        verdict, proposed_now, successor = _asked(args, context, context.world.journal, run_id)
    except StoreBusy as error:  # its own exit code would say that the run cannot go on
        verdict, proposed_now, successor = (
            Verdict(answer=Answer.UNKNOWN, reason=error.message, run_id=run_id),
            False,
            "",
        )
    data: dict[str, Any] = {**to_builtins(verdict), "proposed_now": proposed_now}
    lines = [f"{verdict.answer}  {verdict.reason}"]
    if verdict.answer is Answer.RESUMABLE:
        data["proposed_command"] = _command(run_id, successor)
        lines += [
            f"re-entry : {verdict.resume_sha or '(HEAD)'}",
            f"residual : {', '.join(verdict.residual)}",
            f"propose  : {data['proposed_command']}"
            + ("" if proposed_now else "  (proposed before)"),
        ]
    return Reply(
        code=EXIT_CODES[verdict.answer],
        text="\n".join(lines),
        data=data,
        next_action=data.get("proposed_command", ""),
    )


def _unpaused(args: Args, context: Context) -> Reply:
    if args.diverged or args.no_record:
        raise BadInput(
            "--diverged and --no-record are said of a run", hint="Name it: dos resume --run-id RID"
        )
    return pauses.end_pause(context, args.lane)


def _asked(args: Args, context: Context, journal: Store, run_id: str) -> tuple[Verdict, bool, str]:
    """The verdict, whether this very call proposed it, and who goes on with the run."""
    while True:
        seen = run_state.read(journal, run_id)
        verdict = resume.judge(
            evidence.gather(context.world, journal, run_id, seen, asserted_diverged=args.diverged)
        )
        if verdict.answer is not Answer.RESUMABLE or verdict.already_proposed or args.no_record:
            return verdict, False, seen.successor
        fact = ResumeProposed(
            run_id=run_id,
            predecessor=run_id,
            resume_sha=verdict.resume_sha,
            residual=list(verdict.residual),
        )
        journal = context.journal
        try:
            journal.append_all(run_state.entries(run_id, [fact], at_version=seen.version))
        except Conflict:
            continue
        return verdict, True, ""


def _command(run_id: str, successor: str) -> str:
    return f"dos resume --run-id {successor}" if successor else f"dos run begin --resumes {run_id}"
