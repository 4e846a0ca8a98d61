"""Reads the output of test commands, and recognises the test files of a repository.

What pytest and unittest print at the end is read, whichever command called them; of every other
runner only the exit code counts. Any code but 0 is then a failing test, except where the shell says
that nothing could be started.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from dos.testwitness.verdict import SuiteOutcome, SuiteRun
from dos.text import plural
from dos.verify import file_kinds

_CANNOT_START = {
    120: "there is no such program",
    126: "it may not be run",
    127: "there is no such program",
}
_SIGNALS_FROM = 128
_NO_TESTS = "there was no test in it"
_ALL_SKIPPED = "every test in it was skipped"
# `== 1 failed, 2 passed, 1 error in 0.12s ==`, with or without the bars.
_PYTEST = re.compile(r"=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [0-9.:]+ ?s.*")
_PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|errors?|xpassed|xfailed|skipped|deselected)")
_PYTEST_CODES = {
    2: SuiteOutcome.ERROR,
    3: SuiteOutcome.ERROR,
    4: SuiteOutcome.ERROR,
    5: SuiteOutcome.NOT_RUN,
}
_UNITTEST = re.compile(r"Ran (\d+) tests? in .*")
_UNITTEST_END = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?")
_UNITTEST_COUNT = re.compile(r"([a-z ]+)=(\d+)")
_NOT_BUILT = ("[build failed]", "[setup failed]", "error: could not compile")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def read_output(
    command: str, exit_code: int, lines: Sequence[str], seconds: float = 0.0
) -> SuiteRun:
    """Return how a test command came out that ended by itself."""
    outcome, why, tests = _outcome(command, exit_code, lines)
    return SuiteRun(
        outcome=outcome, why=why, tests=tests, exit_code=exit_code, seconds=round(seconds, 3)
    )


# An outcome, its reason, and the number of tests where the runner printed one.
_Outcome = tuple[SuiteOutcome, str, int | None]


def _outcome(command: str, exit_code: int, lines: Sequence[str]) -> _Outcome:
    """Decide by the exit code where the command did not run, else by the numbers it printed."""
    if exit_code in _CANNOT_START:
        return SuiteOutcome.NOT_RUN, f"exit {exit_code}: {_CANNOT_START[exit_code]}", None
    if exit_code < 0:
        return SuiteOutcome.ERROR, f"ended by signal {-exit_code}", None
    if exit_code > _SIGNALS_FROM:
        return SuiteOutcome.ERROR, f"ended by signal {exit_code - _SIGNALS_FROM}", None
    counts = _counts(lines)
    if counts:
        counted = counts.outcome(exit_code)
        if counted:
            return counted
    return _outcome_by_code(command, exit_code, lines)


def _outcome_by_code(command: str, exit_code: int, lines: Sequence[str]) -> _Outcome:
    """Return the outcome of a run whose output says nothing about tests."""
    if exit_code == 0:
        return SuiteOutcome.PASS, "exit 0", None
    if "pytest" in command and exit_code in _PYTEST_CODES:
        outcome = _PYTEST_CODES[exit_code]
        if outcome is SuiteOutcome.NOT_RUN:
            return outcome, _NO_TESTS, None
        return outcome, f"exit {exit_code} of pytest", None
    if any(_is_build_failure(line) for line in lines):
        return SuiteOutcome.ERROR, "it was not built", None
    return SuiteOutcome.FAIL, f"exit {exit_code}", None


def _is_build_failure(line: str) -> bool:
    return any(sign in line for sign in _NOT_BUILT)


class _Counts(Struct, frozen=True, kw_only=True):
    """The numbers of a test summary."""

    failed: int
    errors: int
    tests: int  # all that ran, skipped ones included
    skipped: int

    def outcome(self, exit_code: int) -> _Outcome | None:
        """Return what the numbers and the exit code come to; None where only the code can tell."""
        if exit_code == 0:
            return self._outcome_of_success()
        if self.failed or self.errors:
            why = f"{self.failed} failed, {self.errors} broke off"
            if self.failed:
                return SuiteOutcome.FAIL, why, self.tests
            return SuiteOutcome.ERROR, why, self.tests
        if not self.tests:
            return SuiteOutcome.NOT_RUN, _NO_TESTS, self.tests
        return None

    def _outcome_of_success(self) -> _Outcome:
        """Return what an exit code of 0 is worth, given the numbers.

        A pass needs at least one test that ran and none that did not pass.
        """
        not_passed = self.failed + self.errors
        if not_passed:
            why = f"exit 0, and its runner counts {not_passed} that did not pass"
            return SuiteOutcome.NOT_RUN, why, self.tests
        if self.tests <= self.skipped:
            why = _ALL_SKIPPED if self.skipped else _NO_TESTS
            return SuiteOutcome.NOT_RUN, why, self.tests
        return SuiteOutcome.PASS, plural(self.tests, "test"), self.tests


def _counts(lines: Sequence[str]) -> _Counts | None:
    """Return the sum of every summary, since a command can call several runners."""
    summaries = []
    for number, line in enumerate(lines):
        plain = _COLOURS.sub("", line).strip()
        found = _pytest_summary(plain) or _unittest_summary(plain, lines[number + 1 : number + 4])
        if found:
            summaries.append(found)
    if not summaries:
        return None
    failed = errors = tests = skipped = 0
    for summary in summaries:
        failed += summary.failed
        errors += summary.errors
        tests += summary.tests
        skipped += summary.skipped
    return _Counts(failed=failed, errors=errors, tests=tests, skipped=skipped)


def _pytest_summary(line: str) -> _Counts | None:
    """Return the numbers in the last line of pytest, or None for any other line."""
    match = _PYTEST.fullmatch(line)
    if match is None:
        return None
    counts: dict[str, int] = {}
    for count, kind in _PYTEST_COUNT.findall(match[1]):
        counts[kind.removesuffix("s")] = int(count)
    if not counts and match[1] != "no tests ran":
        return None
    failed = counts.get("failed", 0)
    skipped = counts.get("skipped", 0)
    passed = counts.get("passed", 0) + counts.get("xfailed", 0) + counts.get("xpassed", 0)
    errors = counts.get("error", 0)
    return _Counts(failed=failed, errors=errors, tests=failed + passed + skipped, skipped=skipped)


def _unittest_summary(line: str, following: Sequence[str]) -> _Counts | None:
    """Return the numbers of unittest: the total on one line, the rest a few lines below."""
    match = _UNITTEST.fullmatch(line)
    if match is None:
        return None
    for after in following:
        end = _UNITTEST_END.fullmatch(_COLOURS.sub("", after).strip())
        if end:
            break
    else:
        return None
    counts: dict[str, int] = {}
    for kind, count in _UNITTEST_COUNT.findall(end[1] or ""):
        counts[kind.strip()] = int(count)
    return _Counts(
        failed=counts.get("failures", 0) + counts.get("unexpected successes", 0),
        errors=counts.get("errors", 0),
        tests=int(match[1]),
        skipped=counts.get("skipped", 0),
    )


# Which files are tests. In doubt a file counts as a test: a fixture that is taken for code would be
# missing where new tests meet old code, and they would fail there for the wrong reason; code that
# is taken for a fixture only makes them pass there.
_FOLDERS = frozenset(
    ("testdata", "fixtures", "e2e", "cypress", "__fixtures__", "__snapshots__", "__mocks__")
)
_SETTINGS = re.compile(
    r"conftest\.py|pytest\.ini|tox\.ini|\.coveragerc|\.rspec|\.mocharc(?:\..*)?|phpunit\.xml.*"
    r"|(?:jest|vitest|karma|playwright|cypress)\.(?:config|conf|setup)\..*",
    re.DOTALL,  # a name can hold any character
)
_RUNNABLE = re.compile(
    r"tests?\.[^.]+|test_.*\.[^.]+|.*[_.-](?:tests?|specs?)\.[^.]+"
    r"|.*tests?\.(?:java|kt|cs|swift|scala|php)",
    re.DOTALL,
)
# Files that say how tests are run, and much else: they are part of the code.
_HARNESS = frozenset({
    "makefile", "gnumakefile", "justfile", "taskfile.yml", "package.json", "pyproject.toml",
    "setup.cfg", "setup.py", "noxfile.py", "cargo.toml", "build.gradle", "build.gradle.kts",
    "pom.xml", "rakefile", "composer.json", "sitecustomize.py", "usercustomize.py",
})  # fmt: skip


def is_test(path: str) -> bool:
    """Whether a file is a test, or something that only tests need."""
    *folders, name = path.lower().split("/")
    if file_kinds.is_test(path) or is_runnable(path):
        return True
    return bool(_SETTINGS.fullmatch(name)) or not _FOLDERS.isdisjoint(folders)


def is_runnable(path: str) -> bool:
    """Whether a test runner can be given the file."""
    name = path.lower().rpartition("/")[2]
    return bool(_RUNNABLE.fullmatch(name)) and file_kinds.is_source(path)


def is_harness(path: str, command: str) -> bool:
    """Whether a file decides how the tests run: a known one, or one that the command names."""
    name = path.removesuffix("/__init__.py").rpartition("/")[2]
    words = re.split(r"[\s/;&|'\"]+", command)
    return name.lower() in _HARNESS or name in words or name.removesuffix(".py") in words
