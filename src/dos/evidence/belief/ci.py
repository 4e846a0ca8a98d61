"""What the checks of a commit say: the state as a word, and as evidence."""

from msgspec import Struct, structs

from dos.config.truth.belief import Ci
from dos.errors import GitFailed
from dos.records.accountability import Accountability
from dos.records.unknown import Unknown
from dos.sources.witnesses import checks, places
from dos.sources.workspace import Workspace
from dos.sources.world import World
from dos.verdicts.belief import ci
from dos.verdicts.belief.ci import State
from dos.verdicts.belief.facts import EvidenceFacts, attest, no_signal, refute

NAME = "ci"


class Reading(Struct, frozen=True, kw_only=True):
    state: State
    facts: EvidenceFacts


def gather(place: Workspace, policy: Ci, sha: str, *, repo_url: str, committed: bool) -> Reading:
    """By a policy that the caller has read; one that is not committed is the word of whoever wrote it.

    `repo_url` is what `Git.remote()` gives; it is asked about where the policy names no repository.
    """
    rung = _rung(place, policy) if committed else Accountability.AGENT_AUTHORED
    found = checks.read(place, policy, sha, repo_url)
    if isinstance(found, Unknown):
        return Reading(state=State.NO_SIGNAL, facts=no_signal(NAME, rung, sha, found.why))
    verdict = ci.judge(found, policy.required)
    say = {State.GREEN: attest, State.RED: refute}.get(verdict.answer, no_signal)
    return Reading(state=verdict.answer, facts=say(NAME, rung, sha, f"{verdict.answer}: {verdict.reason}"))


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`: a name of a commit that git knows here, or a whole hash."""
    name = subject.strip()
    if not name or name.startswith("-") or not name.isprintable():
        return no_signal(NAME, Accountability.THIRD_PARTY, subject, "that cannot be the name of a commit")
    policy, found = world.config.ci, places.committed_policy(world.workspace)
    committed = not isinstance(found, Unknown) and found.ci == policy
    try:
        sha, origin = world.git.commit_of(name) or name.lower(), world.git.remote()
    except GitFailed as error:
        return no_signal(NAME, Accountability.THIRD_PARTY, subject, error.message)
    reading = gather(world.workspace, policy, sha, repo_url=origin, committed=committed)
    return structs.replace(reading.facts, subject=subject)


def _rung(place: Workspace, policy: Ci) -> Accountability:
    if policy.command:  # we ran it ourselves, and do not know whom it asked
        return Accountability.OS_RECORDED
    if policy.file:
        reachable = places.within_reach(place, place.root / policy.file)
        return Accountability.AGENT_AUTHORED if reachable else Accountability.OS_RECORDED
    return Accountability.THIRD_PARTY
