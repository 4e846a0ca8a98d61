"""Measure a judge's false-accept rate.

Each line of the file is a claim whose truth is known: {"claim_text": "...", "truth": true}, and
optionally "stated_reason", "evidence" and "subject". Blank lines and lines that begin with # are
skipped.
"""

from pathlib import Path
from typing import Annotated

from msgspec import MsgspecError, Struct, json, to_builtins

from dos.errors import BadInput
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness.io import judges
from dos.witness.io.files import read_bounded
from dos.witness.judges import Claim, Evaluation, JudgedClaim, evaluate

# `false_clear` is the harmful error: the judge agreed to a false claim.
EXITS = {"no_false_clear": 0, "false_clear": 1, "contract_error": 2}
EXAMPLE = (
    "A line is, for example: "
    '{"claim_text": "login shipped", "truth": false, "evidence": ["it did not"]}'
)


class Args(Struct, kw_only=True):
    """The claims with their truth, and the judge."""

    cases: Annotated[str, Option(help="claims with their truth, as JSON lines", metavar="F.jsonl")]
    judge: Annotated[str, Option(help="name of the judge", metavar="NAME")] = "abstain"


class Truth(Struct, frozen=True, kw_only=True):
    """The truth of a claim, which the judge is not told."""

    truth: bool


def run(args: Args, context: Context) -> Reply:
    """Ask the judge about every claim, and count how often it was right.

    The exit code is 1 as soon as one false claim was accepted. Raises BadInput for an unknown judge
    or a file of cases that cannot be read; all cases are read before the first is judged.
    """
    ask = judges.open_judge(context.world, args.judge, context.warn)
    cases = _read(args.cases)
    report = evaluate(JudgedClaim(verdict=ask(claim), truth=truth) for claim, truth in cases)
    code = EXITS["no_false_clear"]
    if report.grid.false_clear:
        code = EXITS["false_clear"]
    data = {
        "judge": args.judge,
        "n": report.n,
        **to_builtins(report.grid),
        **to_builtins(report.rates),
    }
    return Reply(
        code=code,
        text=_text(args.judge, report),
        data={**data, "reason": _reason(report)},
        indented=True,
    )


def _read(name: str) -> list[tuple[Claim, bool]]:
    """Read each claim with its truth; raises BadInput for a line that is neither."""
    data = read_bounded(Path(name))
    if isinstance(data, Unknown):
        raise BadInput(f"the cases: {data.why}", hint=EXAMPLE)
    cases = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        try:
            cases.append((json.decode(line, type=Claim), json.decode(line, type=Truth).truth))
        except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadInput(
                f"{quote(name, LONGEST_PATH)}:{number}: not a case: {error}", hint=EXAMPLE
            ) from error
    if not cases:
        raise BadInput(f"{quote(name, LONGEST_PATH)} has no case", hint=EXAMPLE)
    return cases


def _reason(report: Evaluation) -> str:
    """Return the number that decides the exit code, as a sentence."""
    return f"{report.grid.false_clear} of {report.n} claims are false and were accepted"


def _text(judge: str, report: Evaluation) -> str:
    """Return the sentence, the counts and the rates, under the names that JSON has for them."""
    counts = [f"  {name:<18} {count}" for name, count in to_builtins(report.grid).items()]
    rates = [f"  {name:<18} {rate:.3f}" for name, rate in to_builtins(report.rates).items()]
    return "\n".join([f"{judge}: {_reason(report)}", *counts, *rates])
