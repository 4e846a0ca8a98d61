"""How a repository is set up and tested in a fresh work tree, from what its own files declare."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import join

from msgspec import Struct

from dos.config.layout.packages import read_json, read_lines, read_toml, table

_SUBMODULES = "git submodule update --init --recursive"
# A work tree has no environment of its own: it is made there, and git does not see it.
_VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore"
_PIP = ".venv/bin/python -m pip install --quiet --disable-pip-version-check"
# What setuptools leaves beside the sources, where the repository does not ignore it: git would take it for work.
_HIDE_METADATA = """for made in *.egg-info src/*.egg-info; do [ ! -d "$made" ] || echo '*' > "$made/.gitignore"; done"""
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
    setup: str = ""
    test: str = ""


def infer_commands(root: Path) -> Commands:
    """Empty where the files say nothing. What the test needs, the setup makes."""
    parts = [_javascript(root), _python(root), *_compiled(root)]
    setups = [_SUBMODULES] if (root / ".gitmodules").is_file() else []
    setups += [part.setup for part in parts if part.setup]
    tests = [part.test for part in parts if part.test]
    if _has_target(root, "test"):
        tests = ["make test"]  # the project's own front door
    return Commands(setup=" && ".join(setups), test=" && ".join(tests))


def _has_target(root: Path, name: str) -> bool:
    makefile = next((root / each for each in _MAKEFILES if (root / each).is_file()), None)
    rules = (
        (line.partition(":") for line in read_lines(makefile) if not line[:1].isspace())
        if makefile
        else ()
    )
    return any(
        name in targets.split() and "=" not in targets + rest[:2]
        for targets, colon, rest in rules
        if colon
    )


def _javascript(root: Path) -> Commands:
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
    is_declared = (
        isinstance(script, str) and bool(script.strip()) and "no test specified" not in script
    )
    return Commands(setup=setup, test=test if is_declared else "")


def _python(root: Path) -> Commands:
    project = read_toml(root / "pyproject.toml")
    runner = _runner(root, project)
    for lock, (setup, run) in _PYTHON_LOCKS.items():
        if (root / lock).is_file():
            return Commands(setup=setup, test=f"{run}{runner}" if runner else "")
    wanted = _wanted(root, project)
    tool = _tool(runner)
    if not runner or (not wanted and not tool):
        return Commands(
            setup=_installed(root, wanted), test=f"python3 {runner[7:]}" if runner else ""
        )
    return Commands(setup=_installed(root, [*wanted, *tool]), test=f".venv/bin/{runner}")


def _installed(root: Path, wanted: Sequence[str]) -> str:
    if not wanted:
        return ""
    steps = [_VENV, f"{_PIP} {join(wanted)}"]
    if "-e" in wanted and not any("egg-info" in line for line in read_lines(root / ".gitignore")):
        steps.append(_HIDE_METADATA)
    return " && ".join(steps)


def _tool(runner: str) -> list[str]:
    """What runs the tests, where nothing else may install it."""
    module = runner.split()[2] if runner else ""
    return [] if module in ("", "unittest") else [module]


def _runner(root: Path, project: dict[str, object]) -> str:
    """What runs the tests, as a command of Python; empty: nothing is declared, and there are no tests."""
    tools = table(project, "tool")
    if (
        "pytest" in tools
        or _mentions(root, "pytest")
        or "pytest" in str(project.get("dependency-groups", ""))
    ):
        return "python -m pytest -q"
    if "pytest" in str(table(project, "project").get("optional-dependencies", "")):
        return "python -m pytest -q"
    if "tox" in tools or (root / "tox.ini").is_file():
        return "python -m tox -q"
    if (root / "noxfile.py").is_file():
        return "python -m nox"
    if table(project, "tool", "hatch", "envs"):
        return "python -m hatch test"
    return _by_files(root)


def _mentions(root: Path, word: str) -> bool:
    named = (
        "pytest.ini",
        "setup.cfg",
        "tox.ini",
        "conftest.py",
        "tests/conftest.py",
        "Pipfile",
        "setup.py",
    )
    files = [*(root / name for name in named), *_requirements(root)]
    if (root / "pytest.ini").is_file():
        return True
    return any(word in line for path in files for line in read_lines(path))


def _by_files(root: Path) -> str:
    for folder in ("tests", "test"):
        found = sorted((root / folder).glob("test*.py")) if (root / folder).is_dir() else []
        if found:
            return (
                f"python -m unittest discover -s {folder}"
                if _is_plain(found)
                else "python -m pytest -q"
            )
    if beside := sorted(root.glob("test_*.py")):
        return "python -m unittest" if _is_plain(beside) else "python -m pytest -q"
    packages = (
        path.parent
        for pattern in ("*/__init__.py", "src/*/__init__.py")
        for path in root.glob(pattern)
    )
    return (
        "python -m pytest -q" if any(any(each.glob("test*/test*.py")) for each in packages) else ""
    )


def _is_plain(tests: Sequence[Path]) -> bool:
    return any("unittest" in line for path in tests[:20] for line in read_lines(path))


def _requirements(root: Path) -> list[Path]:
    """The requirement files that running the tests can need, by their names: not those for types, docs or releases."""
    found = [*sorted(root.glob("*requirements*.txt")), *sorted(root.glob("requirements/*.txt"))]
    return [path for path in found if set(re.split(r"[-_.]", path.stem)) <= _REQUIREMENTS]


def _wanted(root: Path, project: dict[str, object]) -> list[str]:
    """What pip installs: requirement files, the project itself with what its tests need, its groups."""
    words = [
        word for path in _requirements(root) for word in ("-r", path.relative_to(root).as_posix())
    ]
    if "project" in project or "build-system" in project or (root / "setup.py").is_file():
        extras = table(project, "project", "optional-dependencies")
        named = ",".join(name for name in _EXTRAS if name in extras)
        words += ["-e", f".[{named}]" if named else "."]
    return [*words, *_grouped(project)]


def _grouped(project: dict[str, object]) -> Iterator[str]:
    groups = table(project, "dependency-groups")
    for name in _EXTRAS:
        entries = groups.get(name, [])
        yield from (each for each in entries if isinstance(each, str))


def _compiled(root: Path) -> Iterator[Commands]:
    if (root / "Cargo.toml").is_file():
        whole = " --workspace" if "workspace" in read_toml(root / "Cargo.toml") else ""
        yield Commands(test=f"cargo test{whole}")
    if (root / "go.mod").is_file():
        yield Commands(test="go test ./...")
    elif (root / "go.work").is_file():
        yield Commands(test="go test $(go list -f '{{.Dir}}/...' -m)")
