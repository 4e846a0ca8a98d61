"""The commands that set up and test a repository in a fresh work tree, from its own files."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import join

from msgspec import Struct

from dos.config.layout.packages import read_json, read_lines, read_toml, table

_SUBMODULES = "git submodule update --init --recursive"
# A work tree has no environment, so one is made in it, and git ignores it.
_VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore"
_PIP = ".venv/bin/python -m pip install --quiet --disable-pip-version-check"
# Setuptools writes metadata beside the sources; git would count it as work of the agent.
_HIDE_METADATA = (
    "for made in *.egg-info src/*.egg-info; do"
    """ [ ! -d "$made" ] || echo '*' > "$made/.gitignore"; done"""
)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_REQUIREMENTS = frozenset(
    ("requirements", "base", "main", "dev", "develop", "test", "tests", "testing", "ci", "all")
)
_EXTRAS = ("test", "tests", "testing", "dev")
_NPM_LOCKS = {
    "pnpm-lock.yaml": ("pnpm install --frozen-lockfile", "pnpm test"),
    "yarn.lock": ("yarn install --frozen-lockfile", "yarn test"),
    "bun.lock": ("bun install --frozen-lockfile", "bun run test"),
    "bun.lockb": ("bun install --frozen-lockfile", "bun run test"),
    "package-lock.json": ("npm ci", "npm test"),
    "npm-shrinkwrap.json": ("npm ci", "npm test"),
}
_PYTHON_LOCKS = {
    "uv.lock": ("uv sync --frozen", "uv run --frozen "),
    "poetry.lock": ("poetry install --no-interaction", "poetry run "),
    "pdm.lock": ("pdm sync --dev", "pdm run "),
    "Pipfile.lock": ("pipenv sync --dev", "pipenv run "),
}


class Commands(Struct, frozen=True, kw_only=True):
    """Shell commands; empty where the repository declares none."""

    setup: str = ""
    test: str = ""


def infer_commands(root: Path) -> Commands:
    """Return the commands that the files of a repository imply.

    The setup installs what the test needs.
    """
    parts = [_javascript(root), _python(root), *_compiled(root)]
    setups = []
    tests = []
    if (root / ".gitmodules").is_file():
        setups.append(_SUBMODULES)
    for part in parts:
        if part.setup:
            setups.append(part.setup)
        if part.test:
            tests.append(part.test)
    if _has_target(root, "test"):
        tests = ["make test"]  # the project's own way to run all tests
    return Commands(setup=" && ".join(setups), test=" && ".join(tests))


def _has_target(root: Path, name: str) -> bool:
    """Whether the makefile has a rule for this target."""
    for makefile in _MAKEFILES:
        if (root / makefile).is_file():
            return any(_is_rule_for(name, line) for line in read_lines(root / makefile))
    return False


def _is_rule_for(name: str, line: str) -> bool:
    """Whether a line of a makefile starts the rule of a target."""
    targets, colon, rest = line.partition(":")
    if not colon or line[:1].isspace():
        return False
    is_assignment = "=" in targets + rest[:2]
    return name in targets.split() and not is_assignment


def _javascript(root: Path) -> Commands:
    """The commands for a JavaScript project, by its lock file."""
    package = read_json(root / "package.json")
    if not package:
        return Commands()
    lock = next((name for name in _NPM_LOCKS if (root / name).is_file()), "")
    setup, test = _NPM_LOCKS.get(lock, ("", "npm test"))
    if lock == "yarn.lock" and (root / ".yarnrc.yml").is_file():
        setup = "yarn install --immutable"
    if not lock and any(table(package, key) for key in ("dependencies", "devDependencies")):
        setup = "npm install --no-package-lock --no-audit --no-fund"
    script = table(package, "scripts").get("test")
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        test = ""
    return Commands(setup=setup, test=test)


def _python(root: Path) -> Commands:
    """The commands for a Python project, by its lock file or by pip."""
    project = read_toml(root / "pyproject.toml")
    runner = _runner(root, project)
    for lock, (setup, run) in _PYTHON_LOCKS.items():
        if (root / lock).is_file():
            return Commands(setup=setup, test=f"{run}{runner}" if runner else "")
    requirements = _pip_arguments(root, project)
    if not runner:
        return Commands(setup=_install_command(root, requirements))
    runner_package = _runner_package(runner)
    if not requirements and not runner_package:
        return Commands(test=runner.replace("python", "python3", 1))
    setup = _install_command(root, [*requirements, *runner_package])
    return Commands(setup=setup, test=f".venv/bin/{runner}")


def _install_command(root: Path, requirements: Sequence[str]) -> str:
    """A command that installs these pip arguments into a new environment; empty without any."""
    if not requirements:
        return ""
    steps = [_VENV, f"{_PIP} {join(requirements)}"]
    ignored = read_lines(root / ".gitignore")
    if "-e" in requirements and not any("egg-info" in line for line in ignored):
        steps.append(_HIDE_METADATA)
    return " && ".join(steps)


def _runner_package(runner: str) -> list[str]:
    """The package of the test runner, which the requirements may not list."""
    module = runner.split()[2]
    if module == "unittest":
        return []
    return [module]


def _runner(root: Path, project: dict[str, object]) -> str:
    """The Python command that runs the tests.

    Empty: nothing is declared, and there are no tests.
    """
    tools = table(project, "tool")
    groups = str(project.get("dependency-groups", ""))
    extras = str(table(project, "project").get("optional-dependencies", ""))
    if "pytest" in tools or "pytest" in groups or "pytest" in extras:
        return "python -m pytest -q"
    if _mentions(root, "pytest"):
        return "python -m pytest -q"
    if "tox" in tools or (root / "tox.ini").is_file():
        return "python -m tox -q"
    if (root / "noxfile.py").is_file():
        return "python -m nox"
    if table(project, "tool", "hatch", "envs"):
        return "python -m hatch test"
    return _runner_by_files(root)


def _mentions(root: Path, word: str) -> bool:
    """Whether the project's test settings mention a word."""
    named = (
        "pytest.ini",
        "setup.cfg",
        "tox.ini",
        "conftest.py",
        "tests/conftest.py",
        "Pipfile",
        "setup.py",
    )
    if (root / "pytest.ini").is_file():
        return True
    files = [*(root / name for name in named), *_requirements(root)]
    return any(_contains(path, word) for path in files)


