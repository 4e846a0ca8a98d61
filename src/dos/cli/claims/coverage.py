"""Count how many dispatched sub-agents returned a result.

This has nothing to do with test coverage. You give the number that was dispatched: the results
cannot show what is missing. `prompt_line` is for the prompt of the agent that continues.
"""

from typing import Annotated

from msgspec import Struct

from dos.claims import coverage, result
from dos.claims.coverage import EXIT_CODES, Evidence, WorkerResult
from dos.claims.io import transcripts as evidence
from dos.claims.io.transcripts import read_outcomes
from dos.cli.loop.numbers import values_checked as sensible
from dos.errors import BadInput
from dos.text import quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "FULL": 0,
    "EMPTY": 0,
    "UNDERFILLED": 3,
    "STARVED": 3,
    "OVERFILLED": 3,
    "contract_error": 2,
}
EXAMPLE = "For example: dos coverage --declared 3 --transcripts-glob 'runs/*.jsonl'"


class Args(Struct, kw_only=True):
    declared: Annotated[int, Option(help="how many workers were sent out", metavar="N")]
    transcript: Annotated[
        list[str], Option(help="the conversations of those that came back", metavar="PATH")
    ] = []
    transcripts_glob: Annotated[str, Option(help="the same, as a pattern", metavar="GLOB")] = ""
    states: Annotated[str, Option(help="how they ended, by your word", metavar="STATE,STATE")] = ""
    min_quorum: Annotated[
        float | None, Option(help="the part that is enough, for quorum_met", metavar="PART")
    ] = None


def run(args: Args, context: Context) -> Reply:
    returned = _typed(args.states) if args.states else read_outcomes(_paths(args))
    with sensible("coverage"):
        seen = Evidence(
            declared=args.declared,
            returned=returned,
            grounded=not args.states,
            min_quorum=args.min_quorum,
        )
    verdict = coverage.judge(seen)
    return Reply(
        code=EXIT_CODES[verdict.answer],
        text=f"{verdict.answer} {verdict.reason}",
        data=verdict.to_dict(),
        next_action=verdict.prompt_line,
    )


def _paths(args: Args) -> list[str]:
    found = list(args.transcript)
    if args.transcripts_glob:
        matched = evidence.matching_files(args.transcripts_glob)
        if len(matched) > evidence.MOST:
            raise BadInput(
                f"the pattern names more than {evidence.MOST:,} files",
                hint="Give a narrower pattern.",
            )
        found += [path for path in matched if path not in set(found)]
    if not found:
        named = args.transcripts_glob
        raise BadInput(
            f"no file is named by {quote(named)}" if named else "nothing says who came back",
            hint=EXAMPLE,
        )
    return found


def _typed(text: str) -> list[WorkerResult]:
    words = [word for part in text.split(",") if (word := part.strip().upper())]
    known = [str(state) for state in result.Answer]
    for word in words:
        if word not in known:
            raise BadInput(
                f"{quote(word)} is no end of a worker", hint=f"The states are {', '.join(known)}."
            )
    if not words:
        raise BadInput("--states names nobody", hint="For example: --states HEALTHY,EMPTY")
    states = [result.Answer(word) for word in words]
    causes = {result.Answer.SYNTHETIC: result.FailureClass.OTHER}
    return [
        WorkerResult(state=state, cause=causes.get(state, result.FailureClass.NONE))
        for state in states
    ]
