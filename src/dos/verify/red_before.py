"""Red before, green after: does an acceptance command tell whether a unit was done?

A command that passes on the commit below the work too says nothing about the work. Such a unit can
land, and is never called witnessed. A test that was there before the work, failed, and passes with
it is the best witness: whoever did the work did not write it.
"""

from collections.abc import Sequence

from msgspec import Struct

from dos.fields import Table
from dos.text import join_some
from dos.verify import file_kinds

DOES_NOT_TELL = "its acceptance does not tell whether it was done"
HAS_NONE = "it has no acceptance command that tells whether it was done"


class Policy(Table, frozen=True, kw_only=True):
    """[landing]: what work has to show before it lands."""

    require_red: bool = False
    """Refuse work whose acceptance command passes without it too."""


class PriorTests(Struct, frozen=True, kw_only=True):
    """Whether the tests that turned green were there before the work, and which are known."""

    are_unchanged: bool = False  # the work changed no test file and nothing that runs tests
    named: tuple[str, ...] = ()  # test files that the command names and the work did not change


def prior_tests(
    command: str, before: Sequence[str], changed: Sequence[str], *, judging: Sequence[str] = ()
) -> PriorTests:
    """Return which tests the work did not write.

    `before` are the paths of the commit below the work, `changed` those that the work changed, and
    `judging` those of them that are known to judge it.
    """
    by_work = set(changed)
    named = []
    for path in before:
        if path in by_work or not file_kinds.is_test(path):
            continue
        if file_kinds.is_named_by_runner(path, command):
            named.append(path)
    are_unchanged = not judging and not any(map(_decides_tests, changed))
    return PriorTests(are_unchanged=are_unchanged, named=tuple(named))


def _decides_tests(path: str) -> bool:
    """Whether a file is a test, or configures or runs tests."""
    if file_kinds.is_test(path) or file_kinds.is_ci(path) or file_kinds.is_config(path):
        return True
    return file_kinds.is_source(path) and not file_kinds.is_program(path)


def how_green(*, needs_only_tests: bool) -> str:
    """Return the end of a sentence about a command that does not tell whether work was done."""
    if needs_only_tests:
        return "passes with the tests of the work alone, without the rest of it"
    return "passes without the work too"


def refusal(command: str, *, needs_only_tests: bool = False) -> str:
    """Return why work is refused whose acceptance passes without it too."""
    shown = " ".join(command.split())
    passes = how_green(needs_only_tests=needs_only_tests)
    return (
        f"{DOES_NOT_TELL}: `{shown}` {passes}, and [landing] require_red asks for one that fails"
        " before it"
    )


def witness_sentence(named: Sequence[str], *, are_unchanged: bool) -> str:
    """Return what a runner saw of a unit whose acceptance failed before it and passes with it."""
    seen = "its acceptance failed before it and passes with it"
    if not are_unchanged:
        return seen
    if named:
        return f"{seen}, by tests that were there before: {join_some(list(named))}"
    return f"{seen}, by tests that were there before"
