"""What a commit did to the tests, and the files of every mixture of old and new tests with old and new code."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from dos.audit import weakening
from dos.audit.weakening import TestChange
from dos.git.objects import Objects, TreeEntry
from dos.git.repository import Reader
from dos.regions import lane_holds, region
from dos.testwitness import suite as suite_files
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
    tests: frozenset[str]  # all that counts as a test, and all that only tests need, on either side
    runnable: frozenset[str]  # those of them that a test runner can be pointed at
    weakened: tuple[str, ...] = ()  # what it takes away from the tests itself

    @property
    def changed(self) -> list[str]:
        """The tests that are new or other than they were."""
        return sorted(_touched(self.old, self.new) & self.tests & self.new.keys())

    @property
    def deleted(self) -> list[str]:
        return sorted(self.tests & self.old.keys() - self.new.keys())

    @property
    def hindrance(self) -> str:
        """Why nothing can be measured; empty: something can."""
        if not self.changed:
            return "it adds no test, and changes none"
        if _touched(self.old, self.new) <= self.tests:
            return "it changes nothing but tests: there is no old code to try them on"
        return ""

    @property
    def has_old_tests(self) -> bool:
        return bool(self.runnable & self.old.keys())

    def files(self, cell: Cell) -> Files:
        """The tree of a cell: each path as the side has it that the cell takes it from."""
        code = self.new if cell.new_code else self.old
        tests = self.new if cell.new_tests else self.old
        return {path: file for path, file in code.items() if path not in self.tests} | {
            path: file for path, file in tests.items() if path in self.tests
        }

    def to_run(self, cell: Cell) -> list[str]:
        """What a runner is pointed at: of the new tests those that changed, where any of them can be run by itself."""
        side = self.new if cell.new_tests else self.old
        every = sorted(self.runnable & side.keys())
        return (
            [path for path in self.changed if path in self.runnable] or every
            if cell.new_tests
            else every
        )

    def harness(self, command: str) -> list[str]:
        """What it changed beside the tests that decides how they are run."""
        others = _touched(self.old, self.new) - self.tests
        return sorted(path for path in others if suite_files.is_harness(path, command))


def read_change(
    git: Reader, sha: str, globs: Sequence[str] = (), folder: str = ""
) -> Change | Unknown:
    """With globs, which start at the folder, those alone are the tests."""
    with Objects(git) as objects:
        found = objects.commit(sha)
        if found is None:
            return Unknown(f"{sha} is not here")
        if not found.parents:
            return Unknown("it has no parent: there is no code without it")
        parent = objects.commit(found.parents[0])
        if parent is None:
            return Unknown(f"its parent {found.parents[0][:9]} is not here: the history is cut off")
        old, new = dict(objects.files(parent.tree)), dict(objects.files(found.tree))
        weakened = weakening.find(list(_test_changes(objects, old, new)))
    is_test = _matching(globs, folder) if globs else suite_files.is_test
    tests = frozenset(filter(is_test, old.keys() | new.keys()))
    runnable = frozenset(filter(suite_files.is_runnable, tests))
    return Change(
        commit=found.sha,
        parent=parent.sha,
        tree=found.tree,
        old=old,
        new=new,
        tests=tests,
        runnable=runnable or (tests if globs else frozenset()),
        weakened=tuple(map(str, weakened)),
    )


def _touched(old: Files, new: Files) -> set[str]:
    return {path for path, _ in old.items() ^ new.items()}


def _test_changes(objects: Objects, old: Files, new: Files) -> Iterator[TestChange]:
    for path in sorted(_touched(old, new)):
        if weakening.is_watched(path):
            yield TestChange(
                path=path, old=_text(objects, old.get(path)), new=_text(objects, new.get(path))
            )


def _text(objects: Objects, file: TreeEntry | None) -> str | None:
    content = objects.blob(file.sha) if file and stat.S_ISREG(file.mode) else None
    return None if content is None else content.decode("utf-8", "replace")


def relative_paths(paths: Sequence[str], folder: str) -> list[str]:
    """The paths as they are called from a folder; a name that begins with a dash is no option."""
    near = [os.path.relpath(path, folder) if folder else path for path in paths]
    return [f"./{path}" if path.startswith("-") else path for path in near]


def _matching(globs: Sequence[str], folder: str) -> Callable[[str], bool]:
    return partial(lane_holds, region(globs), root=f"{folder}/" if folder else "")
