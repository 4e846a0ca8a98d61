"""Which test files a runner collects, and how it is told to run some of them.

A runner that is given a fixture, a helper or a file of another language fails on it, or finds no
test there, and an honest change would not be believed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from dos.testrunners import pytest_settings
from dos.testrunners.shell_lines import simple_commands
from dos.testrunners.test_commands import TestCommand, parse_test_command
from dos.testwitness import suite

PLACEHOLDER = "{tests}"  # in a command: the test files to run
_SCRIPT = r"[cm]?[jt]sx?"
_NO_HELPER = r"(?!(?:.*/)?(?:_|__)?(?:helpers?|fixtures?|support|mocks?|snapshots|utils?)(?:__)?/)"
# Whole paths, in any case, by the name of the runner.
_COLLECTED = {
    "unittest": r"(?:.*/)?test[^/]*\.py",
    "manage.py test": r"(?:.*/)?tests?[^/]*\.py",
    "setup.py test": r"(?:.*/)?test[^/]*\.py",
    "trial": r"(?:.*/)?test_[^/]*\.py",
    "nosetests": r"(?:.*/)?(?:.*[_.-])?tests?[^/]*\.py",
    "nose2": r"(?:.*/)?test[^/]*\.py",
    "jest": rf"(?:.*/)?__tests__/.*\.{_SCRIPT}|(?:.*[./])?(?:test|spec)\.{_SCRIPT}",
    "vitest": rf"(?:.*/)?[^/]*\.(?:test|spec)\.{_SCRIPT}",
    "mocha": rf"{_NO_HELPER}(?:(?:.*/)?tests?/.*|.*[._-](?:tests?|specs?))\.{_SCRIPT}",
    "ava": (
        rf"{_NO_HELPER}(?:(?:.*/)?(?:tests?|__tests__)/(?:.*/)?[^_/][^/]*|(?:.*/)?test(?:-[^/]*)?"
        rf"|.*\.(?:test|spec))\.{_SCRIPT}"
    ),
    "tap": rf"{_NO_HELPER}(?:(?:.*/)?tests?/.*|.*[._-](?:test|spec)|(?:.*/)?tests?)\.{_SCRIPT}",
    "node --test": (
        rf"{_NO_HELPER}(?:(?:.*/)?test/.*|.*[._-]test|(?:.*/)?test(?:-[^/]*)?)\.{_SCRIPT}"
    ),
    "deno test": rf"(?:.*[/._])?test\.{_SCRIPT}",
    "bun test": rf".*[._](?:test|spec)\.{_SCRIPT}",
    "playwright": rf".*\.(?:test|spec)\.{_SCRIPT}",
    "cypress": rf".*\.cy\.{_SCRIPT}",
    "go test": r"(?:.*/)?[^_./][^/]*_test\.go",
    "cargo test": r"(?:.*/)?tests/[^/]+\.rs",
    "rspec": r".*_spec\.rb",
    "minitest": r".*_test\.rb|(?:.*/)?test_(?!helper)[^/]*\.rb",
    "phpunit": r".*Test\.php|(?:.*/)?tests/.*Test\.phpt?",
    "maven": r".*(?:Tests?|IT|TestCase)\.(?:java|kt|scala|groovy)|(?:.*/)?Test[^/]*\.java",
    "gradle": r".*(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy)",
    "bats": r".*\.bats",
    "prove": r".*\.t",
    "mix test": r".*_test\.exs",
    "dart test": r".*_test\.dart",
    "flutter test": r".*_test\.dart",
    "busted": r".*_spec\.lua",
}
_PYTHON_FILES = ("test_*.py", "*_test.py")
_NOT_ENTERED = (".*", "build", "dist", "CVS", "_darcs", "{arch}", "*.egg", "venv", "node_modules")


class PytestSearch(Struct, frozen=True, kw_only=True):
    """Where pytest looks for tests: what its settings say, else what it does without any."""

    files: tuple[str, ...] = _PYTHON_FILES
    not_entered: tuple[str, ...] = _NOT_ENTERED

    def finds(self, path: str) -> bool:
        """Whether pytest would collect a file that it comes across."""
        *folders, name = path.split("/")
        if not name.endswith(".py"):
            return False
        for folder in folders:
            if any(fnmatchcase(folder, pattern) for pattern in self.not_entered):
                return False
        return any(_fits(path, name, pattern) for pattern in self.files)


def pytest_search(settings: Mapping[str, str]) -> PytestSearch:
    """Return how pytest searches, by the first of some files that has settings of it."""
    for path in pytest_settings.FILES:
        table = pytest_settings.read(path, settings.get(path, ""))
        if table:
            files = pytest_settings.listed(table.get("python_files"))
            not_entered = pytest_settings.listed(table.get("norecursedirs"))
            return PytestSearch(
                files=files or _PYTHON_FILES, not_entered=not_entered or _NOT_ENTERED
            )
    return PytestSearch()


def runner_command(command: str) -> TestCommand | None:
    """Return the command that runs tests: the one with the placeholder, if there is one."""
    first = None
    for simple in simple_commands(command):
        found = parse_test_command(simple.words)
        if found and PLACEHOLDER in simple.words:
            return found
        first = first or found
    return first


def collected(command: str, paths: Iterable[str], search: PytestSearch) -> frozenset[str]:
    """Return the files that the runner of a command would collect.

    Of an unknown runner these are the source files that are named as tests.
    """
    found = runner_command(command)
    runner = found.runner if found else ""
    if runner == "pytest":
        return frozenset(filter(search.finds, paths))
    if runner in _COLLECTED:
        # The case tells `AbTest.java` from `abtest.java`, which no runner of that kind finds.
        pattern = re.compile(_COLLECTED[runner], re.DOTALL)
        return frozenset(path for path in paths if pattern.fullmatch(path))
    return frozenset(filter(suite.is_runnable, paths))


def arguments(command: str, paths: Sequence[str]) -> list[str]:
    """Return how the runner of a command is told to run these files and no others."""
    found = runner_command(command)
    runner = found.runner if found else ""
    if runner == "go test":
        folders = [path.rpartition("/")[0] for path in paths]
        return sorted({f"./{folder.removeprefix('./')}" for folder in folders})
    if runner == "cargo test":
        names = [path.rpartition("/")[2].removesuffix(".rs") for path in paths]
        return [word for name in sorted(set(names)) for word in ("--test", name)]
    return list(paths)


def _fits(path: str, name: str, pattern: str) -> bool:
    """Whether a file fits a pattern of pytest; one with a slash is of the path."""
    if "/" in pattern:
        return fnmatchcase(f"/{path}", f"*/{pattern.lstrip('/')}")
    return fnmatchcase(name, pattern)
