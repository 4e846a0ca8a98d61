"""Decides which files of a unit's work are taken from its base for one more run of the checks.

Tests, settings of runners and scripts that judge are taken as they were where the unit changed
them, and new ones that decide about tests are taken out. New tests stay. What the unit itself names
in its plan, besides tests, is its work and stays too.
"""

from collections.abc import Callable, Iterable

from dos.git.changes import FileChange
from dos.landing.guard import additions
from dos.units.unit import Unit
from dos.verify import file_kinds, runners

# Takes a change; the text of the file before and after it, None where there is none.
ReadTexts = Callable[[FileChange], tuple[str | None, str | None]]


def judging_paths(
    changes: Iterable[FileChange], unit: Unit, runner: str, read: ReadTexts
) -> list[str]:
    """Return the paths to take from the base; one that the base lacks is to be removed.

    `runner` is the command with the text of the scripts that it runs, as the base has them.
    """
    paths: list[str] = []
    for change in changes:
        if change.old_path and change.old_blob == change.new_blob:
            continue  # moved as it was
        old_path = change.old_path or change.path
        if change.old_blob and _is_judge(old_path, unit, runner):
            if not _keeps_all(change, runner, read):
                paths += dict.fromkeys((old_path, change.path))
        elif not change.old_blob and _decides(change, unit, runner, read):
            paths.append(change.path)
    return paths


def _is_judge(path: str, unit: Unit, runner: str) -> bool:
    """Whether a file that the base has decides about the work; a unit may name any but a test."""
    if file_kinds.is_run_as_test(path):
        return True
    if runners.shadows_a_program(path) and path not in unit.paths:
        return True
    if _is_asked_for(path, unit):
        return False
    return runners.is_settings(path, runner) or runners.is_judging_script(path, runner)


def _is_asked_for(path: str, unit: Unit) -> bool:
    """Whether the unit names the file in its title, its text or its paths."""
    return file_kinds.is_named_by_runner(path, "\n".join((unit.title, unit.text, *unit.paths)))


def _keeps_all(change: FileChange, runner: str, read: ReadTexts) -> bool:
    """Whether a changed file judges as it did: only tests were added, or the settings are others'.

    A changed mode counts: a script that is no longer executable judges nothing.
    """
    if not change.new_blob or change.old_mode != change.new_mode:
        return False
    old, new = read(change)
    if old is None or new is None:
        return False
    if runners.is_settings(change.path, runner) and change.path.rpartition("/")[2] != "conftest.py":
        before = runners.settings_part(change.path, old, runner)
        return before == runners.settings_part(change.path, new, runner)
    return additions.only_adds_tests(change.path, old, new)


def _decides(change: FileChange, unit: Unit, runner: str, read: ReadTexts) -> bool:
    """Whether a new file decides about tests that are not its own, or stands for a program.

    A program that the command starts by its path is the work itself.
    """
    path = change.path
    if runners.shadows_a_program(path):
        is_started = f"./{path}" in runner or ("/" in path and path in runner)
        return not is_started and path not in unit.paths
    _, text = read(change)
    if file_kinds.is_run_as_test(path) and additions.ends_the_run(text or ""):
        return True
    if _is_asked_for(path, unit) or not runners.is_settings(path, runner):
        return False
    empty: object = {}
    if text is not None and runners.settings_part(path, text, runner) == empty:
        return False  # it says nothing about tests
    return text is None or additions.steers(path, text)
