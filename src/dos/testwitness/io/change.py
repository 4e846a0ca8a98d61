"""Reads what a commit changed in tests and in code, and which tests its runner collects."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from dos.audit import runner_settings, weakening
from dos.audit.settings import file_readers
from dos.audit.weakening import TestChange
from dos.git.objects import Objects, TreeEntry
from dos.git.repository import Reader
from dos.regions import lane_holds, region
from dos.testrunners import pytest_settings
from dos.testwitness import collection, suite
from dos.testwitness.collection import PytestSearch
from dos.testwitness.verdict import Cell
from dos.unknown import Unknown

Files = dict[str, TreeEntry]


class Change(Struct, frozen=True, kw_only=True):
    """A commit against its first parent. Paths are from the top of the repository."""

    commit: str
    parent: str
    tree: str
    old: Files
    new: Files
    tests: frozenset[str]  # on either side, with all that only tests need
    runnable: frozenset[str]  # those of them that are named as tests
    collected: frozenset[str]  # those of them that the runner of the command would collect
    weakened: tuple[str, ...] = ()  # tests that the change itself weakens

    @property
    def changed(self) -> list[str]:
        """The tests that are new or changed."""
        return sorted(_touched(self.old, self.new) & self.tests & self.new.keys())

    @property
    def deleted(self) -> list[str]:
        """The tests that are gone."""
        return sorted(self.tests & self.old.keys() - self.new.keys())

    @property
    def hindrance(self) -> str:
        """Why nothing can be measured, or an empty text.

        It takes a changed test and changed code: only then can a test fail without the change.
        """
        if not self.changed:
            return "it adds no test, and changes none"
        if _touched(self.old, self.new) <= self.tests:
            return "it changes nothing but tests: there is no old code to try them on"
        return ""

    @property
    def has_old_tests(self) -> bool:
        """Whether the parent has tests that can be run."""
        return bool(self.runnable & self.old.keys())

    def files(self, cell: Cell) -> Files:
        """Return the tree of a cell: its code from one side, its tests from the other."""
        code = self.old
        if cell.new_code:
            code = self.new
        tests = self.old
        if cell.new_tests:
            tests = self.new
        tree = {path: file for path, file in code.items() if path not in self.tests}
        tree |= {path: file for path, file in tests.items() if path in self.tests}
        return tree

    def to_run(self, cell: Cell) -> list[str]:
        """Return the files for the runner: of the new tests the changed ones, if it can run any."""
        if cell.new_tests:
            changed = [path for path in self.changed if path in self.collected]
            return changed or sorted(self.collected & self.new.keys())
        return sorted(self.collected & self.old.keys())

    def harness(self, command: str) -> list[str]:
        """Return the changed files besides tests that decide how the tests run."""
        others = _touched(self.old, self.new) - self.tests
        return sorted(path for path in others if suite.is_harness(path, command))


def read_change(
    git: Reader, sha: str, globs: Sequence[str] = (), folder: str = "", command: str = ""
) -> Change | Unknown:
    """Return what a commit changed, or why it cannot be compared with its parent.

    With globs, which start at the folder, only files that match them are tests. The command tells
    which of them its runner collects.
    """
    with Objects(git) as objects:
        commit = objects.commit(sha)
        if commit is None:
            return Unknown(f"{sha} is not here")
        if not commit.parents:
            return Unknown("it has no parent: there is no code without it")
        parent = objects.commit(commit.parents[0])
        if parent is None:
            name = commit.parents[0][:9]
            return Unknown(f"its parent {name} is not here: the history is cut off")
        old = dict(objects.files(parent.tree))
        new = dict(objects.files(commit.tree))
        weakened = weakening.find(list(_changes(objects, old, new, weakening.is_watched)))
        settings = list(_changes(objects, old, new, file_readers.is_watched))
        weakened += runner_settings.find(settings, _other_files(objects, old, new))
        searches = [_pytest_search(objects, side, folder) for side in (old, new)]
    is_test: Callable[[str], bool] = suite.is_test
    if globs:
        is_test = _matching(globs, folder)
    tests = frozenset(filter(is_test, old.keys() | new.keys()))
    runnable = frozenset(filter(suite.is_runnable, tests))
    collected: frozenset[str] = frozenset()
    for side, search in zip((old, new), searches, strict=True):
        collected |= collection.collected(command, tests & side.keys(), search)
    if globs and not runnable:
        runnable = tests
    if globs and not collected:
        collected = runnable
    return Change(
        commit=commit.sha,
        parent=parent.sha,
        tree=commit.tree,
        old=old,
        new=new,
        tests=tests,
        runnable=runnable,
        collected=collected,
        weakened=tuple(map(str, weakened)),
    )


def _touched(old: Files, new: Files) -> set[str]:
    """Return the paths that were added, changed or removed."""
    return {path for path, _ in old.items() ^ new.items()}


def _changes(
    objects: Objects, old: Files, new: Files, is_watched: Callable[[str], bool]
) -> Iterator[TestChange]:
    """Yield the contents of changed files in which tests could be weakened."""
    for path in sorted(_touched(old, new)):
        if is_watched(path):
            yield TestChange(
                path=path, old=_text(objects, old.get(path)), new=_text(objects, new.get(path))
            )


def _other_files(objects: Objects, old: Files, new: Files) -> runner_settings.OtherFiles:
    """Return what decides whether changed settings are excused."""

    def unchanged() -> Iterator[tuple[str, str]]:
        for path, file in new.items():
            if old.get(path) == file and file_readers.is_ci(path):
                yield path, _text(objects, file) or ""

    return runner_settings.OtherFiles(
        added=sorted(new.keys() - old.keys()),
        deleted=sorted(old.keys() - new.keys()),
        unchanged=unchanged,
    )


def _pytest_search(objects: Objects, files: Files, folder: str) -> PytestSearch:
    """Return how pytest looks for tests when it is started in a folder of a tree."""
    prefix = f"{folder}/" if folder else ""
    settings = {name: _text(objects, files.get(prefix + name)) for name in pytest_settings.FILES}
    return collection.pytest_search({name: text or "" for name, text in settings.items()})


def _text(objects: Objects, file: TreeEntry | None) -> str | None:
    """Return the text of a regular file, or None."""
    if file is None or not stat.S_ISREG(file.mode):
        return None
    content = objects.blob(file.sha)
    if content is None:
        return None
    return content.decode("utf-8", "replace")


def relative_paths(paths: Sequence[str], folder: str) -> list[str]:
    """Return the paths relative to a folder; one that starts with a dash must not be an option."""
    relative = []
    for path in paths:
        name = path
        if folder:
            name = os.path.relpath(path, folder)
        if name.startswith("-"):
            name = f"./{name}"
        relative.append(name)
    return relative


def _matching(globs: Sequence[str], folder: str) -> Callable[[str], bool]:
    """Return a function that says whether a path, from the top of the tree, matches the globs."""
    root = ""
    if folder:
        root = f"{folder}/"
    return partial(lane_holds, region(globs), root=root)
