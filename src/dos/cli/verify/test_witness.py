"""Check that a test fails without a change and passes with it.

The outcomes are the caller's word. They can count against the change and never for it, because dos
did not see the test run; `dos test-witness run` runs it.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.testwitness.verdict import SPELLINGS, Answer, Evidence, SuiteOutcome, judge
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "DISCRIMINATES": 0,
    "contract_error": 2,
    "VACUOUS": 3,
    "UNSATISFIED": 4,
    "REGRESSIVE": 5,
    "ABSTAIN": 6,
    "unknown": 7,
}
_OUTCOMES = "pass, fail, error or not-run"
_CHOICES = tuple(SPELLINGS)
# What the verdict means for the change; `dos test-witness run` prints the same sentences.
NEXT = {
    Answer.DISCRIMINATES: "",
    Answer.VACUOUS: "This test proves nothing about the change: write one that fails without it.",
    Answer.UNSATISFIED: "The change does not yet do what its test asks.",
    Answer.REGRESSIVE: "The change breaks what worked.",
    Answer.ABSTAIN: "Not measured yet: run `dos test-witness run --commit REF`.",
    Answer.FLAKY: "Find out why the same tests on the same code give different results.",
}


class Args(Struct, kw_only=True):
    """The outcomes without and with the change."""

    baseline: Annotated[
        str, Option(help=f"without the change: {_OUTCOMES}", metavar="OUTCOME", choices=_CHOICES)
    ] = SuiteOutcome.NOT_RUN.value
    candidate: Annotated[
        str, Option(help=f"with the change: {_OUTCOMES}", metavar="OUTCOME", choices=_CHOICES)
    ] = SuiteOutcome.NOT_RUN.value
    forgeable: Annotated[bool, Option(help="the judged agent could have made them up: abstain")] = (
        False
    )


def run(args: Args, _context: Context) -> Reply:
    """Judge the two outcomes that the caller typed; nothing is run, read or recorded.

    With --forgeable they could be made up by the judged agent, and the verdict abstains.
    """
    evidence = Evidence(baseline=SPELLINGS[args.baseline], candidate=SPELLINGS[args.candidate])
    verdict = judge(evidence, disowned=args.forgeable)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT[verdict.answer],
    )
