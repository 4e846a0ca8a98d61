"""Verify a receipt's signature, key, age and repository.

Inside a clone its commit, tree, base, branch and region are checked against git; outside one, or
with --offline, only what is signed is checked, and `checked` says so. Keys come from --key-file,
else from `trusted-keys` in your configuration folder (`dos receipt-key show` prints its path),
never from a work tree. With --commit and no --receipt the receipts in git's notes on that commit
are checked, and an adverse one is shown first.
"""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.cli.receipts.receipt import read_receipt
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Reader
from dos.receipts.check import Verdict, judge
from dos.receipts.io import keys, notes
from dos.receipts.io.find import gather_evidence
from dos.receipts.io.keys import PublicKey
from dos.receipts.receipt import NotAReceipt, Receipt, parse_receipt, receipt_fields
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"valid": 0, "invalid": 1, "contract_error": 2}
# Git fetches no notes unless it is told to.
FETCH = "git fetch origin refs/notes/dos-receipts:refs/notes/dos-receipts"


class Args(Struct, kw_only=True):
    """The receipt, the keys to trust, and what it has to be of."""

    receipt: Annotated[str, Option(help="receipt (default: read from stdin)", metavar="FILE")] = ""
    key_file: Annotated[str, Option(help="public keys to trust, and no others", metavar="FILE")] = (
        ""
    )
    commit: Annotated[str, Option(help="commit that it must be of", metavar="REF")] = ""
    unit: Annotated[str, Option(help="unit that it must be of", metavar="PLAN/UNIT")] = ""
    offline: Annotated[bool, Option(help="check without a repository")] = False


def run(args: Args, context: Context) -> Reply:
    """Check the receipt, and exit with 0 only if it is valid.

    A valid receipt may still be adverse: it then proves that the claim was refuted. Raises BadInput
    where no answer is possible: the document is no receipt, no key is trusted, or the clone lacks
    what has to be compared.
    """
    git = None
    if not args.offline:
        git = _repository(context)
    commit = ""
    if args.commit:
        commit = _commit(args.commit, git)
    if args.unit:
        validated_name(args.unit, "unit")
    if args.receipt or not commit:
        documents = [read_receipt(args.receipt)]
    else:
        documents = _receipts_in_notes(git, commit)
    trusted = keys.trusted_keys(args.key_file)
    judged = [_judge(document, trusted, git, commit, args.unit) for document in documents]
    verdict, receipt = min(judged, key=_order)
    if isinstance(receipt, NotAReceipt) and receipt.malformed:
        raise BadInput(f"this is not a receipt: {verdict.reason}", hint="`dos attest` makes one.")
    if isinstance(receipt, Receipt) and not trusted:
        trusted_file = keys.config_folder() / "trusted-keys"
        raise BadInput(
            "no key is trusted here, so the receipt cannot be verified",
            hint=f"Give --key-file runner.pub, or add its line to {trusted_file}",
        )
    if verdict.unknown:
        raise BadInput(
            verdict.reason, hint="git fetch --unshallow; or check the signature alone: --offline"
        )
    return _reply(verdict, receipt)


def _order(judged: tuple[Verdict, Receipt | NotAReceipt]) -> tuple[bool, bool]:
    """Sort adverse receipts first: a caller that asks about a commit has to see them."""
    verdict, _ = judged
    return not verdict.adverse, not verdict.valid


def _repository(context: Context) -> Reader | None:
    """Return the repository around the workspace; None outside of one."""
    workspace = context.lenient_world.workspace
    if not workspace.common:
        return None
    return Reader(workspace.tree)


def _commit(name: str, git: Reader | None) -> str:
    """Return the hash of --commit; raises WorkspaceMissing without a repository to look it up."""
    if git is None:
        raise WorkspaceMissing(
            "--commit needs a repository, and this is not in one", hint="cd into a clone."
        )
    return commits.resolve_commit(git, name)


def _receipts_in_notes(git: Reader | None, commit: str) -> list[bytes]:
    """Return the receipts in git's notes on the commit; raises BadInput if there are none."""
    found: list[bytes] = []
    if git:
        found = notes.notes_on_commit(git, commit)
    if not found:
        raise BadInput(f"git's notes on {commit[:9]} have no receipt", hint=FETCH)
    return found


def _judge(
    data: bytes, trusted: list[PublicKey], git: Reader | None, commit: str, unit: str
) -> tuple[Verdict, Receipt | NotAReceipt]:
    """Return the verdict on one document, and the receipt; what is no receipt is not valid."""
    receipt = parse_receipt(data)
    if isinstance(receipt, NotAReceipt):
        return Verdict(valid=False, reason=receipt.why), receipt
    evidence = gather_evidence(receipt, trusted, git, commit=commit, unit=unit)
    return judge(evidence), receipt


def _reply(verdict: Verdict, receipt: Receipt | NotAReceipt) -> Reply:
    """Return the verdict, and of a valid receipt what it is about and what was checked."""
    data: dict[str, Any] = to_builtins(verdict)
    if isinstance(receipt, NotAReceipt):
        data["receipt"] = None
        return Reply(code=EXITS["invalid"], text=f"INVALID  {verdict.reason}", data=data)
    data["receipt"] = receipt_fields(receipt)
    if not verdict.valid:
        return Reply(code=EXITS["invalid"], text=f"INVALID  {verdict.reason}", data=data)
    stance = "not adverse"
    if verdict.adverse:
        stance = "ADVERSE: the claim was refuted"
    binding = "not bound to a unit"
    if verdict.bound:
        binding = f"bound to {receipt.unit}"
    lines = [
        f"VALID  {verdict.reason}",
        f"  {stance}",
        f"  {binding}, {receipt.commit[:9]}",
        f"  checked: {', '.join(verdict.checked)}",
    ]
    return Reply(code=EXITS["valid"], text="\n".join(lines), data=data)
