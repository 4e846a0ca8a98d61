"""The receipts that name a commit, each checked against trusted keys and git as it is now."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct, json

from dos.errors import DosError
from dos.git.repository import Reader
from dos.journal import streams
from dos.journal.events.proofs import ReceiptIssued
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.receipts import check as verdict
from dos.receipts import receipt
from dos.receipts import receipt as receipts
from dos.receipts.check import Evidence, Verdict
from dos.receipts.io import keys, notes, repository, signatures
from dos.receipts.io.keys import PublicKey
from dos.receipts.receipt import NotAReceipt, Receipt
from dos.world import World


def issued_in_journal(store: Store, unit: str, commit: str = "") -> list[bytes]:
    """The receipts of a unit, oldest first; of one commit, where one is named."""
    return [
        json.encode(fact.receipt, order="sorted")
        for _, fact in select(store.load(streams.unit(unit)), ReceiptIssued)
        if fact.receipt and commit in ("", fact.commit)
    ]


class CheckedReceipt(Struct, frozen=True, kw_only=True):
    """One receipt, and whether it counts. Only a bound one can raise a unit."""

    valid: bool
    bound: bool
    verdict: str  # what it says of its claim; empty when it cannot be read
    why: str
    receipt: Receipt | None = None


def receipts_for_commit(world: World, sha: str, unit: str = "") -> list[CheckedReceipt]:
    """What the notes at the commit hold, and what the journal holds of the unit; each once, and of no other unit."""
    if world.workspace.common is None:
        return []
    found = notes.notes_on_commit(world.git, sha)
    if unit:
        found += issued_in_journal(world.journal, unit, sha)
    if not found:
        return []
    try:
        trusted = keys.trusted_keys()
    except DosError as error:
        return [CheckedReceipt(valid=False, bound=False, verdict="", why=error.message)]
    return [_check(data, trusted, world.git, sha, unit) for data in dict.fromkeys(found)]


def gather_evidence(
    receipt: Receipt,
    trusted: Sequence[PublicKey],
    git: Reader | None,
    *,
    commit: str = "",
    unit: str = "",
) -> Evidence:
    """Git is asked only about a receipt whose signature holds."""
    key = next((key for key in trusted if key.key_id == receipt.key_id), None)
    signed = key is not None and signatures.is_signed_by(receipt, key)
    return Evidence(
        receipt=receipt,
        now=datetime.now(UTC),
        key_trusted=key is not None,
        signed=signed,
        repository=repository.read_repository_state(git, receipt) if git and signed else None,
        wanted_commit=commit,
        wanted_unit=unit,
    )


def _check(
    data: bytes, trusted: Sequence[PublicKey], git: Reader, sha: str, unit: str
) -> CheckedReceipt:
    found = receipts.parse_receipt(data)
    if isinstance(found, NotAReceipt):
        return CheckedReceipt(valid=False, bound=False, verdict="", why=found.why)
    try:
        answer = verdict.judge(gather_evidence(found, trusted, git, commit=sha, unit=unit))
    except (
        DosError
    ) as error:  # git cannot be read, or what is needed to check a signature is not installed
        answer = Verdict(valid=False, reason=error.message)
    return CheckedReceipt(
        valid=answer.valid,
        bound=answer.bound,
        verdict=found.verdict,
        why=answer.reason,
        receipt=found,
    )


def issued_receipts(world: World, unit: str = "") -> list[Receipt]:
    """Oldest first; of one unit, where one is named. What is no receipt is passed over."""
    store = world.journal
    with store.backend.read(once=True) as view:
        names = (
            [unit]
            if unit
            else sorted(streams.unit.subject(name) for name in view.streams(streams.unit.prefix))
        )
    found = [data for name in names for data in issued_in_journal(store, name)]
    if world.workspace.common is not None:
        found += notes.all_notes(world.git)
    read = [
        each
        for each in map(receipt.parse_receipt, found)
        if isinstance(each, Receipt) and each.unit
    ]
    unique = {receipt.canonical_bytes(each): each for each in read if unit in ("", each.unit)}
    return list(unique.values())
