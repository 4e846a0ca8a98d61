"""The receipts that name a commit, each checked against trusted keys and git as it is now."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from dos.errors import DosError
from dos.journal.truth.receipts import issued
from dos.records import receipts
from dos.records.receipts import Receipt, Rejected
from dos.sources.git import Reader
from dos.sources.receipts import bindings, notes, public_keys, signatures
from dos.sources.receipts.public_keys import PublicKey
from dos.sources.world import World
from dos.verdicts.belief import receipt as verdict
from dos.verdicts.belief.receipt import Evidence, Verdict


class Checked(Struct, frozen=True, kw_only=True):
    """One receipt, and whether it counts. Only a bound one can raise a unit."""

    valid: bool
    bound: bool
    verdict: str  # what it says of its claim; empty when it cannot be read
    why: str
    receipt: Receipt | None = None


def for_commit(world: World, sha: str, unit: str = "") -> list[Checked]:
    """What the notes at the commit hold, and what the journal holds of the unit; each once, and of no other unit."""
    if world.workspace.common is None:
        return []
    found = notes.of_commit(world.git, sha)
    if unit:
        found += issued(world.journal, unit, sha)
    if not found:
        return []
    try:
        trusted = public_keys.trusted()
    except DosError as error:
        return [Checked(valid=False, bound=False, verdict="", why=error.message)]
    return [_checked(data, trusted, world.git, sha, unit) for data in dict.fromkeys(found)]


def gather(
    receipt: Receipt, trusted: Sequence[PublicKey], git: Reader | None, *, commit: str = "", unit: str = ""
) -> Evidence:
    """Git is asked only about a receipt whose signature holds."""
    key = next((key for key in trusted if key.key_id == receipt.key_id), None)
    signed = key is not None and signatures.is_signed_by(receipt, key)
    return Evidence(
        receipt=receipt,
        now=datetime.now(UTC),
        key_trusted=key is not None,
        signed=signed,
        here=bindings.read(git, receipt) if git and signed else None,
        wanted_commit=commit,
        wanted_unit=unit,
    )


def _checked(data: bytes, trusted: Sequence[PublicKey], git: Reader, sha: str, unit: str) -> Checked:
    found = receipts.parse(data)
    if isinstance(found, Rejected):
        return Checked(valid=False, bound=False, verdict="", why=found.why)
    try:
        answer = verdict.judge(gather(found, trusted, git, commit=sha, unit=unit))
    except DosError as error:  # git cannot be read, or what is needed to check a signature is not installed
        answer = Verdict(valid=False, reason=error.message)
    return Checked(valid=answer.valid, bound=answer.bound, verdict=found.verdict, why=answer.reason, receipt=found)
