"""What runs when a test command does: scripts, what they read in turn, and what stands in a way."""

import pytest

from dos.verify import file_kinds, runners
from dos.verify.runners import Runner


def read_runner(command: str, files: dict[str, str]) -> Runner:
    return runners.read_runner(command, sorted(files), lambda path: files.get(path, ""))


# name: the command, the files, those that are read in turn
READ = {
    "a file beside the script": (
        "sh scripts/check.sh",
        {"scripts/check.sh": '. "$(dirname "$0")/lib.sh"\n', "scripts/lib.sh": ""},
        {"scripts/lib.sh"},
    ),
    "a file of a file": (
        "sh z.sh",
        {"z.sh": ". ./lib/b.sh\n", "lib/b.sh": '. "$here/a.sh"\n', "lib/a.sh": "", "lib/c.sh": ""},
        {"lib/b.sh", "lib/a.sh"},
    ),
    "a module beside a script": (
        "python3 tools/check.py",
        {"tools/check.py": "from same import same\nimport price\n", "tools/same.py": "",
         "price.py": ""},
        {"tools/same.py"},
    ),
    "the program beside a script is none": (
        "python3 check.py", {"check.py": "import price\n", "price.py": ""}, set(),
    ),
    "a program that the command runs is none": (
        "python3 src/shop.py", {"src/shop.py": "import price\n\n\ndef a():\n    assert 1\n"}, set(),
    ),
    "a program that knows of tests is none": (
        "node src/shop.js",
        {"src/shop.js": "import assert from 'node:assert';\nif (env === 'test') assert(1);\n"},
        set(),
    ),
    "code that asserts": (
        "python3 qa/price.py && node qa/price.js",
        {"qa/price.py": "import price\n\nassert price.total([1]) == 1\n",
         "qa/price.js": "const test = require('node:test');\n", "qa/other.py": "assert 1\n"},
        {"qa/price.py", "qa/price.js"},
    ),
    "plugins of pytest": (
        "pytest",
        {"pytest.ini": "[pytest]\naddopts = -q -p shop.plug -p no:cacheprovider\n",
         "tests/conftest.py": "pytest_plugins = ['more', \"other\"]\n", "src/shop/plug.py": "",
         "more.py": "", "tests/other.py": "", "src/plug.py": ""},
        {"src/shop/plug.py", "more.py", "tests/other.py"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_a_runner_reads_in_turn_is_found(name):
    command, files, helpers = READ[name]
    found = read_runner(command, files).helpers
    assert {path for path in found if not runners.is_judging_script(path, command)} == helpers


@pytest.mark.parametrize(
    "command",
    ["cd one && sh check.sh", "(cd ./one/; sh check.sh)", "make -C one && sh check.sh",
     "npm --prefix=one test; sh check.sh", "pushd one; sh ./check.sh", "sh one/check.sh"],
)  # fmt: skip
def test_a_script_is_named_from_the_folder_that_the_command_changes_to(command):
    assert file_kinds.is_named_by_runner("one/check.sh", command)
    assert not file_kinds.is_named_by_runner("two/check.sh", command)


def test_the_scripts_of_a_folder_that_the_command_changes_to_are_read():
    files = {"one/Makefile": "check:\n\tsh ask.sh\n", "one/ask.sh": "exit 7\n"}
    assert "exit 7" in read_runner("make -C one check", files).text
    assert "exit 7" not in read_runner("make check", files).text


@pytest.mark.parametrize(
    ("path", "hides"),
    [("json.py", True), ("json/__init__.py", True), ("tools/json.py", True), ("shop.py", False),
     ("src/shop/json.py", False), ("json/price.py", False), ("json.md", False),
     ("test/__init__.py", False)],
)  # fmt: skip
def test_a_file_hides_a_module_of_python_where_python_looks_first(path, hides):
    runner = read_runner("python3 tools/check.py", {"tools/check.py": ""})
    assert runners.hides_a_module(path, runner) is hides


@pytest.mark.parametrize(
    ("path", "is_expected"),
    [("expected.txt", True), ("data/price.golden", True), ("golden/a.json", True),
     ("src/__snapshots__/a.test.js.snap", True), ("shop/testdata/in.csv", True),
     ("a.approved.txt", True), ("src/expected.py", False), ("src/snapshot.ts", False),
     ("data/prices.json", False), ("unexpected.txt", False)],
)  # fmt: skip
def test_what_tests_compare_with_is_known_by_its_name(path, is_expected):
    assert runners.is_expected_output(path) is is_expected