def _contains(path: Path, word: str) -> bool:
    """Whether a line of the file contains the word."""
    return any(word in line for line in read_lines(path))


def _runner_by_files(root: Path) -> str:
    """The test command that the names and the content of the test files suggest."""
    for folder in ("tests", "test"):
        tests = sorted((root / folder).glob("test*.py"))
        if tests and _use_unittest(tests):
            return f"python -m unittest discover -s {folder}"
        if tests:
            return "python -m pytest -q"
    tests = sorted(root.glob("test_*.py"))
    if tests and _use_unittest(tests):
        return "python -m unittest"
    if tests or _has_tests_inside(root):
        return "python -m pytest -q"
    return ""


def _has_tests_inside(root: Path) -> bool:
    """Whether a package of the repository has a folder of tests inside."""
    for pattern in ("*/__init__.py", "src/*/__init__.py"):
        for path in root.glob(pattern):
            if any(path.parent.glob("test*/test*.py")):
                return True
    return False


def _use_unittest(tests: Sequence[Path]) -> bool:
    """Whether the tests use the standard library's runner."""
    return any(_contains(path, "unittest") for path in tests[:20])


def _requirements(root: Path) -> list[Path]:
    """The requirement files that the tests may need: not those for types, docs or releases."""
    found = [*sorted(root.glob("*requirements*.txt")), *sorted(root.glob("requirements/*.txt"))]
    return [path for path in found if set(re.split(r"[-_.]", path.stem)) <= _REQUIREMENTS]


def _pip_arguments(root: Path, project: dict[str, object]) -> list[str]:
    """What pip installs: requirement files, the project with its test extras, and its groups."""
    words = []
    for path in _requirements(root):
        words += ["-r", path.relative_to(root).as_posix()]
    if "project" in project or "build-system" in project or (root / "setup.py").is_file():
        extras = table(project, "project", "optional-dependencies")
        named = ",".join(name for name in _EXTRAS if name in extras)
        words += ["-e", f".[{named}]" if named else "."]
    return [*words, *_group_requirements(project)]


def _group_requirements(project: dict[str, object]) -> Iterator[str]:
    """The requirements of the dependency groups for tests."""
    groups = table(project, "dependency-groups")
    for name in _EXTRAS:
        for entry in groups.get(name, []):
            if isinstance(entry, str):
                yield entry


def _compiled(root: Path) -> Iterator[Commands]:
    """The test commands of Rust and Go, which need no setup."""
    if (root / "Cargo.toml").is_file():
        whole = ""
    if "workspace" in read_toml(root / "Cargo.toml"):
        whole = " --workspace"
        yield Commands(test=f"cargo test{whole}")
    if (root / "go.mod").is_file():
        yield Commands(test="go test ./...")
    elif (root / "go.work").is_file():
        yield Commands(test="go test $(go list -f '{{.Dir}}/...' -m)")
