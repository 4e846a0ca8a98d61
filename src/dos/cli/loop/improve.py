"""Decide whether to keep a change made to improve something.

A check that is not confirmed counts as failed: without --suite-passed and --truth-clean nothing is
kept. What the author says about the change is shown and has no effect.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import values_checked, with_options
from dos.loop import improve
from dos.loop.improve import Answer, Evidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"KEEP": 0, "REVERT": 3, "ESCALATE": 4, "contract_error": 2, "unknown": 5}
NEXT = {
    Answer.KEEP: "Merge it; its work is the new baseline.",
    Answer.REVERT: "Discard it, and count one more revert in a row.",
    Answer.ESCALATE: "Discard it, ask a person, and stop.",
}


class Args(Struct, kw_only=True):
    """What was measured with and without the change, and the thresholds."""

    suite_passed: Annotated[bool, Option(help="the tests passed")] = False
    truth_clean: Annotated[bool, Option(help="git confirms everything that it claims")] = False
    work: Annotated[int, Option(help="work measured with the change", metavar="N")] = 0
    baseline_work: Annotated[int, Option(help="work measured without it", metavar="N")] = 0
    tokens: Annotated[int, Option(help="tokens that the change cost", metavar="N")] = 0
    consecutive_reverts: Annotated[
        int, Option(help="changes reverted in a row before it", metavar="N")
    ] = 0
    max_reverts: Annotated[
        int | None,
        Option(help="limit (default: [improve] max_consecutive_reverts)", metavar="N"),
    ] = None
    efficiency_floor: Annotated[
        float | None,
        Option(help="least gain per token (default: [improve] efficiency_floor)", metavar="RATIO"),
    ] = None
    min_tokens: Annotated[
        int | None,
        Option(
            help="fewer are not judged (default: [improve] min_tokens_for_efficiency)",
            metavar="N",
        ),
    ] = None
    narrated: Annotated[str, Option(help="what its author says about it", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    """Judge one change, by the [improve] policy and the options given.

    It changes nothing: the caller keeps or discards the change, and counts the reverts in a row.
    """
    with values_checked("improve"):
        evidence = Evidence(
            suite_passed=args.suite_passed,
            truth_clean=args.truth_clean,
            work=args.work,
            baseline_work=args.baseline_work,
            tokens=args.tokens,
            consecutive_reverts=args.consecutive_reverts,
            narrated=args.narrated,
        )
        policy = with_options(
            context.world.config.improve,
            max_consecutive_reverts=args.max_reverts,
            efficiency_floor=args.efficiency_floor,
            min_tokens_for_efficiency=args.min_tokens,
        )
        verdict = improve.judge(evidence, policy)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT[verdict.answer],
    )
