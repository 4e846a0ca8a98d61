"""The receipt of a landed unit: drafted before the branch moves, signed once it has moved.

The draft is stored with the intent to land, so that a worker that dies in between leaves enough for
another process to issue the receipt.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from dos.errors import BadInput, DosError
from dos.git.repository import Writer
from dos.machine import process
from dos.receipts.io import keys, notes, repository
from dos.receipts.io.acceptance import DeclaredCommands, can_fail, describe_runs
from dos.receipts.io.signatures import load_signer
from dos.receipts.receipt import (
    CommandRun,
    IssuedReceipt,
    NotAReceipt,
    Receipt,
    decode_receipt,
    is_plain_text,
    receipt_fields,
    unsigned_receipt,
    validated,
)
from dos.regions import Region, region
from dos.times import now_stamp
from dos.units.unit import Landing
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.belief import Answer
from dos.workspace import Workspace

# Who witnessed: git alone, or a command that ran on the commit's tree.
GIT = "git"
COMMAND = "os_acceptance"


class Circumstances(Struct, frozen=True, kw_only=True):
    """What a receipt says besides the result: the result before the work, and who worked where."""

    base_tree: str = ""  # empty: the command was not run on the base
    base_run: CommandRun | None = None
    tells_apart: bool = False
    prior_tests: bool = False
    red_tests: tuple[str, ...] = ()
    setup_digest: str = ""
    sandbox: str = ""
    agent: str = ""
    model: str = ""
    agent_version: str = ""

    def fields(self) -> dict[str, Any]:
        """Return the fields of a receipt; a name that a receipt cannot hold is left out."""
        fields = structs.asdict(self)
        run = fields.pop("base_run")
        if run:
            fields["base_exit_code"] = run.exit_code
            fields["base_output_digest"] = run.output_digest
        for name in ("agent", "model", "agent_version"):
            if not is_plain_text(fields[name]):
                fields[name] = ""
        fields["red_tests"] = tuple(filter(is_plain_text, self.red_tests))
        return fields


def draft_receipt(
    git: Writer,
    landed: Landing,
    *,
    lane: Region,
    region_root: str,
    runs: Sequence[CommandRun] = (),
    declared: DeclaredCommands = DeclaredCommands(),
    circumstances: Circumstances = Circumstances(),
) -> dict[str, Any] | None:
    """Return what is known before the branch moves; the journal keeps it, so a crash loses nothing.

    None where a receipt cannot hold it; `issue_receipt` then says so.
    """
    repo = repository.repository_id(git, landed.commit)
    if isinstance(repo, Unknown):
        repo = ""
    witnessed: dict[str, Any] = {"witness_author": GIT, "witness_surface": GIT}
    if runs:
        witnessed = describe_runs(runs) | {
            "witness_author": COMMAND,
            "verdict": Answer.CONFIRMED,
            "believe": True,
            "command_source": declared.source,
            "bound": can_fail(declared.scripts),
        }
    receipt = unsigned_receipt(
        claim=landed.unit,
        unit=landed.unit,
        repo=repo,
        commit=landed.commit,
        tree=repository.tree_of(git, landed.commit) or "",
        base=landed.base,
        commits=tuple(git.commits_between(landed.base, landed.commit)),
        target=f"refs/heads/{landed.branch}",
        region=lane.globs,
        region_root=region_root,
        paths_in_region=lane.is_known,
        runner=process.host(),
        nonce=secrets.token_hex(16),
        accountability_tier=Accountability.OS_RECORDED,
        timestamp=now_stamp(),
        **circumstances.fields(),
        **witnessed,
    )
    try:
        return receipt_fields(validated(receipt))
    except BadInput:
        return None


def issue_receipt(git: Writer, workspace: Workspace, landed: Landing, *, ref: str) -> IssuedReceipt:
    """Sign the drafted receipt and add it to git's notes; `ref` shows here where it landed.

    Never raises for a receipt that cannot be signed or noted: the unit has landed, and the message
    of the result says what its receipt lacks.
    """
    # Without a draft it is unknown what was run: then git alone is the witness.
    draft = landed.receipt or draft_receipt(git, landed, lane=region([]), region_root="")
    drafted = decode_receipt(draft)
    if isinstance(drafted, NotAReceipt):
        message = "it has no receipt: a name in it holds a character that receipts may not hold"
        return IssuedReceipt(receipt=None, message=message)
    messages = []
    receipt = drafted
    try:
        receipt, new_key = _sign(_with_ancestry(git, drafted, landed, ref), workspace)
        if new_key:
            messages.append(new_key)
    except (DosError, OSError) as error:
        messages.append(f"its receipt is not signed: {error}")
    try:
        notes.add_note(git, receipt)
    except (DosError, OSError) as error:
        messages.append(f"its receipt is in the journal but not in git's notes: {error}")
    return IssuedReceipt(receipt=receipt_fields(receipt), message="; ".join(messages))


def _with_ancestry(git: Writer, receipt: Receipt, landed: Landing, ref: str) -> Receipt:
    """Return the receipt with whether the branch holds the commit, and all that it changed."""
    holds = git.is_ancestor(landed.commit, ref)
    survives = holds and repository.survives(git, landed.base, landed.commit, ref)
    return structs.replace(receipt, ancestor=holds, survives=survives)


def _sign(receipt: Receipt, workspace: Workspace) -> tuple[Receipt, str]:
    """Return the signed receipt, and a message if the runner's key was made for it."""
    path = keys.own_key()
    is_new_key = path.suffix != ".pub" and keys.ensure_key(path)
    signer = load_signer(path, workspace)
    message = ""
    if is_new_key:
        message = f"made the key {signer.key.key_id} that signs receipts: {path}"
    return signer.sign(receipt), message
