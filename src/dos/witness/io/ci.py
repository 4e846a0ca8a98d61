"""What the checks of a commit say: the state as a word, and as evidence."""

import re
from time import monotonic

from msgspec import MsgspecError, Struct, json, structs

from dos.errors import GitFailed
from dos.machine import commands
from dos.unknown import Unknown
from dos.witness import ci
from dos.witness.accountability import Accountability
from dos.witness.ci import Check, State
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io import writable
from dos.witness.policy import Ci
from dos.workspace import Workspace
from dos.world import World

ON_A_PAGE, MOST_PAGES = 100, 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"(?:(?P<host>[\w.-]+)/)?(?P<path>[\w.-]+/[\w.-]+)")
_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "NO_COLOR": "1",
    "GH_PAGER": "cat",
    "GH_NO_UPDATE_NOTIFIER": "1",
}


class Page(Struct, frozen=True, kw_only=True):
    check_runs: list[Check]
    total_count: int | None = None


def read_checks(workspace: Workspace, policy: Ci, sha: str, repo_url: str) -> list[Check] | Unknown:
    if not _COMMIT.fullmatch(sha):
        return Unknown(f"{sha!r} is not the hash of a commit")
    if policy.command:
        return _checks_from_command(workspace, policy, sha)
    return (
        _checks_from_file(workspace, policy, sha)
        if policy.file
        else _checks_from_github(workspace, policy, sha, repo_url)
    )


def _checks_from_command(workspace: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    words = [word.replace("{sha}", sha) for word in policy.command]
    ran = commands.run(words, writable.caller_root(workspace), policy.timeout_seconds)
    page = _decoded(commands.output_or_unknown("[ci] command", ran), "what [ci] command printed")
    return (
        page
        if isinstance(page, Unknown)
        else [check for check in page.check_runs if check.head_sha in ("", sha)]
    )


def _checks_from_file(workspace: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    """A file is about whatever commits it names: a check that names none may be of any."""
    page = _decoded(writable.read_bounded(workspace.root / policy.file), policy.file)
    return (
        page
        if isinstance(page, Unknown)
        else [check for check in page.check_runs if check.head_sha == sha]
    )


def _checks_from_github(
    workspace: Workspace, policy: Ci, sha: str, repo_url: str
) -> list[Check] | Unknown:
    """Page after page: a failure on the second is a failure."""
    found = _REPOSITORY.fullmatch(policy.repo or repo_url)
    if found is None:
        return Unknown(
            "there is no repository to ask about: [ci] repo is not set, and `origin` is not one of GitHub"
        )
    host = ["--hostname", found["host"]] if found["host"] else []
    deadline = monotonic() + policy.timeout_seconds
    checks: list[Check] = []
    for number in range(1, MOST_PAGES + 1):
        left = deadline - monotonic()
        if left <= 0:
            return Unknown(f"gh did not end within {policy.timeout_seconds:g} s")
        address = (
            f"repos/{found['path']}/commits/{sha}/check-runs?per_page={ON_A_PAGE}&page={number}"
        )
        words = ["gh", "api", "--method", "GET", *host, address]
        ran = commands.run(words, writable.caller_root(workspace), left, environment=_QUIET)
        page = _decoded(commands.output_or_unknown("gh", ran), "what gh printed")
        if isinstance(page, Unknown):
            return page
        checks += page.check_runs
        if not page.check_runs or page.total_count is None or len(checks) >= page.total_count:
            whole = page.total_count is not None and len(checks) >= page.total_count
            mine = [check for check in checks if check.head_sha in ("", sha)]
            return mine if whole else Unknown(f"gh gave {len(checks)} of {page.total_count} checks")
    return Unknown(f"there are more than {MOST_PAGES * ON_A_PAGE:,} checks")


def _decoded(data: bytes | Unknown, what: str) -> Page | Unknown:
    """GitHub's answer, or a list of checks."""
    if isinstance(data, Unknown):
        return data
    try:
        found: Page | list[Check] = json.decode(data, type=Page | list[Check])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{what} is not a list of checks: {error}")
    return Page(check_runs=found) if isinstance(found, list) else found


NAME = "ci"


class CiEvidence(Struct, frozen=True, kw_only=True):
    state: State
    facts: EvidenceFacts


def gather_ci(
    workspace: Workspace, policy: Ci, sha: str, *, repo_url: str, committed: bool
) -> CiEvidence:
    """By a policy that the caller has read; one that is not committed is the word of whoever wrote it.

    `repo_url` is what `Git.remote()` gives; it is asked about where the policy names no repository.
    """
    rung = _rung(workspace, policy) if committed else Accountability.AGENT_AUTHORED
    found = read_checks(workspace, policy, sha, repo_url)
    if isinstance(found, Unknown):
        return CiEvidence(state=State.NO_SIGNAL, facts=no_signal(NAME, rung, sha, found.why))
    verdict = ci.judge(found, policy.required)
    say = {State.GREEN: attest, State.RED: refute}.get(verdict.answer, no_signal)
    return CiEvidence(
        state=verdict.answer, facts=say(NAME, rung, sha, f"{verdict.answer}: {verdict.reason}")
    )


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT`: a name of a commit that git knows here, or a whole hash."""
    name = subject.strip()
    if not name or name.startswith("-") or not name.isprintable():
        return no_signal(
            NAME, Accountability.THIRD_PARTY, subject, "that cannot be the name of a commit"
        )
    policy, found = world.config.ci, writable.committed_policy(world.workspace)
    committed = not isinstance(found, Unknown) and found.ci == policy
    try:
        sha, origin = world.git.commit_of(name) or name.lower(), world.git.remote()
    except GitFailed as error:
        return no_signal(NAME, Accountability.THIRD_PARTY, subject, error.message)
    reading = gather_ci(world.workspace, policy, sha, repo_url=origin, committed=committed)
    return structs.replace(reading.facts, subject=subject)


def _rung(workspace: Workspace, policy: Ci) -> Accountability:
    if policy.command:  # we ran it ourselves, and do not know whom it asked
        return Accountability.OS_RECORDED
    if policy.file:
        reachable = writable.is_agent_writable(workspace, workspace.root / policy.file)
        return Accountability.AGENT_AUTHORED if reachable else Accountability.OS_RECORDED
    return Accountability.THIRD_PARTY
