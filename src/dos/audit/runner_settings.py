"""Find where a commit's settings newly keep tests from running, or their failure from counting.

The settings of a whole commit are compared together, so that what moved from one file to another
is not missed. What only tests of the same commit meet takes nothing away.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct, structs

from dos.audit.settings import file_readers
from dos.audit.settings.facts import RunnerFacts, joined
from dos.audit.weakening import TestChange, Weakening, WeakeningKind
from dos.testrunners.test_commands import TestCommand
from dos.text import join_some
from dos.verify.file_kinds import words

# What a runner looks for without a setting.
_DEFAULTS = {
    "python_files": frozenset(("test_*.py", "*_test.py")),
    "python_functions": frozenset(("test",)),
    "python_classes": frozenset(("Test",)),
}
# Folders with no tests of the project, and folders beside tests with none of their own.
_NO_TESTS = words(
    "node_modules bower_components build dist out target vendor third_party venv env .venv .env"
    " .git .tox .nox .eggs __pycache__ coverage .next .nuxt .cache .mypy_cache .pytest_cache tmp"
    " .yalc .stryker-tmp .claude .worktrees worktrees docs doc examples example generated gen bin"
    " obj lib esm cjs types scripts benchmarks bench e2e cypress playwright .idea .vscode .direnv"
    " site-packages storybook-static public static assets migrations setup.py _build htmlcov"
)
_BESIDE_TESTS = words(
    "fixtures fixture __fixtures__ data testdata test-data snapshots __snapshots__ helpers helper"
    " utils util mocks __mocks__ support resources setup conftest.py __init__.py types"
)
_PATH_LIKE = re.compile(
    r"(?P<option>(?:\S+ )?(?:--ignore(?:-glob)?|--exclude|--testPathIgnorePatterns|norecursedirs"
    r"|collect_ignore|testPathIgnorePatterns|testIgnore|excludeSpecPattern|exclude|ignore|files))"
    r" (?P<value>.+)"
)
_TEST_FOLDER = re.compile(r"tests?|specs?|__tests__")
_NEEDS = "needs of "
_MOST_COMPARED = 200  # settings of one kind of a file; nobody writes more


class OtherFiles(Struct, frozen=True, kw_only=True):
    """What else is known of a commit."""

    added: Sequence[str] = ()  # paths that are new
    deleted: Sequence[str] = ()
    # Settings that the commit left as they are, with their text; asked only before an accusation.
    unchanged: Callable[[], Iterable[tuple[str, str]]] = lambda: ()


def find(changes: Sequence[TestChange], others: OtherFiles = OtherFiles()) -> list[Weakening]:
    """Return what the changed settings of runners newly keep from running or from failing."""
    comparison = _Comparison(changes, others)
    found = list(comparison.weakenings())
    if not found:
        return []
    kept = joined(_kept(path, text) for path, text in others.unchanged())
    excused = _Comparison(changes, others, kept)
    return sorted(excused.weakenings(), key=lambda weakening: (weakening.path, weakening.detail))


def _kept(path: str, text: str) -> RunnerFacts:
    """Return what an unchanged file says; its commands count only if a CI service runs them."""
    facts = file_readers.read(path, text)
    if file_readers.is_ci(path):
        return facts
    return structs.replace(facts, commands=())


class _Comparison:
    """The settings of a commit before and after; `kept` are those that it did not change."""

    def __init__(
        self, changes: Sequence[TestChange], others: OtherFiles, kept: RunnerFacts = RunnerFacts()
    ) -> None:
        self.others = others
        self.kept = kept
        self.before = _read_all((change.path, change.old) for change in changes)
        self.after = _read_all((change.path, change.new) for change in changes)
        self.old = joined(self.before.values())
        self.new = joined(self.after.values())
        self.old_counts = Counter(map(_identity, self.old.commands))
        self.new_counts = Counter(map(_identity, self.new.commands))

    def weakenings(self) -> Iterator[Weakening]:
        """Yield what asks for less than before."""
        yield from self._new_restraints()
        yield from self._lower_demands()
        yield from self._narrower_selections()
        yield from self._weaker_commands()

    def _new_restraints(self) -> Iterator[Weakening]:
        known = {*self.old.narrowings(), *self.kept.restraints}
        for path, facts in self.after.items():
            for restraint in sorted(facts.restraints - known)[:_MOST_COMPARED]:
                if not self._is_harmless(restraint) and not self._is_wider(restraint, known):
                    yield _weakening(path, restraint)

    def _is_harmless(self, restraint: str) -> bool:
        """Whether a restraint leaves out no test that ran before."""
        match = _PATH_LIKE.fullmatch(restraint)
        if match is None:
            return self._is_run_elsewhere(restraint)
        return self._has_no_old_tests(match["value"]) or self._is_selected(match["value"])

    def _has_no_old_tests(self, value: str) -> bool:
        """Whether a path or pattern names a folder without tests, or only files that are new."""
        steps = [step for step in re.split(r"[/\\*<>^$()|]+", value) if step.strip(".")]
        steps = [step for step in steps if step != "rootDir"]
        if steps and steps[-1] in _BESIDE_TESTS:
            return True
        in_tests = any(map(_TEST_FOLDER.fullmatch, steps))
        if not in_tests and not _NO_TESTS.isdisjoint(steps):
            return True
        is_new = any(_is_at(path, value) for path in self.others.added)
        return is_new and not any(_is_at(path, value) for path in self.others.deleted)

    def _is_selected(self, value: str) -> bool:
        """Whether settings that are new look for what is left out here."""
        for name, patterns in self.new.selections.items():
            fresh = patterns - self.old.selections.get(name, frozenset())
            if any(_covers(pattern, value) for pattern in fresh):
                return True
        return False

    def _is_run_elsewhere(self, restraint: str) -> bool:
        """Whether another command runs the tests with a marker that this one leaves out."""
        left_out = re.fullmatch(r"\S+ (?P<option>-m|--tag|-LE) (?:not |~)(?P<name>\w+)", restraint)
        if left_out is None:
            return False
        chosen = re.compile(rf"\s(?:-m|--tag|-L) {left_out['name']}(?! *\w*not\b)")
        every = [*self.new.narrowings(), *self.kept.narrowings()]
        return any(map(chosen.search, every))

    def _is_wider(self, restraint: str, known: Iterable[str]) -> bool:
        """Whether a restraint chooses all that an old one of its option chose, and more."""
        option, _, chosen = restraint.rpartition(" -k ")
        if not option:
            return False
        alternatives = set(chosen.split(" or "))
        for old in known:
            before, _, others = old.rpartition(" -k ")
            if (
                before == option
                and "not " not in others
                and alternatives > set(others.split(" or "))
            ):
                return True
        return False

    def _lower_demands(self) -> Iterator[Weakening]:
        demands = joined([self.new, self.kept]).demands
        for path, facts in self.before.items():
            for name, old in facts.demands.items():
                new = demands.get(name)
                if new is None and (path in self.after or "/" not in path):
                    yield _weakening(path, f"{name} is no longer asked for (was {old:g})")
                elif new is not None and new < old:
                    yield _weakening(path, f"{name} lowered from {old:g} to {new:g}")

    def _narrower_selections(self) -> Iterator[Weakening]:
        for path, facts in self.before.items():
            for name, patterns in facts.selections.items():
                if path not in self.after:
                    continue
                new = self.new.selections.get(name, _DEFAULTS.get(name, frozenset()))
                if missing := self._missing(name, patterns, new):
                    yield _weakening(path, f"{name} without {join_some(missing)}")
        for path, facts in self.after.items():
            for name, patterns in facts.selections.items():
                if name in self.old.selections or path not in self.before:
                    continue
                old = _DEFAULTS.get(name, frozenset())
                is_one_file = name == "testpaths" and all("." in entry for entry in patterns)
                if is_one_file or self._missing(name, old, patterns):
                    yield _weakening(path, f"{name} {join_some(sorted(patterns))}")

    def _missing(self, name: str, old: frozenset[str], new: frozenset[str]) -> list[str]:
        """Return which patterns no new one covers, if what they stood for is still there."""
        if not new or any(re.search(r"[+@?!]\(", pattern) for pattern in old | new):
            return []  # everything is looked at, or nobody can tell
        if name.startswith(_NEEDS) and not new < old:
            return []
        if name in ("python_functions", "python_classes"):  # the beginning of a name is enough
            new = frozenset(f"{pattern.rstrip('*')}*" for pattern in new)
        covering = list(new)[:_MOST_COMPARED]
        missing = []
        for pattern in sorted(old - new)[:_MOST_COMPARED]:
            is_gone = any(_is_at(path, pattern) for path in self.others.deleted)
            if not is_gone and not any(_covers(other, pattern) for other in covering):
                missing.append(pattern)
        return missing

    def _weaker_commands(self) -> Iterator[Weakening]:
        for path, facts in self.before.items():
            if path not in self.after and not self._is_missed(path):
                continue
            seen: set[object] = set()
            for command in facts.commands:
                key = _identity(command)
                if key in seen or command.muted:
                    continue
                seen.add(key)
                weakening = self._newly_muted(path, command) or self._unreplaced(path, command)
                if weakening and self.new_counts[key] < self.old_counts[key]:
                    yield weakening

    def _is_missed(self, path: str) -> bool:
        """Whether no other CI service runs tests in place of one whose file is gone."""
        commands = (*self.new.commands, *self.kept.commands)
        return file_readers.is_ci(path) and all(command.muted for command in commands)

    def _newly_muted(self, path: str, command: TestCommand) -> Weakening | None:
        """Return how the same command newly hides its failure, where it did not."""
        for other in self.new.commands:
            is_same = (other.runner, other.targets) == (command.runner, command.targets)
            key = _identity(other)
            if is_same and other.muted and self.old_counts[key] < self.new_counts[key]:
                where = self._path_with(other) or path
                return _weakening(where, f"{other}: {other.muted}")
        return None

    def _unreplaced(self, path: str, command: TestCommand) -> Weakening | None:
        """Return how a command that is gone runs less now; None if another does what it did."""
        clean = [one for one in (*self.new.commands, *self.kept.commands) if not one.muted]
        for other in clean:
            is_same = other.runner == command.runner and other.restraints <= command.restraints
            if is_same and _covers_targets(other, command):
                return None
        if self._is_replaced(command, clean):
            return None
        for other in self.new.commands:
            more = sorted(other.restraints - command.restraints)
            if other.runner == command.runner and more:
                if all(self._is_harmless(f"{other.runner} {one}") for one in more):
                    return None
                return _weakening(self._path_with(other) or path, f"{other} {more[0]}")
        for other in self.new.commands:
            if other.runner == command.runner and other.targets != command.targets:
                return _weakening(self._path_with(other) or path, f"{other} in place of {command}")
        return _weakening(path, f"{command} is no longer run")

    def _is_replaced(self, command: TestCommand, clean: Sequence[TestCommand]) -> bool:
        """Whether something new may run what a command ran, or its tests are gone as well."""
        if self.new.others - self.old.others:
            return True
        old = set(map(_identity, self.old.commands))
        fresh = [one for one in clean if _identity(one) not in old]
        if any(one.runner != command.runner for one in fresh):
            return True
        parts = [one for one in fresh if one.runner == command.runner]
        if len(parts) > 1:
            return True
        gone = self.others.deleted
        return bool(command.targets) and all(
            any(_is_at(path, target) for path in gone) for target in command.targets
        )

    def _path_with(self, command: TestCommand) -> str:
        for path, facts in self.after.items():
            if command in facts.commands:
                return path
        return ""


def _read_all(texts: Iterable[tuple[str, str | None]]) -> Mapping[str, RunnerFacts]:
    """Return what each file says, of those that are there."""
    return {path: file_readers.read(path, text) for path, text in texts if text is not None}


def _identity(command: TestCommand) -> tuple[object, ...]:
    return command.runner, command.targets, command.restraints, command.muted


def _covers_targets(other: TestCommand, command: TestCommand) -> bool:
    """Whether a command runs all that another one ran, by the paths that they name."""
    if not other.targets:
        return True
    if not command.targets:  # all tests: a folder of tests may be all, one file is not
        return not all("." in target or "::" in target for target in other.targets)
    return all(
        any(_covers(target, wanted) for target in other.targets) for wanted in command.targets
    )


def _covers(pattern: str, wanted: str) -> bool:
    """Whether a path or pattern takes in all that another one does, as far as the texts tell."""
    pattern, wanted = pattern.rstrip("/"), wanted.rstrip("/")
    if pattern in (wanted, ".", "") or wanted.startswith((f"{pattern}/", f"{pattern}::")):
        return True
    example = re.sub(r"\*+", "x", wanted)
    return any(fnmatchcase(example, one) for one in _without_braces(pattern))


def _without_braces(pattern: str) -> Iterator[str]:
    """Yield the patterns that `a.{js,ts}` stands for, with `**` as `*`."""
    plain = pattern.replace("**/", "*").replace("**", "*")
    match = re.search(r"\{([^{}]*)\}", plain)
    if match is None:
        yield plain
        return
    for part in match[1].split(","):
        yield plain[: match.start()] + part + plain[match.end() :]


def _is_at(path: str, value: str) -> bool:
    """Whether a path is, or lies below, what a value of a setting names."""
    bare = value.partition("::")[0].replace("<rootDir>", "").strip("/^$").removeprefix("./")
    stem = re.split(r"[*?\[{(\\]", bare)[0].strip("/")
    if stem and (path == stem or path.startswith(f"{stem}/") or f"/{stem}/" in f"/{path}"):
        return True
    return "*" in bare and fnmatchcase(f"/{path}", f"*/{bare.replace('**/', '*')}")


def _weakening(path: str, detail: str) -> Weakening:
    return Weakening(path=path, what=WeakeningKind.TESTS_NOT_RUN, detail=detail)
