"""What stands behind each landing now: the verdict of `verify` at its branch, and the receipt of its commit."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dos.errors import DosError
from dos.evidence.belief import receipts
from dos.evidence.belief.receipts import Checked
from dos.evidence.work import shipped
from dos.records.units import Landing
from dos.records.unknown import Unknown
from dos.sources.world import World
from dos.verdicts.work.shipped import Verdict


class Proof(Struct, frozen=True, kw_only=True):
    verdict: Verdict | Unknown
    receipt: Checked | None  # the newest that holds, else the newest


def gather(world: World, landed: Iterable[Landing]) -> dict[Landing, Proof]:
    """History is read once for each branch."""
    by_branch: dict[str, list[Landing]] = {}
    for each in dict.fromkeys(landed):
        by_branch.setdefault(each.branch, []).append(each)
    return {
        each: Proof(verdict=verdict, receipt=_receipt(world, each))
        for branch, some in by_branch.items()
        for each, verdict in zip(some, _verdicts(world, branch, some), strict=True)
    }


def _verdicts(world: World, branch: str, landed: list[Landing]) -> Sequence[Verdict | Unknown]:
    ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
    pairs = [(plan, phase) for plan, _, phase in (each.unit.rpartition("/") for each in landed)]
    try:
        return shipped.verify(world, pairs, shipped.Ask(ref=ref))
    except DosError as error:
        return [Unknown(error.message)] * len(landed)


def _receipt(world: World, landed: Landing) -> Checked | None:
    try:
        found = receipts.for_commit(world, landed.commit, landed.unit)
    except DosError as error:
        return Checked(valid=False, bound=False, verdict="", why=error.message)
    return max(reversed(found), key=lambda each: each.valid, default=None)
