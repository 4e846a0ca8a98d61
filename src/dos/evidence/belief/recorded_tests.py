"""What a runner recorded of a commit's tests, as a witness."""

from dos.errors import GitFailed
from dos.evidence.belief import test_witnesses
from dos.records.accountability import Accountability
from dos.records.names import shown
from dos.sources.world import World
from dos.verdicts.belief.facts import EvidenceFacts, attest, no_signal, refute
from dos.verdicts.belief.tested import Answer

NAME = "tests"
AGAINST = (Answer.UNSATISFIED, Answer.REGRESSIVE)


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`. The newest record whose command nobody typed for it; else the newest, which proves nothing."""
    name = subject.strip()
    if not name or name.startswith("-") or not name.isprintable():
        return no_signal(NAME, Accountability.OS_RECORDED, subject, "that cannot be the name of a commit")
    try:
        sha = world.git.commit_of(name)
    except GitFailed as error:
        return no_signal(NAME, Accountability.OS_RECORDED, subject, error.message)
    if sha is None:
        return no_signal(NAME, Accountability.OS_RECORDED, subject, f"git knows no commit {shown(name)} here")
    found = sorted(test_witnesses.of_commit(world, sha), key=lambda record: not record.is_bound)
    if not found:
        return no_signal(NAME, Accountability.OS_RECORDED, subject, "no runner has recorded its tests")
    newest = found[0]
    rung = newest.rung if newest.is_bound else Accountability.AGENT_AUTHORED
    say = attest if newest.witnesses else refute if newest.verdict in AGAINST else no_signal
    return say(NAME, rung, subject, f"{newest.verdict}: {newest.reason}")
