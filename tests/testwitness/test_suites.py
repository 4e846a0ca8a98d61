"""Which files are tests, and what the end of a test command says."""

import pytest

from dos.testwitness import suite
from dos.testwitness.verdict import SuiteOutcome

PASS, FAIL, ERROR, NOT_RUN = (
    SuiteOutcome.PASS,
    SuiteOutcome.FAIL,
    SuiteOutcome.ERROR,
    SuiteOutcome.NOT_RUN,
)
BARS = "=" * 20


@pytest.mark.parametrize(
    ("command", "code", "lines", "outcome"),
    [
        ("./check", 0, [], PASS),
        ("./check", 1, [], FAIL),
        ("./check", 2, ["make: *** [Makefile:2: test] Error 1"], FAIL),
        ("./check", 120, [], NOT_RUN),
        ("./check", 126, [], NOT_RUN),
        ("./check", 127, ["sh: 1: ./check: not found"], NOT_RUN),
        ("./check", 139, [], ERROR),
        ("./check", -11, [], ERROR),
        ("pytest -q", 0, ["2 passed in 0.01s"], PASS),
        ("pytest", 0, [f"{BARS} 2 passed, 1 warning in 0.01s {BARS}"], PASS),
        (
            "pytest",
            0,
            [f"\x1b[32m{BARS} \x1b[1m2 passed\x1b[0m in 62.12s (0:01:02) {BARS}\x1b[0m"],
            PASS,
        ),
        ("pytest", 1, ["1 failed, 2 passed in 0.01s"], FAIL),
        ("pytest", 1, ["1 failed, 1 error in 0.01s"], FAIL),
        ("pytest", 1, ["2 passed, 1 error in 0.01s"], ERROR),
        ("pytest", 2, ["1 error in 0.01s"], ERROR),
        ("pytest", 2, ["2 errors in 0.01s"], ERROR),
        ("pytest", 3, ["INTERNALERROR>"], ERROR),
        ("pytest", 4, ["ERROR: file or directory not found: x"], ERROR),
        ("pytest", 5, [], NOT_RUN),
        ("pytest", 5, ["no tests ran in 0.01s"], NOT_RUN),
        ("pytest", 5, ["3 deselected in 0.01s"], NOT_RUN),
        ("make test", 2, ["1 error in 0.01s", "make: *** [test] Error 2"], ERROR),
        ("make test", 2, ["no tests ran in 0.01s", "make: *** [test] Error 5"], NOT_RUN),
        ("pytest", 0, ["3 skipped in 0.01s"], NOT_RUN),
        ("pytest", 0, ["1 failed, 3 passed in 0.01s"], NOT_RUN),
        ("unittest", 0, ["Ran 1 test in 0.001s", "", "FAILED (errors=1)"], NOT_RUN),
        ("pytest", 0, ["1 passed, 3 skipped in 0.01s"], PASS),
        ("unittest", 0, ["Ran 2 tests in 0.001s", "", "OK"], PASS),
        ("unittest", 1, ["Ran 2 tests in 0.001s", "", "FAILED (failures=1)"], FAIL),
        ("unittest", 1, ["Ran 2 tests in 0.001s", "", "FAILED (failures=1, errors=1)"], FAIL),
        ("unittest", 1, ["Ran 2 tests in 0.001s", "", "FAILED (errors=1)"], ERROR),
        ("unittest", 1, ["Ran 0 tests in 0.001s", "", "FAILED (errors=1)"], ERROR),
        ("unittest", 1, ["Ran 1 test in 0.001s", "", "FAILED (unexpected successes=1)"], FAIL),
        ("unittest", 0, ["Ran 1 test in 0.001s", "", "OK (skipped=1)"], NOT_RUN),
        ("unittest", 0, ["Ran 0 tests in 0.000s", "", "OK"], NOT_RUN),
        ("unittest", 5, ["Ran 0 tests in 0.000s", "", "NO TESTS RAN"], NOT_RUN),
        ("both", 1, ["Ran 1 test in 0.1s", "", "OK", "1 failed in 0.1s"], FAIL),
        ("go test ./...", 1, ["FAIL\tx [build failed]"], ERROR),
        ("cargo test", 101, ["error: could not compile `x`"], ERROR),
    ],
)
def test_an_ending_is_read_as(command, code, lines, outcome):
    run = suite.read_output(command, code, lines)
    assert run.outcome is outcome and run.why and run.exit_code == code


def test_a_runner_that_says_how_many_tests_it_ran_is_heard():
    assert suite.read_output("x", 0, ["Ran 2 tests in 0.001s", "", "OK"]).tests == 2
    assert suite.read_output("x", 1, ["1 failed, 2 passed in 0.01s"]).tests == 3
    assert suite.read_output("x", 0, ["it went well"]).tests is None


@pytest.mark.parametrize("said", ["Ran 3 tests in 0.1s", "3 passed in 0.1s"])
def test_words_that_a_test_prints_never_make_a_red_command_green(said):
    assert suite.read_output("x", 1, [said, "", "OK"]).outcome is not PASS


@pytest.mark.parametrize(
    ("path", "is_test", "is_runnable"),
    [
        ("tests/test_a.py", True, True),
        ("test_a.py", True, True),
        ("src/a_test.go", True, True),
        ("web/a.test.ts", True, True),
        ("web/a.spec.js", True, True),
        ("app/tests.py", True, True),
        ("src/main/FooTest.java", True, True),
        ("tests/data/a.json", True, False),
        ("tests/__init__.py", True, False),
        ("conftest.py", True, False),
        ("pytest.ini", True, False),
        ("jest.config.js", True, False),
        ("pkg/testdata/a.golden", True, False),
        ("web/__snapshots__/a.snap", True, False),
        ("src/a.py", False, False),
        ("src/contest.py", False, False),
        ("src/latest.py", False, False),
        ("pyproject.toml", False, False),
        ("README.md", False, False),
    ],
)
def test_files_are_told_apart_by_their_names(path, is_test, is_runnable):
    assert suite.is_test(path) is is_test
    assert suite.is_runnable(path) is is_runnable


@pytest.mark.parametrize(
    ("path", "command", "decides"),
    [
        ("Makefile", "make test", True),
        ("web/package.json", "npm test", True),
        ("run.sh", "sh ./run.sh -v", True),
        ("run.sh", "pytest", False),
        ("unittest.py", "python -m unittest", True),
        ("pytest/__init__.py", "python -m pytest -q", True),
        ("src/api/__init__.py", "python -m pytest -q", False),
        ("src/a.py", "pytest", False),
    ],
)
def test_what_decides_how_tests_are_run_is_known(path, command, decides):
    assert suite.is_harness(path, command) is decides
