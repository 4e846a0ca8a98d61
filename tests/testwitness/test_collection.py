"""Which files a runner is handed: those that it would collect by itself."""

import shlex
import shutil
import sys

import pytest
from toy_repository import UNITTEST, Toy, cells

from dos.testwitness import collection
from dos.testwitness.collection import PytestSearch, arguments, collected, pytest_search
from dos.testwitness.verdict import Answer

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
LISTED = """
tests/test_a.py tests/a_test.py tests/conftest.py tests/__init__.py tests/helper.py
tests/data.json tests/fixtures/test_sample.txt tests/checks.py
test/a.test.js test/b.spec.ts test/plain.js test/helpers/boot.js test-c.mjs src/__tests__/d.jsx
src/__tests__/__snapshots__/d.jsx.snap e2e/login.cy.ts
pkg/a_test.go pkg/testdata/in.go sub/deep/b_test.go
tests/api.rs crates/x/tests/y.rs tests/common/mod.rs
spec/a_spec.rb spec/spec_helper.rb test/models/b_test.rb test/test_helper.rb
tests/ATest.php tests/bootstrap.php src/test/java/PriceTest.java src/test/java/Fixtures.java
tests/cli.bats t/basic.t test/a_test.exs test/a_test.dart tests/run_test.sh tests/expected.txt
"""
FILES = LISTED.split()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest {tests}", "tests/test_a.py tests/a_test.py"),
        ("PYTHONPATH=src python3 -m pytest -q {tests}", "tests/test_a.py tests/a_test.py"),
        ("uv run --group dev py.test {tests}", "tests/test_a.py tests/a_test.py"),
        ("cd sub && poetry run pytest {tests}", "tests/test_a.py tests/a_test.py"),
        ("python -m unittest {tests}", "tests/test_a.py"),
        ("npx jest {tests}", "test/a.test.js test/b.spec.ts src/__tests__/d.jsx"),
        ("yarn vitest run {tests}", "test/a.test.js test/b.spec.ts"),
        ("mocha {tests}", "test/a.test.js test/b.spec.ts test/plain.js"),
        (
            "pnpm exec ava {tests}",
            "test/a.test.js test/b.spec.ts test/plain.js test-c.mjs src/__tests__/d.jsx",
        ),
        ("node --test {tests}", "test/a.test.js test/b.spec.ts test/plain.js test-c.mjs"),
        ("cypress run --spec {tests}", "e2e/login.cy.ts"),
        ("go test {tests}", "pkg/a_test.go sub/deep/b_test.go"),
        ("cargo test {tests}", "tests/api.rs crates/x/tests/y.rs"),
        ("bundle exec rspec {tests}", "spec/a_spec.rb"),
        ("bin/rails test {tests}", "test/models/b_test.rb"),
        ("vendor/bin/phpunit {tests}", "tests/ATest.php"),
        ("mvn test {tests}", "src/test/java/PriceTest.java"),
        ("bats {tests}", "tests/cli.bats"),
        ("prove {tests}", "t/basic.t"),
        ("mix test {tests}", "test/a_test.exs"),
        ("dart test {tests}", "test/a_test.dart"),
    ],
)
def test_a_runner_is_handed_what_it_collects(command, expected):
    assert collected(command, FILES, PytestSearch()) == set(expected.split())


def test_an_unknown_runner_is_handed_source_files_that_are_named_as_tests():
    handed = collected("./everything {tests}", FILES, PytestSearch())
    assert {"tests/test_a.py", "tests/run_test.sh", "pkg/a_test.go", "test/a.test.js"} <= handed
    others = "conftest.py __init__.py data.json helper.py test_sample.txt expected.txt d.jsx.snap"
    assert not {path.rpartition("/")[2] for path in handed} & set(others.split())


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["tests/a_test.py", "tests/test_a.py"]),
        ({"pytest.ini": "[pytest]\npython_files = checks.py\n"}, ["tests/checks.py"]),
        ({"setup.cfg": "[tool:pytest]\npython_files = tests/test_*\n"}, ["tests/test_a.py"]),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['test_*.py', 'he*.py']"},
            ["tests/helper.py", "tests/test_a.py"],
        ),
        ({"tox.ini": "[pytest]\nnorecursedirs = tests\n"}, []),
        ({"pytest.ini": "[pytest", "pyproject.toml": "["}, ["tests/a_test.py", "tests/test_a.py"]),
    ],
)
def test_settings_of_pytest_say_what_it_collects(settings, expected):
    assert sorted(collected("pytest {tests}", FILES, pytest_search(settings))) == expected


