"""How did a test command come out?

What pytest and unittest print at the end is read, wherever the command got them from; of everything else only the exit
code is. Anything but 0 is then a failing test, except where the shell says that nothing could be started.
"""

import re
from collections.abc import Sequence

from dos.testwitness.verdict import SuiteOutcome, SuiteRun
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
    """Of a command that has ended by itself."""

    def run(outcome: SuiteOutcome, why: str, tests: int | None = None) -> SuiteRun:
        return SuiteRun(
            outcome=outcome, why=why, tests=tests, exit_code=exit_code, seconds=round(seconds, 3)
        )

    if exit_code in _CANNOT_START:
        return run(SuiteOutcome.NOT_RUN, f"exit {exit_code}: {_CANNOT_START[exit_code]}")
    if exit_code < 0 or exit_code > _SIGNALS_FROM:
        number = -exit_code if exit_code < 0 else exit_code - _SIGNALS_FROM
        return run(SuiteOutcome.ERROR, f"ended by signal {number}")
    counts = _counts(lines)
    if counts is not None:
        failed, errors, tests, skipped = counts
        if exit_code == 0 and failed + errors:
            return run(
                SuiteOutcome.NOT_RUN,
                f"exit 0, and its runner counts {failed + errors} that did not pass",
                tests,
            )
        if exit_code == 0 and tests <= skipped:
            return run(SuiteOutcome.NOT_RUN, _ALL_SKIPPED if skipped else _NO_TESTS, tests)
        if exit_code == 0:
            return run(SuiteOutcome.PASS, f"{tests} tests" if tests != 1 else "1 test", tests)
        if failed or errors:
            return run(
                SuiteOutcome.FAIL if failed else SuiteOutcome.ERROR,
                f"{failed} failed, {errors} broke off",
                tests,
            )
        if not tests:
            return run(SuiteOutcome.NOT_RUN, _NO_TESTS, tests)
    if exit_code == 0:
        return run(SuiteOutcome.PASS, "exit 0")
    if "pytest" in command and exit_code in _PYTEST_CODES:
        outcome = _PYTEST_CODES[exit_code]
        return run(
            outcome, _NO_TESTS if outcome is SuiteOutcome.NOT_RUN else f"exit {exit_code} of pytest"
        )
    if any(sign in line for line in lines for sign in _NOT_BUILT):
        return run(SuiteOutcome.ERROR, "it was not built")
    return run(SuiteOutcome.FAIL, f"exit {exit_code}")


def _counts(lines: Sequence[str]) -> tuple[int, int, int, int] | None:
    """Failed, errors, all that ran, skipped: summed over every summary, since a command can call several runners."""
    found = [
        counts
        for number, line in enumerate(lines)
        if (counts := _summary(_COLOURS.sub("", line), lines, number))
    ]
    if not found:
        return None
    failed, errors, tests, skipped = (sum(column) for column in zip(*found, strict=True))
    return failed, errors, tests, skipped


def _summary(line: str, lines: Sequence[str], number: int) -> tuple[int, int, int, int] | None:
    if said := _PYTEST.fullmatch(line.strip()):
        counts = {
            kind.removesuffix("s"): int(count) for count, kind in _PYTEST_COUNT.findall(said[1])
        }
        if not counts and said[1] != "no tests ran":
            return None
        failed, skipped = counts.get("failed", 0), counts.get("skipped", 0)
        ran = counts.get("passed", 0) + counts.get("xfailed", 0) + counts.get("xpassed", 0)
        return failed, counts.get("error", 0), failed + ran + skipped, skipped
    if said := _UNITTEST.fullmatch(line.strip()):
        # Its second half stands a few lines below.
        ends = (
            _UNITTEST_END.fullmatch(_COLOURS.sub("", after).strip())
            for after in lines[number + 1 : number + 4]
        )
        end = next(filter(None, ends), None)
        if end is None:
            return None
        counts = {kind.strip(): int(count) for kind, count in _UNITTEST_COUNT.findall(end[1] or "")}
        failed = counts.get("failures", 0) + counts.get("unexpected successes", 0)
        return failed, counts.get("errors", 0), int(said[1]), counts.get("skipped", 0)
    return None


_FOLDERS = frozenset(
    ("testdata", "fixtures", "e2e", "cypress", "__fixtures__", "__snapshots__", "__mocks__")
)
_SETTINGS = re.compile(
    r"conftest\.py|pytest\.ini|tox\.ini|\.coveragerc|\.rspec|\.mocharc(?:\..*)?|phpunit\.xml.*"
    r"|(?:jest|vitest|karma|playwright|cypress)\.(?:config|conf|setup)\..*",
    re.DOTALL,  # a name can hold any character
)
_RUNNABLE = re.compile(
    r"tests?\.[^.]+|test_.*\.[^.]+|.*[_.-](?:tests?|specs?)\.[^.]+|.*tests?\.(?:java|kt|cs|swift|scala|php)",
    re.DOTALL,
)
# They say how tests are run, and much else: what they hold is part of the code.
_HARNESS = frozenset(
    (
        "makefile", "gnumakefile", "justfile", "taskfile.yml", "package.json", "pyproject.toml", "setup.cfg",
        "setup.py", "noxfile.py", "cargo.toml", "build.gradle", "build.gradle.kts", "pom.xml", "rakefile",
        "composer.json", "sitecustomize.py", "usercustomize.py",
    )
)  # fmt: skip


def is_test(path: str) -> bool:
    *folders, name = path.lower().split("/")
    return (
        file_kinds.is_test(path)
        or bool(_SETTINGS.fullmatch(name))
        or is_runnable(path)
        or not _FOLDERS.isdisjoint(folders)
    )


def is_runnable(path: str) -> bool:
    """A file that a test runner can be pointed at."""
    name = path.lower().rpartition("/")[2]
    return bool(_RUNNABLE.fullmatch(name)) and file_kinds.is_source(path)


def is_harness(path: str, command: str) -> bool:
    """A file that decides what running the tests means: a known one, or one that the command names or would load."""
    name = path.removesuffix("/__init__.py").rpartition("/")[2]
    words = re.split(r"[\s/;&|'\"]+", command)
    return name.lower() in _HARNESS or name in words or name.removesuffix(".py") in words
