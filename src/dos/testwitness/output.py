"""How did a test command come out?

What pytest and unittest print at the end is read, wherever the command got them from; of everything else only the exit
code is. Anything but 0 is then a failing test, except where the shell says that nothing could be started.
"""

import re
from collections.abc import Sequence

from dos.testwitness.verdict import SuiteOutcome, SuiteRun

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


def read(command: str, exit_code: int, lines: Sequence[str], seconds: float = 0.0) -> SuiteRun:
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
