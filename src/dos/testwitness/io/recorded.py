"""What a runner recorded of a commit's tests, as a witness."""

from collections.abc import Sequence

from msgspec import Struct, convert, structs

from dos.git import commits
from dos.journal import streams
from dos.journal.events.proofs import TestWitnessed
from dos.journal.events.reader import select
from dos.testwitness.verdict import Answer
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.world import World

TYPED = "--cmd"


class RecordedWitness(Struct, frozen=True, kw_only=True):
    commit: str
    tree: str
    unit: str
    verdict: str
    witnesses: bool
    assert_level: bool
    command: str
    command_from: str
    network: str
    reason: str
    rung: Accountability = Accountability.OS_RECORDED  # nobody but the runner writes these

    @property
    def is_bound(self) -> bool:
        """The command was the workspace's or the unit's own: whoever asked for the run did not choose it."""
        return self.command_from != TYPED


def records_for_commit(world: World, sha: str) -> list[RecordedWitness]:
    """Newest first."""
    found = []
    for _, fact in select(world.journal.load(streams.witness(sha)), TestWitnessed):
        if fact.commit == sha:
            stands = fact.witnesses and fact.verdict == Answer.DISCRIMINATES
            found.append(
                convert(
                    structs.replace(fact, witnesses=stands), RecordedWitness, from_attributes=True
                )
            )
    return found[::-1]


def newest_undisputed(found: Sequence[RecordedWitness], unit: str = "") -> RecordedWitness | None:
    """The newest that speaks for the commit, if no run that was asked for in the same way spoke against it.

    A test that is green by chance would otherwise only have to be run until it is.
    """
    bound = [each for each in found if each.is_bound and each.unit in ("", unit)]
    against = {
        each.command for each in bound if not each.witnesses and each.verdict != Answer.ABSTAIN
    }
    return next((each for each in bound if each.witnesses and each.command not in against), None)


NAME = "tests"
AGAINST = (Answer.UNSATISFIED, Answer.REGRESSIVE)


def witness_recorded_tests(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`. The newest record whose command nobody typed for it; else the newest, which proves nothing."""
    sha = commits.resolve_claimed_commit(world.git, subject.strip())
    if isinstance(sha, Unknown):
        return no_signal(NAME, Accountability.OS_RECORDED, subject, sha.why)
    found = sorted(records_for_commit(world, sha), key=lambda record: not record.is_bound)
    if not found:
        return no_signal(
            NAME, Accountability.OS_RECORDED, subject, "no runner has recorded its tests"
        )
    newest = found[0]
    rung = newest.rung if newest.is_bound else Accountability.AGENT_AUTHORED
    say = attest if newest.witnesses else refute if newest.verdict in AGAINST else no_signal
    return say(NAME, rung, subject, f"{newest.verdict}: {newest.reason}")
