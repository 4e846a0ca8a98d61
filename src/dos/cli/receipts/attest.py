"""Sign the outcome of a command or two snapshots of a state.

The receipt is bound to the repository, the commit and its tree. A command runs in the work tree,
which must be identical to the commit. It counts for a unit (`bound`) only if the unit's plan or
dos.toml declared it before the commit was made, and if it can fail. A bound command that passes
also runs on the commit's parent, in a check tree: it tells whether the unit was done only if it
fails there, also with the commit's own tests. A claim `-KEY` says that KEY disappeared between two
snapshots.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, convert

from dos.cli.receipts.receipt import write_receipt
from dos.errors import BadInput
from dos.receipts.io import keys
from dos.receipts.io.attest import AttestRequest, BaseRun, RunOnBase, attest_claim
from dos.receipts.io.signatures import load_signer
from dos.receipts.receipt import Receipt, canonical_bytes, parse_timestamp, receipt_fields
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness.belief import Answer
from dos.world import World

EXITS = {"CONFIRMED": 0, "REFUTED": 1, "UNWITNESSED": 3, "NO_CLAIM": 3, "contract_error": 2}
LONGEST_DAYS = 36_500
# What the answer means for the claim; a refuted one gets a receipt as well.
NEXT = {
    Answer.CONFIRMED: "`dos verify-receipt` checks it, given the public key and a clone.",
    Answer.REFUTED: "The claim is false: do not rely on it.",
    Answer.UNWITNESSED: "The claim is neither proven nor refuted.",
    Answer.NO_CLAIM: "State the claim with --claim.",
}


class Args(Struct, kw_only=True):
    """The claim, its one witness, and how to sign the receipt."""

    claim: Annotated[
        str, Option(help="claim; of snapshots, the key", metavar="KEY", may_be_empty=True)
    ]
    unit: Annotated[str, Option(help="unit that the claim is about", metavar="PLAN/UNIT")] = ""
    commit: Annotated[str, Option(help="commit that the claim is about", metavar="REF")] = "HEAD"
    narrated: Annotated[
        str, Option(help="the claimant's account; kept, not checked", metavar="TEXT")
    ] = ""
    accept_cmd: Annotated[str, Option(help="command whose exit code decides", metavar="CMD")] = ""
    before: Annotated[str, Option(help="JSON object: the state before", metavar="FILE")] = ""
    after: Annotated[str, Option(help="JSON object: the state after", metavar="FILE")] = ""
    third_party: Annotated[bool, Option(help="a third party wrote the snapshots")] = False
    key_file: Annotated[
        str,
        Option(
            help="private key; or a public one, if ssh-agent has the private half",
            metavar="FILE",
        ),
    ] = ""
    ssh_sign: Annotated[bool, Option(help="sign with ssh-keygen")] = False
    timestamp: Annotated[
        str, Option(help="time of the receipt (default: now)", metavar="RFC3339")
    ] = ""
    expires_days: Annotated[
        float | None, Option(help="days until it expires (default: never)", metavar="N")
    ] = None
    fresh: Annotated[bool, Option(help="ignore recorded results of the command")] = False
    out: Annotated[str, Option(help="write the receipt to a file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Ask the one witness, sign what it said, and print or write the receipt.

    Nothing is added to the journal or to git's notes. Raises BadInput for options that do not fit
    together, a work tree that differs from the commit, or a key that cannot be read.
    """
    _check(args)
    world = context.policy_world
    key = keys.own_key()
    if args.key_file:
        key = Path(args.key_file)
    # The key is loaded first: a missing one is reported before the command runs.
    signer = load_signer(key, world.workspace, through_ssh=args.ssh_sign)
    asked = convert(args, AttestRequest, from_attributes=True)
    receipt, verdict = attest_claim(world, asked, _run_on_base(world, is_fresh=args.fresh))
    signed = signer.sign(receipt)
    if args.out:
        write_receipt(args.out, signed)
        document = f"written to {args.out}"
    else:
        document = canonical_bytes(signed).decode()
    bound = "not bound to a unit"
    if signed.bound:
        bound = "bound to its unit"
    line = f"{verdict.answer}  {quote(args.claim)} at {signed.commit[:9]}, {bound}"
    # Not in JSON: there it would become a field of the receipt.
    next_action = ""
    if not context.as_json:
        next_action = NEXT[verdict.answer]
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{line}: {verdict.reason}\n{document}",
        data=receipt_fields(signed),
        next_action=next_action,
    )


def _run_on_base(world: World, *, is_fresh: bool) -> RunOnBase:
    """Return a function that runs a command on the commit's parent, in a check tree."""

    def run(receipt: Receipt, command: str) -> BaseRun:
        from dos.landing import commit_checks  # only a bound command that passes comes here
        from dos.units.io import sources

        units = sources.read(world.workspace, world.config).units
        unit = sources.find_unit(units, receipt.unit)
        assert unit is not None, "a bound command is declared by a unit"
        before = commit_checks.result_outside_a_run(
            world, unit, command, base=receipt.base, head=receipt.commit, is_fresh=is_fresh
        )
        assert before is not None
        return BaseRun(tree=before.tree, run=before.result.run, tells_apart=not before.is_green)

    return run


def _check(args: Args) -> None:
    """Raise BadInput for options that do not fit together."""
    if args.unit:
        validated_name(args.unit, "unit")
    if bool(args.before) != bool(args.after):
        raise BadInput("two snapshots are needed", hint="Give --before and --after together.")
    if bool(args.accept_cmd) == bool(args.before):
        raise BadInput(
            "give either a command or two snapshots",
            hint="dos attest --claim KEY --accept-cmd CMD; or --before FILE --after FILE",
        )
    if args.third_party and not args.before:
        raise BadInput("--third-party needs snapshots", hint="Leave it out with --accept-cmd.")
    if args.timestamp and parse_timestamp(args.timestamp) is None:
        raise BadInput(
            f"--timestamp {quote(args.timestamp)} is not an RFC 3339 time",
            hint="For example: --timestamp 2031-01-31T09:30:00Z",
        )
    if args.expires_days is not None and not 0 < args.expires_days <= LONGEST_DAYS:
        raise BadInput(
            f"--expires-days {args.expires_days:g} is not between 0 and {LONGEST_DAYS:,}",
            hint="For example: --expires-days 90",
        )
