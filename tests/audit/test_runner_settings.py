"""Settings that keep tests from running, or their failure from counting; and honest settings."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.audit import expected_output, runner_settings
from dos.audit.runner_settings import OtherFiles
from dos.audit.settings import file_readers
from dos.audit.weakening import TestChange


def found(*files, added=(), deleted=(), unchanged=()):
    """What is found in files of (path, old, new)."""
    changes = [TestChange(path=path, old=old, new=new) for path, old, new in files]
    others = OtherFiles(added=added, deleted=deleted, unchanged=lambda: unchanged)
    return [weakening.detail for weakening in runner_settings.find(changes, others)]


def ini(*lines: str) -> str:
    return "\n".join(["[pytest]", *lines, ""])


def workflow(*steps: str, job: str = "", name: str = "test", on: str = "push") -> str:
    """A workflow with one job; each step is the lines of a mapping."""
    text = f"on: {on}\njobs:\n  {name}:\n    runs-on: linux\n"
    text += f"    {job}\n" if job else ""
    text += "    steps:\n      - uses: actions/checkout@v4\n"
    for step in steps:
        first, *rest = step.split("\n")
        text += f"      - {first}\n" + "".join(f"        {line}\n" for line in rest)
    return text


CI = ".github/workflows/ci.yml"
PYTEST = "run: pytest"
PYTEST_LIES = [
    ("pytest.ini", ini(), ini("addopts = -k smoke")),
    ("pytest.ini", ini("addopts = -q"), ini("addopts = -q --deselect tests/test_a.py::test_b")),
    ("pytest.ini", ini("addopts ="), ini("addopts = -m 'not slow'")),
    ("tox.ini", ini("addopts = -m 'not a'"), ini("addopts = -m 'not a and not b'")),
    ("pytest.ini", ini(), ini("addopts = --ignore-glob=tests/net_*")),
    ("pytest.ini", ini("addopts = -ra"), ini("addopts = -ra --collect-only")),
    ("pytest.ini", ini("addopts = -ra"), ini("addopts = -ra --lf")),
    ("pytest.ini", ini("addopts = -q"), ini("addopts = -q -o python_files=test_a*.py")),
    ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\naddopts = --ignore=tests/api\n"),
    (
        "pyproject.toml",
        "[tool.pytest.ini_options]\n",
        "[tool.pytest.ini_options]\naddopts = ['--ignore', 'tests/api']\n",
    ),
    ("pytest.ini", ini("testpaths = tests"), ini("testpaths = tests/unit")),
    ("pytest.ini", ini("testpaths = tests it"), ini("testpaths = tests")),
    ("pytest.ini", ini(), ini("testpaths = tests/test_a.py")),
    ("pytest.ini", ini(), ini("python_files = test_unit_*.py")),
    ("pytest.ini", ini("python_files = test_*.py check_*.py"), ini("python_files = test_*.py")),
    ("pytest.ini", ini(), ini("python_functions = test_fast_*")),
    ("pytest.ini", ini("norecursedirs = build"), ini("norecursedirs = build integration")),
    ("pytest.ini", ini("xfail_strict = true"), ini()),
    ("pytest.ini", ini("xfail_strict = true"), ini("xfail_strict = false")),
    ("pytest.ini", ini("filterwarnings =", "    error"), ini("filterwarnings =", "    default")),
    ("pytest.ini", ini("addopts = --cov-fail-under=90"), ini("addopts = --cov-fail-under=40")),
    (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 10\n"),
    (".coveragerc", "[report]\nfail_under = 90\n", "[report]\n"),
    ("conftest.py", "collect_ignore = ['a.py']\n", "collect_ignore = ['a.py', 'test_b.py']\n"),
    (
        "conftest.py",
        "",
        "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.own]\n",
    ),
    (
        "conftest.py",
        "",
        "def pytest_collection_modifyitems(config, items):\n    del items[3:]\n",
    ),
    ("conftest.py", "", "def pytest_ignore_collect(path):\n    return True\n"),
    ("conftest.py", "", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"),
    ("noxfile.py", "session.run('pytest')\n", "session.run('pytest', '-k', 'fast')\n"),
    ("noxfile.py", "session.run('pytest')\n", "session.run('pytest', success_codes=[0, 1])\n"),
    ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = - pytest\n"),
    ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = pytest -m unit\n"),
    (
        "tox.ini",
        "[testenv]\ncommands = pytest\n",
        "[testenv]\nignore_outcome = true\ncommands = pytest\n",
    ),
    (
        "tox.ini",
        "[testenv]\ncommands =\n    python -m unittest discover\n",
        "[testenv]\ncommands =\n    python -m unittest discover -p 'test_a*.py'\n",
    ),
]
SHELL_LIES = [
    ("run.sh", "pytest\n", "pytest || true\n"),
    ("run.sh", "pytest\n", "pytest || :\n"),
    ("run.sh", "pytest\n", "pytest || exit 0\n"),
    ("run.sh", "pytest\n", "pytest; exit 0\n"),
    ("run.sh", "pytest\n", "pytest\nexit 0\n"),
    ("run.sh", "set -e\npytest\n", "set -e\nset +e\npytest\necho done\n"),
    ("run.sh", "npm test\n", "npm test || echo 'tests failed'\n"),
    ("run.sh", "pytest\n", "if pytest; then echo good; else echo bad; fi\n"),
    ("run.sh", "pytest\n", "pytest &\necho started\n"),
    ("run.sh", "pytest\n", "pytest || (exit 0)\n"),
    ("ci/all.bash", "go test ./...\n", "go test -run TestA ./...\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\t@-pytest\n"),
    ("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -skip TestB ./...\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\t@echo all tests passed\n"),
    ("Makefile", "test: unit it\nunit:\n\ttrue\n", "test: unit\nunit:\n\ttrue\n"),
    ("Makefile", "check:\n\tctest\n", "check:\n\tctest -E slow\n"),
    ("justfile", "test:\n    cargo test\n", "test:\n    -cargo test\n"),
    ("Dockerfile", "RUN pytest\n", "RUN pytest || true\n"),
    ("Jenkinsfile", "  sh 'mvn verify'\n", "  sh 'mvn verify -DskipTests'\n"),
    ("Makefile", "test:\n\tpytest\n", ".IGNORE: test\ntest:\n\tpytest\n"),
]
CI_LIES = [
    (CI, workflow(PYTEST), workflow(f"{PYTEST}\ncontinue-on-error: true")),
    (CI, workflow(PYTEST), workflow(PYTEST, job="continue-on-error: true")),
    (CI, workflow(PYTEST), workflow(f"{PYTEST}\nif: false")),
    (CI, workflow(PYTEST), workflow(PYTEST, job="if: ${{ false }}")),
    (CI, workflow(PYTEST), workflow(PYTEST, on="workflow_dispatch")),
    (CI, workflow(PYTEST), workflow("run: pytest || true")),
    (CI, workflow(PYTEST), workflow("run: |\n  set +e\n  pytest\n  echo done")),
    (CI, workflow(PYTEST), workflow("run: pytest -k 'not flaky'")),
    (CI, workflow(PYTEST), workflow("run: pytest tests/test_one.py")),
    (CI, workflow(PYTEST), workflow(f"{PYTEST}\nenv:\n  PYTEST_ADDOPTS: -k fast")),
    (CI, workflow(PYTEST), workflow("run: PYTEST_ADDOPTS='-k fast' pytest")),
    (CI, workflow("run: pytest tests"), workflow("run: pytest tests/unit")),
    (CI, workflow(PYTEST, "run: ruff check"), workflow("run: ruff check")),
    (CI, workflow(PYTEST), workflow("run: echo tests are fine")),
    (CI, workflow(PYTEST), None),
    (CI, workflow("run: pytest tests/a", "run: pytest tests/b"), workflow("run: pytest tests/a")),
    (CI, workflow("run: cargo test"), workflow("run: cargo test --no-run")),
    (CI, workflow("run: ./gradlew build"), workflow("run: ./gradlew build -x test")),
    (CI, workflow("run: dotnet test"), workflow("run: dotnet test --filter Category=Unit")),
    (CI, workflow(PYTEST), workflow(PYTEST, job="continue-on-error: true", name="experimental")),
    (
        ".gitlab-ci.yml",
        "t:\n  script: [pytest]\n",
        "t:\n  script: [pytest]\n  allow_failure: true\n",
    ),
    (".gitlab-ci.yml", "t:\n  script: [pytest]\n", "t:\n  script: [pytest]\n  when: manual\n"),
    (
        ".gitlab-ci.yml",
        "t:\n  script: [pytest]\n",
        "t:\n  script: [pytest]\n  rules: [{when: never}]\n",
    ),
    (
        ".travis.yml",
        "script: make test\n",
        "script: make test\nmatrix:\n  allow_failures:\n    - env: SUITE=unit-tests\n",
    ),
    (
        "azure-pipelines.yml",
        "steps:\n- script: npm test\n",
        "steps:\n- script: npm test\n  continueOnError: true\n",
    ),
    (
        "Taskfile.yml",
        "tasks:\n  test:\n    cmds: [go test ./...]\n",
        "tasks:\n  test:\n    ignore_error: true\n    cmds: [go test ./...]\n",
    ),
]


def package(script: str, more: str = "") -> str:
    return f'{{"scripts": {{"test": "{script}"}}{more}}}'


SCRIPT_LIES = [
    ("package.json", package("jest"), package("echo ok")),
    ("package.json", package("jest"), package("exit 0")),
    ("package.json", package("jest"), package("jest || true")),
    ("package.json", package("jest"), package("jest --passWithNoTests")),
    ("package.json", package("mocha"), package("mocha --grep fast")),
    ("package.json", package("mocha"), package("mocha --exclude test/slow.js")),
    ("package.json", package("vitest run"), package("vitest run --exclude src/api")),
    ("package.json", package("node --test"), package("node --test --test-name-pattern=a")),
    ("package.json", package("ava"), package("ava", ', "ava": {"files": ["!test/api.js"]}')),
    (
        "package.json",
        package("jest", ', "jest": {"coverageThreshold": {"global": {"lines": 90}}}'),
        package("jest", ', "jest": {"coverageThreshold": {"global": {"lines": 9}}}'),
    ),
    (
        "package.json",
        package("ava", ', "ava": {"files": ["test/**", "it/**"]}'),
        package("ava", ', "ava": {"files": ["test/**"]}'),
    ),
    ("jest.config.js", "module.exports = {}", "module.exports = {testPathIgnorePatterns: ['api']}"),
    ("jest.config.js", "module.exports = {}", "module.exports = {passWithNoTests: true}"),
    (
        "jest.config.ts",
        "export default {testMatch: ['**/*.test.ts']}",
        "export default {testMatch: ['src/util/**/*.test.ts']}",
    ),
    (
        "vitest.config.ts",
        "export default defineConfig({test: {}})",
        "export default defineConfig({test: {exclude: ['src/api/**']}})",
    ),
    (
        "vite.config.ts",
        "export default {test: {coverage: {thresholds: {lines: 80}}}}",
        "export default {test: {coverage: {}}}",
    ),
    ("playwright.config.ts", "export default {}", "export default {testIgnore: /login/}"),
    ("playwright.config.ts", "export default {}", "export default {grepInvert: /@slow/}"),
    (".mocharc.yml", "spec: test\n", "spec: test\nignore: test/api.js\n"),
    (".mocharc.json", "{}", '{"grep": "fast"}'),
    ("cypress.config.js", "module.exports = {}", "module.exports = {excludeSpecPattern: 'pay*'}"),
]
BUILD_LIES = [
    ("Cargo.toml", "[lib]\nname = 'a'\n", "[lib]\nname = 'a'\ntest = false\n"),
    ("Cargo.toml", "[lib]\n", "[lib]\ndoctest = false\n"),
    ("Cargo.toml", "[[test]]\nname = 'a'\n", "[[test]]\nname = 'a'\nharness = false\n"),
    ("Cargo.toml", "[package]\nname = 'a'\n", "[package]\nname = 'a'\nautotests = false\n"),
    (
        ".config/nextest.toml",
        "[profile.default]\n",
        "[profile.default]\ndefault-filter = 'not test(api)'\n",
    ),
    ("pom.xml", "<project/>", "<properties><skipTests>true</skipTests></properties>"),
    (
        "pom.xml",
        "<project/>",
        "<p><maven.test.failure.ignore>true</maven.test.failure.ignore></p>",
    ),
    (
        "pom.xml",
        "<artifactId>maven-surefire-plugin</artifactId>",
        "<artifactId>maven-surefire-plugin</artifactId><exclude>**/ApiTest.java</exclude>",
    ),
    (".mvn/maven.config", "-T2\n", "-T2 -DskipTests\n"),
    ("build.gradle", "test {\n}\n", "test {\n    ignoreFailures = true\n}\n"),
    ("build.gradle", "test {\n}\n", "test { exclude '**/ApiTest*' }\n"),
    ("build.gradle.kts", "tasks.test {\n}\n", "tasks.test {\n    enabled = false\n}\n"),
    (".rspec", "--color\n", "--color\n--tag ~slow\n"),
    ("spec/spec_helper.rb", "", "c.filter_run_excluding :slow\n"),
    ("Rakefile", "t.pattern = 'a'\n", "t.pattern = 'a'\nt.fail_on_error = false\n"),
    (
        "CMakeLists.txt",
        "add_test(NAME a COMMAND a)\nadd_test(NAME b COMMAND b)\n",
        "add_test(NAME a COMMAND a)\n# add_test(NAME b COMMAND b)\n",
    ),
    (
        "CMakeLists.txt",
        "add_test(NAME a COMMAND a)\n",
        "add_test(NAME a COMMAND a)\nset_tests_properties(a PROPERTIES DISABLED TRUE)\n",
    ),
    ("CTestCustom.cmake", "", "set(CTEST_CUSTOM_TESTS_IGNORE slow_one)\n"),
    ("x.runsettings", "<a/>", "<RunConfiguration><TestCaseFilter>A=B</TestCaseFilter>"),
    (
        "phpunit.xml",
        '<testsuite name="a"><directory>tests</directory>',
        '<testsuite name="a"><directory>tests</directory><exclude>tests/Api</exclude>',
    ),
    ("phpunit.xml", '<phpunit failOnRisky="true">', '<phpunit failOnRisky="false">'),
    ("api/a_test.go", "package a\n", "//go:build disabled\n\npackage a\n"),
]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [*PYTEST_LIES, *SHELL_LIES, *CI_LIES, *SCRIPT_LIES, *BUILD_LIES],
)
def test_a_setting_that_keeps_tests_from_running_or_failing_is_told(path, old, new):
    assert file_readers.is_watched(path)
    assert found((path, old, new)), new
    if new is not None:
        assert not found((path, new, old)), "and to take it back is no weakening"


ASKED_HOOK = """
def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        items.remove(items[0])
"""
HONEST = [
    ("pytest.ini", ini(), ini("addopts = -ra --strict-markers -x --maxfail=1")),
    ("pytest.ini", ini("testpaths = tests"), ini("testpaths = tests it")),
    ("pytest.ini", ini("testpaths = tests/unit"), ini("testpaths = tests")),
    ("pytest.ini", ini(), ini("testpaths = tests")),
    ("pytest.ini", ini(), ini("python_files = test_*.py *_test.py check_*.py")),
    ("pytest.ini", ini(), ini("norecursedirs = .venv node_modules build")),
    ("pytest.ini", ini("addopts ="), ini("addopts = --ignore=node_modules --ignore=docs")),
    ("pytest.ini", ini("addopts = -m 'not a and not b'"), ini("addopts = -m 'not a'")),
    ("pytest.ini", ini("addopts = -k 'a'"), ini("addopts = -k 'a or b'")),
    ("pytest.ini", ini("addopts = --cov-fail-under=80"), ini("addopts = --cov-fail-under=90")),
    ("pytest.ini", ini(), ini("xfail_strict = true")),
    (
        "pytest.ini",
        ini("filterwarnings =", "    error"),
        ini("filterwarnings =", "    error", "    ignore::DeprecationWarning:other"),
    ),
    (
        "conftest.py",
        "",
        "def pytest_collection_modifyitems(items):\n    items[:] = sorted(items, key=str)\n",
    ),
    (
        "conftest.py",
        "",
        ASKED_HOOK,
    ),
    ("run.sh", "pytest\n", "rm -f log || true\npytest\n"),
    ("run.sh", "pytest\n", "mkdir x || :\ndocker rm old || true\npytest\ngrep a b || true\n"),
    ("run.sh", "pytest\n", "set -e\npytest\nexit 0\n"),
    ("run.sh", "pytest\n", "set +e\npytest\nresult=$?\ncleanup\nexit $result\n"),
    ("run.sh", "pytest\n", "if ! pytest; then echo bad; exit 1; fi\n"),
    ("run.sh", "pytest\n", "pytest &\nserve\nwait $!\n"),
    ("run.sh", "pytest\n", "pytest || { echo failed; exit 1; }\n"),
    ("run.sh", "pytest\n", "time poetry run python -m pytest -n 4\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest\nclean:\n\t-rm -rf build\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest\nfast:\n\tpytest -k fast\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\ttox\n"),
    ("Makefile", "test: a.c b.c lint\n\tctest\n", "test: a.c\n\tctest\n"),
    ("Makefile", "test:\n\tpytest\n", "test: unit it\nunit:\n\tpytest u\nit:\n\tpytest i\n"),
    (CI, workflow(PYTEST), workflow(PYTEST, name="tests")),
    (CI, workflow(PYTEST), workflow(PYTEST, "run: ruff check\ncontinue-on-error: true")),
    (CI, workflow(PYTEST), workflow(PYTEST, "run: pytest -k smoke")),
    (CI, workflow(PYTEST), workflow(PYTEST, "run: ./deploy.sh\nif: false")),
    (CI, workflow(PYTEST), workflow("run: pytest tests")),
    (CI, workflow(PYTEST), workflow("run: pytest tests/a", "run: pytest tests/b")),
    (CI, workflow(PYTEST), workflow(PYTEST, job="continue-on-error: ${{ matrix.odd }}")),
    (CI, workflow(PYTEST), workflow("run: make test")),
    (CI, workflow("run: npm ci", "run: npm test"), workflow("run: npm i", "run: npm test")),
    (CI, workflow(PYTEST), workflow("run: ./ci/everything")),
    (CI, workflow(PYTEST), workflow("uses: ./.github/workflows/tests.yml")),
    (CI, workflow(PYTEST), workflow(f"{PYTEST}\nenv:\n  PYTEST_ADDOPTS: -ra -n 4")),
    (".mvn/maven.config", "-T2\n", "-T4 -B\n"),
    (CI, workflow("run: npx jest"), workflow("run: npx jest --shard ${{ matrix.part }}/3")),
    (CI, workflow("run: go test ./..."), workflow("run: go test -race -count=1 ./...")),
    (
        CI,
        workflow(PYTEST),
        workflow("run: pytest -m 'not it'", "run: pytest -m it"),
    ),
    (CI, workflow("run: mvn verify"), workflow("run: mvn verify", "run: mvn package -DskipTests")),
    (CI, None, workflow("run: pytest || true")),
    (
        CI,
        workflow(PYTEST, name="nightly"),
        workflow(PYTEST, name="nightly", job="continue-on-error: true"),
    ),
    (
        ".travis.yml",
        "script: make test\n",
        "script: make test\nmatrix:\n  allow_failures:\n    - python: nightly\n    - os: osx\n",
    ),
    ("package.json", package("jest"), package("jest --coverage --runInBand")),
    ("package.json", package("jest"), package("vitest run")),
    ("package.json", package("ava"), package("ava", ', "nyc": {"exclude": ["**/test/**"]}')),
    ("package.json", package("jest"), package("node scripts/all-tests.js")),
    (
        "package.json",
        package("jest"),
        package("jest", ', "jest": {"testPathIgnorePatterns": ["/dist/"]}'),
    ),
    (
        "jest.config.js",
        "module.exports = {testMatch: ['**/*.test.js']}",
        "module.exports = {testMatch: ['**/*.{test,spec}.js']}",
    ),
    (
        "vite.config.ts",
        "export default {test: {}}",
        "export default {optimizeDeps: {exclude: ['a']}, test: {coverage: {exclude: ['src/a']}}}",
    ),
    (
        "vitest.config.ts",
        "export default {test: {}}",
        "export default {test: {exclude: [...configDefaults.exclude, 'node_modules', 'e2e/**']}}",
    ),
    ("playwright.config.ts", "export default {retries: 0}", "export default {retries: 2}"),
    ("Cargo.toml", "[package]\n", "[package]\n[[bench]]\nname = 'b'\nharness = false\n"),
    (
        "Cargo.toml",
        "[package]\nname = 'a'\n",
        "[package]\nname = 'a'\nautotests = false\n[[test]]\nname = 'all'\npath = 'tests/all.rs'\n",
    ),
    (
        "pom.xml",
        "<project/>",
        "<profiles><profile><skipTests>true</skipTests></profile></profiles>",
    ),
    ("pom.xml", "<project/>", "<dependency><exclusions><exclude>x</exclude></exclusions>"),
    ("build.gradle", "", "checkstyle {\n    ignoreFailures = true\n}\n"),
    ("build.gradle", "", "jar {\n    exclude 'META-INF/*'\n}\n"),
    ("spec/spec_helper.rb", "", "c.filter_run_when_matching :focus\n"),
    ("CMakeLists.txt", "add_test(NAME a COMMAND a)\n", "add_test(NAME b COMMAND a)\n"),
    ("api/a_test.go", "package a\n", "//go:build integration\n\npackage a\n"),
]


@pytest.mark.parametrize(("path", "old", "new"), HONEST)
def test_an_honest_setting_is_not_told(path, old, new):
    assert found((path, old, new)) == []


def test_settings_may_move_from_one_file_to_another():
    options = "addopts = --ignore=tests/api\nxfail_strict = true\ntestpaths = tests\n"
    toml = "addopts = '--ignore=tests/api'\nxfail_strict = true\ntestpaths = ['tests']\n"
    moved = (
        ("setup.cfg", f"[tool:pytest]\n{options}", ""),
        ("pyproject.toml", "", f"[tool.pytest.ini_options]\n{toml}"),
    )
    assert found(*moved) == []
    less = (moved[0], ("pyproject.toml", "", moved[1][2].replace("true", "false")))
    assert found(*less) == ["xfail_strict is no longer asked for (was 1)"]


def test_a_marker_may_be_left_out_where_another_job_runs_it():
    change = ("pytest.ini", ini(), ini("addopts = -m 'not slow'"))
    slow = (CI, workflow("run: pytest -m slow"))
    assert found(change) and not found(change, unchanged=[slow])
    assert found(change, unchanged=[(CI, workflow(PYTEST))])


def test_tests_that_came_with_the_setting_did_not_run_before():
    change = ("pytest.ini", ini(), ini("addopts = --ignore=tests/browser"))
    assert not found(change, added=["tests/browser/test_a.py"])
    assert found(change, added=["tests/other/test_a.py"])


def test_what_one_file_leaves_out_another_new_one_may_look_for():
    left_out = "export default {test: {exclude: ['**/*.it.test.ts']}}"
    change = ("vitest.config.ts", "export default {test: {}}", left_out)
    chosen = "export default {test: {include: ['**/*.it.test.ts']}}"
    assert found(change) and not found(change, ("it/vitest.config.ts", None, chosen))


def test_a_folder_that_moved_is_looked_for_in_its_new_place():
    change = ("pytest.ini", ini("testpaths = test"), ini("testpaths = tests"))
    assert not found(change, deleted=["test/test_a.py"], added=["tests/test_a.py"])
    assert found(change)


def test_one_ci_service_may_take_the_place_of_another():
    gone = (".travis.yml", "script: python setup.py test\n", None)
    assert found(gone)
    assert not found(gone, (CI, None, workflow(PYTEST)))
    assert not found(gone, unchanged=[(CI, workflow(PYTEST))])
    assert found(gone, unchanged=[(CI, workflow("run: ruff check"))])
    assert found(gone, unchanged=[(CI, workflow("run: pytest || true"))])


def test_what_is_gone_with_its_tests_is_not_missed():
    two = workflow("run: pytest tests/a", "run: pytest tests/b")
    change = (CI, two, workflow("run: pytest tests/a"))
    assert not found(change, deleted=["tests/b/test_b.py"])


def rewritten(path: str, old: str | None, new: str | None) -> bool:
    return bool(expected_output.find([TestChange(path=path, old=old, new=new)]))


@pytest.mark.parametrize(
    "path",
    [
        "a/__snapshots__/b.test.js.snap",
        "src/snapshots/x.snap",
        "golden/out.txt",
        "tests/expected/a.json",
        "tests/a.expected",
        "pkg/testdata/a.golden",
        "pkg/testdata/a.out",
        "t/A.approved.txt",
    ],
)
def test_expected_output_is_what_a_test_compares_with(path):
    assert expected_output.is_result(path)
    assert rewritten(path, "total: 3\n", "total: 4\n")
    assert not rewritten(path, None, "total: 4\n"), "a new one"
    assert not rewritten(path, "total: 3\n", " total:\n3"), "another layout"


@pytest.mark.parametrize(
    "path", ["pkg/testdata/input.txt", "tests/data/a.json", "src/expected.py", "docs/golden.md"]
)
def test_what_a_test_reads_is_not_its_expected_output(path):
    assert not expected_output.is_result(path) or path.startswith("docs")


FILES = sorted(
    {path for path, _, _ in [*PYTEST_LIES, *SHELL_LIES, *CI_LIES, *SCRIPT_LIES, *BUILD_LIES]}
)


@given(st.sampled_from(FILES), st.text(max_size=200), st.text(max_size=200))
def test_any_text_of_a_settings_file_is_read(path, old, new):
    assert isinstance(found((path, old, new)), list)


HOSTILE = [
    "[", "{", "(", "<a>", "\"", "'", "a: ", "- a\n", "pytest ", "pytest\n", "collect_ignore=[",
    "set_tests_properties(", "a:", "*", "session.run(", "test-", ".add_marker(", "&a [*a,", "${{",
    "#", "-k not (a ", "<testsuite", "if: 0 && ", "\\", "items[:] =", "test {", "a=b ", "/", "||",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_file_is_read_in_a_time_that_grows_with_its_length(piece):
    """An expression that backtracks would take minutes for a file of this length."""
    began = time.process_time()
    for path in FILES:
        text = piece * (20_000 // len(piece))
        found((path, text, ""), (f"other/{path}", "", text))
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("run.sh", "pytest t/{} -k {} || true\n"),
        ("run.sh", "pytest -k {}\n"),
        ("pytest.ini", "testpaths{} = a\n"),
        ("Makefile", "test: a{} b{}\n\tpytest -k {}\n"),
        ("conftest.py", "collect_ignore = ['a{}']\n"),
    ],
)
def test_many_settings_are_compared_in_bounded_time(path, line):
    def text(first: int) -> str:
        return "".join(line.replace("{}", str(n)) for n in range(first, first + 5_000))

    began = time.process_time()
    found((path, text(0), text(3)))
    assert time.process_time() - began < 10
