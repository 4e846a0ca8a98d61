"""Who besides git speaks for a commit that stands: a runner that saw its tests, receipts, the CI."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from dos.config.schema import Config
from dos.errors import DosError
from dos.receipts.io import find, keys
from dos.receipts.io.find import CheckedReceipt
from dos.testwitness.io import recorded
from dos.units.unit import Landing
from dos.unknown import Unknown
from dos.verify.candidate import CandidateCommit
from dos.verify.io import verifier
from dos.verify.shipped import Verdict
from dos.verify.survival import Survival
from dos.witness.belief import Answer as Effect
from dos.witness.fact import Stance
from dos.witness.io import ci
from dos.world import World

CI_STATUS = "ci_status"
STANDING = (Survival.LIVE, Survival.PARTIAL)


def with_witnesses(
    world: World, config: Config, unit: str, seen: Sequence[CandidateCommit], *, asks_ci: bool
) -> tuple[CandidateCommit, ...]:
    """The same, with what others say of those that stand; the CI is asked about the newest of these alone."""
    standing = [
        each
        for each in seen
        if each.survival and each.survival.state in STANDING and each.is_merged
    ]
    found = {each.sha: _witnessed(world, unit, each) for each in standing}
    if standing and asks_ci and CI_STATUS in (config.verify.non_git_oracle, _required(config)):
        newest = found[standing[0].sha]
        found[newest.sha] = _checked_by_ci(world, config, newest)
    return tuple(found.get(each.sha, each) for each in seen)


def _required(config: Config) -> str:
    return CI_STATUS if config.verify.ci == "require" else ""


def _witnessed(world: World, unit: str, seen: CandidateCommit) -> CandidateCommit:
    own: list[CheckedReceipt] = []
    others: list[CheckedReceipt] = []
    for receipt in find.receipts_for_commit(world, seen.sha, unit):
        if receipt.valid and receipt.bound and receipt.verdict == Effect.CONFIRMED:
            (own if _is_own(receipt) else others).append(receipt)
    tests = recorded.newest_undisputed(recorded.records_for_commit(world, seen.sha), unit)
    said = ""
    if tests is not None:
        said = "a runner saw its tests fail before it and pass with it"
    elif own:
        said = "the runner here signed that its acceptance passed"
    attested = f"a receipt of {_key(others[0])} says that its acceptance passed" if others else ""
    return structs.replace(seen, witnessed=said, attested=attested)


def _is_own(receipt: CheckedReceipt) -> bool:
    """Signed with the key of this user, which agents of the same user may be able to read."""
    try:
        own = keys.read_public_keys(keys.public_path(keys.own_key()))
    except DosError:
        return False  # there is none
    return _key(receipt) in {key.key_id for key in own}


def _key(receipt: CheckedReceipt) -> str:
    return receipt.receipt.key_id if receipt.receipt else ""


def _checked_by_ci(world: World, config: Config, seen: CandidateCommit) -> CandidateCommit:
    reading = ci.gather_ci(
        world.workspace, config.ci, seen.sha, repo_url=world.git.remote(), committed=True
    )
    facts = reading.facts
    counts = facts.stance is Stance.ATTESTED and not facts.accountability.is_forgeable
    attested = "; ".join(filter(None, (seen.attested, "its CI run is green" if counts else "")))
    return structs.replace(seen, ci=str(reading.state), attested=attested)


class Proof(Struct, frozen=True, kw_only=True):
    verdict: Verdict | Unknown
    receipt: CheckedReceipt | None  # the newest that holds, else the newest


def landing_proofs(world: World, landed: Iterable[Landing]) -> dict[Landing, Proof]:
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
        return verifier.verify(world, pairs, verifier.Ask(ref=ref))
    except DosError as error:
        return [Unknown(error.message)] * len(landed)


def _receipt(world: World, landed: Landing) -> CheckedReceipt | None:
    try:
        found = find.receipts_for_commit(world, landed.commit, landed.unit)
    except DosError as error:
        return CheckedReceipt(valid=False, bound=False, verdict="", why=error.message)
    return max(reversed(found), key=lambda each: each.valid, default=None)
