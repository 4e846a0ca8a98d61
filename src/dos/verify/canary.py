"""Which files of a tree are emptied to see whether a test command notices? The program; not its tests, not its build.

A test that still passes with the program gone does not look at the tree it is run in. The runner has to stay: with that
gone too, the command would fail for a reason that proves nothing.
"""

import re
from collections.abc import Iterable

from dos.verify import file_kinds

PROGRAMS = file_kinds.words(
    "c cc cjs clj cljs cpp cs cxx dart elm erl ex fs go h hh hpp hs java jl js jsx kt lua m mjs ml mm nim php pl pm py "
    "r rb rs scala sh bash zsh svelte swift ts tsx v vb vue zig"
)
SHELL = ("sh", "bash", "zsh")
# Names of files that configure or run a build or a test, whatever language they are written in.
_RUNS_TESTS = re.compile(
    r"setup\.py|conftest\.py|noxfile\.py|tasks\.py|fabfile\.py|dodo\.py|sconstruct\.py|wscript\.py|build\.(?:rs|zig|pl)"
    r"|makefile\.pl|(?:gulp|grunt|jake|rake|dangers?)file.*|package\.swift|project\.clj|\..*rc\.[cm]?js"
    r"|.*\.conf(?:ig)?\.[cm]?[jt]s|(?:jest|vitest|karma|mocha|playwright|cypress)[.\-].*"
)
# Tests as runners find them: `test-a.js` and `a-test.js` (node), `tests.py` (Django), `PriceTest.java`, `Shop.Tests/`.
# An emptied test passes, so these say nothing about the program.
_IS_TEST = re.compile(
    r"(?:^|/)(?:[^/]*[-_.]|[^/]*[a-z0-9](?=[TS]))?(?i:tests?|specs?)(?:/|\.[^/.]+$)|(?:^|/)(?i:tests?|specs?)[-_.][^/]*$"
)
# An emptied file of these takes its own tests with it and still compiles: one that cannot compile is put there.
_DOES_NOT_COMPILE = {
    "rs": 'compile_error!("emptied by dos to see whether the tests notice");\n',
    "zig": 'comptime {\n    @compileError("emptied by dos to see whether the tests notice");\n}\n',
}


def sources(tracked: Iterable[str], runner: str) -> list[str]:
    """The files to be emptied. `runner` is the test command, with the text of whatever it runs in turn."""
    return [path for path in tracked if is_program(path) and not is_named(path, runner)]


def is_program(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    is_code = "." in name and name.rpartition(".")[2] in PROGRAMS
    is_test = file_kinds.is_test(path) or _IS_TEST.search(path) is not None
    return (
        is_code and not is_test and not file_kinds.is_ci(path) and not _RUNS_TESTS.fullmatch(name)
    )


def is_named(path: str, runner: str) -> bool:
    """By its path, or as Python names a module."""
    module = path.rpartition(".")[0].replace("/", ".")
    return _occurs(path, runner) or (path.endswith(".py") and _occurs(module, runner))


def emptied(path: str) -> str:
    """What is written in place of its text."""
    return _DOES_NOT_COMPILE.get(path.rpartition(".")[2].lower(), "")


def _occurs(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w\-]){re.escape(name)}(?![\w\-])", text) is not None
