"""Which files of a unit's work are taken from its base, and which stay as the unit made them."""

import pytest

from dos.git.changes import FileChange
from dos.landing.guard import additions, judging_files
from dos.units.unit import Unit
from dos.verify.runners import Runner

TEST = "from price import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
UNIT = Unit(plan="A", id="1", title="prices", text="Add them up.", paths=("src/**", "tests/**"))


def chosen(changes, unit=UNIT, runner="pytest -q", **known):
    """The paths that are taken from the base, of changes as path -> (old text, new text)."""
    texts = {}
    files = []
    for number, (path, (old, new)) in enumerate(changes.items()):
        file = FileChange(
            path=path,
            status="M",
            old_blob="" if old is None else f"old{number}",
            new_blob="" if new is None else f"new{number}",
            old_mode="" if old is None else "100644",
            new_mode="" if new is None else "100644",
        )
        texts[path] = old, new
        files.append(file)
    found = judging_files.find(
        files, unit, Runner(text=runner, **known), lambda change: texts[change.path]
    )
    return list(found.from_base)


JUDGES = {
    "a loosened test": ("tests/test_price.py", (TEST, TEST.replace("== 3", ""))),
    "a deleted test": ("tests/test_price.py", (TEST, None)),
    "a golden file": ("tests/golden.txt", ("3\n", "4\n")),
    "a helper of the tests": ("tests/helpers.py", ("x = 1\n", "x = 2\n")),
    "a hook in conftest.py": (
        "conftest.py",
        ("", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
    ),
    "a new conftest.py with a hook": (
        "conftest.py",
        (None, "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"),
    ),
    "a new conftest.py that ignores": ("tests/conftest.py", (None, 'collect_ignore = ["x"]\n')),
    "a new conftest.py with a fixture for all": (
        "tests/conftest.py",
        (None, "@pytest.fixture(autouse=True)\ndef quiet(): ...\n"),
    ),
    "pytest.ini": ("pytest.ini", ("[pytest]\n", "[pytest]\naddopts = --co\n")),
    "a new pytest.ini": ("pytest.ini", (None, "[pytest]\naddopts = --co\n")),
    "the pytest table of pyproject.toml": (
        "pyproject.toml",
        ("[project]\nname = 'x'\n", "[tool.pytest.ini_options]\naddopts = '--co'\n"),
    ),
    "the pytest section of setup.cfg": ("setup.cfg", ("", "[tool:pytest]\naddopts = --co\n")),
    "a script of package.json": (
        "package.json",
        ('{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}'),
    ),
    "the Makefile": ("Makefile", ("test:\n\tpytest\n", "test:\n\ttrue\n")),
    "jest's settings": ("jest.config.js", ("module.exports = {}\n", "x\n")),
    "a program of the tree": ("pytest", (None, "#!/bin/sh\nexit 0\n")),
    "a module that hides another": ("pytest.py", (None, "raise SystemExit(0)\n")),
    "a package that hides another": ("pytest/__main__.py", (None, "raise SystemExit(0)\n")),
    "a program in bin": ("bin/python3", (None, "#!/bin/sh\nexit 0\n")),
    "a file that python imports by itself": ("sitecustomize.py", (None, "import os\n")),
    "a new test that ends the run": ("tests/test_a.py", (None, "import os\n\nos._exit(0)\n")),
    "a shell of npm's": (".npmrc", (None, "script-shell=./sh\n")),
    "a runner of cargo's": (".cargo/config.toml", (None, "[build]\ntarget-dir = 'x'\n")),
    "tests that cargo leaves out": (
        "Cargo.toml",
        ("[package]\nname = 'x'\n", "[package]\nname = 'x'\nautotests = false\n"),
    ),
    "an installed program": ("node_modules/.bin/jest-cli", (None, "#!/bin/sh\nexit 0\n")),
    "an installed plugin": ("src/x.egg-info/entry_points.txt", (None, "[pytest11]\nx = x\n")),
    "a snapshot": ("src/__snapshots__/a.js.snap", ("3\n", "4\n")),
    "the expected output": ("data/expected.json", ("3\n", "4\n")),
    "a file that a Makefile includes": ("rules.mk", ("test:\n\tpytest\n", "test:\n\ttrue\n")),
    "a module of Python's": ("json.py", (None, "raise SystemExit(0)\n")),
    "a second definition of a test": (
        "tests/test_price.py",
        (TEST, f"{TEST}\n\ndef test_total():\n    pass\n"),
    ),
    "an import that replaces what is tested": (
        "tests/test_price.py",
        (TEST, f"{TEST}\nfrom fake import total\n"),
    ),
    "a skip of the module": ("tests/test_price.py", (TEST, f"{TEST}\npytestmark = skip\n")),
    "a javascript test that is skipped": (
        "src/price.test.js",
        ("test('a', () => {\n});\n", "test.skip('a', () => {\n});\n"),
    ),
    "a mock before a javascript test": (
        "src/price.test.js",
        ("test('a', () => {\n});\n", "jest.mock('./price');\ntest('a', () => {\n});\n"),
    ),
}


@pytest.mark.parametrize("name", JUDGES)
def test_what_judges_is_taken_from_the_base(name):
    path, texts = JUDGES[name]
    assert chosen({path: texts}) == [path]


WORK = {
    "the program": ("src/price.py", ("x = 1\n", "x = 2\n")),
    "a new test": ("tests/test_more.py", (None, TEST)),
    "a test that is added to a file": (
        "tests/test_price.py",
        (TEST, f"{TEST}\n\ndef test_vat():\n    assert vat(1) == 2\n"),
    ),
    "a test with what it imports": (
        "tests/test_price.py",
        (
            TEST,
            (
                f"import math\n\n{TEST.replace('import total', 'import total, vat')}"
                "\n\ndef test_vat():\n    assert vat(1) == math.pi\n"
            ),
        ),
    ),
    "a method that is added to a class": (
        "tests/test_price.py",
        (
            "class TestPrice:\n    def test_a(self):\n        assert 1\n",
            (
                "class TestPrice:\n    def test_a(self):\n        assert 1\n\n"
                "    def test_b(self):\n        assert 2\n"
            ),
        ),
    ),
    "a javascript test that is added": (
        "src/price.test.js",
        ("test('a', () => {\n});\n", "test('a', () => {\n});\ntest('b', () => {\n});\n"),
    ),
    "a fixture that is added to conftest.py": (
        "tests/conftest.py",
        ("import pytest\n", "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n"),
    ),
    "a new conftest.py with fixtures": (
        "tests/conftest.py",
        (None, "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n"),
    ),
    "a dependency in pyproject.toml": (
        "pyproject.toml",
        ("[project]\nname = 'x'\n", "[project]\nname = 'x'\ndependencies = ['y']\n"),
    ),
    "a dependency in package.json": (
        "package.json",
        ('{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest"}, "dependencies": {}}'),
    ),
    "a new pyproject.toml without a word about tests": (
        "pyproject.toml",
        (None, "[project]\nname = 'x'\n"),
    ),
    "the settings of another tool": (
        "setup.cfg",
        ("[metadata]\nname = x\n", "[metadata]\nname = y\n"),
    ),
    "a dependency in Cargo.toml": (
        "Cargo.toml",
        ("[package]\nname = 'x'\n", "[package]\nname = 'x'\n\n[dependencies]\nserde = '1'\n"),
    ),
    "a target in the Makefile": ("Makefile", ("a:\n\ttrue\n", "a:\n\ttrue\n\nb:\n\ttrue\n")),
    "a script in package.json": (
        "package.json",
        ('{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest", "lint": "tsc"}}'),
    ),
    "a module of a package": ("src/shop/json.py", (None, "x = 1\n")),
    "a new snapshot": ("src/__snapshots__/a.js.snap", (None, "3\n")),
    "a document": ("README.md", ("x\n", "y\n")),
    "a command of the project": ("bin/shop", (None, "#!/bin/sh\necho\n")),
}


@pytest.mark.parametrize("name", WORK)
def test_work_stays_as_the_unit_made_it(name):
    path, texts = WORK[name]
    assert chosen({path: texts}) == []


@pytest.mark.parametrize(
    ("path", "text", "known", "goes_back"),
    [
        ("pytest.ini", "[pytest]\naddopts = --co\n", {"has_tests": True}, True),
        ("pytest.ini", "[pytest]\npythonpath = src\n", {"has_tests": False}, False),
        ("Makefile", "test:\n\tpytest\n", {}, False),
        ("GNUmakefile", "test:\n\ttrue\n", {"task_files": {"make"}}, True),
        ("one/package.json", '{"scripts": {"test": "true"}}', {"task_files": {"npm"}}, True),
        ("package.json", '{"scripts": {"test": "jest"}}', {"task_files": {"make"}}, False),
        ("sitecustomize.py", "import os\n", {"has_tests": False}, True),
        (".npmrc", "script-shell=./sh\n", {"has_tests": False}, True),
    ],
)
def test_new_settings_count_where_they_could_decide_about_something_old(
    path, text, known, goes_back
):
    assert chosen({path: (None, text)}, **known) == ([path] if goes_back else [])


def test_a_tool_that_the_command_names_is_judged_by_its_settings():
    texts = ("[tool.ruff]\nline-length = 80\n", "[tool.ruff]\nline-length = 400\n")
    assert chosen({"pyproject.toml": texts}, runner="ruff check") == ["pyproject.toml"]
    assert chosen({"pyproject.toml": texts}, runner="pytest") == []


@pytest.mark.parametrize("path", ["check.sh", "tools/accept.py", "scripts/smoke.js", "verify"])
def test_a_script_that_the_command_runs_is_taken_from_the_base(path):
    assert chosen({path: ("a\n", "b\n")}, runner=f"sh -c ./{path}") == [path]
    assert chosen({path: ("a\n", "b\n")}, runner="pytest") == []


def test_a_program_that_the_command_runs_is_the_work_itself():
    assert chosen({"src/shop.py": ("a\n", "b\n")}, runner="python3 src/shop.py | grep 3") == []
    assert chosen({"bin/make": (None, "b\n")}, runner="bin/make --help") == []
    for path in ("bin/shop", "bin/backup.sh", "src/run.sh", "bin/cli.js", "one/cmd/shop"):
        assert chosen({path: ("a\n", "b\n")}, runner=f"./{path} --total | grep 3") == []
    for path in ("bin/check", "bin/run-tests.sh", "src/verify.js", "backup.sh"):
        assert chosen({path: ("a\n", "b\n")}, runner=f"./{path} | grep 3") == [path]


def test_what_the_unit_names_besides_tests_is_its_work():
    unit = Unit(plan="A", id="1", title="strict markers in pytest.ini", paths=("check.sh",))
    changes = {
        "pytest.ini": ("[pytest]\n", "[pytest]\naddopts = --strict\n"),
        "check.sh": ("a\n", "b\n"),
    }
    assert chosen(changes, unit, "sh check.sh") == []
    named_test = Unit(plan="A", id="1", title="x", paths=("tests/test_price.py",))
    loosened = {"tests/test_price.py": (TEST, TEST.replace("== 3", ""))}
    assert chosen(loosened, named_test) == ["tests/test_price.py"]


def test_a_test_that_only_moved_stays_and_one_that_changed_on_the_way_goes_back():
    def moved(old_blob, new_blob):
        return FileChange(
            path="tests/unit/test_a.py",
            old_path="tests/test_a.py",
            status="R",
            old_blob=old_blob,
            new_blob=new_blob,
            old_mode="100644",
            new_mode="100644",
        )

    def read(_change):
        return TEST, TEST.replace("== 3", "")

    runner = Runner(text="pytest")
    assert judging_files.find([moved("a", "a")], UNIT, runner, read).from_base == ()
    assert judging_files.find([moved("a", "b")], UNIT, runner, read).from_base == (
        "tests/test_a.py",
        "tests/unit/test_a.py",
    )


@pytest.mark.parametrize(
    ("new", "command", "goes_back"),
    [
        ("tests/old/test_a.py", "pytest tests/unit", True),
        ("tests/old/test_a.py", "pytest tests/unit tests/old", False),
        ("tests/old/test_a.py", "pytest tests/", False),
        ("tests/old/test_a.py", "pytest", False),
        ("tests/unit/cases_a.py", "pytest tests/unit", True),
    ],
)
def test_a_test_that_moved_to_where_the_command_does_not_look_goes_back(new, command, goes_back):
    change = FileChange(
        path=new,
        old_path="tests/unit/test_a.py",
        status="R",
        old_blob="a",
        new_blob="a",
        old_mode="100644",
        new_mode="100644",
    )
    found = judging_files.find([change], UNIT, Runner(text=command), lambda _: (TEST, TEST))
    assert found.from_base == (("tests/unit/test_a.py", new) if goes_back else ())


def test_a_package_that_the_repository_has_tracked_before_may_be_changed():
    change = FileChange(path="node_modules/a/a.js", new_blob="a", new_mode="100644", status="A")
    for has_packages in (True, False):
        runner = Runner(text="npm test", has_packages=has_packages)
        found = judging_files.find([change], UNIT, runner, lambda _: (None, "x\n"))
        assert bool(found.from_base) is not has_packages


def test_a_script_that_is_no_longer_executable_is_taken_from_the_base():
    change = FileChange(
        path="tests/run", old_blob="a", new_blob="a", old_mode="100755", new_mode="100644"
    )
    found = judging_files.find([change], UNIT, Runner(text="tests/run"), lambda _: ("x", "x"))
    assert found.from_base == ("tests/run",)


RUST = "pub fn total(p: &[i64]) -> i64 {{\n    {}\n}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n"
RUST += "    fn adds() {{\n        assert_eq!(super::total(&[1, 2]), {});\n    }}\n{}}}\n"
MORE = "\n    #[test]\n    fn none() {\n        assert_eq!(super::total(&[]), 0);\n    }\n"


@pytest.mark.parametrize(
    ("new", "judged"),
    [
        (RUST.format("p.iter().sum()", 4, ""), RUST.format("p.iter().sum()", 3, "")),
        (RUST.format("p.iter().sum()", 3, ""), None),
        (RUST.format("p.iter().sum()", 3, MORE), None),
        (RUST.format("p.iter().sum()", 4, MORE), RUST.format("p.iter().sum()", 3, "")),
    ],
    ids=["another value", "as it was", "one more", "one more and another value"],
)
def test_a_program_that_contains_its_tests_is_judged_by_those_of_the_base(new, judged):
    change = FileChange(path="src/lib.rs", old_blob="a", new_blob="b")
    old = RUST.format("0", 3, "")
    found = judging_files.find([change], UNIT, Runner(text="cargo test"), lambda _: (old, new))
    assert found.inline == ((("src/lib.rs", judged),) if judged else ())


def test_a_file_that_cannot_be_parsed_is_taken_from_the_base():
    assert not additions.only_adds_tests("test_a.py", "print 1\n", "print 1\nprint 2\n")
    assert chosen({"tests/test_a.py": (None, None)}) == []
