"""Marks of old tests that fail on the new code on purpose, because what they ask for was changed.

The old tests are run on the new code without them. Each of them is then run there as well, so that
a mark which excuses nothing is told.
"""

import shlex
from collections.abc import Sequence

from msgspec import Struct

from dos.errors import BadInput
from dos.testrunners.test_commands import PYTEST_OPTIONS
from dos.testwitness import collection
from dos.text import quote


class Mark(Struct, frozen=True):
    """A test, or a whole file of tests, that is meant to fail."""

    path: str  # from the top of the repository
    typed: str  # as it was given; of a single test, the name that pytest gives it
    is_whole: bool


def marks(typed: Sequence[str], folder: str, old_tests: frozenset[str], command: str) -> list[Mark]:
    """Return the marks; raises BadInput for what is no old test, or cannot be left out alone.

    Paths are typed from the folder where the command runs.
    """
    found = []
    for word in dict.fromkeys(typed):
        name, _, rest = word.removeprefix("./").partition("::")
        path = f"{folder}/{name}" if folder else name
        if path not in old_tests:
            raise BadInput(
                f"--intended {quote(word)} names no test file of the parent commit",
                hint="Give the path of an old test, or PATH::TEST for a single one of pytest.",
            )
        if rest and not _can_deselect(command):
            raise BadInput(
                f"--intended {quote(word)}: a single test can be left out only with pytest",
                hint=f"Mark the whole file: --intended {shlex.quote(name)}",
            )
        found.append(Mark(path, word.removeprefix("./"), is_whole=not rest))
    return found


def without_tests(command: str, left_out: Sequence[Mark]) -> str:
    """Return a command that runs without the single tests that are marked.

    Pytest reads them from its environment, also where another program calls it.
    """
    options = [f"--deselect={mark.typed}" for mark in left_out if not mark.is_whole]
    if not options:
        return command
    value = shlex.quote(shlex.join(options))
    return f"export {PYTEST_OPTIONS}={value}; {command}"


def _can_deselect(command: str) -> bool:
    """Whether a command may start pytest: a task of another file can do so too."""
    found = collection.runner_command(command)
    if found is None:
        return "pytest" in command
    return found.runner == "pytest" or found.runner.partition(" ")[0] in _MAY_CALL_PYTEST


_MAY_CALL_PYTEST = ("make", "just", "task", "tox", "nox", "invoke", "inv")
