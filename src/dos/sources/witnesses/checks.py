"""The checks of a commit: as GitHub has them, as a command of the user's prints them, or as a file holds them."""

import re
from time import monotonic

from msgspec import MsgspecError, Struct, json

from dos.config.truth.belief import Ci
from dos.records.unknown import Unknown
from dos.sources import commands
from dos.sources.witnesses import places
from dos.sources.workspace import Workspace
from dos.verdicts.belief.ci import Check

ON_A_PAGE, MOST_PAGES = 100, 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"(?:(?P<host>[\w.-]+)/)?(?P<path>[\w.-]+/[\w.-]+)")
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_PAGER": "cat", "GH_NO_UPDATE_NOTIFIER": "1"}


class Page(Struct, frozen=True, kw_only=True):
    check_runs: list[Check]
    total_count: int | None = None


def read(place: Workspace, policy: Ci, sha: str, repo_url: str) -> list[Check] | Unknown:
    if not _COMMIT.fullmatch(sha):
        return Unknown(f"{sha!r} is not the hash of a commit")
    if policy.command:
        return _printed(place, policy, sha)
    return _kept(place, policy, sha) if policy.file else _asked(place, policy, sha, repo_url)


def _printed(place: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    words = [word.replace("{sha}", sha) for word in policy.command]
    ran = commands.run(words, places.standing(place), policy.timeout_seconds)
    page = _decoded(commands.printed("[ci] command", ran), "what [ci] command printed")
    return page if isinstance(page, Unknown) else [check for check in page.check_runs if check.head_sha in ("", sha)]


def _kept(place: Workspace, policy: Ci, sha: str) -> list[Check] | Unknown:
    """A file is about whatever commits it names: a check that names none may be of any."""
    page = _decoded(places.contents(place.root / policy.file), policy.file)
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
        page = _decoded(commands.printed("gh", ran), "what gh printed")
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
