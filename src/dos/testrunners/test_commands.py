"""Recognises commands that run tests: which runner, on what, and which of its options leave out."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

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


class _Options(Struct, frozen=True, kw_only=True):
    """The options of a runner that matter here, as they are typed."""

    narrowing: frozenset[str] = frozenset()  # with a value
    narrowing_flags: frozenset[str] = frozenset()
    muting: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()  # other options whose value is the next word


_PYTEST = _Options(
    narrowing=words("-k -m --deselect --ignore --ignore-glob"),
    narrowing_flags=words("--collect-only --co --lf --last-failed --picked --testmon --sw"),
    muting=words("--suppress-no-test-exit-code --suppress-tests-failed-exit-code"),
    valued=words(
        "-n -p -c -o -W -r --cov --cov-report --cov-config --junitxml --junit-xml --rootdir"
        " --confcutdir --basetemp --maxfail --timeout --durations --tb --dist --log-level --ds"
        " --override-ini --config-file --import-mode --random-order-seed --html --color"
    ),
)
_JEST = _Options(
    narrowing=words(
        "--testPathIgnorePatterns --testNamePattern -t --testPathPattern --testPathPatterns"
        " --ignoreProjects --findRelatedTests --exclude"
    ),
    narrowing_flags=words("--onlyChanged -o --onlyFailures --changed --listTests"),
    muting=words("--passWithNoTests --pass-with-no-tests"),
    valued=words(
        "--config -c --coverageReporters --maxWorkers -w --reporters --reporter --root"
        " --shard --project"
    ),
)
_MOCHA = _Options(
    narrowing=words("--grep -g --fgrep -f --exclude --ignore"),
    narrowing_flags=words("--invert -i"),
    muting=words("--pass-on-failing-test-suite"),
    valued=words("--require -r --reporter -R --timeout -t --config --ui -u --file --import"),
)
_GO = _Options(
    narrowing=words("-run -skip --run --skip -test.run -test.skip"),
    narrowing_flags=words("-short --short -test.short"),
    valued=words("-timeout -coverprofile -covermode -coverpkg -tags -count -p -parallel -bench"),
)
_CARGO = _Options(
    narrowing=words(
        "--skip --exclude --test --bin --example -p --package -E --filter-expr"
        " --filterset --default-filter"
    ),
    narrowing_flags=words("--no-run --lib --bins --doc --examples"),
    muting=words("--no-tests=pass --no-fail"),
    valued=words("--features --target --manifest-path --profile -j --jobs --color --test-threads"),
)
_RSPEC = _Options(
    narrowing=words(
        "--tag -t --example -e --exclude-pattern --pattern -P --example-matches -E --name -n"
    ),
    narrowing_flags=words("--only-failures --next-failure --dry-run"),
    muting=words("--failure-exit-code=0"),
    valued=words("--format -f --require -r --out -o --seed --order -I --exclude -x"),
)
_JVM = _Options(
    narrowing=words("-x --exclude-task --tests -Dtest -Dit.test -Dgroups -DexcludedGroups"),
    narrowing_flags=words(
        "-DskipTests -Dmaven.test.skip -DskipITs -DskipUnitTests -Dsurefire.skip"
        " -DskipTests=true -Dmaven.test.skip=true -DskipITs=true -DskipUnitTests=true"
    ),
    muting=words(
        "-Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -fn --fail-never"
        " -DtestFailureIgnore=true"
    ),
    valued=words("-f --file -P --settings -s -T --init-script -I"),
)
_OPTIONS = {
    "pytest": _PYTEST,
    "unittest": _Options(narrowing=words("-k -p --pattern"), valued=words("-s -t")),
    "jest": _JEST,
    "vitest": _JEST,
    "mocha": _MOCHA,
    "ava": _Options(narrowing=words("--match -m"), valued=words("--config --node-arguments")),
    "node --test": _Options(
        narrowing=words("--test-name-pattern --test-skip-pattern"),
        narrowing_flags=words("--test-only"),
        valued=words("--import --require -r --test-reporter --test-reporter-destination --loader"),
    ),
    "playwright": _Options(
        narrowing=words("--grep -g --grep-invert -gv"),
        narrowing_flags=words("--only-changed --last-failed --list"),
        muting=words("--pass-with-no-tests"),
        valued=words("--config -c --reporter --workers -j --project --shard"),
    ),
    "cypress": _Options(narrowing=words("--spec -s"), valued=words("--browser -b --config -e")),
    "go test": _GO,
    "cargo test": _CARGO,
    "rspec": _RSPEC,
    "minitest": _RSPEC,
    "phpunit": _Options(
        narrowing=words(
            "--filter --exclude-filter --group --exclude-group --testsuite --exclude-testsuite"
        ),
        muting=words("--do-not-fail-on-empty-test-suite --do-not-fail-on-warning"),
        valued=words("--configuration -c --bootstrap --coverage-clover --log-junit"),
    ),
    "maven": _JVM,
    "gradle": _JVM,
    "dotnet test": _Options(
        narrowing=words("--filter --TestCaseFilter /TestCaseFilter"),
        narrowing_flags=words("--list-tests -t"),
        valued=words("--logger -l --configuration -c --framework -f --settings -s --collect"),
    ),
    "ctest": _Options(
        narrowing=words(
            "-E --exclude-regex -LE --label-exclude -R --tests-regex -L --label-regex -I -FA -FS"
        ),
        narrowing_flags=words("-N --show-only --rerun-failed"),
        valued=words("-j --parallel --test-dir -C --build-config --timeout -T -S"),
    ),
    "bats": _Options(narrowing=words("-f --filter --filter-tags"), valued=words("-j --jobs -F")),
    "mix test": _Options(
        narrowing=words("--only --exclude --include"), narrowing_flags=words("--failed --stale")
    ),
    "swift test": _Options(narrowing=words("--filter --skip")),
    "bazel test": _Options(
        narrowing=words("--test_filter --test_tag_filters"), muting=words("--keep_going_no_fail")
    ),
    "prove": _Options(valued=words("-I -j -e")),
    "make": _Options(muting=words("-i --ignore-errors")),
}
# What a task hands on to a runner that is not known.
_OF_TASKS = _Options(
    narrowing=words(
        "--deselect --ignore --testPathIgnorePatterns --testNamePattern --grep --exclude --filter"
    ),
    muting=words("--passWithNoTests --pass-with-no-tests"),
)
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
_TASK = re.compile(
    r"(?:.*[-_:./])?(?:tests?|specs?|check|ci|verify|e2e|unit|coverage|cov|jest|pytest|all)"
    r"(?:[-_:./].*)?",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"(?:.*/)?(?:[\w.]*[-_])?(?:run)?[-_]?tests?(?:[-_][\w-]*)?(?:\.(?:sh|bash))?")
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


def test_command(typed: Sequence[str]) -> TestCommand | None:
    """Return what a simple command runs of tests; None if it runs none that is known."""
    rest = list(_unwrapped(typed))
    if not rest:
        return None
    runner, arguments = _runner(rest)
    if not runner:
        return None
    return _with_options(runner, arguments)


test_command.__test__ = False  # type: ignore[attr-defined]  # pytest would collect the function


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
    if _SCRIPT.fullmatch(rest[0]) and rest[0] != "test":
        return rest[0].removeprefix("./"), ()
    return "", ()


def _task(program: str, rest: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the task that is about tests; empty if none is."""
    if program == "bun" and rest[:1] == ["test"]:
        return "bun test", rest[1:]
    if program in ("yarn", "pnpm", "bun") and rest and _program(rest[0]) in _DIRECT:
        return _DIRECT[_program(rest[0])], rest[1:]
    for word in rest:
        if not word.startswith("-") and _TASK.fullmatch(word):
            return f"{program} {word}", [other for other in rest if other not in (word, "run")]
    return "", ()


def _with_options(runner: str, arguments: Sequence[str]) -> TestCommand:
    options = _OPTIONS.get(runner) or _OPTIONS.get(runner.partition(" ")[0], _OF_TASKS)
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
            next(remaining, "")
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
