"""Decides whether a receipt is valid in this clone, from its signature and the repository.

`receipts.io.find` gathers the evidence. A valid receipt proves that the runner signed it; whether
it confirms or refutes its claim is the receipt's own verdict.
"""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from dos.receipts.receipt import Algorithm, Receipt, parse_timestamp
from dos.times import format_local_time
from dos.unknown import Unknown
from dos.witness.belief import Answer


class RepositoryState(Struct, frozen=True, kw_only=True):
    """What the clone in which the receipt is checked knows of its commit."""

    repo: str | Unknown
    tree: str | None  # None: the commit is not here
    on_target: bool | Unknown
    base_holds: bool
    strays: tuple[str, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True):
    """A receipt with all that its verdict depends on."""

    receipt: Receipt
    now: datetime
    key_trusted: bool
    signed: bool = False  # by that key, and unchanged since
    repository: RepositoryState | None = None  # None: no repository was read
    wanted_commit: str = ""
    wanted_unit: str = ""


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a receipt counts, why, and which checks it passed."""

    valid: bool
    reason: str
    checked: tuple[str, ...] = ()
    unknown: bool = False  # what would show it could not be read here
    adverse: bool = False
    bound: bool = False


def judge(seen: Evidence) -> Verdict:
    """Run the checks in order; the first that fails or cannot be made decides.

    The signature comes first: nothing that an unsigned text says is compared with git. `unknown` is
    set where the clone lacks what a check needs, which is no reason to call the receipt forged.
    """
    receipt = seen.receipt
    passed: list[str] = []
    for name, problem in _checks(seen):
        if isinstance(problem, Unknown):
            return Verdict(valid=False, unknown=True, reason=problem.why, checked=tuple(passed))
        if problem:
            return Verdict(valid=False, reason=problem, checked=tuple(passed))
        passed.append(name)
    reason = f"{receipt.verdict}: {receipt.claim}, signed by {receipt.key_id}"
    if seen.repository is None:
        reason += "; only the signature was checked, no repository"
    return Verdict(
        valid=True,
        reason=reason,
        checked=tuple(passed),
        adverse=receipt.verdict == Answer.REFUTED,
        bound=receipt.bound,
    )


def _checks(seen: Evidence) -> Iterator[tuple[str, str | Unknown]]:
    """Yield each check with its problem, which is empty for a check that passed."""
    yield "signature", _signature_problem(seen)
    if seen.receipt.expires:
        yield "expiry", _expiry_problem(seen)
    for name, actual, wanted in (
        ("commit", seen.receipt.commit, seen.wanted_commit),
        ("unit", seen.receipt.unit, seen.wanted_unit),
    ):
        if wanted:
            problem = f"its {name} is {actual!r}, but you asked for {wanted!r}"
            yield name, _unless(actual == wanted, problem)
    if seen.repository is not None:
        yield from _repository_checks(seen.receipt, seen.repository)


def _repository_checks(
    receipt: Receipt, repository: RepositoryState
) -> Iterator[tuple[str, str | Unknown]]:
    """Yield the checks that compare a receipt with the clone in which it is read."""
    commit = receipt.commit[:9]
    yield "repository", _repository_problem(receipt, repository)
    is_same_tree = repository.tree == receipt.tree
    yield "tree", _unless(is_same_tree, f"its tree is not the tree of {commit}")
    if receipt.base:
        problem = f"its commits do not follow its base {receipt.base[:9]} here"
        yield "base", _unless(repository.base_holds, problem)
    if receipt.target:
        yield "ancestry", _ancestry_problem(receipt, repository)
    if receipt.paths_in_region:
        yield "region", _region_problem(repository)


def _unless(is_fine: bool, problem: str) -> str:
    """Return the problem, or an empty text if the check passed."""
    if is_fine:
        return ""
    return problem


def _region_problem(repository: RepositoryState) -> str:
    """Return a changed path that the receipt's region does not cover."""
    if not repository.strays:
        return ""
    return f"it changes {repository.strays[0]!r}, outside its region"


def _signature_problem(seen: Evidence) -> str:
    """Return what is wrong with the signature: its kind, its key, or the bytes it covers."""
    receipt = seen.receipt
    if receipt.algorithm == Algorithm.NONE:
        return "it was recorded without a signature"
    if receipt.algorithm not in (Algorithm.ED25519, Algorithm.SSHSIG):
        return (
            f"its algorithm is {receipt.algorithm!r}; "
            f"signatures are {Algorithm.ED25519} or {Algorithm.SSHSIG}"
        )
    if not receipt.signature:
        return "it has no signature"
    if not seen.key_trusted:
        return f"its key {receipt.key_id!r} is not trusted"
    if not seen.signed:
        return "the signature does not match: the receipt was changed, or another key signed it"
    return ""


def _expiry_problem(seen: Evidence) -> str:
    """Return when the receipt expired; an unreadable date counts as expired."""
    until = parse_timestamp(seen.receipt.expires)
    if until is None:
        return f"the date of its expiry cannot be read: {seen.receipt.expires!r}"
    if seen.now < until:
        return ""
    return f"it expired at {format_local_time(until, seen.now)}"


def _repository_problem(receipt: Receipt, repository: RepositoryState) -> str | Unknown:
    """Return why the receipt is not of this repository; Unknown in a shallow clone."""
    if repository.tree is None:
        return f"its commit {receipt.commit[:9]} is not in this repository"
    if isinstance(repository.repo, Unknown):
        return Unknown(f"cannot tell whether it is of this repository: {repository.repo.why}")
    if repository.repo != receipt.repo:
        return "it is of another repository"
    return ""


def _ancestry_problem(receipt: Receipt, repository: RepositoryState) -> str | Unknown:
    """Return why the target branch does not hold the commit, as far as this clone knows."""
    on_target = repository.on_target
    if isinstance(on_target, Unknown):
        return Unknown(f"cannot tell whether its branch holds it: {on_target.why}")
    if not on_target:
        return f"{receipt.target} does not hold {receipt.commit[:9]}"
    return ""
