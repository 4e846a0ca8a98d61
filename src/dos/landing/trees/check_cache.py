"""The check cache: results of commands on trees, as events, so that none runs twice for the same.

Of work only passing results are kept: a failing one may have another cause the next time. Of the
commit below the work a failing result counts too, because it decides only whether the acceptance
command tells the work from nothing.
"""

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct, json, structs

from dos.journal import streams
from dos.journal.events.reader import select
from dos.journal.events.runs import CommandChecked
from dos.journal.store import Store
from dos.receipts.io.acceptance import AcceptanceResult
from dos.receipts.receipt import CommandRun

# Variables that differ between two terminals or runs, and decide nothing.
_PASSING = frozenset({
    "_", "COLUMNS", "DISPLAY", "INVOCATION_ID", "JOURNAL_STREAM", "LINES", "OLDPWD", "PPID", "PWD",
    "PYTEST_CURRENT_TEST", "PYTEST_VERSION", "SHLVL", "SYSTEMD_EXEC_PID", "TERM",
    "TERM_SESSION_ID", "TMUX", "TMUX_PANE", "WINDOWID",
})  # fmt: skip
_PASSING_PREFIXES = (
    "DOS_", "SSH_", "XDG_SESSION", "GIT_AUTHOR_", "GIT_COMMITTER_", "PYTEST_XDIST_",
)  # fmt: skip


class CheckSubject(Struct, frozen=True, kw_only=True):
    """All that the result of a command depends on, as far as dos knows it."""

    host: str
    command: str
    tree: str
    setup: str
    environment: str
    sandbox: str

    @property
    def digest(self) -> str:
        """The digest of all of it."""
        return sha256(json.encode(self)).hexdigest()[:32]


def environment_digest(variables: Mapping[str, str]) -> str:
    """Return the digest of the variables of a command, without those that decide nothing."""
    counted = []
    for name, value in sorted(variables.items()):
        if name not in _PASSING and not name.startswith(_PASSING_PREFIXES):
            counted.append(f"{name}={value}")
    text = "\0".join(counted)
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


class CheckCache:
    """Remembers results in this process and in the journal.

    With `is_fresh` it ignores what is recorded; with `is_read_only` it records nothing there.
    """

    def __init__(
        self, store: Store | None = None, *, is_fresh: bool = False, is_read_only: bool = False
    ) -> None:
        self._store = store
        self._is_fresh = is_fresh
        self._is_read_only = is_read_only
        self._here: dict[tuple[str, bool], AcceptanceResult] = {}  # by digest and result

    def find(self, subject: CheckSubject, *, counts_red: bool = False) -> AcceptanceResult | None:
        """Return a known result: a passing one, or with `counts_red` also a failing one."""
        for passed in (True, False) if counts_red else (True,):
            known = self._here.get((subject.digest, passed))
            if known is not None:
                return known
        if self._store is None or self._is_fresh:
            return None
        known = None
        for _, fact in select(self._store.load(streams.check(subject.digest)), CommandChecked):
            if fact.passed or counts_red:
                known = _result(fact)
        return known

    def record(self, subject: CheckSubject, commit: str, result: AcceptanceResult) -> None:
        """Keep a result; one that timed out or was ended is not kept."""
        run = result.run
        if run is None or run.exit_code is None:
            return
        passed = run.exit_code == 0
        self._here[subject.digest, passed] = result
        if self._store is None or self._is_read_only:
            return
        fact = CommandChecked(
            **structs.asdict(subject),
            commit=commit,
            passed=passed,
            detail=result.detail,
            exit_code=run.exit_code,
            output_digest=run.output_digest,
            started=run.started,
            ended=run.ended,
        )
        key = f"{run.started}/{run.output_digest}"
        self._store.record(streams.check(subject.digest), fact, key=key)


def _result(fact: CommandChecked) -> AcceptanceResult:
    """Return the recorded result as if the command had just run."""
    run = CommandRun(
        script=fact.command,
        exit_code=fact.exit_code,
        output_digest=fact.output_digest,
        started=fact.started,
        ended=fact.ended,
    )
    return AcceptanceResult(passed=fact.passed, detail=fact.detail, run=run)
