"""Sign the outcome of a command or two snapshots of a state.

The receipt is bound to the repository, the commit and its tree. A command runs in the work tree,
which must be identical to the commit. It counts for a unit (`bound`) only if the unit's plan or
dos.toml declared it before the commit was made, and if it can fail. A claim `-KEY` says that KEY
disappeared between two snapshots.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct, convert, to_builtins

from dos.cli.receipts.files import write_receipt as write
from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.io import keys
from dos.receipts.io.attest import AttestRequest, attest_claim
from dos.receipts.io.signatures import load_signer
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness.belief import Answer

EXITS = {"CONFIRMED": 0, "REFUTED": 1, "UNWITNESSED": 3, "NO_CLAIM": 3, "contract_error": 2}
LONGEST_DAYS = 36_500
NEXT = {
    Answer.CONFIRMED: "Give it to whoever asks: `dos verify-receipt` checks it with the public key and a clone.",
    Answer.REFUTED: "The claim does not hold: do not believe it.",
    Answer.UNWITNESSED: "Nothing is known of the claim: it is neither proven nor refuted.",
    Answer.NO_CLAIM: "Say with --claim what is claimed.",
}


class Args(Struct, kw_only=True):
    claim: Annotated[
        str, Option(help="what is claimed; of snapshots, the key", metavar="KEY", may_be_empty=True)
    ]
    unit: Annotated[str, Option(help="the unit that the claim is about", metavar="PLAN/UNIT")] = ""
    commit: Annotated[str, Option(help="the commit that it is said of", metavar="REF")] = "HEAD"
    narrated: Annotated[
        str, Option(help="what the claimant says; kept, never read", metavar="TEXT")
    ] = ""
    accept_cmd: Annotated[
        str, Option(help="the command whose exit code decides", metavar="CMD")
    ] = ""
    before: Annotated[str, Option(help="a JSON object: the state before", metavar="FILE")] = ""
    after: Annotated[str, Option(help="a JSON object: the state after", metavar="FILE")] = ""
    third_party: Annotated[bool, Option(help="somebody else wrote the snapshots")] = False
    key_file: Annotated[
        str,
        Option(
            help="the private key; or a public one, whose other half an agent of ssh has",
            metavar="FILE",
        ),
    ] = ""
    ssh_sign: Annotated[bool, Option(help="let ssh-keygen sign")] = False
    timestamp: Annotated[
        str, Option(help="when it is said; now when not given", metavar="RFC3339")
    ] = ""
    expires_days: Annotated[
        float | None, Option(help="for how long it counts; else for ever", metavar="N")
    ] = None
    out: Annotated[str, Option(help="write the receipt to a file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    _check(args)
    world = context.policy_world
    key = Path(args.key_file) if args.key_file else keys.own_key()
    who = load_signer(key, world.workspace, through_ssh=args.ssh_sign)  # before anything is run
    receipt, verdict = attest_claim(world, convert(args, AttestRequest, from_attributes=True))
    signed = who.sign(receipt)
    if args.out:
        write(args.out, signed)
    tied = "bound to its unit" if signed.bound else "not bound to a unit"
    line = f"{verdict.answer}  {quote(args.claim)} at {signed.commit[:9]}, {tied}: {verdict.reason}"
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{line}\n"
        + (f"written to {args.out}" if args.out else receipts.canonical_bytes(signed).decode()),
        data=to_builtins(signed),
        next_action=""
        if context.as_json
        else NEXT[verdict.answer],  # in JSON it would be a field of the receipt
    )


def _check(args: Args) -> None:
    if args.unit:
        validated_name(args.unit, "unit")
    if bool(args.before) != bool(args.after):
        raise BadInput("a state has to be seen twice", hint="Give --before and --after together.")
    if bool(args.accept_cmd) == bool(args.before):
        raise BadInput(
            "exactly one witness is wanted: a command, or two snapshots",
            hint="dos attest --claim KEY --accept-cmd CMD; or --before FILE --after FILE",
        )
    if args.third_party and not args.before:
        raise BadInput("--third-party is said of snapshots", hint="Leave it out with --accept-cmd.")
    if args.timestamp and receipts.parse_timestamp(args.timestamp) is None:
        raise BadInput(
            f"{quote(args.timestamp)} is no moment",
            hint="For example: --timestamp 2031-01-31T09:30:00Z",
        )
    if args.expires_days is not None and not 0 < args.expires_days <= LONGEST_DAYS:
        raise BadInput(
            f"--expires-days is {args.expires_days:g}",
            hint=f"Give days, above 0 and up to {LONGEST_DAYS:,}.",
        )
