"""Finds the receipts of a commit or a unit, and checks each against trusted keys and git.

They are in two places: in the journal of the fleet that issued them, and in git's notes, which
travel with the repository. Neither place is believed; the signature is.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct, json

from dos.errors import DosError
from dos.git.repository import Reader
from dos.journal import streams
from dos.journal.events.reader import select
from dos.journal.events.runs import ReceiptIssued
from dos.journal.store import Store
from dos.receipts.check import Evidence, Verdict, judge
from dos.receipts.io import keys, notes, repository, signatures
from dos.receipts.io.keys import PublicKey
from dos.receipts.receipt import NotAReceipt, Receipt, canonical_bytes, parse_receipt
from dos.world import World


class CheckedReceipt(Struct, frozen=True, kw_only=True):
    """One receipt, and whether it counts. Only a bound one can raise a unit's tier."""

    valid: bool
    bound: bool
    verdict: str  # what it says of its claim; empty when it cannot be read
    why: str
    receipt: Receipt | None = None


def issued_in_journal(store: Store, unit: str, commit: str = "") -> list[bytes]:
    """Return the receipts of a unit in the journal, oldest first; of one commit, if named."""
    found = []
    for _, fact in select(store.load(streams.unit(unit)), ReceiptIssued):
        if fact.receipt and commit in ("", fact.commit):
            found.append(json.encode(fact.receipt, order="sorted"))
    return found


def receipts_for_commit(world: World, sha: str, unit: str = "") -> list[CheckedReceipt]:
    """Return the receipts in the notes of a commit, and those of a unit in the journal, checked.

    Each is returned once, and none of another unit counts as valid. Keys that cannot be read make
    one invalid entry that says why.
    """
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
    """Return what the verdict on a receipt needs.

    Git is asked only about a receipt whose signature holds: nothing of a forged one reaches it.
    """
    key = next((key for key in trusted if key.key_id == receipt.key_id), None)
    is_signed = key is not None and signatures.is_signed_by(receipt, key)
    state = None
    if git and is_signed:
        state = repository.read_repository_state(git, receipt)
    return Evidence(
        receipt=receipt,
        now=datetime.now(UTC),
        key_trusted=key is not None,
        signed=is_signed,
        repository=state,
        wanted_commit=commit,
        wanted_unit=unit,
    )


def _check(
    data: bytes, trusted: Sequence[PublicKey], git: Reader, sha: str, unit: str
) -> CheckedReceipt:
    """Return the verdict on a receipt's bytes, whatever is wrong with them.

    Never raises: one damaged receipt must not hide the others of the commit.
    """
    receipt = parse_receipt(data)
    if isinstance(receipt, NotAReceipt):
        return CheckedReceipt(valid=False, bound=False, verdict="", why=receipt.why)
    try:
        verdict = judge(gather_evidence(receipt, trusted, git, commit=sha, unit=unit))
    except DosError as error:
        # Git cannot be read, or the package that checks signatures is not installed.
        verdict = Verdict(valid=False, reason=error.message)
    return CheckedReceipt(
        valid=verdict.valid,
        bound=verdict.bound,
        verdict=receipt.verdict,
        why=verdict.reason,
        receipt=receipt,
    )


def issued_receipts(world: World, unit: str = "") -> list[Receipt]:
    """Return the receipts in the journal and in git's notes, oldest first; of one unit, if named.

    What is no receipt is skipped, and none is checked.
    """
    store = world.journal
    found: list[bytes] = []
    for name in [unit] if unit else _units_with_streams(store):
        found += issued_in_journal(store, name)
    if world.workspace.common is not None:
        found += notes.all_notes(world.git)
    unique: dict[bytes, Receipt] = {}
    for receipt in map(parse_receipt, found):
        if isinstance(receipt, Receipt) and receipt.unit and unit in ("", receipt.unit):
            unique[canonical_bytes(receipt)] = receipt
    return list(unique.values())


def _units_with_streams(store: Store) -> list[str]:
    """Return the units of which the journal has a stream."""
    with store.backend.read(once=True) as view:
        names = list(view.streams(streams.unit.prefix))
    return sorted(streams.unit.subject(name) for name in names)
