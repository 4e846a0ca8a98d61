"""Verify a receipt's signature, key, age and repository.

Inside a clone its commit, tree, base, branch and region are checked against git; outside one, or
with --offline, only what is signed is checked, and `checked` says so. Keys come from --key-file,
else from `trusted-keys` in your configuration folder (`dos receipt-key show` prints its path),
never from a work tree. With --commit and no --receipt the receipts in git's notes on that commit
are checked, and an adverse one is shown first.
"""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.cli.receipts.files import read_receipt as read
from dos.errors import BadInput, WorkspaceMissing
from dos.git import commits
from dos.git.repository import Reader
from dos.receipts import check as verdict
from dos.receipts import receipt as receipts
from dos.receipts.check import Verdict
from dos.receipts.io import find as evidence
from dos.receipts.io import keys, notes
from dos.receipts.io.keys import PublicKey
from dos.receipts.receipt import NotAReceipt, Receipt
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"valid": 0, "invalid": 1, "contract_error": 2}
FETCH = "git fetch origin refs/notes/dos-receipts:refs/notes/dos-receipts"


class Args(Struct, kw_only=True):
    receipt: Annotated[
        str, Option(help="the receipt; else it is read from the input", metavar="FILE")
    ] = ""
    key_file: Annotated[
        str, Option(help="the public keys that count, and no others", metavar="FILE")
    ] = ""
    commit: Annotated[str, Option(help="the commit that it has to be of", metavar="REF")] = ""
    unit: Annotated[str, Option(help="the unit that it has to be of", metavar="PLAN/UNIT")] = ""
    offline: Annotated[bool, Option(help="do not look into a repository")] = False


def run(args: Args, context: Context) -> Reply:
    git = None if args.offline else _repository(context)
    commit = _commit(args.commit, git) if args.commit else ""
    unit = validated_name(args.unit, "unit") if args.unit else ""
    data = [read(args.receipt)] if args.receipt or not commit else _noted(git, commit)
    trusted = keys.trusted_keys(args.key_file)
    judged = [_judged(each, trusted, git, commit, unit) for each in data]
    # Whoever asks about a commit should hear of what speaks against it first.
    answer, found = min(judged, key=lambda each: (not each[0].adverse, not each[0].valid))
    if isinstance(found, NotAReceipt) and found.malformed:
        raise BadInput(f"this is no receipt: {answer.reason}", hint="`dos attest` makes one.")
    if isinstance(found, Receipt) and not trusted:
        raise BadInput(
            "no key is trusted here, so nothing can be said of it",
            hint=f"Give --key-file runner.pub, or put its line into {keys.config_folder() / 'trusted-keys'}",
        )
    if answer.unknown:
        raise BadInput(
            answer.reason, hint="git fetch --unshallow; or look at the signature alone: --offline"
        )
    return _reply(answer, found)


def _repository(context: Context) -> Reader | None:
    workspace = context.lenient_world.workspace
    return Reader(workspace.tree) if workspace.common else None


def _commit(name: str, git: Reader | None) -> str:
    if git is None:
        raise WorkspaceMissing(
            "--commit is looked up in a repository, and this is none", hint="cd into a clone."
        )
    return commits.resolve_commit(git, name)


def _noted(git: Reader | None, commit: str) -> list[bytes]:
    found = notes.notes_on_commit(git, commit) if git else []
    if not found:
        raise BadInput(f"there is no receipt in git's notes at {commit[:9]}", hint=FETCH)
    return found


def _judged(
    data: bytes, trusted: list[PublicKey], git: Reader | None, commit: str, unit: str
) -> tuple[Verdict, Receipt | NotAReceipt]:
    found = receipts.parse_receipt(data)
    if isinstance(found, NotAReceipt):
        return Verdict(valid=False, reason=found.why), found
    return verdict.judge(
        evidence.gather_evidence(found, trusted, git, commit=commit, unit=unit)
    ), found


def _reply(answer: Verdict, receipt: Receipt | NotAReceipt) -> Reply:
    is_one = isinstance(receipt, Receipt)
    data: dict[str, Any] = to_builtins(answer) | {
        "receipt": to_builtins(receipt) if is_one else None
    }
    if not answer.valid or isinstance(receipt, NotAReceipt):
        return Reply(code=EXITS["invalid"], text=f"INVALID  {answer.reason}", data=data)
    lines = [
        f"VALID  {answer.reason}",
        f"  {'ADVERSE: the claim was refuted' if answer.adverse else 'not adverse'}",
        f"  {'bound to ' + receipt.unit if answer.bound else 'not bound to a unit'}, {receipt.commit[:9]}",
        f"  checked: {', '.join(answer.checked)}",
    ]
    return Reply(code=EXITS["valid"], text="\n".join(lines), data=data)
