"""Decides which files of a unit's work judge it, and which of them are taken from its base.

Tests, settings of runners and scripts that judge are taken as they were where the unit changed
them, and new ones that decide about tests are taken out, for one more run of the checks. New tests
stay. What the unit itself names in its plan, besides tests, is its work and stays too.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from dos.git.changes import FileChange
from dos.landing.guard import additions, inline_tests, renames, settings_additions
from dos.units.unit import Unit
from dos.verify import file_kinds, runners
from dos.verify.runners import Runner

# Takes a change; the text of the file before and after it, None where there is none.
ReadTexts = Callable[[FileChange], tuple[str | None, str | None]]
_ABOUT_TESTS = re.compile(r"\b(?:tests?|specs?|coverage)\b", re.IGNORECASE)


class JudgingFiles(Struct, frozen=True, kw_only=True):
    """What a unit's work changed of that which judges it."""

    from_base: tuple[str, ...] = ()  # to be taken from the base; one that it lacks, to be removed
    own: tuple[FileChange, ...] = ()  # all of it, with tests that were only added
    is_all: bool = False  # the work is nothing else, besides documents
    inline: tuple[tuple[str, str], ...] = ()  # files of the program, and their text with old tests

    @property
    def added(self) -> frozenset[str]:
        """The paths of it that the base lacks."""
        own = [change for change in self.own if change.old_path or not change.old_blob]
        return frozenset(change.path for change in own)

    @property
    def own_paths(self) -> tuple[str, ...]:
        """The paths of all of it, before and after the work."""
        paths: list[str] = []
        for change in self.own:
            paths += filter(None, (change.old_path, change.path))
        return tuple(dict.fromkeys(paths))


def find(
    changes: Iterable[FileChange], unit: Unit, runner: Runner, read: ReadTexts
) -> JudgingFiles:
    """Return what the changes of a unit's work do to that which judges it.

    `runner` is what runs the command on the base.
    """
    changed = list(changes)
    from_base: list[str] = []
    own: list[FileChange] = []
    inline: list[tuple[str, str]] = []
    is_all = True
    for change in changed:
        old_path = change.old_path or change.path
        if change.old_blob:
            is_judge = _is_judge(old_path, unit, runner) and _differs(change, runner, read)
            is_from_base = is_judge and not _keeps_all(change, changed, runner, read)
        else:
            is_from_base = _decides(change, unit, runner, read)
            is_judge = is_from_base or _is_new_judge(change, unit, runner, read)
        if is_from_base:
            from_base += dict.fromkeys((old_path, change.path))
        if is_judge:
            own.append(change)
            continue
        is_all = is_all and file_kinds.is_docs(change.path)
        if change.old_blob and change.path.endswith(inline_tests.SUFFIX):
            text = inline_tests.with_base_tests(*read(change))
            inline += [(change.path, text)] if text else []
    return JudgingFiles(
        from_base=tuple(from_base),
        own=tuple(own),
        is_all=is_all and bool(own),
        inline=tuple(inline),
    )


def asks_for_tests(unit: Unit) -> bool:
    """Whether tests themselves are what a unit asks for, by its title, its paths or its key."""
    if unit.tests_may_change or _ABOUT_TESTS.search(unit.title):
        return True
    return bool(unit.paths) and all(map(file_kinds.is_run_as_test, unit.paths))


def _is_judge(path: str, unit: Unit, runner: Runner) -> bool:
    """Whether a file that the base has decides about the work; a unit may name any but a test."""
    if file_kinds.is_run_as_test(path):
        return True
    if runners.shadows_a_program(path) and path not in unit.paths:
        return True
    if _is_asked_for(path, unit):
        return False
    if path in runner.helpers or runners.is_expected_output(path):
        return True
    return runners.is_settings(path, runner.text) or runners.is_judging_script(path, runner.text)


def _is_new_judge(change: FileChange, unit: Unit, runner: Runner, read: ReadTexts) -> bool:
    """Whether a new file, which stays, decides about the work that it came with."""
    path = change.path
    if file_kinds.is_run_as_test(path):
        return True
    if _is_asked_for(path, unit):
        return False
    if runners.is_expected_output(path) or runners.is_new_judging_script(path, runner.text):
        return True
    return runners.is_settings(path, runner.text) and _says_something(path, read(change)[1], runner)


def _says_something(path: str, text: str | None, runner: Runner) -> bool:
    """Whether new settings say something about tests."""
    empty: object = {}
    return text is None or runners.settings_part(path, text, runner.text) != empty


def _is_asked_for(path: str, unit: Unit) -> bool:
    """Whether the unit names the file in its title, its text or its paths."""
    return file_kinds.is_named_by_runner(path, "\n".join((unit.title, unit.text, *unit.paths)))


def _is_pure_settings(path: str, runner: Runner) -> bool:
    """Whether a file only configures tests; a conftest.py has fixtures too."""
    return runners.is_settings(path, runner.text) and path.rpartition("/")[2] != "conftest.py"


def _differs(change: FileChange, runner: Runner, read: ReadTexts) -> bool:
    """Whether a changed file may judge otherwise than before: of settings only a part does."""
    if not change.new_blob or not _is_pure_settings(change.path, runner):
        return True
    old, new = read(change)
    if old is None or new is None or change.old_mode != change.new_mode:
        return True
    before = runners.settings_part(change.path, old, runner.text)
    return before != runners.settings_part(change.path, new, runner.text)


def _keeps_all(
    change: FileChange, changed: Sequence[FileChange], runner: Runner, read: ReadTexts
) -> bool:
    """Whether a changed file judges as it did, and only more of it.

    A changed mode counts: a script that is no longer executable judges nothing.
    """
    if not change.new_blob or change.old_mode != change.new_mode:
        return False
    if change.old_path and not _is_still_run(change.old_path, change.path, runner):
        return False
    if change.old_path and change.old_blob == change.new_blob:
        return True
    old, new = read(change)
    if old is None or new is None:
        return False
    if _is_pure_settings(change.path, runner):
        return settings_additions.only_adds(change.path, old, new)
    old = renames.with_new_names(old, changed)
    return old == new or additions.only_adds_tests(change.path, old, new)


def _is_still_run(old: str, new: str, runner: Runner) -> bool:
    """Whether a runner that found a moved test finds it in its new place, as far as names tell."""
    if file_kinds.is_named_test(old) and not file_kinds.is_named_test(new):
        return False
    return not _is_within(old, runner.text) or _is_within(new, runner.text)


def _is_within(path: str, text: str) -> bool:
    """Whether a text names a path, or a folder around it, as a word of its own."""
    while path:
        if re.search(rf"(?<![\w./-]){re.escape(path)}/?(?![\w./-])", text):
            return True
        path = path.rpartition("/")[0]
    return False


def _decides(change: FileChange, unit: Unit, runner: Runner, read: ReadTexts) -> bool:
    """Whether a new file decides about tests that are not its own, or stands for a program.

    A program that the command starts by its path is the work itself.
    """
    path = change.path
    if runners.shadows_a_program(path) or runners.hides_a_module(path, runner):
        is_started = f"./{path}" in runner.text or ("/" in path and path in runner.text)
        return not is_started and path not in unit.paths
    if runners.is_installed(path) and not runner.has_packages:
        return True
    _, text = read(change)
    if file_kinds.is_run_as_test(path) and additions.ends_the_run(text or ""):
        return True
    if _is_asked_for(path, unit) or not runners.is_settings(path, runner.text):
        return False
    if not runners.could_steer(path, runner):
        return False
    if not _says_something(path, text, runner):
        return False
    return text is None or additions.steers(path, text)
