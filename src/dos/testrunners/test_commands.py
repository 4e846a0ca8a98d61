"""Recognises commands that run tests: which runner, on what, and which of its options leave out."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dos.testrunners.runner_options import OF_TASKS, OPTIONS
from dos.testrunners.shell_lines import simple_commands
from dos.verify.file_kinds import words


class TestCommand(Struct, frozen=True, kw_only=True):
    """A command that runs tests."""

    __test__ = False  # pytest would collect a class of this name

    runner: str  # such as `pytest`, `go test` or, for a task of another file, `make test`
    targets: frozenset[str] = frozenset()  # files and folders that it names; none: all there are
    restraints: frozenset[str] = frozenset()  # options that leave tests out, such as `-k fast`
    muted: str = ""  # the option that hides failures, if there is one

    def __str__(self) -> str:
        return " ".join((self.runner, *sorted(self.targets)))


# Programs that only start the program behind them, with the words of theirs that have a value.
_WRAPPERS = {
    **dict.fromkeys(
        words(
            "sudo env time nice exec command nohup npx bunx c8 nyc cross-env xvfb-run stdbuf then"
            " do else { ! if elif while until pipx"
        ),
        frozenset[str](),
    ),
    "coverage": words("--source --rcfile --omit --include"),
    "kcov": frozenset[str](),
}
_RUN_WRAPPERS = words("poetry pipenv uv hatch pdm rye pixi conda mamba micromamba dotenv devbox")
_VALUED_BY_WRAPPERS = words("--extra --group --with --python -p -n --name --only-group --package")
_CONTAINERS = words("docker docker-compose podman kubectl")
_TASKS = words(
    "make gmake just task npm yarn pnpm bun composer rake invoke inv ninja meson earthly"
)
_PACKAGE_MANAGERS = words("npm yarn pnpm bun composer")
_INSTALLS = words("ci check check-engine check-platform-reqs")
_LONGEST_WORD = 200  # characters that are looked at
_TASK = re.compile(
    r"(?:.*[-_:./])?(?:tests?|specs?|check|ci|verify|e2e|unit|coverage|cov|jest|pytest)"
    r"(?:[-_:./].*)?",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"(?:.*/)?(?:[\w.]*[-_])?(?:run)?[-_]?tests?(?:[-_][\w-]*)?(?:\.(?:sh|bash))?")
PYTEST_OPTIONS = "PYTEST_ADDOPTS"
_OVERRIDES = ("-o", "--override-ini")
_SEARCH = re.compile(r"python_(?:files|functions|classes)=|testpaths=|norecursedirs=")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_PYTHON = re.compile(r"(?:.*/)?(?:python[\d.]*|py|pypy[\d.]*)(?:\.exe)?")
_DIRECT = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "jest": "jest",
    "vitest": "vitest",
    "mocha": "mocha",
    "_mocha": "mocha",
    "ava": "ava",
    "rspec": "rspec",
    "phpunit": "phpunit",
    "pest": "phpunit",
    "paratest": "phpunit",
    "ctest": "ctest",
    "bats": "bats",
    "prove": "prove",
    **{
        name: name
        for name in words(
            "tox nox nosetests nose2 trial stestr zope-testrunner tap tape karma"
            " cucumber busted robot behave doctest lit green ward"
        )
    },
}
# Programs with a word that makes them run tests.
_WITH_WORD = {
    "go": ("go test", words("test")),
    "gotestsum": ("go test", frozenset[str]()),
    "cargo": ("cargo test", words("test t nextest tarpaulin llvm-cov")),
    "cross": ("cargo test", words("test")),
    "dotnet": ("dotnet test", words("test vstest")),
    "node": ("node --test", words("--test")),
    "tsx": ("node --test", words("--test")),
    "deno": ("deno test", words("test")),
    "playwright": ("playwright", words("test")),
    "cypress": ("cypress", words("run")),
    "mix": ("mix test", words("test")),
    "swift": ("swift test", words("test")),
    "dart": ("dart test", words("test")),
    "flutter": ("flutter test", words("test")),
    "zig": ("zig test", words("test")),
    "bazel": ("bazel test", words("test")),
    "bazelisk": ("bazel test", words("test")),
    "stack": ("stack test", words("test")),
    "cabal": ("cabal test", words("test")),
    "dune": ("dune test", words("test runtest")),
    "lein": ("lein test", words("test")),
    "sbt": ("sbt test", words("test")),
    "rails": ("minitest", words("test")),
    "mvn": ("maven", words("test verify install package integration-test deploy")),
    "mvnw": ("maven", words("test verify install package integration-test deploy")),
    "gradle": ("gradle", words("test check build integrationTest connectedCheck")),
    "gradlew": ("gradle", words("test check build integrationTest connectedCheck")),
    "xcodebuild": ("xcodebuild test", words("test test-without-building")),
    "ng": ("ng test", words("test")),
    "react-scripts": ("jest", words("test")),
    "meson": ("meson test", words("test")),
    "artisan": ("phpunit", words("test")),
    "setup.py": ("setup.py test", words("test ptr pytest")),
    "manage.py": ("manage.py test", words("test")),
    "django-admin": ("manage.py test", words("test")),
    "nx": ("nx test", words("test --target=test --targets=test -t=test")),
    "turbo": ("turbo test", words("test")),
    "lerna": ("lerna test", words("test")),
}
_LOOKS_LIKE_PATH = re.compile(r"[^=]*/[^=]*|.*::.*|[\w.-]+\.\w{1,5}|tests?|specs?")


def parse_test_command(typed: Sequence[str]) -> TestCommand | None:
    """Return what a simple command runs of tests; None if it runs none that is known."""
    rest = list(_unwrapped(typed))
    if not rest:
        return None
    runner, arguments = _runner(rest)
    if not runner:
        return None
    return _with_options(runner, [*arguments, *_assigned_options(runner, typed)])


def _assigned_options(runner: str, typed: Sequence[str]) -> Iterator[str]:
    """Yield the options that a command gives to pytest by its environment."""
    for word in typed:
        name, equals, value = word.partition("=")
        if runner == "pytest" and equals and name == PYTEST_OPTIONS:
            for command in simple_commands(value):
                yield from command.words


def _unwrapped(typed: Sequence[str]) -> Sequence[str]:
    """Return the words without assignments and without programs that only start others."""
    rest = list(typed)
    while rest:
        program = _program(rest[0])
        if _ASSIGNMENT.fullmatch(rest[0]):
            rest = rest[1:]
        elif program == "timeout":
            rest = _without_options(rest[1:])[1:]
        elif program in _RUN_WRAPPERS and "run" in rest[1:3]:
            rest = _without_options(rest[rest.index("run") + 1 :])
        elif program in ("pnpm", "yarn", "npm", "bundle") and rest[1:2] in (["exec"], ["dlx"]):
            rest = _without_options(rest[2:])
        elif program == "coverage" and rest[1:2] == ["run"]:
            rest = ["python", *rest[2:]]
        elif program in _CONTAINERS:
            return _in_container(rest)
        elif _PYTHON.fullmatch(rest[0]):
            return _python_module(rest[1:])
        elif program in _WRAPPERS:
            rest = _without_options(rest[1:])
        else:
            break
    return rest


def _without_options(rest: Sequence[str]) -> list[str]:
    """Return the words from the first that is no option of a wrapper."""
    rest = list(rest)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _VALUED_BY_WRAPPERS else rest[1:]
    return rest


def _in_container(rest: Sequence[str]) -> Sequence[str]:
    """Return the words from a runner that a container is told to start."""
    for number, word in enumerate(rest):
        if _program(word) in _DIRECT and number:
            return rest[number:]
    return ()


def _python_module(rest: Sequence[str]) -> Sequence[str]:
    """Return the module or script that Python is told to run, and its words."""
    for number, word in enumerate(rest):
        if word == "-m":
            return rest[number + 1 :]
        if not word.startswith("-"):
            return rest[number:]
    return ()


def _program(word: str) -> str:
    name = word.rpartition("/")[2]
    return name.removesuffix(".exe").removesuffix(".cmd").removesuffix(".bat")


def _runner(rest: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the runner that words start, and its words; empty if it is none."""
    program = _program(rest[0])
    if program in _DIRECT:
        return _DIRECT[program], rest[1:]
    if program in _WITH_WORD:
        runner, keys = _WITH_WORD[program]
        goals = [word for word in rest[1:] if word.rpartition(":")[2] in keys]
        if goals:
            arguments = list(rest[1:])
            arguments.remove(goals[0])
            return runner, arguments
        return ("", ()) if keys else (runner, rest[1:])
    if program in _TASKS:
        return _task(program, rest[1:])
    if program == "ruby" and any(word.endswith("_test.rb") or "test" in word for word in rest[1:]):
        return "minitest", rest[1:]
    if program in ("sh", "bash", "zsh") and len(rest) > 1:
        rest = _without_options(rest[1:]) or rest
    if _SCRIPT.fullmatch(rest[0][:_LONGEST_WORD]) and rest[0] != "test":
        return rest[0].removeprefix("./"), ()
    return "", ()


