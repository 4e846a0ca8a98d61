"""The test witnesses in the journal: what a runner recorded of a commit's tests."""

from collections.abc import Sequence

from msgspec import Struct, convert, structs

from dos.git import commits
from dos.journal import streams
from dos.journal.events.reader import select
from dos.journal.events.runs import TestWitnessed
from dos.testwitness.verdict import Answer
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.world import World

NAME = "tests"
AGAINST = (Answer.UNSATISFIED, Answer.REGRESSIVE)
TYPED = "--cmd"  # the source of a command that was given for the run


class RecordedWitness(Struct, frozen=True, kw_only=True):
    """One recorded run of the tests of a commit."""

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
    intended: tuple[str, ...] = ()  # old tests that fail with the change, and are meant to
    rung: Accountability = Accountability.OS_RECORDED  # nobody but the runner writes these

    @property
    def is_bound(self) -> bool:
        """Whether the command is the workspace's or the unit's, and not chosen for the run."""
        return self.command_from != TYPED


def records_for_commit(world: World, sha: str) -> list[RecordedWitness]:
    """Return the records of a commit, newest first."""
    records = []
    for _, fact in select(world.journal.load(streams.witness(sha)), TestWitnessed):
        if fact.commit == sha:
            witnesses = fact.witnesses and fact.verdict == Answer.DISCRIMINATES
            checked = structs.replace(fact, witnesses=witnesses)
            records.append(convert(checked, RecordedWitness, from_attributes=True))
    return records[::-1]


def newest_undisputed(found: Sequence[RecordedWitness], unit: str = "") -> RecordedWitness | None:
    """Return the newest record for the commit that no run of the same command speaks against.

    Otherwise, a test that passes by chance would only have to be run until it does. Old tests that
    failed do not speak against a record that names tests which are meant to fail.
    """
    bound = [record for record in found if record.is_bound and record.unit in ("", unit)]
    regressive = {record.command for record in bound if record.verdict == Answer.REGRESSIVE}
    disputed = set()
    for record in bound:
        if not record.witnesses and record.verdict not in (Answer.ABSTAIN, Answer.REGRESSIVE):
            disputed.add(record.command)
    for record in bound:
        is_excused = bool(record.intended) or record.command not in regressive
        if record.witnesses and record.command not in disputed and is_excused:
            return record
    return None


def witness_recorded_tests(world: World, subject: str) -> EvidenceFacts:
    """Say what the newest record of `COMMIT` shows.

    A record whose command was given for the run proves nothing, and counts only if there is no
    other.
    """
    sha = commits.resolve_claimed_commit(world.git, subject.strip())
    if isinstance(sha, Unknown):
        return no_signal(NAME, Accountability.OS_RECORDED, subject, sha.why)
    records = records_for_commit(world, sha)
    if not records:
        why = "no runner has recorded its tests"
        return no_signal(NAME, Accountability.OS_RECORDED, subject, why)
    newest = next((record for record in records if record.is_bound), records[0])
    rung = Accountability.AGENT_AUTHORED
    if newest.is_bound:
        rung = newest.rung
    detail = f"{newest.verdict}: {newest.reason}"
    if newest.witnesses:
        return attest(NAME, rung, subject, detail)
    if newest.verdict in AGAINST:
        return refute(NAME, rung, subject, detail)
    return no_signal(NAME, rung, subject, detail)
