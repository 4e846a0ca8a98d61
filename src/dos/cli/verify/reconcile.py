"""Compare a "done" claim with git.

The caller says whether the unit shipped. Otherwise the landings in the journal are checked against
git: of a unit that is named as PLAN/UNIT, or of the one that --plan and --phase name.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded
from dos.errors import BadInput
from dos.text import validated_name
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verify import reconcile
from dos.verify.reconcile import Answer, Evidence

EXITS = {"VERIFIED": 0, "QUIET_INCOMPLETE": 3, "HONEST_OPEN": 4, "contract_error": 2, "unknown": 5}
# "The list" is the caller's list of work that is left.
NEXT = {
    Answer.VERIFIED: "It is done: take it off the list.",
    Answer.QUIET_INCOMPLETE: "Keep it on the list: the claim is false.",
    Answer.HONEST_OPEN: "Keep it on the list.",
    Answer.UNKNOWN: "Keep it on the list; `dos doctor` shows what is wrong with the repository.",
}


class Args(Struct, kw_only=True):
    """The unit, the claim, and whether it shipped or how to look that up."""

    unit: Annotated[str, Option(help="name of the unit", metavar="UNIT", positional=True)]
    claimed_done: Annotated[bool, Option(help="it is claimed to be done")] = False
    oracle_shipped: Annotated[bool, Option(help="it shipped, by your account")] = False
    no_oracle_shipped: Annotated[bool, Option(help="it did not ship, by your account")] = False
    plan: Annotated[str, Option(help="look it up: its plan", metavar="PLAN")] = ""
    phase: Annotated[str, Option(help="look it up: its phase in that plan", metavar="PHASE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Compare the claim with what the caller states, or with the landings and git.

    Raises BadInput where neither is known.
    """
    unit = validated_name(args.unit, "unit")
    if args.oracle_shipped and args.no_oracle_shipped:
        raise BadInput(
            "--oracle-shipped and --no-oracle-shipped contradict each other",
            hint="Give one of them.",
        )
    if args.oracle_shipped or args.no_oracle_shipped:
        evidence = Evidence(
            unit=unit,
            claimed=args.claimed_done,
            oracle_shipped=args.oracle_shipped,
            why="by your account",
        )
    else:
        evidence = _evidence_of_landings(args, context)
    verdict = reconcile.judge(evidence)
    return Reply(
        code=verdict.exit_code,
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT[verdict.answer],
    )


def _evidence_of_landings(args: Args, context: Context) -> Evidence:
    """Check the unit's landing in the journal against git."""
    plan, phase = _looked_up(args)
    name = f"{validated_name(plan, 'plan')}/{validated_name(phase, 'phase')}"
    truth = landed.gather(context.world, [name])[name]
    why = ""
    if isinstance(truth, Landed):
        why = f"{truth.commit[:9]} is on the target branch"
    elif isinstance(truth, NotLanded):
        why = truth.why
    shipped: bool | Unknown = landed.shipped(truth)
    return Evidence(unit=args.unit, claimed=args.claimed_done, oracle_shipped=shipped, why=why)


def _looked_up(args: Args) -> tuple[str, str]:
    """Return the plan and the phase to look up. Raises BadInput where they are not given."""
    if args.plan and args.phase:
        return args.plan, args.phase
    plan, slash, phase = args.unit.rpartition("/")
    if args.plan or args.phase or not slash:
        name = phase or args.unit
        raise BadInput(
            "it is not known whether the unit shipped",
            hint=f"Look it up: dos reconcile {args.unit} --plan PLAN --phase {name}; "
            "or state it: --no-oracle-shipped",
        )
    return plan, phase
