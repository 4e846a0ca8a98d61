"""What a runner recorded of a commit's tests, as a witness."""

from dos.evidence.belief import test_witnesses
from dos.records.accountability import Accountability
from dos.records.unknown import Unknown
from dos.sources.witnesses import ancestry
from dos.sources.world import World
from dos.verdicts.belief.facts import EvidenceFacts, attest, no_signal, refute
from dos.verdicts.belief.tested import Answer

NAME = "tests"
AGAINST = (Answer.UNSATISFIED, Answer.REGRESSIVE)


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`. The newest record whose command nobody typed for it; else the newest, which proves nothing."""
    sha = ancestry.named(world.git, subject.strip())
    if isinstance(sha, Unknown):
        return no_signal(NAME, Accountability.OS_RECORDED, subject, sha.why)
    found = sorted(test_witnesses.of_commit(world, sha), key=lambda record: not record.is_bound)
    if not found:
        return no_signal(NAME, Accountability.OS_RECORDED, subject, "no runner has recorded its tests")
    newest = found[0]
    rung = newest.rung if newest.is_bound else Accountability.AGENT_AUTHORED
    say = attest if newest.witnesses else refute if newest.verdict in AGAINST else no_signal
    return say(NAME, rung, subject, f"{newest.verdict}: {newest.reason}")
