"""Count how many dispatched sub-agents returned a result.

This has nothing to do with test coverage. You give the number that was dispatched: the results
cannot show what is missing. `prompt_line` is for the prompt of the agent that continues.
"""

from typing import Annotated

from msgspec import Struct

from dos.claims import coverage, result
from dos.claims.coverage import EXIT_CODES, Evidence, WorkerResult
from dos.claims.io import transcripts
from dos.cli.loop.numbers import values_checked
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
    """How many were dispatched, and what came back."""

    declared: Annotated[int, Option(help="number of dispatched sub-agents", metavar="N")]
    transcript: Annotated[
        list[str], Option(help="conversations of those that returned", metavar="PATH")
    ] = []
    transcripts_glob: Annotated[str, Option(help="conversations, as a pattern", metavar="GLOB")] = (
        ""
    )
    states: Annotated[
        str, Option(help="how they ended, by your account", metavar="STATE,STATE")
    ] = ""
    min_quorum: Annotated[
        float | None, Option(help="share that sets quorum_met, such as 0.8", metavar="PART")
    ] = None


def run(args: Args, _context: Context) -> Reply:
    """Count the results of the workers by their transcripts, or by the states that were typed.

    Typed states are marked as not `grounded` in JSON, because nothing shows where they come from.
    """
    if args.states:
        returned = _parse_states(args.states)
    else:
        returned = transcripts.read_outcomes(_paths(args))
    with values_checked("coverage"):
        evidence = Evidence(
            declared=args.declared,
            returned=returned,
            grounded=not args.states,
            min_quorum=args.min_quorum,
        )
    verdict = coverage.judge(evidence)
    return Reply(
        code=EXIT_CODES[verdict.answer],
        text=f"{verdict.answer} {verdict.reason}",
        data=verdict.to_dict(),
        next_action=verdict.prompt_line,
    )


def _paths(args: Args) -> list[str]:
    """Return the transcripts to read, each once.

    Raises BadInput when there are none, or more than a pattern may name.
    """
    paths = list(args.transcript)
    pattern = args.transcripts_glob
    if pattern:
        matches = transcripts.matching_files(pattern)
        if len(matches) > transcripts.MOST:
            raise BadInput(
                f"the pattern matches more than {transcripts.MOST:,} files",
                hint="Give a narrower pattern.",
            )
        paths += [path for path in matches if path not in args.transcript]
    if paths:
        return paths
    if pattern:
        raise BadInput(f"{quote(pattern)} matches no file", hint=EXAMPLE)
    raise BadInput("--transcript, --transcripts-glob or --states is missing", hint=EXAMPLE)


def _parse_states(text: str) -> list[WorkerResult]:
    """Parse STATE,STATE; raises BadInput for a word that is no state, or for none at all."""
    words = list(filter(None, (part.strip().upper() for part in text.split(","))))
    known = [str(state) for state in result.Answer]
    for word in words:
        if word not in known:
            raise BadInput(
                f"{quote(word)} is not a state", hint=f"The states are {', '.join(known)}."
            )
    if not words:
        raise BadInput("--states is empty", hint="For example: --states HEALTHY,EMPTY")
    states = [result.Answer(word) for word in words]
    causes = {result.Answer.SYNTHETIC: result.FailureClass.OTHER}
    return [
        WorkerResult(state=state, cause=causes.get(state, result.FailureClass.NONE))
        for state in states
    ]
