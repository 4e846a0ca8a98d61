"""Settings of test runners and expected output, in real repositories."""

import pytest
from commanding import in_process
from commit_histories import Told, write

WORKFLOW = "on: push\njobs:\n  test:\n    steps:\n      - run: pytest\n"
LINT = "on: push\njobs:\n  lint:\n    steps:\n      - run: ruff check\n"
CI = ".github/workflows/ci.yml"
SNAPSHOT = "ui/__snapshots__/page.test.js.snap"
BASE = {
    "src/a.py": "def act(value):\n    return value\n",
    "tests/test_a.py": "import a\n\ndef test_act():\n    assert a.act(1) == 1\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n",
    "package-lock.json": "{}\n",
    CI: WORKFLOW,
    ".travis.yml": "script: python setup.py test\n",
    SNAPSHOT: "exports[`page`] = `<b>1</b>`;\n",
    "pkg/testdata/in.txt": "1\n",
    "pkg/testdata/out.golden": "1\n",
}
CODE = {"src/a.py": "def act(value):\n    return value + 1\n"}
NEW_SNAPSHOT = {SNAPSHOT: "exports[`page`] = `<b>2</b>`;\n"}
CASES = {
    "a test left out beside a fix": (
        CODE | {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q -k fast'\n"},
        "pytest -k fast",
    ),
    "a new conftest that drops tests": (
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"},
        "pytest_collection_modifyitems drops tests",
    ),
    "failures that no longer count": (
        {CI: WORKFLOW.replace("pytest", "pytest || true")},
        "pytest: || true",
    ),
    "the only job with tests removed": ({CI: LINT, ".travis.yml": None}, "is no longer run"),
    "a snapshot alone": (NEW_SNAPSHOT, "no code did"),
    "a snapshot and a comment": (
        NEW_SNAPSHOT | {"src/a.py": "# now\ndef act(value):\n    return value\n"},
        "no code did",
    ),
    "a golden file and a document": (
        {"pkg/testdata/out.golden": "2\n", "README.md": "two\n"},
        "no code did",
    ),
    "an old service whose tests run elsewhere": ({".travis.yml": None}, ""),
    "one service for another": ({CI: None, ".gitlab-ci.yml": "t:\n  script: pytest\n"}, ""),
    "a snapshot with its code": (NEW_SNAPSHOT | CODE, ""),
    "a snapshot with a dependency": (NEW_SNAPSHOT | {"package-lock.json": '{"a": 2}\n'}, ""),
    "a golden file with its input": (
        {"pkg/testdata/out.golden": "2\n", "pkg/testdata/in.txt": "2\n"},
        "",
    ),
    "a new golden file": ({"pkg/testdata/more.golden": "2\n"}, ""),
    "a new workflow": ({".github/workflows/x.yml": WORKFLOW.replace("pytest", "ls || true")}, ""),
    "more options": ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q -ra'\n"}, ""),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    branches = {}
    for number, (files, _) in enumerate(CASES.values()):
        branches[f"b{number}"] = [Told("chore: change it", files)]
    root = write(tmp_path_factory.mktemp("settings"), BASE, branches)
    told = {}
    for number, name in enumerate(CASES):
        words = ["commit-audit", "--workspace", str(root), "--json", f"b{number}"]
        told[name] = in_process(*words).json[0]
    return told


@pytest.mark.parametrize("name", CASES)
def test_settings_and_expected_output_are_read_in_a_commit(verdicts, name):
    expected = CASES[name][1]
    verdict = verdicts[name]
    assert (verdict["verdict"] == "TESTS_WEAKENED") == bool(expected), verdict
    if expected:
        assert expected in verdict["reason"]