def _task(program: str, rest: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the task that is about tests; empty if none is."""
    if program == "bun" and rest[:1] == ["test"]:
        return "bun test", rest[1:]
    if program in ("yarn", "pnpm", "bun") and rest and _program(rest[0]) in _DIRECT:
        return _DIRECT[_program(rest[0])], rest[1:]
    if program in _PACKAGE_MANAGERS and not {"run", "run-script"} & set(rest[:1]):
        rest = rest if _TASK.fullmatch("".join(rest[:1])) and rest[0] not in _INSTALLS else ()
    for word in rest:
        if not word.startswith("-") and _TASK.fullmatch(word[:_LONGEST_WORD]):
            return f"{program} {word}", [other for other in rest if other not in (word, "run")]
    return "", ()


def _with_options(runner: str, arguments: Sequence[str]) -> TestCommand:
    options = OPTIONS.get(runner) or OPTIONS.get(runner.partition(" ")[0], OF_TASKS)
    targets: set[str] = set()
    restraints: set[str] = set()
    muted = ""
    remaining = iter(arguments)
    for word in remaining:
        name, equals, value = word.partition("=")
        if word in options.muting:
            muted = muted or word
        elif word in options.narrowing_flags:
            restraints.add(word)
        elif name in options.narrowing:
            chosen = value if equals else next(remaining, "")
            restraints.update(f"{name} {part}" for part in _conditions(chosen))
        elif word in options.valued:
            given = next(remaining, "")
            if word in _OVERRIDES and _SEARCH.match(given):
                restraints.add(f"{word} {given}")
        elif word.startswith("-n") and word[2:].isdigit():
            continue
        elif not word.startswith("-") and _LOOKS_LIKE_PATH.fullmatch(word):
            targets.add(word.removeprefix("./").rstrip("/.") or ".")
    targets.discard(".")
    return TestCommand(
        runner=runner,
        targets=frozenset(targets),
        restraints=frozenset(restraints),
        muted=muted,
    )


def _conditions(value: str) -> Iterator[str]:
    """Yield what has to hold of a test to be run: `not a and not b` are two conditions."""
    flat = re.sub(r"not \(([\w ]+)\)", _each_negated, value.strip())
    for part in flat.split(" and "):
        yield " ".join(part.split())


def _each_negated(match: re.Match[str]) -> str:
    return " and ".join(f"not {name}" for name in match[1].split(" or "))
