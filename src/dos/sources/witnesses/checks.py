"""The checks of a commit: as GitHub has them, as a command of the user's prints them, or as a file holds them."""

import re
from time import monotonic

from msgspec import MsgspecError, Struct, json, structs

from dos.config.truth.belief import Ci
from dos.errors import GitFailed
from dos.records.accountability import Accountability
from dos.records.unknown import Unknown
from dos.sources.witnesses import commands, places
from dos.sources.workspace import Workspace
from dos.sources.world import World
from dos.verdicts.belief import ci
from dos.verdicts.belief.ci import Check, State
from dos.verdicts.belief.facts import EvidenceFacts, attest, no_signal, refute

NAME = "ci"
ON_A_PAGE, MOST_PAGES = 100, 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"(?:(?P<host>[\w.-]+)/)?(?P<path>[\w.-]+/[\w.-]+)")
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_PAGER": "cat", "GH_NO_UPDATE_NOTIFIER": "1"}


class Page(Struct, frozen=True, kw_only=True):
    check_runs: list[Check]
    total_count: int | None = None


class Reading(Struct, frozen=True, kw_only=True):
    """The state as one word, and the same as evidence."""

    state: State
    facts: EvidenceFacts


def of_workspace(world: World, sha: str) -> Reading:
    policy, found = world.config.ci, places.committed_policy(world.workspace)
    committed = not isinstance(found, Unknown) and found.ci == policy
    return read(world.workspace, policy, sha, repo_url=world.git.remote(), committed=committed)


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`: a name of a commit that git knows here, or a whole hash."""
    rung = Accountability.THIRD_PARTY
    name = subject.strip()
    if not name or name.startswith("-") or not name.isprintable():
        return no_signal(NAME, rung, subject, "that cannot be the name of a commit")
    try:
        sha = world.git.commit_of(name) or name.lower()
        return structs.replace(of_workspace(world, sha).facts, subject=subject)
    except GitFailed as error:
        return no_signal(NAME, rung, subject, error.message)


def read(place: Workspace, policy: Ci, sha: str, *, repo_url: str, committed: bool) -> Reading:
    """What the checks of a commit come to. A policy that is not committed is the word of whoever wrote it."""
    rung = _rung(place, policy) if committed else Accountability.AGENT_AUTHORED
    if not _COMMIT.fullmatch(sha):
        found: list[Check] | Unknown = Unknown(f"{sha!r} is not the hash of a commit")
    elif policy.command:
        found = _printed(place, policy, sha)
    elif policy.file:
        found = _kept(place, policy, sha)
    else:
        found = _asked(place, policy, sha, repo_url)
    if isinstance(found, Unknown):
        return Reading(state=State.NO_SIGNAL, facts=no_signal(NAME, rung, sha, found.why))
    verdict = ci.judge(found, policy.required)
    say = {State.GREEN: attest, State.RED: refute}.get(verdict.answer, no_signal)
    return Reading(state=verdict.answer, facts=say(NAME, rung, sha, f"{verdict.answer}: {verdict.reason}"))


def _rung(place: Workspace, policy: Ci) -> Accountability:
    if policy.command:  # we ran it ourselves, and do not know whom it asked
        return Accountability.OS_RECORDED
    if policy.file:
        reachable = places.within_reach(place, place.root / policy.file)
        return Accountability.AGENT_AUTHORED if reachable else Accountability.OS_RECORDED
    return Accountability.THIRD_PARTY


def _printed(place: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    words = [word.replace("{sha}", sha) for word in policy.command]
    ran = commands.run(words, places.standing(place), policy.timeout_seconds)
    if isinstance(ran, Unknown):
        return ran
    if ran.code != 0:
        return Unknown(f"[ci] command ended with {ran.code}: {ran.complaint or 'and said nothing'}")
    page = _decoded(ran.output, "what [ci] command printed")
    return page if isinstance(page, Unknown) else [check for check in page.check_runs if check.head_sha in ("", sha)]


def _kept(place: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    """A file is about whatever commits it names: a check that names none may be of any."""
    data = places.contents(place.root / policy.file)
    page = data if isinstance(data, Unknown) else _decoded(data, policy.file)
    return page if isinstance(page, Unknown) else [check for check in page.check_runs if check.head_sha == sha]


def _asked(place: Workspace, policy: Ci, sha: str, repo_url: str) -> list[Check] | Unknown:
    """Page after page: a failure on the second is a failure."""
    found = _REPOSITORY.fullmatch(policy.repo or repo_url)
    if found is None:
        return Unknown("there is no repository to ask about: [ci] repo is not set, and `origin` is not one of GitHub")
    host = ["--hostname", found["host"]] if found["host"] else []
    deadline = monotonic() + policy.timeout_seconds
    checks: list[Check] = []
    for number in range(1, MOST_PAGES + 1):
        left = deadline - monotonic()
        if left <= 0:
            return Unknown(f"gh did not end within {policy.timeout_seconds:g} s")
        address = f"repos/{found['path']}/commits/{sha}/check-runs?per_page={ON_A_PAGE}&page={number}"
        words = ["gh", "api", "--method", "GET", *host, address]
        ran = commands.run(words, places.standing(place), left, environment=_QUIET)
        if isinstance(ran, Unknown):
            return ran
        if ran.code != 0:
            return Unknown(f"gh ended with {ran.code}: {ran.complaint or 'and said nothing'}")
        page = _decoded(ran.output, "what gh printed")
        if isinstance(page, Unknown):
            return page
        checks += page.check_runs
        if not page.check_runs or page.total_count is None or len(checks) >= page.total_count:
            whole = page.total_count is not None and len(checks) >= page.total_count
            mine = [check for check in checks if check.head_sha in ("", sha)]
            return mine if whole else Unknown(f"gh gave {len(checks)} of {page.total_count} checks")
    return Unknown(f"there are more than {MOST_PAGES * ON_A_PAGE:,} checks")


def _decoded(data: bytes, what: str) -> Page | Unknown:
    """GitHub's answer, or a list of checks."""
    try:
        found: Page | list[Check] = json.decode(data, type=Page | list[Check])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{what} is not a list of checks: {error}")
    return Page(check_runs=found) if isinstance(found, list) else found
