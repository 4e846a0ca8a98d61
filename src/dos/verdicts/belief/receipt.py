"""Is a receipt to be believed here?"""

from datetime import datetime

from msgspec import Struct

from dos.records import receipts
from dos.records.receipts import Algorithm, Receipt
from dos.records.unknown import Unknown
from dos.verdicts.belief.effect import Answer


class Here(Struct, frozen=True, kw_only=True):
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
    here: Here | None = None  # None: nobody looked into a repository
    wanted_commit: str = ""
    wanted_unit: str = ""


class Verdict(Struct, frozen=True, kw_only=True):
    valid: bool
    reason: str
    checked: tuple[str, ...] = ()
    adverse: bool = False
    bound: bool = False


def judge(seen: Evidence) -> Verdict:
    receipt, checked = seen.receipt, list[str]()
    for name, why in (
        ("signature", _unsigned(seen)),
        ("expiry", _expired(seen)),
        ("commit", _of_another("commit", receipt.commit, seen.wanted_commit)),
        ("unit", _of_another("unit", receipt.unit, seen.wanted_unit)),
        ("repository", _elsewhere(seen)),
        ("tree", _another_tree(seen)),
        ("base", _another_base(seen)),
        ("ancestry", _not_on_branch(seen)),
        ("region", _astray(seen)),
    ):
        if why:
            return Verdict(valid=False, reason=why, checked=tuple(checked))
        if why is not None:
            checked.append(name)
    only = "" if seen.here else "; only the signature was checked, and no repository"
    return Verdict(
        valid=True,
        reason=f"{receipt.verdict}: {receipt.claim}, signed by {receipt.key_id}{only}",
        checked=tuple(checked),
        adverse=receipt.verdict == Answer.REFUTED,
        bound=receipt.bound,
    )


# Each says what is wrong; "" when it was looked at and is right, None when there is nothing to look at.


def _unsigned(seen: Evidence) -> str:
    receipt = seen.receipt
    if receipt.algorithm == Algorithm.NONE:
        return "it was recorded without a signature"
    if receipt.algorithm not in (Algorithm.ED25519, Algorithm.SSHSIG):
        return f"its algorithm is {receipt.algorithm!r}, and signatures are {Algorithm.ED25519} or {Algorithm.SSHSIG}"
    if not receipt.signature:
        return "it has no signature"
    if not seen.key_trusted:
        return f"its key {receipt.key_id!r} is not one that is trusted"
    return "" if seen.signed else "the signature is not of this receipt: it was changed, or another key made it"


def _expired(seen: Evidence) -> str | None:
    if not seen.receipt.expires:
        return None
    until = receipts.moment(seen.receipt.expires)
    return "" if until and seen.now < until else f"it expired at {seen.receipt.expires}"


def _of_another(what: str, found: str, wanted: str) -> str | None:
    if not wanted:
        return None
    return "" if found == wanted else f"it is of the {what} {found!r}, and {wanted!r} was asked for"


def _elsewhere(seen: Evidence) -> str | None:
    if seen.here is None:
        return None
    if seen.here.tree is None:
        return f"its commit {seen.receipt.commit[:9]} is not in this repository"
    if isinstance(seen.here.repo, Unknown):
        return f"whether it is of this repository is not known: {seen.here.repo.why}"
    return "" if seen.here.repo == seen.receipt.repo else "it is of another repository"


def _another_tree(seen: Evidence) -> str | None:
    if seen.here is None:
        return None
    return "" if seen.here.tree == seen.receipt.tree else f"its tree is not that of {seen.receipt.commit[:9]}"


def _another_base(seen: Evidence) -> str | None:
    if seen.here is None or not seen.receipt.base:
        return None
    return "" if seen.here.base_holds else f"its commits do not follow its base {seen.receipt.base[:9]} here"


def _not_on_branch(seen: Evidence) -> str | None:
    if seen.here is None or not seen.receipt.target:
        return None
    if isinstance(seen.here.on_target, Unknown):
        return f"whether its branch holds it is not known: {seen.here.on_target.why}"
    return "" if seen.here.on_target else f"{seen.receipt.target} does not hold {seen.receipt.commit[:9]}"


def _astray(seen: Evidence) -> str | None:
    if seen.here is None or not seen.receipt.paths_in_region:
        return None
    return f"it changes {seen.here.strays[0]!r}, outside of its region" if seen.here.strays else ""
