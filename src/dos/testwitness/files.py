"""Which files of a repository are its tests, and all that only they need?

Doubt counts a file among the tests. A fixture taken for code would be missing where new tests meet old code, and they
would fail there for the wrong reason; code taken for a fixture only makes them pass there.
"""

import re

from dos.verify import file_kinds

_FOLDERS = frozenset(
    ("testdata", "fixtures", "e2e", "cypress", "__fixtures__", "__snapshots__", "__mocks__")
)
_SETTINGS = re.compile(
    r"conftest\.py|pytest\.ini|tox\.ini|\.coveragerc|\.rspec|\.mocharc(?:\..*)?|phpunit\.xml.*"
    r"|(?:jest|vitest|karma|playwright|cypress)\.(?:config|conf|setup)\..*",
    re.DOTALL,  # a name can hold any character
)
_RUNNABLE = re.compile(
    r"tests?\.[^.]+|test_.*\.[^.]+|.*[_.-](?:tests?|specs?)\.[^.]+|.*tests?\.(?:java|kt|cs|swift|scala|php)",
    re.DOTALL,
)
# They say how tests are run, and much else: what they hold is part of the code.
_HARNESS = frozenset(
    (
        "makefile", "gnumakefile", "justfile", "taskfile.yml", "package.json", "pyproject.toml", "setup.cfg",
        "setup.py", "noxfile.py", "cargo.toml", "build.gradle", "build.gradle.kts", "pom.xml", "rakefile",
        "composer.json", "sitecustomize.py", "usercustomize.py",
    )
)  # fmt: skip


def is_test(path: str) -> bool:
    *folders, name = path.lower().split("/")
    return (
        file_kinds.is_test(path)
        or bool(_SETTINGS.fullmatch(name))
        or is_runnable(path)
        or not _FOLDERS.isdisjoint(folders)
    )


def is_runnable(path: str) -> bool:
    """A file that a test runner can be pointed at."""
    name = path.lower().rpartition("/")[2]
    return bool(_RUNNABLE.fullmatch(name)) and file_kinds.is_source(path)


def is_harness(path: str, command: str) -> bool:
    """A file that decides what running the tests means: a known one, or one that the command names or would load."""
    name = path.removesuffix("/__init__.py").rpartition("/")[2]
    words = re.split(r"[\s/;&|'\"]+", command)
    return name.lower() in _HARNESS or name in words or name.removesuffix(".py") in words