@pytest.mark.parametrize(
    ("command", "paths", "expected"),
    [
        ("go test {tests}", ["pkg/a_test.go", "pkg/b_test.go", "c_test.go"], ["./", "./pkg"]),
        (
            "cargo test -q {tests}",
            ["tests/api.rs", "tests/cli.rs"],
            ["--test", "api", "--test", "cli"],
        ),
        ("pytest {tests}", ["tests/test_a.py"], ["tests/test_a.py"]),
    ],
)
def test_a_runner_is_told_in_its_own_words(command, paths, expected):
    assert arguments(command, paths) == expected


def test_the_command_with_the_placeholder_tells_the_runner():
    found = collection.runner_command("npm run build && pytest --version; npx jest {tests}")
    assert found is not None and found.runner == "jest"


@pytest.fixture
def toy(tmp_path):
    return Toy(tmp_path / "toy")


UNITTEST_CASE = """import unittest
import calc

class Adding(unittest.TestCase):
    def test_it(self):
        self.assertEqual(calc.add({}), {})
"""
NODE_TEST = """const test = require("node:test");
const assert = require("node:assert");
test("a", () => assert.equal(require("../calc.js")({0}), {1}));
"""
CODE = "def add(a, b):\n    return {}\n"
PY_TEST = "import calc\n\ndef test_{}():\n    assert calc.add({}) == {}\n"
BESIDE = {
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef one():\n    return 1\n",
    "tests/data.json": '{"a": 1}\n',
    "tests/__snapshots__/x.snap": "1\n",
    "tests/web.test.js": "test('a', () => {});\n",
    "tests/broken_helper.py": "raise RuntimeError('not to be run')\n",
}


def test_pytest_gets_no_fixture_helper_or_file_of_another_language(toy):
    toy.commit(
        {"calc.py": CODE.format("a - b"), "tests/test_zero.py": PY_TEST.format("zero", "0, 0", 0)}
    )
    new = {"calc.py": CODE.format("a + b"), "tests/test_one.py": PY_TEST.format("one", "1, 1", 2)}
    toy.commit(new | BESIDE)
    witness = toy.witness(f"PYTHONPATH=. {PYTEST} {{tests}}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
    assert cells(witness) == [["pass"], ["pass"], ["fail"], ["pass"]]


def test_pytest_finds_tests_where_its_settings_say(toy):
    settings = {"pytest.ini": "[pytest]\npython_files = check_*.py\n"}
    toy.commit(
        {"calc.py": CODE.format("a - b"), "tests/check_zero.py": PY_TEST.format("zero", "0, 0", 0)}
        | settings
    )
    toy.commit(
        {"calc.py": CODE.format("a + b"), "tests/check_one.py": PY_TEST.format("one", "1, 1", 2)}
    )
    witness = toy.witness(f"PYTHONPATH=. {PYTEST} {{tests}}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict


def test_where_only_a_fixture_changed_all_tests_are_run(toy):
    uses = "import calc\n\ndef test_one(one):\n    assert calc.add(one, one) == {}\n"
    fixture = "import pytest\n\n@pytest.fixture\ndef one():\n    return {}\n"
    toy.commit(
        {
            "calc.py": CODE.format("a - b"),
            "tests/test_one.py": uses.format("one * 2 * (one > 0)"),
            "tests/conftest.py": fixture.format(0),
        }
    )
    toy.commit({"calc.py": CODE.format("a + b"), "tests/conftest.py": fixture.format(1)})
    witness = toy.witness(f"PYTHONPATH=. {PYTEST} {{tests}}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict


def test_unittest_gets_its_modules_alone(toy):
    case = UNITTEST_CASE
    toy.commit(
        {
            "calc.py": CODE.format("a - b"),
            "tests/__init__.py": "",
            "tests/test_zero.py": case.format("0, 0", 0),
        }
    )
    toy.commit(
        {
            "calc.py": CODE.format("a + b"),
            "tests/test_one.py": case.format("1, 1", 2),
            "tests/run_test.sh": "exit 1\n",
        }
    )
    witness = toy.witness(f"{UNITTEST} {{tests}}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict


def test_old_tests_of_another_language_are_not_for_this_runner(toy):
    toy.commit({"calc.py": CODE.format("a - b"), "tests/web.test.js": "throw new Error('x')\n"})
    toy.commit(
        {"calc.py": CODE.format("a + b"), "tests/test_one.py": PY_TEST.format("one", "1, 1", 2)}
    )
    witness = toy.witness(f"PYTHONPATH=. {PYTEST} {{tests}}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
    assert cells(witness) == [[], [], ["fail"], ["pass"]]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_gets_no_helper(toy):
    test = NODE_TEST
    toy.commit(
        {"calc.js": "module.exports = (a) => a - 1;\n", "test/one.test.js": test.format(1, 0)}
    )
    toy.commit(
        {
            "calc.js": "module.exports = (a) => Math.max(a - 1, 0);\n",
            "test/zero.test.js": test.format(0, 0),
            "test/helpers/boot.js": "process.exit(1);\n",
        }
    )
    witness = toy.witness("node --test {tests}")
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
