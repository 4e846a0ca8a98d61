"""Reads the CI checks of a commit from GitHub, a command or a file, as evidence.

`gather_ci` is for `dos verify`, which brings the policy that is committed at its ref; `witness` is
the source `ci` of `dos witness`. GitHub is asked through the user's own `gh`: dos holds no token.
"""

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
from dos.witness.io import files
from dos.witness.policy import Ci
from dos.workspace import Workspace
from dos.world import World

NAME = "ci"
ON_A_PAGE = 100  # checks that GitHub sends at once, at most
MOST_PAGES = 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"(?:(?P<host>[\w.-]+)/)?(?P<path>[\w.-]+/[\w.-]+)")
# So that gh neither asks, nor colours, nor looks for a newer version of itself.
_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "NO_COLOR": "1",
    "GH_PAGER": "cat",
    "GH_NO_UPDATE_NOTIFIER": "1",
}


class Page(Struct, frozen=True, kw_only=True):
    """One page of GitHub's answer."""

    check_runs: list[Check]
    total_count: int | None = None


class CiEvidence(Struct, frozen=True, kw_only=True):
    """The state of a commit's checks, and the same as evidence."""

    state: State
    facts: EvidenceFacts


def read_checks(workspace: Workspace, policy: Ci, sha: str, repo_url: str) -> list[Check] | Unknown:
    """Return the checks of a commit from the source that the policy names; by default GitHub.

    Unknown, with the reason, if they cannot be read: that is never taken for no checks at all.
    """
    if not _COMMIT.fullmatch(sha):
        return Unknown(f"{sha!r} is not the hash of a commit")
    if policy.command:
        return _checks_from_command(workspace, policy, sha)
    if policy.file:
        return _checks_from_file(workspace, policy, sha)
    return _checks_from_github(workspace, policy, sha, repo_url)


def _checks_from_command(workspace: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    """Return the checks that the user's command prints for the commit."""
    words = [word.replace("{sha}", sha) for word in policy.command]
    ran = commands.run(words, files.caller_root(workspace), policy.timeout_seconds)
    output = commands.output_or_unknown("[ci] command", ran)
    page = _decoded(output, "what [ci] command printed")
    if isinstance(page, Unknown):
        return page
    return _checks_of(page.check_runs, sha)


def _checks_from_file(workspace: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    """Return the checks that name the commit: in a file, one without a commit may be of any."""
    page = _decoded(files.read_bounded(workspace.root / policy.file), policy.file)
    if isinstance(page, Unknown):
        return page
    return [check for check in page.check_runs if check.head_sha == sha]


def _checks_of(checks: list[Check], sha: str) -> list[Check]:
    """Return the checks of the commit, and those that name no commit."""
    return [check for check in checks if check.head_sha in ("", sha)]


def _checks_from_github(
    workspace: Workspace, policy: Ci, sha: str, repo_url: str
) -> list[Check] | Unknown:
    """Return all pages of GitHub's answer; Unknown if one is missing, which may hold a failure."""
    repository = _REPOSITORY.fullmatch(policy.repo or repo_url)
    if repository is None:
        return Unknown(
            "there is no repository to ask about: [ci] repo is not set, "
            "and `origin` is not one of GitHub"
        )
    host = []
    if repository["host"]:
        host = ["--hostname", repository["host"]]
    address = f"repos/{repository['path']}/commits/{sha}/check-runs?per_page={ON_A_PAGE}"
    deadline = monotonic() + policy.timeout_seconds
    checks: list[Check] = []
    for number in range(1, MOST_PAGES + 1):
        left = deadline - monotonic()
        if left <= 0:
            return Unknown(f"gh did not end within {policy.timeout_seconds:g} s")
        words = ["gh", "api", "--method", "GET", *host, f"{address}&page={number}"]
        ran = commands.run(words, files.caller_root(workspace), left, environment=_QUIET)
        page = _decoded(commands.output_or_unknown("gh", ran), "what gh printed")
        if isinstance(page, Unknown):
            return page
        checks += page.check_runs
        is_complete = page.total_count is not None and len(checks) >= page.total_count
        if is_complete:
            return _checks_of(checks, sha)
        if not page.check_runs or page.total_count is None:
            return Unknown(f"gh gave {len(checks)} of {page.total_count} checks")
    return Unknown(f"there are more than {MOST_PAGES * ON_A_PAGE:,} checks")


def _decoded(data: bytes | Unknown, what: str) -> Page | Unknown:
    """Return GitHub's answer, or a plain list of checks, from JSON."""
    if isinstance(data, Unknown):
        return data
    try:
        found: Page | list[Check] = json.decode(data, type=Page | list[Check])
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{what} is not a list of checks: {error}")
    if isinstance(found, list):
        return Page(check_runs=found)
    return found


def gather_ci(
    workspace: Workspace, policy: Ci, sha: str, *, repo_url: str, committed: bool
) -> CiEvidence:
    """Return what the checks of a commit come to, by a policy that the caller has read.

    A policy that is not committed could be the claimant's, and so could then the answer. `repo_url`
    is the remote that is asked about where the policy names no repository.
    """
    rung = Accountability.AGENT_AUTHORED
    if committed:
        rung = _rung(workspace, policy)
    checks = read_checks(workspace, policy, sha, repo_url)
    if isinstance(checks, Unknown):
        return CiEvidence(state=State.NO_SIGNAL, facts=no_signal(NAME, rung, sha, checks.why))
    verdict = ci.judge(checks, policy.required)
    say = {State.GREEN: attest, State.RED: refute}.get(verdict.answer, no_signal)
    facts = say(NAME, rung, sha, f"{verdict.answer}: {verdict.reason}")
    return CiEvidence(state=verdict.answer, facts=facts)


def witness(world: World, subject: str) -> EvidenceFacts:
    """Say what the checks of `COMMIT` come to: any name that git knows here, or a whole hash."""
    name = subject.strip()
    if not name or name.startswith("-") or not name.isprintable():
        why = "that cannot be the name of a commit"
        return no_signal(NAME, Accountability.THIRD_PARTY, subject, why)
    policy = world.config.ci
    committed = files.committed_policy(world.workspace)
    is_committed = not isinstance(committed, Unknown) and committed.ci == policy
    try:
        sha = world.git.commit_of(name) or name.lower()
        origin = world.git.remote()
    except GitFailed as error:
        return no_signal(NAME, Accountability.THIRD_PARTY, subject, error.message)
    evidence = gather_ci(world.workspace, policy, sha, repo_url=origin, committed=is_committed)
    return structs.replace(evidence.facts, subject=subject)


def _rung(workspace: Workspace, policy: Ci) -> Accountability:
    """Return who could have written the checks, by where they are read."""
    if policy.command:  # dos ran it, but does not know whom it asked
        return Accountability.OS_RECORDED
    if policy.file:
        if files.is_agent_writable(workspace, workspace.root / policy.file):
            return Accountability.AGENT_AUTHORED
        return Accountability.OS_RECORDED
    return Accountability.THIRD_PARTY
