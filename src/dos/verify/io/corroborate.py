"""Witnesses besides git for commits that are still there: runners, receipts, the CI.

`with_witnesses` raises the tier of candidates for `dos verify`. `landing_proofs` gathers, for the
report, what proves each landing.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from dos.config.schema import Config
from dos.errors import ConfigInvalid, DosError
from dos.receipts.io import find, keys
from dos.receipts.io.find import CheckedReceipt
from dos.receipts.receipt import SECOND_SCHEMA
from dos.testwitness.io import recorded
from dos.text import join_some
from dos.units.unit import Landing
from dos.unknown import Unknown
from dos.verify import red_before
from dos.verify.candidate import CandidateCommit
from dos.verify.io import verifier
from dos.verify.shipped import Verdict
from dos.verify.survival import Survival
from dos.witness import belief
from dos.witness.ci import State
from dos.witness.fact import Stance
from dos.witness.io import ci, files
from dos.witness.policy import Ci
from dos.world import World

SURVIVING = (Survival.LIVE, Survival.PARTIAL)


def with_witnesses(
    world: World, config: Config, unit: str, commits: Sequence[CandidateCommit], *, asks_ci: bool
) -> tuple[CandidateCommit, ...]:
    """The same commits, with what witnesses say of those that are still there.

    The CI is asked about the newest of these alone: each question is a request over the network.
    """
    witnessed: dict[str, CandidateCommit] = {}
    for commit in commits:
        if commit.survival and commit.survival.state in SURVIVING and commit.is_merged:
            witnessed[commit.sha] = _with_receipts(world, unit, commit)
    if witnessed and asks_ci and config.verify.asks_ci:
        newest = next(iter(witnessed.values()))
        witnessed[newest.sha] = _with_ci(world, config, newest)
    return tuple(witnessed.get(commit.sha, commit) for commit in commits)


def _with_receipts(world: World, unit: str, commit: CandidateCommit) -> CandidateCommit:
    """The commit with what runners and receipts say of it."""
    own: list[CheckedReceipt] = []
    others: list[CheckedReceipt] = []
    for receipt in find.receipts_for_commit(world, commit.sha, unit):
        if receipt.valid and receipt.bound and receipt.verdict == belief.Answer.CONFIRMED:
            if _is_own(receipt):
                own.append(receipt)
            else:
                others.append(receipt)
    unproven = [receipt for receipt in (*own, *others) if not _tells_apart(receipt)]
    own = list(filter(_tells_apart, own))
    others = list(filter(_tells_apart, others))
    tests = recorded.newest_undisputed(recorded.records_for_commit(world, commit.sha), unit)
    witnessed = ""
    attested = ""
    if tests is not None:
        witnessed = "a runner saw its tests fail before it and pass with it"
        if tests.intended:
            witnessed += f"; old tests fail with it as intended: {join_some(tests.intended)}"
    elif own:
        witnessed = f"the runner here signed that {_seen(own[0])}"
    if others:
        attested = f"a receipt of {_key_id(others[0])} says that {_seen(others[0])}"
    unwitnessed = ""
    if unproven and not witnessed and not attested:
        unwitnessed = _why_unproven(unproven)
    return structs.replace(commit, witnessed=witnessed, attested=attested, unwitnessed=unwitnessed)


def _why_unproven(receipts: list[CheckedReceipt]) -> str:
    """Return why these receipts prove nothing: a command that was not run on the base is none."""
    for checked in receipts:
        if checked.receipt is not None and checked.receipt.base_tree:
            return red_before.DOES_NOT_TELL
    return red_before.HAS_NONE


def _tells_apart(receipt: CheckedReceipt) -> bool:
    """Whether the receipt's command failed without the work.

    Receipts of the second schema were made when nobody ran it there: they count as they did.
    """
    if receipt.receipt is None:
        return False
    return receipt.receipt.tells_apart or receipt.receipt.schema == SECOND_SCHEMA


def _seen(checked: CheckedReceipt) -> str:
    """Return what the receipt says that its runner saw."""
    receipt = checked.receipt
    if receipt is None or not receipt.tells_apart:
        return "its acceptance passed"
    return red_before.witness_sentence(receipt.red_tests, are_unchanged=receipt.prior_tests)


def _is_own(receipt: CheckedReceipt) -> bool:
    """Whether this user's key signed it: agents of the same user may be able to read that key."""
    try:
        own = keys.read_public_keys(keys.public_path(keys.own_key()))
    except DosError:
        return False  # this user has no key
    return _key_id(receipt) in {key.key_id for key in own}


def _key_id(receipt: CheckedReceipt) -> str:
    """The id of the key that signed a receipt; empty if it has no receipt."""
    if receipt.receipt:
        return receipt.receipt.key_id
    return ""


def _with_ci(world: World, config: Config, commit: CandidateCommit) -> CandidateCommit:
    """The commit with its CI state. A CI that the agent could forge attests nothing.

    Nor is a command started that only the ref asked about has: anybody commits to a branch.
    """
    if config.ci.command and not _is_ours(world, config.ci):
        return structs.replace(commit, ci=str(State.NO_SIGNAL))
    report = ci.gather_ci(
        world.workspace, config.ci, commit.sha, repo_url=world.git.remote(), committed=True
    )
    facts = report.facts
    attested = commit.attested
    if facts.stance is Stance.ATTESTED and not facts.accountability.is_forgeable:
        attested = "; ".join(filter(None, (attested, "its CI run is green")))
    return structs.replace(commit, ci=str(report.state), attested=attested)


def _is_ours(world: World, policy: Ci) -> bool:
    """Whether the settings here, or those committed in the main checkout, have the command."""
    committed = files.committed_policy(world.workspace)
    if not isinstance(committed, Unknown) and committed.ci.command == policy.command:
        return True
    try:
        return world.config.ci.command == policy.command
    except ConfigInvalid:
        return False


class Proof(Struct, frozen=True, kw_only=True):
    """What proves a landing: the verdict of git on its unit, and a receipt."""

    verdict: Verdict | Unknown
    receipt: CheckedReceipt | None  # the newest valid one, else the newest


def landing_proofs(world: World, landings: Iterable[Landing]) -> dict[Landing, Proof]:
    """The proof of each landing. History is read once for each branch."""
    by_branch: dict[str, list[Landing]] = {}
    for landing in dict.fromkeys(landings):
        by_branch.setdefault(landing.branch, []).append(landing)
    proofs = {}
    for branch, landed in by_branch.items():
        for landing, verdict in zip(landed, _verdicts(world, branch, landed), strict=True):
            proofs[landing] = Proof(verdict=verdict, receipt=_receipt(world, landing))
    return proofs


def _verdicts(world: World, branch: str, landed: list[Landing]) -> Sequence[Verdict | Unknown]:
    """The verdict on each landing at its branch; Unknown if git cannot be read."""
    ref = branch
    if not branch.startswith("refs/"):
        ref = f"refs/heads/{branch}"
    units = []
    for landing in landed:
        plan, _, phase = landing.unit.rpartition("/")
        units.append((plan, phase))
    try:
        return verifier.verify(world, units, verifier.Ask(ref=ref))
    except DosError as error:
        return [Unknown(error.message)] * len(landed)


def _receipt(world: World, landing: Landing) -> CheckedReceipt | None:
    """The best receipt of a landing; an unreadable one says why it does not count."""
    try:
        receipts = find.receipts_for_commit(world, landing.commit, landing.unit)
    except DosError as error:
        return CheckedReceipt(valid=False, bound=False, verdict="", why=error.message)
    return max(reversed(receipts), key=lambda receipt: receipt.valid, default=None)
