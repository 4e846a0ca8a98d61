"""Is a receipt to be believed here?"""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from dos.receipts import receipt as receipts
from dos.receipts.receipt import Algorithm, Receipt
from dos.unknown import Unknown
from dos.witness.belief import Answer


class RepositoryState(Struct, frozen=True, kw_only=True):
    """The receipt's commit, as the clone has it in which somebody asks."""

    repo: str | Unknown
    tree: str | None  # None: the commit is not here
    on_target: bool | Unknown
    base_holds: bool
    strays: tuple[str, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True):
    receipt: Receipt
    now: datetime
    key_trusted: bool
    signed: bool = False  # by that key, and just as it is
    repository: RepositoryState | None = None  # None: nobody looked into a repository
    wanted_commit: str = ""
    wanted_unit: str = ""


class Verdict(Struct, frozen=True, kw_only=True):
    valid: bool
    reason: str
    checked: tuple[str, ...] = ()
    unknown: bool = False  # what would show it could not be read here
    adverse: bool = False
    bound: bool = False


def judge(seen: Evidence) -> Verdict:
    receipt, checked = seen.receipt, list[str]()
    for name, wrong in _checks(seen):
        if isinstance(wrong, Unknown):
            return Verdict(valid=False, unknown=True, reason=wrong.why, checked=tuple(checked))
        if wrong:
            return Verdict(valid=False, reason=wrong, checked=tuple(checked))
        checked.append(name)
    only = "" if seen.repository else "; only the signature was checked, and no repository"
    return Verdict(
        valid=True,
        reason=f"{receipt.verdict}: {receipt.claim}, signed by {receipt.key_id}{only}",
        checked=tuple(checked),
        adverse=receipt.verdict == Answer.REFUTED,
        bound=receipt.bound,
    )


def _checks(seen: Evidence) -> Iterator[tuple[str, str | Unknown]]:
    """Each thing that there is to look at, with what is wrong with it."""
    receipt, here, commit = seen.receipt, seen.repository, seen.receipt.commit[:9]
    yield "signature", _signature_problem(seen)
    if receipt.expires:
        until = receipts.parse_timestamp(receipt.expires)
        yield "expiry", "" if until and seen.now < until else f"it expired at {receipt.expires}"
    for what, found, wanted in (
        ("commit", receipt.commit, seen.wanted_commit),
        ("unit", receipt.unit, seen.wanted_unit),
    ):
        if wanted:
            yield (
                what,
                ""
                if found == wanted
                else f"it is of the {what} {found!r}, and {wanted!r} was asked for",
            )
    if here is None:
        return
    yield "repository", _repository_problem(receipt, here)
    yield "tree", "" if here.tree == receipt.tree else f"its tree is not that of {commit}"
    if receipt.base:
        yield (
            "base",
            ""
            if here.base_holds
            else f"its commits do not follow its base {receipt.base[:9]} here",
        )
    if receipt.target and isinstance(here.on_target, Unknown):
        yield "ancestry", Unknown(f"whether its branch holds it is not known: {here.on_target.why}")
    elif receipt.target:
        yield "ancestry", "" if here.on_target else f"{receipt.target} does not hold {commit}"
    if receipt.paths_in_region:
        yield (
            "region",
            f"it changes {here.strays[0]!r}, outside of its region" if here.strays else "",
        )


def _signature_problem(seen: Evidence) -> str:
    receipt = seen.receipt
    if receipt.algorithm == Algorithm.NONE:
        return "it was recorded without a signature"
    if receipt.algorithm not in (Algorithm.ED25519, Algorithm.SSHSIG):
        return f"its algorithm is {receipt.algorithm!r}, and signatures are {Algorithm.ED25519} or {Algorithm.SSHSIG}"
    if not receipt.signature:
        return "it has no signature"
    if not seen.key_trusted:
        return f"its key {receipt.key_id!r} is not one that is trusted"
    return (
        ""
        if seen.signed
        else "the signature is not of this receipt: it was changed, or another key made it"
    )


def _repository_problem(receipt: Receipt, here: RepositoryState) -> str | Unknown:
    if here.tree is None:
        return f"its commit {receipt.commit[:9]} is not in this repository"
    if isinstance(here.repo, Unknown):
        return Unknown(f"whether it is of this repository is not known: {here.repo.why}")
    return "" if here.repo == receipt.repo else "it is of another repository"
