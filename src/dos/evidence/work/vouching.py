"""Who besides git speaks for a commit that stands: a runner that saw its tests, receipts, the CI."""

from collections.abc import Sequence

from msgspec import structs

from dos.config.tables import Config
from dos.errors import DosError
from dos.evidence.belief import ci, receipts, test_witnesses
from dos.evidence.belief.receipts import Checked
from dos.sources.receipts import public_keys
from dos.sources.world import World
from dos.verdicts.belief.effect import Answer as Effect
from dos.verdicts.belief.facts import Stance
from dos.verdicts.work.shipped import Seen
from dos.verdicts.work.survival import Fate

CI_STATUS = "ci_status"
STANDING = (Fate.LIVE, Fate.PARTIAL)


def vouched(world: World, config: Config, unit: str, seen: Sequence[Seen], *, asks_ci: bool) -> tuple[Seen, ...]:
    """The same, with what others say of those that stand; the CI is asked about the newest of these alone."""
    standing = [each for each in seen if each.survival and each.survival.fate in STANDING and each.is_merged]
    found = {each.sha: _witnessed(world, unit, each) for each in standing}
    if standing and asks_ci and CI_STATUS in (config.verify.non_git_oracle, _required(config)):
        newest = found[standing[0].sha]
        found[newest.sha] = _checked_by_ci(world, config, newest)
    return tuple(found.get(each.sha, each) for each in seen)


def _required(config: Config) -> str:
    return CI_STATUS if config.verify.ci == "require" else ""


def _witnessed(world: World, unit: str, seen: Seen) -> Seen:
    own: list[Checked] = []
    others: list[Checked] = []
    for receipt in receipts.for_commit(world, seen.sha, unit):
        if receipt.valid and receipt.bound and receipt.verdict == Effect.CONFIRMED:
            (own if _is_own(receipt) else others).append(receipt)
    tests = test_witnesses.undisputed(test_witnesses.of_commit(world, seen.sha), unit)
    said = ""
    if tests is not None:
        said = "a runner saw its tests fail before it and pass with it"
    elif own:
        said = "the runner here signed that its acceptance passed"
    attested = f"a receipt of {_key(others[0])} says that its acceptance passed" if others else ""
    return structs.replace(seen, witnessed=said, attested=attested)


def _is_own(receipt: Checked) -> bool:
    """Signed with the key of this user, which agents of the same user may be able to read."""
    try:
        own = public_keys.read(public_keys.beside(public_keys.own_key()))
    except DosError:
        return False  # there is none
    return _key(receipt) in {key.key_id for key in own}


def _key(receipt: Checked) -> str:
    return receipt.receipt.key_id if receipt.receipt else ""


def _checked_by_ci(world: World, config: Config, seen: Seen) -> Seen:
    reading = ci.gather(world.workspace, config.ci, seen.sha, repo_url=world.git.remote(), committed=True)
    facts = reading.facts
    counts = facts.stance is Stance.ATTESTED and not facts.accountability.is_forgeable
    attested = "; ".join(filter(None, (seen.attested, "its CI run is green" if counts else "")))
    return structs.replace(seen, ci=str(reading.state), attested=attested)
